/** The record of the clock in its bucket: reads, follows and replaces it. */
import { FleetError } from '../link.ts';
import type { FleetLink, Stop } from '../link.ts';
import { settledMs } from '../registry/roster.ts';
import { clockKey, decodedRecord, encodedRecord } from './record.ts';
import type { ClockRecord } from './record.ts';

const attempts = 16;

interface Entry<T> {
  readonly key: string;
  readonly decode: (bytes: Uint8Array) => T;
  readonly encode: (value: T) => Uint8Array;
}

/**
 * Replaces a value of the shared bucket, and begins again where another process has replaced it meanwhile.
 * @param next the new value; null: the present one stays
 * @returns the value that stands there now
 * @throws FleetError `conflict` where others replace it all the time
 */
export async function replaceShared<T>(
  { shared }: Pick<FleetLink, 'shared'>,
  { key, decode, encode }: Entry<T>,
  next: (present: T | null) => Promise<T | null> | T | null,
): Promise<T | null> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const stored = await shared.get(key);
    const present = stored && decode(stored.value);
    const value = await next(present);
    if (value === null) return present;
    try {
      await (stored ? shared.update(key, encode(value), stored.revision) : shared.create(key, encode(value)));
      return value;
    } catch (error) {
      if (!(error instanceof FleetError && error.code === 'conflict')) throw error;
    }
  }
  throw new FleetError('conflict', `the ${key} of the fleet changes all the time`);
}

export class ClockStore {
  readonly #link: Pick<FleetLink, 'shared' | 'leases'>;

  constructor(link: Pick<FleetLink, 'shared' | 'leases'>) {
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
   * Writes the record of a fleet that runs where the server has lost it, or has an older one. A fleet that has begun on
   * a server without its store gives way: its shards can come to a later instant, and the others not back.
   * @throws FleetError
   */
  restore(mine: ClockRecord): Promise<ClockRecord | null> {
    return this.replace(async (present) => {
      if (present === null) return mine;
      if (present.fleet === mine.fleet) return present.seq < mine.seq ? mine : null;
      return (await this.#link.leases.ageMs()) < settledMs ? mine : null;
    });
  }

  /** Replaces the record as `replaceShared` does. @throws FleetError */
  replace(
    next: (present: ClockRecord | null) => Promise<ClockRecord | null> | ClockRecord | null,
  ): Promise<ClockRecord | null> {
    return replaceShared(this.#link, { key: clockKey, decode: decodedRecord, encode: encodedRecord }, next);
  }
}
