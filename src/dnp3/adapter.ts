/** The outstations of a process as an adapter: state, devices that join and leave, lines at the start. */
import { disabledStatus, startLine } from '../core/adapter.ts';
import type { Adapter, AdapterStatus, DeviceEndpoint, Exposure } from '../core/adapter.ts';
import { AdapterLifecycle } from '../core/adapter-lifecycle.ts';
import { errorText, SimError } from '../core/errors.ts';
import { hostAndPort, withRemedy } from '../core/net/listen.ts';
import type { Device } from '../contract/device.ts';
import type { Dnp3Outstations } from '../contract/dnp3.ts';
import { disabledDnp3 } from '../contract/dnp3-disabled.ts';
import type { Dnp3Settings } from '../contract/dnp3-settings.ts';
import type { DeviceServer } from '../contract/plant.ts';
import type { Assembly } from './assembly.ts';

export interface Dnp3AdapterOptions {
  readonly settings: Dnp3Settings;
  /** at the start */
  readonly devices: () => readonly Device[];
  readonly load: () => Promise<Assembly>;
}

export class Dnp3Adapter implements Adapter, DeviceServer {
  readonly module = 'DNP3';
  readonly comm = 'dnp3';
  readonly exposure?: Exposure;
  readonly #options: Dnp3AdapterOptions;
  readonly #lifecycle = new AdapterLifecycle();
  #assembly: Assembly | null = null;

  constructor(options: Dnp3AdapterOptions) {
    this.#options = options;
    const { settings } = options;
    if (settings.tls === null) this.exposure = { what: 'DNP3', host: settings.host };
  }

  /** What REST works with; before the start it shows that nothing runs. */
  get outstations(): Dnp3Outstations {
    return this.#assembly?.runtime ?? disabledDnp3;
  }

  start(): Promise<void> {
    return this.#lifecycle.start(async () => {
      const assembly = await this.#options.load();
      this.#assembly = assembly;
      try {
        for (const device of this.#options.devices()) await assembly.runtime.join(device);
      } catch (error) {
        await assembly.runtime.stop();
        this.#assembly = null;
        throw withRemedy(error, '--dnp3_port');
      }
    });
  }

  stop(): Promise<void> {
    return this.#lifecycle.stop(async () => {
      await this.#assembly?.runtime.stop();
    });
  }

  startLines(): readonly string[] {
    const { settings } = this.#options;
    const indexes = this.#assembly?.runtime.devices ?? [];
    const [first] = indexes;
    const place = first === undefined ? null : (this.#assembly?.runtime.place(first) ?? null);
    if (place === null) return [];
    const last = this.#assembly?.runtime.place(indexes.at(-1) ?? 0) ?? place;
    const ports = last.port === place.port ? `${place.port}` : `${place.port} to ${last.port}`;
    const addresses = last.address === place.address ? `${place.address}` : `${place.address} to ${last.address}`;
    const masters = settings.masterAddresses.join(', ');
    const where = hostAndPort(settings.host, 0).replace(/:0$/, `:${ports}`);
    const tls = settings.tls === null ? '' : ', TLS';
    return [startLine('DNP3', `${where} (outstation ${addresses}, master ${masters}${tls})`)];
  }

  endpointOf(deviceIndex: number): DeviceEndpoint | null {
    const place = this.#assembly?.runtime.place(deviceIndex) ?? null;
    const { host, tls } = this.#options.settings;
    return place === null
      ? null
      : { protocol: 'dnp3', host, port: place.port, outstation: place.address, tls: tls !== null };
  }

  async addDevice(device: Device): Promise<void> {
    try {
      await this.#assembly?.runtime.join(device);
    } catch (error) {
      throw new SimError('COMMAND_CONFLICT', `device ${device.index} has no DNP3 outstation: ${errorText(error)}`);
    }
  }

  async removeDevice(index: number): Promise<void> {
    await this.#assembly?.runtime.leave(index);
  }

  readonly reload = (): void => {
    this.#assembly?.reload();
  };

  status(): AdapterStatus {
    const runtime = this.#assembly?.runtime;
    if (runtime === undefined) return { ...disabledStatus, ...this.#lifecycle.status({}) };
    const { framesIn, framesOut, badFrames } = runtime.totals;
    const [first] = runtime.devices;
    return this.#lifecycle.status({
      endpoint: first === undefined ? null : runtime.endpoint(first),
      peers: runtime.peers,
      lastActivityMs: this.#assembly?.lastFrameMs() ?? null,
      rxCount: framesIn,
      txCount: framesOut,
      errorCount: badFrames,
    });
  }
}
