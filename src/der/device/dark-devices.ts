/** Devices that are off and do not answer. */
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { PowerEvent } from '../../contract/plant.ts';

export class DarkDevices {
  readonly #indexes = new Set<number>();
  readonly #listeners = new Set<(event: PowerEvent) => void>();
  readonly #log: Pick<Logger, 'error'>;

  constructor(log: Pick<Logger, 'error'>) {
    this.#log = log;
  }

  /** One object for the life of the plant, changed in place. */
  get indexes(): ReadonlySet<number> {
    return this.#indexes;
  }

  /** Records that a device goes off or returns; notifies listeners of changes. */
  set(index: number, down: boolean, at: SimTime): void {
    if (this.#indexes.has(index) === down) return;
    if (down) this.#indexes.add(index);
    else this.#indexes.delete(index);
    for (const listener of this.#listeners) {
      try {
        listener({ index, down, at });
      } catch (error) {
        this.#log.error(`a listener of the power of devices failed: ${errorText(error)}`, index);
      }
    }
  }

  /** Removes a device that has left, without an event. */
  forget(index: number): void {
    this.#indexes.delete(index);
  }

  /** Calls listeners synchronously; the returned function unsubscribes. */
  onChange(listener: (event: PowerEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}
