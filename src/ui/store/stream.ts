/** The telemetry stream: one WebSocket for all devices. Snapshots are shown per frame of the screen, not per message. */
import { signal } from '@preact/signals';
import type { ReplyOf } from '../api/call';

/** Telemetry of one device, as the stream sends it. */
export type Snapshot = Omit<ReplyOf<'devices'>['devices'][number], 'name' | 'alarms' | 'modbus' | 'charge_point_id'>;

type Link =
  | { readonly state: 'connecting' }
  | { readonly state: 'open' }
  | { readonly state: 'lost'; readonly sinceMs: number; readonly retryAtMs: number };

export const link = signal<Link>({ state: 'connecting' });

/** Counts the frames in which newer snapshots were shown: who reads it is drawn again. */
export const frame = signal(0);

/** Draws the component that calls it again with each frame that has newer snapshots. */
export function useFrame(): number {
  return frame.value;
}

/** Number of the newest tick; -1 before the first one. */
export const tick = signal(-1);

const latest = new Map<number, Snapshot>();
const arrivedMs = new Map<number, number>();
const listeners = new Set<(snapshot: Snapshot) => void>();

/** The newest snapshot of a device. Components that call this in their render read `frame` too. */
export function snapshotOf(index: number): Snapshot | undefined {
  return latest.get(index);
}

/** When the newest snapshot of a device arrived, ms of `performance.now()`. */
export function arrivalOf(index: number): number | undefined {
  return arrivedMs.get(index);
}

/** Calls back with each snapshot as it arrives. @returns ends it */
export function onSnapshot(listener: (snapshot: Snapshot) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Forgets devices that are no longer there. */
export function keepOnly(indexes: ReadonlySet<number>): void {
  for (const index of latest.keys()) {
    if (indexes.has(index)) continue;
    latest.delete(index);
    arrivedMs.delete(index);
  }
}

/** How often the stream was opened: what counts anew in a daemon that came back is read from its beginning. */
export const opened = signal(0);

/** Real time between ticks, ms; null while the clock stands: then silence means nothing. */
export const tickEveryMs = signal<number | null>(null);

/** Wall time of the newest message if what is shown is old: for three ticks nothing came, or there is no connection. */
export const staleSinceMs = signal<number | null>(null);

const staleTicks = 3;
let messageAtMs = Date.now();

function watchAge(): void {
  const every = tickEveryMs.peek();
  const silent = every !== null && Date.now() - messageAtMs > Math.max(every * staleTicks, 3000);
  staleSinceMs.value = silent || link.peek().state === 'lost' ? messageAtMs : null;
}

let drawing = false;
function drawSoon(): void {
  if (drawing) return;
  drawing = true;
  const draw = () => {
    drawing = false;
    frame.value += 1;
  };
  // no frames come in a hidden page
  if (document.hidden) setTimeout(draw, 1000);
  else requestAnimationFrame(draw);
}

function take(snapshot: Snapshot): void {
  messageAtMs = Date.now();
  latest.set(snapshot.device_index, snapshot);
  arrivedMs.set(snapshot.device_index, performance.now());
  for (const listener of listeners) listener(snapshot);
  if (snapshot.tick !== tick.peek()) tick.value = snapshot.tick;
  drawSoon();
}

const [firstWaitMs, maxWaitMs] = [500, 15_000];
let waitMs = firstWaitMs;
let lostAtMs: number | null = null;

function retryLater(): void {
  lostAtMs ??= Date.now();
  // half of the wait is random, so that many pages do not come back in the same moment
  const inMs = waitMs / 2 + Math.random() * (waitMs / 2);
  waitMs = Math.min(waitMs * 2, maxWaitMs);
  link.value = { state: 'lost', sinceMs: lostAtMs, retryAtMs: Date.now() + inMs };
  setTimeout(openStream, inMs);
}

/** Keeps the stream open from now on. */
export function startStream(): void {
  openStream();
  setInterval(watchAge, 1000);
}

/** Opens the stream, and again whenever it ends. */
function openStream(): void {
  const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/api/sim/ws/telemetry`);
  socket.onopen = () => {
    waitMs = firstWaitMs;
    lostAtMs = null;
    messageAtMs = Date.now();
    opened.value += 1;
    link.value = { state: 'open' };
  };
  socket.onmessage = ({ data }: MessageEvent<string>) => take(JSON.parse(data) as Snapshot);
  socket.onclose = retryLater;
}
