import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WebSocket } from 'ws';
import { AdapterLifecycle } from '../core/adapter.ts';
import type { Adapter, AdapterError, AdapterStatus } from '../core/adapter.ts';
import { errorText } from '../core/errors.ts';
import { memo } from '../core/lazy.ts';
import type { WallClock } from '../core/time/clock.ts';
import { callEvery, callLater } from '../core/time/timers.ts';
import type { Every, Later } from '../core/time/timers.ts';
import { createHttpGuard } from '../core/http/http-guard.ts';
import type { HttpGuardConfig } from '../core/http/http-guard.ts';
import { hostAndPort } from '../core/net/listen.ts';
import { LimitedLog } from '../core/log/limited-log.ts';
import type { Logger } from '../core/log/log.ts';
import type { StreamClient, StreamReport, StreamReporter } from '../contract/stream-report.ts';
import { Broadcast } from './frames.ts';
import { leaveHttp } from '../core/http/connections.ts';
import { guardUpgrades, streamPaths } from './handshake.ts';
import type { DeviceRange, Selection } from './handshake.ts';
import { loadLibrary } from './library.ts';
import { Liveness, livenessLimits } from './liveness.ts';
import type { LivenessLimits } from './liveness.ts';
import { Outbox } from './outbox.ts';
import type { OutboxBounds } from './outbox.ts';
import { Pace } from './pace.ts';
import type { ColumnSource, StreamDeviceChange, StreamPublished, StreamSource, StreamTick } from './source.ts';

export interface TelemetryContext {
  readonly source: StreamSource;
  /** default: clients of the form `fleet` are refused */
  readonly columns?: ColumnSource;
  /** the HTTP server whose port the stream shares */
  readonly server: Server;
  readonly guard: HttpGuardConfig;
  readonly logger: Logger;
  readonly clock: WallClock;
  /** indexes of a shard; absent: the source has no shards */
  readonly rangeOfShard?: (name: string) => DeviceRange | null;
  /** true: the process is stopping, and new clients are refused */
  readonly stopping?: () => boolean;
  readonly options?: Partial<TelemetryOptions>;
}

export interface TelemetryOptions extends LivenessLimits {
  /** may change while the stream runs */
  readonly maxClients: () => number;
  /** maximum of messages that wait for a client, or two per device if that is more */
  readonly queue: number;
  /** maximum of bytes that wait for a client, apart from the newest message of each device */
  readonly queueBytes: number;
  readonly every: Every;
  readonly later: Later;
}

const defaults: TelemetryOptions = {
  maxClients: () => 1024,
  queue: 64,
  queueBytes: 1024 * 1024,
  ...livenessLimits,
  every: callEvery,
  later: callLater,
};

const closeCodes = { normal: 1000, goingAway: 1001, internal: 1011, noAnswer: 1006 } as const;

/** Ranges of fewer devices need no frames of all others. */
const narrow = 1000;
const isNarrow = (range: DeviceRange | null) => range !== null && range.last - range.first < narrow;

interface Client {
  readonly id: number;
  readonly socket: WebSocket;
  readonly outbox: Outbox;
  readonly selection: Selection;
  /** null: every tick is sent */
  readonly pace: Pace | null;
  readonly peer: string;
  /** wall time */
  readonly connectedAtMs: number;
  readonly liveness: Liveness;
  /** the last tick sent; null: none */
  tick: number | null;
  /** close code that this side sent first; null: none. Without an answer the library reports 1006 */
  sentCode: number | null;
  /** true: the first message has been sent */
  hasBegun: boolean;
  /** newest snapshots at the last message, where the rate is bounded */
  newest: readonly StreamPublished[];
}

export interface Telemetry extends Adapter, StreamReporter {
  readonly comm: 'websocket';
  /** connected clients */
  readonly clients: number;
}

/** The telemetry stream: one snapshot per device and tick to each client that selected the device. */
export function createTelemetry(context: TelemetryContext): Telemetry {
  return new TelemetryStream(context);
}

