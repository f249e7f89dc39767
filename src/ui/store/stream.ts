/**
 * The telemetry stream: one WebSocket for all devices. Snapshots are displayed per animation frame, not per message.
 */
import { signal } from '@preact/signals';
import type { ReplyOf } from '../api/call';

/** Telemetry of one device in the stream. */
export type Snapshot = Omit<ReplyOf<'devices'>['devices'][number], 'name' | 'alarms' | 'modbus' | 'charge_point_id'>;

type Link =
  | { readonly state: 'connecting' }
  | { readonly state: 'open' }
  | { readonly state: 'lost'; readonly sinceMs: number; readonly retryAtMs: number };

export const link = signal<Link>({ state: 'connecting' });

/** Number of frames with newer snapshots; components that read it render again. */
export const frame = signal(0);

/** Renders the calling component again at each frame with newer snapshots. */
export function useFrame(): number {
  return frame.value;
}

/** Number of the newest tick; -1: none yet. */
export const tick = signal(-1);

const latest = new Map<number, Snapshot>();
const arrivedMs = new Map<number, number>();
const listeners = new Set<(snapshot: Snapshot) => void>();

/** The newest snapshot of a device. Components that call it while rendering must read `frame` too. */
export function snapshotOf(index: number): Snapshot | undefined {
  return latest.get(index);
}

/** Arrival of the newest snapshot of a device, ms of `performance.now()`. */
export function arrivalOf(index: number): number | undefined {
  return arrivedMs.get(index);
}

/** Calls back with each snapshot as it arrives. @returns function that removes the listener */
export function onSnapshot(listener: (snapshot: Snapshot) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Forgets removed devices. */
export function keepOnly(indexes: ReadonlySet<number>): void {
  for (const index of latest.keys()) {
    if (indexes.has(index)) continue;
    latest.delete(index);
    arrivedMs.delete(index);
  }
}

/** Number of times the stream was opened: after each, logs and histories are read from the start. */
export const opened = signal(0);

/** Real time between ticks, ms; null: the clock is paused, and silence means nothing. */
export const tickEveryMs = signal<number | null>(null);

/** Wall time of the newest message, ms, while values are old: no connection, or silence for 3 ticks, at least 3 s. */
export const staleSinceMs = signal<number | null>(null);

const staleTicks = 3;
let messageAtMs = Date.now();

function watchAge(): void {
  const tickMs = tickEveryMs.peek();
  const silent = tickMs !== null && Date.now() - messageAtMs > Math.max(tickMs * staleTicks, 3000);
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
  // hidden pages have no animation frames
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
let retryTimer: ReturnType<typeof setTimeout> | undefined;

function retryLater(): void {
  lostAtMs ??= Date.now();
  // half of the delay is random, so that many pages do not reconnect at once
  const inMs = waitMs / 2 + Math.random() * (waitMs / 2);
  waitMs = Math.min(waitMs * 2, maxWaitMs);
  link.value = { state: 'lost', sinceMs: lostAtMs, retryAtMs: Date.now() + inMs };
  retryTimer = setTimeout(openStream, inMs);
}

/** Opens a lost stream without the wait. */
export function retryNow(): void {
  if (link.peek().state !== 'lost') return;
  clearTimeout(retryTimer);
  openStream();
}

/** Keeps the stream open from now on. */
export function startStream(): void {
  openStream();
  setInterval(watchAge, 1000);
}

/** Opens the stream, and reopens it whenever it ends. */
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
