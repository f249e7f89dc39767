import { errorText } from '../core/errors.ts';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import expressWs from 'express-ws';
import type { WebSocket } from 'ws';
import type { Adapter, AdapterStatus } from '../core/adapter.ts';
import type { WallClock } from '../core/time/clock.ts';
import { callEvery } from '../core/time/timers.ts';
import type { Every } from '../core/time/timers.ts';
import { createHttpGuard } from '../core/http/http-guard.ts';
import type { HttpGuardConfig } from '../core/http/http-guard.ts';
import { hostAndPort } from '../core/net/listen.ts';
import { LimitedLog } from '../core/log/limited-log.ts';
import type { Logger } from '../core/log/log.ts';
import type { DeviceChange, Plant, TickEvent } from '../contract/plant.ts';
import { Broadcast } from './frames.ts';
import { guardUpgrades, streamPaths } from './handshake.ts';
import type { Selection } from './handshake.ts';
import { Outbox } from './outbox.ts';
import type { OutboxBounds } from './outbox.ts';

export interface TelemetryContext {
  readonly plant: Plant;
  /** the HTTP server whose port the stream shares */
  readonly server: Server;
  readonly guard: HttpGuardConfig;
  readonly logger: Logger;
  readonly clock: WallClock;
  /** whether new clients are refused because the process ends */
  readonly stopping?: () => boolean;
  readonly options?: Partial<TelemetryOptions>;
}

export interface TelemetryOptions {
  readonly maxClients: number;
  /** messages that may wait for a client, or two per device where that is more */
  readonly queue: number;
  /** bytes that may wait for a client, unless they are the newest message of each device */
  readonly queueBytes: number;
  readonly pingIntervalMs: number;
  /** without a pong for this long the client is closed */
  readonly pongTimeoutMs: number;
  /** a client that takes nothing for this long is closed */
  readonly stallTimeoutMs: number;
  /** how long `stop` waits for the closing handshakes */
  readonly closeTimeoutMs: number;
  readonly every: Every;
}

const defaults: TelemetryOptions = {
  maxClients: 1024,
  queue: 64,
  queueBytes: 1024 * 1024,
  pingIntervalMs: 30_000,
  pongTimeoutMs: 60_000,
  stallTimeoutMs: 60_000,
  closeTimeoutMs: 500,
  every: callEvery,
};

const maxIncomingBytes = 4096;
/** frames of one message of a client */
const maxFragments = 16;
/** The library answers every ping, read or not: who leaves this much in the socket and goes on pinging is cut off. */
const maxUnsentBytes = 1024 * 1024;
const closeCodes = { normal: 1000, goingAway: 1001, policy: 1008, internal: 1011 } as const;

interface Client {
  readonly socket: WebSocket;
  readonly outbox: Outbox;
  readonly device: number | null;
  readonly peer: string;
  lastPongMs: number;
}

export interface Telemetry extends Adapter {
  /** connected clients */
  readonly clients: number;
}

