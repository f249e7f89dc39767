/** The outstations of a process, by device, with their listeners. */
import type { Device } from '../contract/device.ts';
import type {
  Dnp3Counters,
  Dnp3Message,
  Dnp3MessageFilter,
  Dnp3OutstationStatus,
  Dnp3Outstations,
  Dnp3PointFilter,
  Dnp3PointView,
} from '../contract/dnp3.ts';
import { noDnp3Counters } from '../contract/dnp3-disabled.ts';
import type { Dnp3Settings } from '../contract/dnp3-settings.ts';
import { maxDnp3Address } from '../contract/dnp3-settings.ts';
import type { Plant } from '../contract/plant.ts';
import type { CommAlarmSwitch } from '../core/comm-alarms.ts';
import { SimError } from '../core/errors.ts';
import { hostAndPort } from '../core/net/listen.ts';
import type { Swept } from '../core/net/sweeper.ts';
import type { Origin } from '../core/origin.ts';
import type { DeviceOutstation } from './device-outstation.ts';
import type { Dnp3Messages } from './messages/log.ts';
import type { Routes, ServerContext } from './server/context.ts';
import { Dnp3Listener } from './server/listener.ts';

/** Time after which a master that has made a request before, and has no connection, is missed. */
const missedMs = 60_000;

export interface RuntimeOptions {
  readonly settings: Dnp3Settings;
  readonly plant: Pick<Plant, 'onTick' | 'onPower'>;
  readonly context: ServerContext;
  readonly messages: Dnp3Messages;
  readonly commAlarms: CommAlarmSwitch;
  readonly make: (device: Device, address: number) => DeviceOutstation;
  /** device profile document of an outstation */
  readonly profileOf: (outstation: DeviceOutstation, port: number) => string;
  readonly close: () => void;
}

interface Entry {
  readonly outstation: DeviceOutstation;
  /** that of all outstations with a shared port */
  readonly listener: Dnp3Listener;
  /** monotonic ms since which masters have no connection; null: they have one; absent: they never had one */
  readonly lostMs: Map<number, number | null>;
}

type CounterName = keyof Dnp3Counters;
const counterNames = Object.keys(noDnp3Counters) as readonly CounterName[];

function sumOf(a: Dnp3Counters, b: Partial<Dnp3Counters>): Dnp3Counters {
  const sum = Object.fromEntries(counterNames.map((name) => [name, a[name] + (b[name] ?? 0)]));
  return { ...a, ...sum };
}

export class Dnp3Runtime implements Dnp3Outstations, Swept {
  readonly enabled = true;
  /** controls by outcome */
  readonly controls = { done: 0, refused: 0 };
  readonly #options: RuntimeOptions;
  readonly #entries = new Map<number, Entry>();
  readonly #ends: (() => void)[] = [];
  #shared: Dnp3Listener | null = null;
  /** counters of outstations that have left */
  #departed = noDnp3Counters;

  constructor(options: RuntimeOptions) {
    this.#options = options;
    const { plant, context } = options;
    this.#ends.push(
      plant.onTick(() => {
        for (const { outstation } of this.#entries.values()) outstation.points.tick();
      }),
      plant.onPower(({ index, down }) => {
        const { outstation } = this.#entries.get(index) ?? {};
        if (down || outstation === undefined) return;
        outstation.stack.restart();
        context.logger.info('the outstation has restarted: the device has power again', index);
      }),
    );
    context.sweeper.add(this);
  }

  get recording(): boolean {
    return this.#options.messages.channel.recording;
  }

  record(on: boolean, by: Origin): void {
    this.#options.messages.channel.record(on, by);
  }

  messages(filter?: Dnp3MessageFilter): readonly Dnp3Message[] {
    return this.#options.messages.list(filter);
  }

  get totals(): Dnp3Counters {
    const { counters } = this.#options.context;
    const own = [...this.#entries.values()].reduce(
      (sum, { outstation }) => sumOf(sum, outstation.stack.counters),
      this.#departed,
    );
    return sumOf(own, {
      connections: counters.connections,
      refusedConnections: counters.refusedConnections,
      handshakeFailures: counters.handshakeFailures,
      framesIn: counters.framesIn,
      framesOut: counters.framesOut,
      badFrames: counters.badFrames,
      controlsDone: this.controls.done,
      controlsRefused: this.controls.refused,
    });
  }

  /** masters that are connected now */
  get peers(): number {
    return [...this.#entries.values()].reduce(
      (sum, { outstation }) => sum + outstation.stack.associations.filter(({ session }) => session !== null).length,
      0,
    );
  }