class TelemetryStream implements Telemetry {
  readonly module = 'WS';
  readonly comm = 'websocket';
  readonly #context: TelemetryContext;
  readonly #options: TelemetryOptions;
  readonly #log: LimitedLog;
  readonly #lifecycle = new AdapterLifecycle();
  readonly #clients = new Set<Client>();
  readonly #counters = {
    rx: 0,
    errors: 0,
    lastError: null as AdapterError | null,
    lastActivityMs: null as number | null,
  };
  readonly #tally = { sent: 0, dropped: 0 };
  /** bounds of clients of all devices */
  readonly #ofAll: OutboxBounds;
  /** bounds of clients that get one message for each tick */
  readonly #ofOne: OutboxBounds;
  #broadcast: Broadcast;
  #lastId = 0;
  /** removes the listeners that `#listen` added */
  #ends: (() => void)[] = [];

  constructor(context: TelemetryContext) {
    this.#context = context;
    this.#options = { ...defaults, ...context.options };
    this.#log = new LimitedLog(context.logger, context.clock, 'clients of the stream');
    this.#ofAll = { messages: 0, bytes: this.#options.queueBytes, minMessages: 0 };
    this.#ofOne = { messages: 0, bytes: this.#options.queueBytes, minMessages: 1 };
    this.#broadcast = new Broadcast(context.source.latest, context.columns ?? null);
  }

  get clients(): number {
    return this.#clients.size;
  }

  start(): Promise<void> {
    return this.#lifecycle.start(() => {
      this.#listen();
    });
  }

  stop(): Promise<void> {
    return this.#lifecycle.stop(() => this.#close());
  }

  status(): AdapterStatus {
    return this.#lifecycle.status({
      endpoint: this.#endpoint,
      peers: this.#clients.size,
      lastActivityMs: this.#counters.lastActivityMs,
      rxCount: this.#counters.rx,
      txCount: this.#tally.sent,
      errorCount: this.#counters.errors,
      lastError: this.#counters.lastError,
      droppedCount: this.#tally.dropped,
    });
  }

  streamReport(limit: number): StreamReport {
    return {
      maxClients: this.#options.maxClients(),
      maxWaiting: this.#ofAll.messages,
      maxWaitingBytes: this.#options.queueBytes,
      clients: [...this.#clients]
        .slice(-limit)
        .reverse()
        .map((client) => this.#clientReport(client)),
    };
  }

  #clientReport({ id, peer, selection, outbox, connectedAtMs, liveness }: Client): StreamClient {
    const { sent, dropped, waiting, waitingBytes, unsentBytes } = outbox;
    return {
      id,
      peer,
      deviceIndex: selection.device,
      form: selection.form,
      maxRate: selection.maxRate,
      connectedAtMs,
      sent,
      dropped,
      waiting,
      waitingBytes,
      unsentBytes,
      pongAgeMs: liveness.pongAgeMs,
    };
  }

  get #endpoint(): string | null {
    const address = this.#context.server.address() as AddressInfo | null;
    return address && `ws://${hostAndPort(address.address, address.port)}${streamPaths[0]}`;
  }

  #nowMs(): number {
    return this.#context.clock.monotonicMs();
  }

  #noteActivity(): void {
    this.#counters.lastActivityMs = this.#context.clock.nowMs();
  }

  #listen(): void {
    const { source, columns, server, guard, stopping, rangeOfShard } = this.#context;
    const { maxClients, every, pingIntervalMs } = this.#options;
    this.#followDevices();
    const library = memo(loadLibrary);
    const end = guardUpgrades(
      server,
      {
        guard: createHttpGuard(guard),
        hasColumns: columns !== undefined,
        deviceExists: (index) => source.devices.some((device) => device.index === index),
        ...(rangeOfShard && { rangeOfShard }),
        clients: () => this.#clients.size,
        maxClients,
        stopping: () => this.#lifecycle.stopping || stopping?.() === true,
        prepare: library,
      },
      ({ request, socket, head, selection }) => {
        library().handleUpgrade(request, socket, head, (webSocket) => {
          // only now: a connection whose handshake the library refuses keeps the rules of HTTP
          leaveHttp(socket);
          this.#attach(webSocket, request, selection);
        });
      },
    );
    this.#ends = [
      end,
      source.onTickInParts((event) => this.#onTick(event)),
      source.onDevices((change) => {
        this.#onDevices(change);
      }),
      every(pingIntervalMs, () => {
        for (const { liveness } of this.#clients) liveness.check();
      }),
    ];
  }

  async #close(): Promise<void> {
    await this.#closeClients();
    for (const end of this.#ends.splice(0)) end();
    this.#log.flush();
  }

  #followDevices(): void {
    const { length } = this.#context.source.devices;
    this.#ofAll.minMessages = length;
    this.#ofAll.messages = this.#ofOne.messages = Math.max(this.#options.queue, 2 * length);
  }

  *#onTick(event: StreamTick): Generator<undefined, void> {
    const takesAll = ({ pace, selection }: Client) =>
      !pace && selection.device === null && selection.form === 'snapshots' && !isNarrow(selection.range);
    if ([...this.#clients].some(takesAll)) yield* this.#broadcastOf(event).framesInParts();
    for (const client of [...this.#clients]) {
      // one that has joined or gone between two parts has this tick already, or needs none
      if (!this.#clients.has(client) || client.tick === event.tick) continue;
      if (client.pace) client.pace.offer();
      else this.#send(client, event);
      yield;
    }
    if (this.#clients.size > 0) this.#noteActivity();
  }

  /** The messages of a tick, shared by all clients. */
  #broadcastOf(event: StreamTick): Broadcast {
    if (this.#broadcast.event !== event) this.#broadcast = new Broadcast(event, this.#context.columns ?? null);
    return this.#broadcast;
  }

  #send(client: Client, event: StreamTick): void {
    try {
      this.#deliver(client, event);
    } catch (error) {
      this.#log.error(`client ${client.peer}: ${errorText(error)}`);
      client.outbox.close();
      client.socket.close(closeCodes.internal);
    }
  }

  #onDevices({ added, removed }: StreamDeviceChange): void {
    this.#followDevices();
    // a stream goes on with the device that has taken the place
    if (!removed || added) return;
    for (const { socket, outbox, selection } of this.#clients) {
      if (selection.device !== removed.index) continue;
      outbox.close();
      socket.close(closeCodes.normal, `device ${removed.index} was removed`);
    }
  }

  #attach(socket: WebSocket, request: IncomingMessage, selection: Selection): void {
    const { remoteAddress, remotePort } = request.socket;
    const { device, form, maxRate } = selection;
    const peer = `${remoteAddress ?? 'unknown'}:${remotePort ?? 0}`;
    const outbox = new Outbox({
      socket: request.socket,
      channel: socket,
      bounds: device === null && form === 'snapshots' ? this.#ofAll : this.#ofOne,
      tally: this.#tally,
      nowMs: () => this.#nowMs(),
    });
    this.#lastId += 1;
    const client: Client = {
      id: this.#lastId,
      socket,
      outbox,
      liveness: new Liveness({
        socket,
        tcp: request.socket,
        outbox,
        clock: this.#context.clock,
        limits: this.#options,
        warn: (reason) => {
          this.#log.warning(`client ${peer} ${reason}`);
        },
      }),
      selection,
      pace: maxRate === null ? null : this.#paceOf(maxRate, () => client),
      peer,
      connectedAtMs: this.#context.clock.nowMs(),
      tick: null,
      sentCode: null,
      hasBegun: false,
      newest: [],
    };
    this.#clients.add(client);
    this.#noteActivity();
    this.#listenTo(client);
    if (client.pace) client.pace.offer();
    else this.#deliver(client, this.#context.source.latest);
  }

  #paceOf(maxRate: number, client: () => Client): Pace {
    return new Pace({
      intervalMs: 1000 / maxRate,
      nowMs: () => this.#nowMs(),
      later: this.#options.later,
      send: () => {
        this.#sendNewest(client());
      },
    });
  }

  /** Shards of a fleet tick by themselves: those that have not ticked since have nothing new for the client. */
  #sendNewest(client: Client): void {
    const { latest } = this.#context.source;
    const had = new Set(client.selection.form === 'snapshots' ? client.newest : []);
    const published = latest.published.filter((each) => !had.has(each));
    client.newest = latest.published;
    this.#send(client, published.length === latest.published.length ? latest : { tick: latest.tick, published });
  }

  #listenTo(client: Client): void {
    const { socket } = client;
    this.#noteCloseCode(client);
    socket.on('message', () => {
      this.#counters.rx += 1;
      this.#noteActivity();
    });
    // the library answers broken frames with a close code; the close event follows
    socket.on('error', (error) => {
      this.#counters.errors += 1;
      this.#counters.lastError = { text: errorText(error), atMs: this.#context.clock.nowMs() };
    });
    socket.on('close', (code) => {
      this.#forget(client, code);
    });
  }

  /** Notes the code of the first close frame sent, including one that the library sends for a broken message. */
  #noteCloseCode(client: Client): void {
    const { socket } = client;
    const close = socket.close.bind(socket);
    socket.close = (code, reason) => {
      client.sentCode ??= code ?? null;
      close(code, reason);
    };
  }

  #deliver(client: Client, event: StreamTick): void {
    const broadcast = this.#broadcastOf(event);
    client.tick = event.tick;
    const { device, range, form } = client.selection;
    if (form === 'fleet') {
      client.outbox.push(client.hasBegun ? broadcast.fleet : broadcast.firstFleet);
      client.hasBegun = true;
      return;
    }
    if (device === null) {
      client.outbox.pushAll(range === null ? broadcast.pieces : broadcast.piecesOf(range));
      return;
    }
    const frame = broadcast.of(device);
    if (frame) client.outbox.push(frame);
  }

  #forget(client: Client, code: number): void {
    if (!this.#clients.delete(client)) return;
    client.pace?.end();
    const { sent, dropped } = client.outbox;
    client.outbox.close();
    const loggedCode = code === closeCodes.noAnswer ? (client.sentCode ?? code) : code;
    this.#log.info(
      `client ${client.peer} disconnected with code ${loggedCode}: ${sent} messages sent, ${dropped} dropped`,
    );
  }

  /** Closes with 1001; clients that do not answer in time are cut off. */
  #closeClients(): Promise<void> {
    const clients = [...this.#clients];
    if (clients.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const cutOff = setTimeout(() => {
        for (const { socket } of clients) socket.terminate();
      }, this.#options.closeTimeoutMs);
      let left = clients.length;
      for (const { socket, outbox } of clients) {
        outbox.close();
        socket.once('close', () => {
          left -= 1;
          if (left > 0) return;
          clearTimeout(cutOff);
          resolve();
        });
        socket.close(closeCodes.goingAway, 'simulator stops');
      }
    });
  }
}
