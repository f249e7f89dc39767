import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { AdapterLifecycle } from '../core/adapter.ts';
import type { Adapter, AdapterStatus } from '../core/adapter.ts';
import { errorText } from '../core/errors.ts';
import { memo } from '../core/lazy.ts';
import type { WallClock } from '../core/time/clock.ts';
import { callEvery, callLater } from '../core/time/timers.ts';
import type { Every, Later } from '../core/time/timers.ts';
import { createHttpGuard } from '../core/http/http-guard.ts';
import type { HttpGuardConfig } from '../core/http/http-guard.ts';
import { controlCounter, maxControlFrames } from '../core/net/control-frames.ts';
import { hostAndPort } from '../core/net/listen.ts';
import { LimitedLog } from '../core/log/limited-log.ts';
import type { Logger } from '../core/log/log.ts';
import type { DeviceChange, Plant, TickEvent } from '../contract/plant.ts';
import type { StreamClient, StreamReport, StreamReporter } from '../contract/stream-report.ts';
import { Broadcast } from './frames.ts';
import { leaveHttp } from '../core/http/connections.ts';
import { guardUpgrades, streamPaths } from './handshake.ts';
import type { Selection } from './handshake.ts';
import { loadLibrary } from './library.ts';
import { Outbox } from './outbox.ts';
import type { OutboxBounds } from './outbox.ts';
import { Pace } from './pace.ts';

export interface TelemetryContext {
  readonly plant: Plant;
  /** the HTTP server whose port the stream shares */
  readonly server: Server;
  readonly guard: HttpGuardConfig;
  readonly logger: Logger;
  readonly clock: WallClock;
  /** true: the process is stopping, and new clients are refused */
  readonly stopping?: () => boolean;
  readonly options?: Partial<TelemetryOptions>;
}

export interface TelemetryOptions {
  /** may change while the stream runs */
  readonly maxClients: () => number;
  /** maximum of messages that wait for a client, or two per device if that is more */
  readonly queue: number;
  /** maximum of bytes that wait for a client, apart from the newest message of each device */
  readonly queueBytes: number;
  readonly pingIntervalMs: number;
  /** time without a pong after which a client is closed */
  readonly pongTimeoutMs: number;
  /** time without progress after which a client is closed */
  readonly stallTimeoutMs: number;
  /** maximum time for the closing handshakes in `stop` */
  readonly closeTimeoutMs: number;
  readonly every: Every;
  readonly later: Later;
}

const defaults: TelemetryOptions = {
  maxClients: () => 1024,
  queue: 64,
  queueBytes: 1024 * 1024,
  pingIntervalMs: 30_000,
  pongTimeoutMs: 60_000,
  stallTimeoutMs: 60_000,
  closeTimeoutMs: 500,
  every: callEvery,
  later: callLater,
};

