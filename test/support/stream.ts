import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { WebSocket } from 'ws';
import { simTimeFromMs } from '../../src/core/time/clock.ts';
import { createLogBook } from '../../src/core/log/log.ts';
import type { LogBook } from '../../src/core/log/log.ts';
import type { Device } from '../../src/contract/device.ts';
import type { DeviceChange, Plant, TickEvent } from '../../src/contract/plant.ts';
import { createTelemetry } from '../../src/ws/telemetry.ts';
import type { Telemetry, TelemetryContext, TelemetryOptions } from '../../src/ws/telemetry.ts';

type FakeDevice = Pick<Device, 'index' | 'powerLimit' | 'detail' | 'trace'>;

/** A PV device without limits. @param inspected called when its state is read */
function fakeDevice(index: number, inspected: () => void): FakeDevice {
  const trace = { service: 'in_service', voltagePct: 100 };
  return {
    index,
    detail: { kind: 'pv', mpptState: 'track' },
    powerLimit: { direction: 'delivers', basis: { kind: 'available', powerW: 0 }, winner: null, deliveredW: 0 },
    get trace() {
      inspected();
      return trace;
    },
  } as unknown as FakeDevice;
}

/** Ticks by hand: messages carry tick and device index, and as much padding as a test wants. */
export class FakePlant {
  devices: readonly FakeDevice[];
  readonly #works = new Set<(event: TickEvent) => Iterable<undefined>>();
  readonly #deviceListeners = new Set<(change: DeviceChange) => void>();
  latest: TickEvent;
  padding = '';
  /** times that a text was made */
  serialized = 0;
  /** times that the state of a device was read */
  inspected = 0;
  /** the device whose text cannot be made */
  broken: number | null = null;

  constructor(count: number) {
    this.devices = Array.from({ length: count }, (_, index) => this.#device(index));
    this.latest = this.#event(0);
  }

  #device(index: number): FakeDevice {
    return fakeDevice(index, () => {
      this.inspected += 1;
    });
  }

  #event(tick: number): TickEvent {
    const published = this.devices.map(({ index }) => {
      const metrics = { power_kw: index, reactive_power_kvar: 0, state_of_charge_pct: null, timestamp: `T${tick}` };
      const snapshot = { device_index: index, tick, padding: this.padding, metrics };
      return {
        snapshot,
        serialize: () => this.#serialize(snapshot),
        get json() {
          return this.serialize();
        },
      };
    });
    return { tick, sim: simTimeFromMs(0), wallMs: 0, published } as unknown as TickEvent;
  }

  #serialize(snapshot: { device_index: number }): Buffer {
    if (snapshot.device_index === this.broken) throw new Error('no text');
    this.serialized += 1;
    return Buffer.from(JSON.stringify(snapshot));
  }

  onTickInParts(work: (event: TickEvent) => Iterable<undefined>): () => void {
    this.#works.add(work);
    return () => {
      this.#works.delete(work);
    };
  }

  onDevices(listener: (change: DeviceChange) => void): () => void {
    this.#deviceListeners.add(listener);
    return () => {
      this.#deviceListeners.delete(listener);
    };
  }

  get listeners(): number {
    return this.#works.size + this.#deviceListeners.size;
  }

  /** A device joins at the end of the list. */
  add(): void {
    const added = this.#device((this.devices.at(-1)?.index ?? -1) + 1);
    this.#change([...this.devices, added], { added, removed: null });
  }

  remove(index: number): void {
    const removed = this.devices.find((device) => device.index === index) ?? null;
    this.#change(
      this.devices.filter((device) => device !== removed),
      { added: null, removed },
    );
  }

  #change(devices: FakePlant['devices'], change: object): void {
    this.devices = devices;
    this.latest = this.#event(this.latest.tick);
    for (const listener of this.#deviceListeners) listener(change as DeviceChange);
  }

  tick(): void {
    this.latest = this.#event(this.latest.tick + 1);
    this.workOff();
  }

  /** Hands the last tick to the stream. */
  workOff(): void {
    for (const work of this.#works) Array.from(work(this.latest));
  }
}

/** A stream over a bare HTTP server; timers run only when the test says so. */
export interface StreamFixture {
  readonly plant: FakePlant;
  readonly server: Server;
  readonly telemetry: Telemetry;
  readonly logBook: LogBook;
  readonly port: number;
  readonly clock: { ms: number };
  /** runs the periodic check */
  check(): void;
  /** lets time pass, with the timers of paced clients */
  pass(ms: number): void;
  close(): Promise<void>;
}

export async function openStream(
  count = 1,
  options: Partial<TelemetryOptions> = {},
  context: Partial<TelemetryContext> = {},
): Promise<StreamFixture> {
  const plant = new FakePlant(count);
  const server = createServer((_request, response) => response.end('plain'));
  const logBook = createLogBook({ write: () => undefined });
  const clock = { ms: 0 };
  let check: () => void = () => undefined;
  const timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  const telemetry = createTelemetry({
    source: plant,
    columns: plant as unknown as Plant,
    server,
    logger: logBook.logger('WS'),
    guard: { host: '127.0.0.1', allowedHosts: [], corsOrigins: ['https://tool.example'] },
    clock: { nowMs: () => clock.ms, monotonicMs: () => clock.ms },
    options: {
      every: (_ms, run) => {
        check = run;
        return () => undefined;
      },
      later(ms, run) {
        const timer = { atMs: clock.ms + ms, run };
        timers.add(timer);
        return () => timers.delete(timer);
      },
      ...options,
    },
    ...context,
  });
  await telemetry.start();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    plant,
    server,
    telemetry,
    logBook,
    clock,
    port: (server.address() as AddressInfo).port,
    check: () => {
      check();
    },
    pass(ms) {
      clock.ms += ms;
      for (const timer of timers) {
        if (timer.atMs > clock.ms) continue;
        timers.delete(timer);
        timer.run();
      }
    },
    async close() {
      await telemetry.stop();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A client that remembers every message. */
export class StreamClient {
  readonly socket: WebSocket;
  readonly messages: { device_index: number; tick: number; index?: readonly number[]; codes?: object }[] = [];
  readonly binary: boolean[] = [];
  readonly #waiting: { isDone: () => boolean; done: () => void }[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;

  constructor(url: string, options: ConstructorParameters<typeof WebSocket>[2] = {}) {
    this.socket = new WebSocket(url, options);
    this.socket.on('message', (data: Buffer, isBinary) => {
      this.messages.push(JSON.parse(data.toString()));
      this.binary.push(isBinary);
      for (const { isDone, done } of this.#waiting) if (isDone()) done();
    });
    this.socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      this.socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
  }

  /** Resolves when so many messages have come since the start. */
  received(count: number): Promise<void> {
    return this.#until(() => this.messages.length >= count);
  }

  /** Resolves when the message of this tick has come, of the device that comes last. */
  receivedTick(tick: number): Promise<void> {
    return this.#until(() => this.messages.at(-1)?.tick === tick);
  }

  /** Stops reading, or goes on. */
  pause(): void {
    this.#tcp.pause();
  }
  resume(): void {
    this.#tcp.resume();
  }

  get #tcp(): Socket {
    return (this.socket as unknown as { _socket: Socket })._socket;
  }

  #until(isDone: () => boolean): Promise<void> {
    return new Promise((done) => {
      if (isDone()) done();
      else this.#waiting.push({ isDone, done });
    });
  }
}
