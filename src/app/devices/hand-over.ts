/** Adapters that go on with another device under an index, or with the same device under other names. */
import type { DeviceProtocols } from '../../contract/device-protocols.ts';
import type { DeviceServer } from '../../contract/plant.ts';
import type { Adapter, CommName } from '../../core/adapter.ts';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { SimDevice } from '../../der/device/device.ts';

/** An adapter with something for each device. */
export type ServingAdapter = DeviceServer & Partial<Pick<Adapter, 'comm' | 'outbound'>>;

/** The block of a device that an adapter reads; null: none. */
export function protocolOfComm(comm: CommName | null | undefined): keyof DeviceProtocols | null {
  switch (comm) {
    case 'modbus_tcp':
      return 'modbus';
    case 'csip':
    case 'dnp3':
    case 'ocpp':
      return comm;
    default:
      return null;
  }
}

interface HandOverOptions {
  readonly index: number;
  /** the device that adapters go on with */
  readonly enter: () => SimDevice;
  /** the former one */
  readonly back: () => SimDevice;
  /** slots that begin anew */
  readonly isGone: (slot: string) => boolean;
  readonly forget: (isGone: (slot: string) => boolean) => void;
  readonly log: Pick<Logger, 'error'>;
}

export class DeviceHandOver {
  readonly #options: HandOverOptions;

  constructor(options: HandOverOptions) {
    this.#options = options;
  }

  /**
   * Restarts the service of the device at each adapter. Those that listen come first: clients of remote systems, whose
   * peers notice the end of a connection, then hardly fail.
   * @throws the error of the first adapter that fails; all of them serve the former device again then
   */
  async run(servers: readonly ServingAdapter[]): Promise<void> {
    const { enter, back } = this.#options;
    const ordered = servers.toSorted((a, b) => Number(a.outbound ?? false) - Number(b.outbound ?? false));
    const begun: ServingAdapter[] = [];
    const next = enter();
    try {
      for (const server of ordered) {
        await this.#leave(server);
        begun.push(server);
        this.#forgetSlots(server);
        await server.addDevice(next);
      }
    } catch (error) {
      const former = back();
      for (const server of begun) {
        await this.#leave(server);
        await server.addDevice(former).catch((failure: unknown) => {
          this.#report(`${server.comm ?? 'an adapter'} does not serve it any more`, failure);
        });
      }
      throw error;
    }
  }

  #forgetSlots({ comm }: ServingAdapter): void {
    const { forget, isGone } = this.#options;
    forget((slot) => slot.startsWith(`${comm}/`) && isGone(slot));
  }

  async #leave(server: ServingAdapter): Promise<void> {
    const { index } = this.#options;
    try {
      await server.removeDevice(index);
    } catch (error) {
      this.#report(`${server.comm ?? 'an adapter'} has not let go of it cleanly`, error);
    }
  }

  #report(what: string, error: unknown): void {
    const { index, log } = this.#options;
    log.error(`device ${index}: ${what}: ${errorText(error)}`, index);
  }
}