  get devices(): readonly number[] {
    return [...this.#entries.keys()].sort((a, b) => a - b);
  }

  outstation(deviceIndex: number): Dnp3OutstationStatus | null {
    const entry = this.#entries.get(deviceIndex);
    return entry?.outstation.status(entry.listener, this.endpoint(deviceIndex)) ?? null;
  }

  points(deviceIndex: number, filter?: Dnp3PointFilter): readonly Dnp3PointView[] {
    return this.#entries.get(deviceIndex)?.outstation.points.views(filter) ?? [];
  }

  deviceProfile(deviceIndex: number): string | null {
    const entry = this.#entries.get(deviceIndex);
    return entry === undefined ? null : this.#options.profileOf(entry.outstation, entry.listener.port);
  }

  /** `tcp://127.0.0.1:20000` */
  endpoint(deviceIndex: number): string {
    const { settings } = this.#options;
    const { listener } = this.#entries.get(deviceIndex) ?? {};
    return `${settings.tls === null ? 'tcp' : 'tls'}://${hostAndPort(settings.host, listener?.port ?? 0)}`;
  }

  place(deviceIndex: number): { readonly port: number; readonly address: number } | null {
    const entry = this.#entries.get(deviceIndex);
    return entry === undefined ? null : { port: entry.listener.port, address: entry.outstation.address };
  }

  /** Opens the outstation of a device. @throws SimError LISTEN_FAILED, COMMAND_CONFLICT; nothing is left open then */
  async join(device: Device): Promise<void> {
    const { settings, make } = this.#options;
    const { index } = device;
    const address = settings.outstationAddress + (settings.sharedPort ? index : 0);
    if (address > maxDnp3Address || settings.masterAddresses.includes(address))
      throw new SimError(
        'COMMAND_CONFLICT',
        `device ${index} would have the link address ${address}, which is not free`,
      );
    const outstation = make(device, address);
    try {
      const listener = settings.sharedPort ? await this.#sharedListener() : await this.#ownListener(outstation);
      this.#entries.set(index, { outstation, listener, lostMs: new Map() });
    } catch (error) {
      outstation.close();
      throw error;
    }
  }

  async leave(index: number): Promise<void> {
    const entry = this.#entries.get(index);
    if (entry === undefined) return;
    this.#entries.delete(index);
    this.#departed = sumOf(this.#departed, entry.outstation.stack.counters);
    this.#options.commAlarms.end(index, 'dnp3_master_lost');
    if (entry.listener === this.#shared) entry.listener.forget(entry.outstation);
    else await entry.listener.close();
    entry.outstation.close();
  }

  async stop(): Promise<void> {
    for (const end of this.#ends) end();
    this.#options.context.sweeper.delete(this);
    const listeners = new Set([...this.#entries.values()].map(({ listener }) => listener));
    if (this.#shared !== null) listeners.add(this.#shared);
    await Promise.all([...listeners].map((listener) => listener.close()));
    for (const { outstation } of this.#entries.values()) outstation.close();
    this.#options.context.log.flush();
    this.#options.close();
  }

  /** Looks for masters that are gone. */
  sweep(): void {
    const { context, commAlarms } = this.#options;
    const now = context.clock.monotonicMs();
    for (const [index, { outstation, lostMs }] of this.#entries) {
      const missed: number[] = [];
      for (const { masterAddress, session, lastRequestMs } of outstation.stack.associations) {
        if (session !== null) lostMs.set(masterAddress, null);
        // one that came and went between two rounds has been there too
        else if (lastRequestMs !== null && (lostMs.get(masterAddress) ?? null) === null) lostMs.set(masterAddress, now);
        const since = lostMs.get(masterAddress) ?? null;
        if (since !== null && now - since >= missedMs) missed.push(masterAddress);
      }
      if (missed.length > 0)
        commAlarms.raise(index, 'dnp3_master_lost', `no connection of master ${missed.join(', ')} of DNP3`);
      else commAlarms.end(index, 'dnp3_master_lost');
    }
  }

  async #ownListener(outstation: DeviceOutstation): Promise<Dnp3Listener> {
    const { settings, context } = this.#options;
    const { host, port } = settings;
    const listener = new Dnp3Listener({
      host,
      context,
      deviceIndex: outstation.deviceIndex,
      port: port === 0 ? 0 : port + outstation.deviceIndex,
      routes: {
        outstation: (address) => (address === outstation.address ? outstation : undefined),
        all: () => [outstation],
      },
    });
    await listener.listen();
    return listener;
  }

  async #sharedListener(): Promise<Dnp3Listener> {
    if (this.#shared !== null) return this.#shared;
    const { settings, context } = this.#options;
    const entries = this.#entries;
    const routes: Routes = {
      outstation: (address) => entries.get(address - settings.outstationAddress)?.outstation,
      all: () => [...entries.values()].map(({ outstation }) => outstation),
    };
    const listener = new Dnp3Listener({ host: settings.host, port: settings.port, context, routes });
    await listener.listen();
    this.#shared = listener;
    return listener;
  }
}
