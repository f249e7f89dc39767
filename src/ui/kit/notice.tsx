/** Short messages at the foot of the page. A change that can be taken back keeps its Undo when other messages come. */
import { computed, signal } from '@preact/signals';

interface Message {
  readonly id: number;
  readonly text: string;
  /** sends the earlier value */
  readonly undo: (() => void) | null;
  /** address of what the message is about */
  readonly to: string | null;
}

export const notices = signal<readonly Message[]>([]);
/** The newest one; null: none is shown. */
export const notice = computed(() => notices.value.at(-1) ?? null);

const [shownMs, actMs] = [4000, 10_000];
let count = 0;

/** Shows a short message at the foot of the page, which disappears by itself. @param undo takes the change back */
export function say(text: string, undo: (() => void) | null = null): void {
  announce({ text, undo, to: null });
}

/** Shows a short message with a link to what it is about. */
export function sayWithLink(text: string, to: string): void {
  announce({ text, undo: null, to });
}

/** A message takes the place of the last one of its sort: one with Undo, or another. */
function announce(message: Omit<Message, 'id'>): void {
  count += 1;
  const id = count;
  const others = notices.value.filter(({ undo }) => (undo === null) !== (message.undo === null));
  notices.value = [...others, { ...message, id }];
  setTimeout(() => remove(id), message.undo === null && message.to === null ? shownMs : actMs);
}

function remove(id: number): void {
  notices.value = notices.value.filter((each) => each.id !== id);
}

/** The short messages at the foot of the page, if any. */
export function Notice() {
  return (
    <div class="notices" role="status">
      {notices.value.map(({ id, text, undo, to }) => (
        <div key={id} class="notice">
          {text}
          {undo !== null && (
            <button
              type="button"
              onClick={() => {
                remove(id);
                undo();
              }}
            >
              Undo
            </button>
          )}
          {to !== null && (
            <a href={to} onClick={() => remove(id)}>
              Open
            </a>
          )}
        </div>
      ))}
    </div>
  );
}
