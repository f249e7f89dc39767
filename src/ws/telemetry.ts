import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import expressWs from 'express-ws';
import type { WebSocket } from 'ws';
import type { Adapter, AdapterStatus } from '../core/adapter.ts';
import type { WallClock } from '../core/clock.ts';
import { createHttpGuard } from '../core/http-guard.ts';
import type { HttpGuardConfig } from '../core/http-guard.ts';
import { hostAndPort } from '../core/listen.ts';
import type { Logger } from '../core/log.ts';
import type { Plant, TickEvent } from '../sunspec/map/device.ts';
import { guardUpgrades, streamPaths } from './handshake.ts';
import type { Selection } from './handshake.ts';
import { createOutbox } from './outbox.ts';
import type { Outbox } from './outbox.ts';

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
  /** waiting messages per client; at least two per device are kept */
  readonly queue: number;
  readonly pingIntervalMs: number;
  /** without a pong for this long the client is closed */
  readonly pongTimeoutMs: number;
  /** a client that takes nothing for this long is closed */
  readonly stallTimeoutMs: number;
  /** how long `stop` waits for the closing handshakes */
  readonly closeTimeoutMs: number;
  /** repeats a function; the returned one ends it */
  readonly every: (ms: number, run: () => void) => () => void;
}

const defaults: TelemetryOptions = {
  maxClients: 1024,
  queue: 64,
  pingIntervalMs: 30_000,
  pongTimeoutMs: 60_000,
  stallTimeoutMs: 60_000,
  closeTimeoutMs: 500,
  every(ms, run) {
    const timer = setInterval(run, ms);
    timer.unref();
    return () => { clearInterval(timer); };
  },
};

const maxIncomingBytes = 4096;
const closeCodes = { goingAway: 1001, policy: 1008, internal: 1011 } as const;

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
  const { plant, server, logger, clock } = context;
  const options = { ...defaults, ...context.options };
  const clients = new Set<Client>();
  const selections = new WeakMap<IncomingMessage, Selection>();
  const counters = { rx: 0, tx: 0, errors: 0, lastActivityMs: null as number | null };
  const ends: (() => void)[] = [];
  let state: 'stopped' | 'listening' = 'stopped';
  let ending: Promise<void> = Promise.resolve();

  function deliver(client: Client, event: TickEvent): void {
    for (const { snapshot, json } of event.published) {
      if (client.device === null || client.device === snapshot.device_index) client.outbox.push(json);
    }
  }

  function forget(client: Client, code: number): void {
    if (!clients.delete(client)) return;
    const { sent, dropped } = client.outbox;
    client.outbox.close();
    counters.tx += sent;
    logger.info(`client ${client.peer} disconnected with code ${code}: ${sent} messages sent, ${dropped} dropped`);
  }

  function attach(socket: WebSocket, request: IncomingMessage): void {
    const { remoteAddress, remotePort } = request.socket;
    const client: Client = {
      socket,
      outbox: createOutbox(socket, {
        capacity: Math.max(options.queue, 2 * plant.devices.length), nowMs: () => clock.monotonicMs(),
      }),
      device: selections.get(request)?.device ?? null,
      peer: `${remoteAddress ?? 'unknown'}:${remotePort ?? 0}`,
      lastPongMs: clock.monotonicMs(),
    };
    clients.add(client);
    counters.lastActivityMs = clock.nowMs();
    socket.on('message', () => {
      counters.rx += 1;
      counters.lastActivityMs = clock.nowMs();
    });
    socket.on('pong', () => { client.lastPongMs = clock.monotonicMs(); });
    // the library answers broken frames with their own close code; the close event follows
    socket.on('error', () => { counters.errors += 1; });
    socket.on('close', (code) => { forget(client, code); });
    deliver(client, plant.latest);
  }

  function checkClient(client: Client): void {
    if (client.outbox.stalledMs() >= options.stallTimeoutMs) {
      logger.warning(`client ${client.peer} takes nothing and is closed`);
      client.socket.close(closeCodes.policy, 'nothing taken');
      // the close frame waits behind what the client does not take
      client.socket.terminate();
    } else if (clock.monotonicMs() - client.lastPongMs >= options.pongTimeoutMs) {
      logger.warning(`client ${client.peer} does not answer pings and is closed`);
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
        logger.error(`client ${client.peer}: ${error instanceof Error ? error.message : String(error)}`);
        client.socket.close(closeCodes.internal);
      }
    }
    if (clients.size > 0) counters.lastActivityMs = clock.nowMs();
  }

  function listen(): void {
    const { gate, end } = guardUpgrades(server, {
      guard: createHttpGuard(context.guard),
      deviceExists: (index) => plant.devices.some((device) => device.index === index),
      clients: () => clients.size,
      maxClients: options.maxClients,
      stopping: () => state === 'stopped' || context.stopping?.() === true,
    }, (request, selection) => { selections.set(request, selection); });
    const instance = expressWs(express(), gate, {
      leaveRouterUntouched: true,
      wsOptions: { maxPayload: maxIncomingBytes, perMessageDeflate: false },
    });
    for (const path of streamPaths) instance.app.ws(path, attach);
    ends.push(end, plant.onTick(onTick), options.every(options.pingIntervalMs, () => {
      for (const client of clients) checkClient(client);
    }), () => { instance.getWss().close(); });
  }

  /** Closes with 1001; who does not answer in time is cut off. */
  function closeClients(): Promise<void> {
    const open = [...clients];
    if (open.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const cutOff = setTimeout(() => { for (const { socket } of open) socket.terminate(); }, options.closeTimeoutMs);
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
    get clients() { return clients.size; },
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
      ending = closeClients().then(() => { for (const end of ends.splice(0)) end(); });
      return ending;
    },
    status(): AdapterStatus {
      const sent = [...clients].reduce((sum, { outbox }) => sum + outbox.sent, counters.tx);
      return {
        enabled: true,
        state,
        detail: null,
        endpoint: endpoint(),
        peers: clients.size,
        lastActivityMs: counters.lastActivityMs,
        rxCount: counters.rx,
        txCount: sent,
        errorCount: counters.errors,
      };
    },
  };
}
