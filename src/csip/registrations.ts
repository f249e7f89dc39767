/** EndDevices that were posted at one server (in-band registration): never twice, also over restarts. */
import { errorText } from '../core/errors.ts';
import type { Logger } from '../core/log/log.ts';
import { slotName } from '../core/store.ts';
import type { Slot, Store } from '../core/store.ts';
import type { RegistrationBook, WalkTarget } from './walk/model.ts';

export class Registrations implements RegistrationBook {
  readonly #slot: Slot;
  readonly #log: Pick<Logger, 'error'>;
  /** LFDIs */
  #posted = new Set<string>();

  /** @param server identifies the server: `host:port` */
  constructor(store: Store, server: string, log: Pick<Logger, 'error'>) {
    this.#slot = store.slot(slotName('csip', server, 'registered'));
    this.#log = log;
  }

  /** Loads the LFDIs that earlier processes posted. */
  async open(): Promise<void> {
    const kept = await this.#slot.read();
    this.#posted = new Set([...this.#posted, ...kept.filter((lfdi) => typeof lfdi === 'string')]);
  }

  begin({ lfdi }: WalkTarget): boolean {
    if (this.#posted.has(lfdi)) return false;
    this.#posted.add(lfdi);
    this.#keep();
    return true;
  }

  failed({ lfdi }: WalkTarget): void {
    this.#posted.delete(lfdi);
    this.#keep();
  }

  #keep(): void {
    this.#slot.replace([...this.#posted]).catch((error: unknown) => {
      this.#log.error(`registrations cannot be kept: ${errorText(error)}`);
    });
  }
}
