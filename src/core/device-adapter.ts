/** The skeleton of adapters that serve each device separately and whose code is loaded at their start. */
import { disabledStatus, AdapterLifecycle } from './adapter.ts';
import type { Adapter, AdapterStatus, CommName, DeviceEndpoint, Exposure, ModuleName } from './adapter.ts';
import type { CommAlarmCode, CommAlarmSwitch } from './comm-alarms.ts';
import { errorText, SimError } from './errors.ts';
import { Late } from './lazy.ts';

/** The adapter of one protocol behind the skeleton: `D` are its devices, `V` is its interface to REST. */
export interface LoadedAdapter<D, V extends object> {
  readonly view: V;
  /**
   * Serves the devices that exist at the start.
   * @throws SimError LISTEN_FAILED, CONFIG_INVALID; then `close` is called
   */
  open(devices: readonly D[]): Promise<void>;
  /** Serves one more device. @throws Error, with nothing left open for the device */
  join(device: D): Promise<void>;
  /** Does nothing for a device that is not served. */
  leave(index: number): Promise<void>;
  /** Closes everything in bounded time; the devices keep what it has set in them, for the next process. */
  close(): Promise<void>;
  /** Closes everything in bounded time, and releases what it holds in the devices, which live on. */
  release(): Promise<void>;
  /** Forgets after `release` what the next adapter would continue, since there is none. Absent: there is no such state. */
  forget?(): void;
  /** A `state` replaces that of the lifecycle, unless the adapter is stopped. */
  status(): Partial<AdapterStatus>;
  startLines(): readonly string[];
  endpointOf?(deviceIndex: number): DeviceEndpoint | null;
  /** Reloads files that may have changed. */
  reload?(): void;
}

export interface DeviceAdapterOptions<D, V extends object> {
  readonly module: ModuleName;
  readonly comm: CommName;
  readonly outbound?: boolean;
  readonly exposure?: Exposure | null;
  /** SIGHUP reloads its files */
  readonly reloads?: boolean;
  /** service of each device, for error messages: `OCPP charge point` */
  readonly service: string;
  /** alarm that ends when its device is removed */
  readonly alarm: CommAlarmCode;
  readonly commAlarms: CommAlarmSwitch;
  /** devices of the plant at the start */
  readonly devices: () => readonly D[];
  /** the `view` until the adapter has opened */
  readonly standIn: V;
  readonly load: () => Promise<LoadedAdapter<D, V>>;
  /** called when the adapter has closed, also after a failed start */
  readonly closed?: () => void;
}

export class DeviceAdapter<D extends { readonly index: number }, V extends object> implements Adapter {
  readonly module: ModuleName;
  readonly comm: CommName;
  readonly outbound: boolean;
  readonly exposure?: Exposure;
  readonly reload?: () => void;
  readonly #options: DeviceAdapterOptions<D, V>;
  readonly #lifecycle = new AdapterLifecycle();
  readonly #view: Late<V>;
  #loaded: LoadedAdapter<D, V> | null = null;

  constructor(options: DeviceAdapterOptions<D, V>) {
    this.#options = options;
    this.#view = new Late(options.standIn);
    this.module = options.module;
    this.comm = options.comm;
    this.outbound = options.outbound ?? false;
    if (options.exposure) this.exposure = options.exposure;
    if (options.reloads) this.reload = () => this.#loaded?.reload?.();
  }

  get view(): V {
    return this.#view.proxy;
  }

  start(): Promise<void> {
    return this.#lifecycle.start(async () => {
      try {
        await this.#open();
      } catch (error) {
        this.#options.closed?.();
        throw error;
      }
    });
  }

  async #open(): Promise<void> {
    const { load, devices } = this.#options;
    const loaded = await load();
    // a `stop` during the load had nothing to close
    if (this.#lifecycle.stopping) return;
    // set before `open`: a `stop` meanwhile must close the adapter
    this.#loaded = loaded;
    try {
      await loaded.open(devices());
    } catch (error) {
      this.#loaded = null;
      await loaded.close();
      throw error;
    }
    this.#view.set(loaded.view);
  }

  stop(): Promise<void> {
    return this.#close((loaded) => loaded.close());
  }

  switchOff(): Promise<void> {
    return this.#close(async (loaded) => {
      const { commAlarms, devices, alarm } = this.#options;
      await loaded.release();
      for (const { index } of devices()) commAlarms.end(index, alarm);
    });
  }

  forget(): void {
    this.#loaded?.forget?.();
  }

  #close(how: (loaded: LoadedAdapter<D, V>) => Promise<void>): Promise<void> {
    return this.#lifecycle.stop(async () => {
      if (this.#loaded !== null) await how(this.#loaded);
      this.#options.closed?.();
    });
  }

  /** @throws SimError COMMAND_CONFLICT */
  async addDevice(device: D): Promise<void> {
    try {
      await this.#loaded?.join(device);
    } catch (error) {
      throw new SimError(
        'COMMAND_CONFLICT',
        `device ${device.index} has no ${this.#options.service}: ${errorText(error)}`,
      );
    }
  }

  async removeDevice(index: number): Promise<void> {
    await this.#loaded?.leave(index);
    this.#options.commAlarms.end(index, this.#options.alarm);
  }

  status(): AdapterStatus {
    if (this.#loaded === null) return { ...disabledStatus, ...this.#lifecycle.status({}) };
    const { state = this.#lifecycle.state, ...parts } = this.#loaded.status();
    return this.#lifecycle.status({ ...parts, state: this.#lifecycle.state === 'stopped' ? 'stopped' : state });
  }

  startLines(): readonly string[] {
    return this.#loaded?.startLines() ?? [];
  }

  endpointOf(deviceIndex: number): DeviceEndpoint | null {
    return this.#loaded?.endpointOf?.(deviceIndex) ?? null;
  }
}

/** Maximum time between the first connections of one device and the next, ms. */
const startGapMs = 50;
/** Maximum time between the first connections of the first and the last device, ms. */
const maxStartMs = 10_000;

/** Time between the first connections of devices, which spreads them, ms. */
export function connectGapMs(devices: number): number {
  return Math.min(startGapMs, maxStartMs / Math.max(1, devices));
}
