/** Addresses that a server has given to resources of one EndDevice or client, by a key, over restarts. */
import { z } from 'zod';
import { errorText } from '../core/errors.ts';
import type { Logger } from '../core/log/log.ts';
import { formOf, readEach } from '../core/slot-values.ts';
import type { Slot } from '../core/store.ts';

/** The oldest addresses beyond it are forgotten: their resources are then made again. */
const maxAddresses = 1000;

const entryForm = formOf<readonly [key: string, address: string]>(z.tuple([z.string(), z.string()]));

export class AddressBook {
  readonly #slot: Slot;
  readonly #log: Pick<Logger, 'error'>;
  readonly #addresses: Map<string, string>;

  private constructor(slot: Slot, log: Pick<Logger, 'error'>, addresses: Map<string, string>) {
    this.#slot = slot;
    this.#log = log;
    this.#addresses = addresses;
  }

  static async open(slot: Slot, log: Pick<Logger, 'error' | 'warning'>): Promise<AddressBook> {
    return new AddressBook(slot, log, new Map(await readEach(slot, entryForm, log)));
  }

  /** null: none */
  get(key: string): string | null {
    return this.#addresses.get(key) ?? null;
  }

  /** @param address null: the resource is gone */
  set(key: string, address: string | null): void {
    if (this.get(key) === address) return;
    this.#addresses.delete(key);
    if (address !== null) this.#addresses.set(key, address);
    const entries = [...this.#addresses];
    for (const [oldest] of entries.slice(0, -maxAddresses)) this.#addresses.delete(oldest);
    this.#slot.replace(entries.slice(-maxAddresses)).catch((error: unknown) => {
      this.#log.error(`addresses at the server cannot be stored: ${errorText(error)}`);
    });
  }
}
