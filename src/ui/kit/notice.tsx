import { signal } from '@preact/signals';

interface Message {
  readonly text: string;
  /** sends the earlier value */
  readonly undo: (() => void) | null;
}

export const notice = signal<Message | null>(null);

const [shownMs, undoMs] = [4000, 10_000];
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows a short message at the foot of the page, which disappears by itself. @param undo takes the change back */
export function say(text: string, undo: (() => void) | null = null): void {
  notice.value = { text, undo };
  clearTimeout(timer);
  timer = setTimeout(() => (notice.value = null), undo === null ? shownMs : undoMs);
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
        </div>
      )}
    </div>
  );
}
