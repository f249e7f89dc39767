/** The stream of the timeline: each new entry as one message, and an entry that has grown again. */
import type { IncomingMessage, Server } from 'node:http';
import type { WebSocket } from 'ws';
import { timelineEntryJson } from '../contract/timeline.ts';
import { leaveHttp } from '../core/http/connections.ts';
import { createHttpGuard } from '../core/http/http-guard.ts';
import type { HttpGuardConfig } from '../core/http/http-guard.ts';
import { memo } from '../core/lazy.ts';
import type { SimTime, WallClock } from '../core/time/clock.ts';
import { callEvery, callLater } from '../core/time/timers.ts';
import type { Every, Later } from '../core/time/timers.ts';
import type { TimelineEntry } from '../core/timeline/entry.ts';
import type { Timeline } from '../core/timeline/timeline.ts';
import { textFrame } from './frames.ts';
import { guardUpgrades } from './handshake.ts';
import { loadLibrary } from './library.ts';
import { Liveness, livenessLimits } from './liveness.ts';
import { Outbox } from './outbox.ts';

/** Entries are sent together this often, so that a broadcast to many devices is few messages, ms. */
const gatherMs = 100;
const bounds = { messages: 1000, bytes: 1024 * 1024, minMessages: 1 };
const goingAway = 1001;

export interface TimelineStreamOptions {
  readonly timeline: Timeline;
  readonly dateMs: (at: SimTime) => number;
  /** the HTTP server whose port the stream shares */
  readonly server: Server;
  readonly guard: HttpGuardConfig;
  readonly clock: WallClock;
  /** clients of the other streams, which the limit includes */
  readonly otherClients: () => number;
  readonly maxClients: () => number;
  readonly stopping: () => boolean;
  readonly later?: Later;
  readonly every?: Every;
}

interface Client {
  readonly socket: WebSocket;
  readonly outbox: Outbox;
  readonly liveness: Liveness;
}

export class TimelineStream {
  readonly #options: TimelineStreamOptions;
  readonly #clients = new Set<Client>();
  /** entries that clients do not have yet, or have with a lower count */
  readonly #unsent = new Set<TimelineEntry>();
  #cancelSend: (() => void) | null = null;
  #ends: (() => void)[] = [];
  readonly #tally = { sent: 0, dropped: 0 };

  constructor(options: TimelineStreamOptions) {
    this.#options = options;
  }

  get clients(): number {
    return this.#clients.size;
  }

  /** Accepts clients from here on. */
  open(): void {
    const { timeline, server, guard, maxClients, otherClients, stopping, every = callEvery } = this.#options;
    const library = memo(loadLibrary);
    this.#ends = [
      guardUpgrades(
        server,
        {
          isTimeline: true,
          guard: createHttpGuard(guard),
          deviceExists: () => false,
          clients: () => this.#clients.size + otherClients(),
          maxClients,
          stopping,
          prepare: library,
        },
        ({ request, socket, head }) => {
          library().handleUpgrade(request, socket, head, (webSocket) => {
            leaveHttp(socket);
            this.#attach(webSocket, request);
          });
        },
      ),
      timeline.onEntry((entry) => {
        this.#take(entry);
      }),
      every(livenessLimits.pingIntervalMs, () => {
        for (const { liveness } of this.#clients) liveness.check();
      }),
    ];
  }

  /** Closes with 1001, and cuts off clients that do not answer in the next turns of the event loop. */
  close(): void {
    for (const end of this.#ends.splice(0)) end();
    this.#cancelSend?.();
    this.#cancelSend = null;
    this.#unsent.clear();
    for (const { socket, outbox } of this.#clients) {
      outbox.close();
      socket.close(goingAway, 'simulator stops');
      setImmediate(() => {
        socket.terminate();
      });
    }
    this.#clients.clear();
  }

  #take(entry: TimelineEntry): void {
    if (this.#clients.size === 0) return;
    this.#unsent.add(entry);
    const { later = callLater } = this.#options;
    this.#cancelSend ??= later(gatherMs, () => {
      this.#send();
    });
  }

  #send(): void {
    this.#cancelSend = null;
    const entries = [...this.#unsent].sort((a, b) => a.id - b.id);
    this.#unsent.clear();
    for (const entry of entries) {
      const frame = textFrame(Buffer.from(JSON.stringify(timelineEntryJson(entry, this.#options.dateMs))));
      for (const { outbox } of this.#clients) outbox.push(frame);
    }
  }

  #attach(socket: WebSocket, request: IncomingMessage): void {
    const { clock } = this.#options;
    const nowMs = () => clock.monotonicMs();
    const outbox = new Outbox({ socket: request.socket, channel: socket, bounds, tally: this.#tally, nowMs });
    const liveness = new Liveness({
      socket,
      tcp: request.socket,
      outbox,
      clock,
      limits: livenessLimits,
      warn: () => undefined,
    });
    const client: Client = { socket, outbox, liveness };
    this.#clients.add(client);
    // the library answers broken frames with a close code; the close event follows
    socket.on('error', () => undefined);
    socket.on('close', () => {
      outbox.close();
      this.#clients.delete(client);
    });
  }
}