/** Unread bytes at which a client that pings is cut off: it would get ever more answers that it does not read. */
const maxUnsentBytes = 1024 * 1024;
const closeCodes = { normal: 1000, goingAway: 1001, policy: 1008, internal: 1011, noAnswer: 1006 } as const;

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
  /** time of the last pong, or of the connection */
  lastPongMs: number;
  /** close code that this side sent first; null: none. Without an answer the library reports 1006 */
  sentCode: number | null;
  hasPonged: boolean;
  /** true: the first message has been sent */
  hasBegun: boolean;
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
  readonly #counters = { rx: 0, errors: 0, lastActivityMs: null as number | null };
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
    this.#broadcast = new Broadcast(context.plant.latest, context.plant);
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

  #clientReport({ id, peer, selection, outbox, connectedAtMs, lastPongMs, hasPonged }: Client): StreamClient {
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
      pongAgeMs: hasPonged ? this.#nowMs() - lastPongMs : null,
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
    const { plant, server, guard, stopping } = this.#context;
    const { maxClients, every, pingIntervalMs } = this.#options;
    this.#followDevices();
    const library = memo(loadLibrary);
    const end = guardUpgrades(
      server,
      {
        guard: createHttpGuard(guard),
        deviceExists: (index) => plant.devices.some((device) => device.index === index),
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
      plant.onTick((event) => {
        this.#onTick(event);
      }),
      plant.onDevices((change) => {
        this.#onDevices(change);
      }),
      every(pingIntervalMs, () => {
        for (const client of this.#clients) this.#check(client);
      }),
    ];
  }

  async #close(): Promise<void> {
    await this.#closeClients();
    for (const end of this.#ends.splice(0)) end();
    this.#log.flush();
  }

  #followDevices(): void {
    const { length } = this.#context.plant.devices;
    this.#ofAll.minMessages = length;
    this.#ofAll.messages = this.#ofOne.messages = Math.max(this.#options.queue, 2 * length);
  }

  #onTick(event: TickEvent): void {
    for (const client of this.#clients) {
      if (client.pace) client.pace.offer();
      else this.#send(client, event);
    }
    if (this.#clients.size > 0) this.#noteActivity();
  }

  #send(client: Client, event: TickEvent): void {
    try {
      this.#deliver(client, event);
    } catch (error) {
      this.#log.error(`client ${client.peer}: ${errorText(error)}`);
      client.outbox.close();
      client.socket.close(closeCodes.internal);
    }
  }

  #onDevices({ added, removed }: DeviceChange): void {
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
    this.#lastId += 1;
    const client: Client = {
      id: this.#lastId,
      socket,
      outbox: new Outbox({
        socket: request.socket,
        channel: socket,
        bounds: device === null && form === 'snapshots' ? this.#ofAll : this.#ofOne,
        tally: this.#tally,
        nowMs: () => this.#nowMs(),
      }),
      selection,
      pace: maxRate === null ? null : this.#paceOf(maxRate, () => client),
      peer: `${remoteAddress ?? 'unknown'}:${remotePort ?? 0}`,
      connectedAtMs: this.#context.clock.nowMs(),
      lastPongMs: this.#nowMs(),
      sentCode: null,
      hasPonged: false,
      hasBegun: false,
    };
    this.#clients.add(client);
    this.#noteActivity();
    this.#listenTo(client, request.socket);
    if (client.pace) client.pace.offer();
    else this.#deliver(client, this.#context.plant.latest);
  }

  #paceOf(maxRate: number, client: () => Client): Pace {
    return new Pace({
      intervalMs: 1000 / maxRate,
      nowMs: () => this.#nowMs(),
      later: this.#options.later,
      send: () => {
        this.#send(client(), this.#context.plant.latest);
      },
    });
  }

  #listenTo(client: Client, tcp: Socket): void {
    const { socket } = client;
    this.#noteCloseCode(client);
    socket.on('message', () => {
      this.#counters.rx += 1;
      this.#noteActivity();
    });
    const countControl = controlCounter(this.#context.clock);
    /** Counts a ping or pong. @returns false: there were too many, and it is ignored */
    const countAccepted = () => {
      const count = countControl();
      if (count === maxControlFrames + 1) this.#closeFlooding(client);
      return count <= maxControlFrames;
    };
    socket.on('ping', (data: Buffer) => {
      if (!countAccepted() || socket.readyState !== socket.OPEN) return;
      if (tcp.writableLength > maxUnsentBytes) socket.terminate();
      else socket.pong(data);
    });
    socket.on('pong', () => {
      if (!countAccepted()) return;
      client.lastPongMs = this.#nowMs();
      client.hasPonged = true;
    });
    // the library answers broken frames with a close code; the close event follows
    socket.on('error', () => {
      this.#counters.errors += 1;
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

  #deliver(client: Client, event: TickEvent): void {
    if (this.#broadcast.event !== event) this.#broadcast = new Broadcast(event, this.#context.plant);
    const { device, form } = client.selection;
    if (form === 'fleet') {
      client.outbox.push(client.hasBegun ? this.#broadcast.fleet : this.#broadcast.firstFleet);
      client.hasBegun = true;
      return;
    }
    if (device === null) {
      client.outbox.pushAll(this.#broadcast.pieces);
      return;
    }
    const frame = this.#broadcast.of(device);
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

  /** Closes with 1008 and stops reading, because the answer of the client would follow the rest of its flood. */
  #closeFlooding({ peer, socket, outbox }: Client): void {
    this.#log.warning(`client ${peer} sends too many pings and is closed`);
    if (socket.readyState !== socket.OPEN) {
      socket.terminate();
      return;
    }
    outbox.close();
    socket.close(closeCodes.policy, 'too many pings');
    socket.pause();
    const cutOff = setTimeout(() => socket.terminate(), this.#options.closeTimeoutMs);
    socket.once('close', () => clearTimeout(cutOff));
  }

  /** Applies the time limits, otherwise sends the next ping. */
  #check(client: Client): void {
    if (client.outbox.stalledMs() >= this.#options.stallTimeoutMs) {
      this.#log.warning(`client ${client.peer} reads nothing and is closed`);
      client.socket.close(closeCodes.policy, 'nothing read');
      // the close frame would wait behind data that the client does not read
      client.socket.terminate();
    } else if (this.#nowMs() - client.lastPongMs >= this.#options.pongTimeoutMs) {
      this.#log.warning(`client ${client.peer} does not answer pings and is closed`);
      client.socket.terminate();
    } else {
      client.socket.ping();
    }
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
