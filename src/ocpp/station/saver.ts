/** Keeps a slot of the store at the newest state of a part. */
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { JsonValue, Slot } from '../../core/store.ts';

export interface Saver {
  /** Writes the state; changes during a write are written together after it. A failure is logged. */
  save(): void;
}

/** @param state read at the moment of writing */
export function createSaver(slot: Slot, state: () => readonly JsonValue[], log: Pick<Logger, 'error'>): Saver {
  let wanted = false;
  let writing: Promise<void> | null = null;
  const write = async () => {
    while (wanted) {
      wanted = false;
      try {
        await slot.replace(state());
      } catch (error) {
        log.error(`the store has refused a change: ${errorText(error)}`);
      }
    }
    writing = null;
  };
  return {
    save() {
      wanted = true;
      writing ??= write();
    },
  };
}
