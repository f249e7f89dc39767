/** The skeleton of adapters that serve each device separately and whose code is loaded at their start. */
import { disabledStatus, AdapterLifecycle } from './adapter.ts';
import type { Adapter, AdapterStatus, CommName, DeviceEndpoint, Exposure, ModuleName } from './adapter.ts';
import type { CommAlarmCode, CommAlarmSwitch } from './comm-alarms.ts';
import { errorText, SimError } from './errors.ts';
import { Late } from './lazy.ts';

/** The adapter of one protocol behind the skeleton: `D` are its devices, `V` is its interface to REST. */
export interface LoadedAdapter<D, V extends object> {
  readonly view: V;
  /** Serves the devices of the start. @throws SimError LISTEN_FAILED, CONFIG_INVALID; `close` follows */
  open(devices: readonly D[]): Promise<void>;
  /** Serves one more device. @throws with nothing left open for it */
  join(device: D): Promise<void>;
  /** Does nothing for a device that is not served. */
  leave(index: number): Promise<void>;
  /** Closes everything in bounded time. */
  close(): Promise<void>;
  /** A `state` replaces that of the life cycle. */
  status(): Partial<AdapterStatus>;
  startLines(): readonly string[];
  endpointOf?(deviceIndex: number): DeviceEndpoint | null;
  /** Reads files again that may have changed. */
  reload?(): void;
}

export interface DeviceAdapterOptions<D, V extends object> {
  readonly module: ModuleName;
  readonly comm: CommName;
  readonly outbound?: boolean;
  readonly exposure?: Exposure | null;
  /** SIGHUP reads its files again */
  readonly reloads?: boolean;
  /** the service of each device in words: `OCPP charge point` */
  readonly service: string;
  /** ends when its device leaves */
  readonly alarm: CommAlarmCode;
  readonly commAlarms: CommAlarmSwitch;
  /** devices of the plant at the start */
  readonly devices: () => readonly D[];
  /** the interface while nothing is loaded */
  readonly standIn: V;
  readonly load: () => Promise<LoadedAdapter<D, V>>;
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
      const { load, devices } = this.#options;
      const loaded = await load();
      // `stop` may come while it opens
      this.#loaded = loaded;
      try {
        await loaded.open(devices());
      } catch (error) {
        this.#loaded = null;
        await loaded.close();
        throw error;
      }
      this.#view.set(loaded.view);
    });
  }

  stop(): Promise<void> {
    return this.#lifecycle.stop(() => this.#loaded?.close());
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

/** Between the first connections of two devices, and at most for all of them, ms. */
const startGapMs = 50;
const maxStartMs = 10_000;

/** Time between the first connections of devices, which spreads them, ms. */
export function connectGapMs(devices: number): number {
  return Math.min(startGapMs, maxStartMs / Math.max(1, devices));
}