/** The telemetry stream: one snapshot per device and tick to every client that selected the device. */
export function createTelemetry(context: TelemetryContext): Telemetry {
  const { plant, server, clock } = context;
  const log = new LimitedLog(context.logger, clock, 'clients of the stream');
  const options = { ...defaults, ...context.options };
  const nowMs = () => clock.monotonicMs();
  const clients = new Set<Client>();
  const selections = new WeakMap<IncomingMessage, Selection>();
  const counters = { rx: 0, errors: 0, lastActivityMs: null as number | null };
  const tally = { sent: 0, dropped: 0 };
  const ofAll: OutboxBounds = { messages: 0, bytes: options.queueBytes, least: 0 };
  const ofOne: OutboxBounds = { messages: 0, bytes: options.queueBytes, least: 1 };
  let broadcast = new Broadcast(plant.latest);
  const ends: (() => void)[] = [];
  let state: 'stopped' | 'listening' = 'stopped';
  let ending: Promise<void> = Promise.resolve();

  function followDevices(): void {
    ofAll.least = plant.devices.length;
    ofAll.messages = ofOne.messages = Math.max(options.queue, 2 * plant.devices.length);
  }

  function deliver(client: Client, event: TickEvent): void {
    if (broadcast.event !== event) broadcast = new Broadcast(event);
    if (client.device === null) {
      client.outbox.pushAll(broadcast.pieces);
      return;
    }
    const frame = broadcast.of(client.device);
    if (frame) client.outbox.push(frame);
  }

  function forget(client: Client, code: number): void {
    if (!clients.delete(client)) return;
    const { sent, dropped } = client.outbox;
    client.outbox.close();
    log.info(`client ${client.peer} disconnected with code ${code}: ${sent} messages sent, ${dropped} dropped`);
  }

  function attach(socket: WebSocket, request: IncomingMessage): void {
    const { remoteAddress, remotePort } = request.socket;
    const device = selections.get(request)?.device ?? null;
    const client: Client = {
      socket,
      outbox: new Outbox({
        socket: request.socket,
        channel: socket,
        bounds: device === null ? ofAll : ofOne,
        tally,
        nowMs,
      }),
      device,
      peer: `${remoteAddress ?? 'unknown'}:${remotePort ?? 0}`,
      lastPongMs: nowMs(),
    };
    clients.add(client);
    counters.lastActivityMs = clock.nowMs();
    socket.on('message', () => {
      counters.rx += 1;
      counters.lastActivityMs = clock.nowMs();
    });
    socket.on('ping', () => {
      if (request.socket.writableLength > maxUnsentBytes) socket.terminate();
    });
    socket.on('pong', () => {
      client.lastPongMs = nowMs();
    });
    // the library answers broken frames with their own close code; the close event follows
    socket.on('error', () => {
      counters.errors += 1;
    });
    socket.on('close', (code) => {
      forget(client, code);
    });
    deliver(client, plant.latest);
  }

  function checkClient(client: Client): void {
    if (client.outbox.stalledMs() >= options.stallTimeoutMs) {
      log.warning(`client ${client.peer} takes nothing and is closed`);
      client.socket.close(closeCodes.policy, 'nothing taken');
      // the close frame waits behind what the client does not take
      client.socket.terminate();
    } else if (nowMs() - client.lastPongMs >= options.pongTimeoutMs) {
      log.warning(`client ${client.peer} does not answer pings and is closed`);
      client.socket.terminate();
    } else {
      client.socket.ping();
    }
  }

  function onTick(event: TickEvent): void {
    for (const client of clients) {
      try {
        deliver(client, event);
      } catch (error) {
        log.error(`client ${client.peer}: ${errorText(error)}`);
        client.outbox.close();
        client.socket.close(closeCodes.internal);
      }
    }
    if (clients.size > 0) counters.lastActivityMs = clock.nowMs();
  }

  function onDevices({ removed }: DeviceChange): void {
    followDevices();
    if (!removed) return;
    for (const { socket, outbox, device } of clients) {
      if (device !== removed.index) continue;
      outbox.close();
      socket.close(closeCodes.normal, `device ${device} was removed`);
    }
  }

  function listen(): void {
    followDevices();
    const { gate, end } = guardUpgrades(
      server,
      {
        guard: createHttpGuard(context.guard),
        deviceExists: (index) => plant.devices.some((device) => device.index === index),
        clients: () => clients.size,
        maxClients: options.maxClients,
        stopping: () => state === 'stopped' || context.stopping?.() === true,
      },
      (request, selection) => {
        selections.set(request, selection);
      },
    );
    const instance = expressWs(express(), gate, {
      leaveRouterUntouched: true,
      wsOptions: { maxPayload: maxIncomingBytes, maxFragments, perMessageDeflate: false },
    });
    for (const path of streamPaths) instance.app.ws(path, attach);
    ends.push(
      end,
      plant.onTick(onTick),
      plant.onDevices(onDevices),
      options.every(options.pingIntervalMs, () => {
        for (const client of clients) checkClient(client);
      }),
      () => {
        instance.getWss().close();
      },
    );
  }

  /** Closes with 1001; who does not answer in time is cut off. */
  function closeClients(): Promise<void> {
    const open = [...clients];
    if (open.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const cutOff = setTimeout(() => {
        for (const { socket } of open) socket.terminate();
      }, options.closeTimeoutMs);
      let left = open.length;
      for (const { socket, outbox } of open) {
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

  function endpoint(): string | null {
    const address = server.address() as AddressInfo | null;
    if (!address) return null;
    return `ws://${hostAndPort(address.address, address.port)}${streamPaths[0]}`;
  }

  return {
    module: 'WS',
    comm: 'websocket',
    get clients() {
      return clients.size;
    },
    start() {
      if (state === 'stopped') {
        state = 'listening';
        listen();
      }
      return Promise.resolve();
    },
    stop() {
      if (state === 'stopped') return ending;
      state = 'stopped';
      ending = closeClients().then(() => {
        for (const end of ends.splice(0)) end();
        log.flush();
      });
      return ending;
    },
    status(): AdapterStatus {
      return {
        enabled: true,
        state,
        detail: null,
        endpoint: endpoint(),
        peers: clients.size,
        lastActivityMs: counters.lastActivityMs,
        rxCount: counters.rx,
        txCount: tally.sent,
        errorCount: counters.errors,
        droppedCount: tally.dropped,
      };
    },
  };
}
