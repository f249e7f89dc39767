import { signal } from '@preact/signals';

interface Message {
  readonly text: string;
  /** sends the earlier value */
  readonly undo: (() => void) | null;
  /** address of what the message is about */
  readonly to: string | null;
}

export const notice = signal<Message | null>(null);

const [shownMs, actMs] = [4000, 10_000];
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows a short message at the foot of the page, which disappears by itself. @param undo takes the change back */
export function say(text: string, undo: (() => void) | null = null): void {
  announce({ text, undo, to: null });
}

/** Shows a short message with a link to what it is about. */
export function sayWithLink(text: string, to: string): void {
  announce({ text, undo: null, to });
}

function announce(message: Message): void {
  notice.value = message;
  clearTimeout(timer);
  timer = setTimeout(() => (notice.value = null), message.undo === null && message.to === null ? shownMs : actMs);
}

/** The short message at the foot of the page, if any. */
export function Notice() {
  const message = notice.value;
  const takeBack = () => {
    notice.value = null;
    message?.undo?.();
  };
  return (
    <div class="notices" role="status">
      {message !== null && (
        <div class="notice">
          {message.text}
          {message.undo !== null && (
            <button type="button" onClick={takeBack}>
              Undo
            </button>
          )}
          {message.to !== null && (
            <a href={message.to} onClick={() => (notice.value = null)}>
              Open
            </a>
          )}
        </div>
      )}
    </div>
  );
}
