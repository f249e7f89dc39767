/** Ids of the LogEvents of one EndDevice, consecutive over reconnections and restarts. */
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { Slot } from '../../core/store.ts';

/** number of ids: 16 bits */
const ids = 0x1_0000;

export class LogEventIds {
  readonly #slot: Slot;
  readonly #log: Logger;
  #next: number;

  private constructor(slot: Slot, log: Logger, next: number) {
    this.#slot = slot;
    this.#log = log;
    this.#next = next;
  }

  /** @param slot stores the next id */
  static async open(slot: Slot, log: Logger): Promise<LogEventIds> {
    const [kept] = await slot.read();
    return new LogEventIds(slot, log, typeof kept === 'number' ? kept % ids : 0);
  }

  next(): number {
    const id = this.#next;
    this.#next = (id + 1) % ids;
    this.#slot.replace([this.#next]).catch((error: unknown) => {
      this.#log.error(`the ids of log events cannot be kept: ${errorText(error)}`);
    });
    return id;
  }
}
