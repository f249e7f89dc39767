/** The record of the clock in its bucket: reads, follows and replaces it. */
import { FleetError } from '../link.ts';
import type { FleetLink, Stop } from '../link.ts';
import { clockKey, decodedRecord, encodedRecord } from './record.ts';
import type { ClockRecord } from './record.ts';

const attempts = 8;

export class ClockStore {
  readonly #link: Pick<FleetLink, 'shared'>;

  constructor(link: Pick<FleetLink, 'shared'>) {
    this.#link = link;
  }

  /** @returns null: there is none @throws FleetError */
  async read(): Promise<ClockRecord | null> {
    const stored = await this.#link.shared.get(clockKey);
    return stored && decodedRecord(stored.value);
  }

  /** Calls the listener with the present record and with each later one. */
  watch(listener: (record: ClockRecord) => void, onFailure: (error: unknown) => void): Stop {
    return this.#link.shared.watch(clockKey, ({ value }) => {
      try {
        if (value !== null) listener(decodedRecord(value));
      } catch (error) {
        onFailure(error);
      }
    });
  }

  /**
   * Replaces the record, anew where another one has done so meanwhile.
   * @param next the new record; null: the present one stays
   * @returns the record that stands there now
   * @throws FleetError `conflict` where others change it all the time
   */
  async replace(
    next: (present: ClockRecord | null) => Promise<ClockRecord | null> | ClockRecord | null,
  ): Promise<ClockRecord | null> {
    const { shared } = this.#link;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const stored = await shared.get(clockKey);
      const present = stored && decodedRecord(stored.value);
      const record = await next(present);
      if (record === null) return present;
      const value = encodedRecord(record);
      try {
        await (stored ? shared.update(clockKey, value, stored.revision) : shared.create(clockKey, value));
        return record;
      } catch (error) {
        if (!(error instanceof FleetError && error.code === 'conflict')) throw error;
      }
    }
    throw new FleetError('conflict', 'the clock of the fleet changes all the time');
  }
}
