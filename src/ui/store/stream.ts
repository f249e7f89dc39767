/**
 * The telemetry stream: one WebSocket for all devices, with a snapshot of each, or in a fleet with one message in columns.
 * Snapshots are displayed per animation frame, not per message.
 */
import { effect, signal } from '@preact/signals';
import { get, perform } from '../api/call';
import type { ReplyOf } from '../api/call';
import { timeOfDay } from '../look/format';
import { shown } from './shown';

/** Telemetry of one device in the stream. */
export type Snapshot = Omit<ReplyOf<'devices'>['devices'][number], 'name' | 'alarms' | 'modbus' | 'charge_point_id'>;

type Summary = ReplyOf<'overview'>['devices'][number];
/** State of a device in the words of its kind. */
export type KindState = Summary['kind_state'];
/** Name of a limit of the power. */
export type LimitKey = NonNullable<Summary['limited_by']>;

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

/** Number of the newest tick that came while the page was in sight; -1: none yet. */
export const tick = signal(-1);

/** Time of day of the simulated clock at the newest tick, in its zone; null: the stream has none of it. */
let clockTime: string | null = null;

/**
 * Time of day at a tick of an answer, or at a later tick of the stream. Components that call it while rendering must
 * read `frame` too.
 */
export function clockTimeSince(atTick: number, time: string): string {
  return clockTime !== null && link.peek().state === 'open' && tick.peek() > atTick ? clockTime : time;
}

const latest = new Map<number, Snapshot>();
const listeners = new Set<(snapshot: Snapshot) => void>();

/**
 * The newest snapshot of a device. Components that call it while rendering must read `frame` too. In a fleet it comes
 * by a stream of its own, which stays open while the device is asked for.
 */
export function snapshotOf(index: number): Snapshot | undefined {
  if (form === 'fleet') followDevice(index);
  return latest.get(index);
}

/** Calls back with each snapshot of some devices as it arrives. @returns function that removes the listener */
export function onSnapshot(indexes: readonly number[], listener: (snapshot: Snapshot) => void): () => void {
  const listen = (snapshot: Snapshot) => {
    if (indexes.includes(snapshot.device_index)) listener(snapshot);
  };
  listeners.add(listen);
  const follow = () => {
    if (form === 'fleet') for (const index of indexes) followDevice(index);
  };
  follow();
  const timer = setInterval(follow, unusedMs / 2);
  return () => {
    listeners.delete(listen);
    clearInterval(timer);
  };
}

/** Figures of a device for lists and maps. */
export interface Figures {
  readonly powerKw: number;
  readonly reactiveKvar: number;
  readonly socPct: number | null;
  /** line to neutral; null: a fleet has only the percentage */
  readonly voltageV: number | null;
  /** of the nominal voltage; null: not in the stream of a small site */
  readonly voltagePct: number | null;
  readonly frequencyHz: number | null;
  /** null: not in the stream of a small site */
  readonly state: KindState | null;
  readonly limitedBy: LimitKey | null;
}

const figures = new Map<number, Figures>();

/** The newest figures of a device, in both forms of the stream. Components that call it must read `frame` too. */
export function figuresOf(index: number): Figures | undefined {
  return figures.get(index);
}

/** Forgets removed devices. */
export function keepOnly(indexes: ReadonlySet<number>): void {
  for (const index of figures.keys()) {
    if (indexes.has(index)) continue;
    latest.delete(index);
    figures.delete(index);
  }
  useFormFor(indexes.size);
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
  requestAnimationFrame(() => {
    drawing = false;
    frame.value += 1;
  });
}

function noteTick(number: number): void {
  messageAtMs = Date.now();
  if (document.hidden) return;
  if (number !== tick.peek()) tick.value = number;
  drawSoon();
}

function take(snapshot: Snapshot): void {
  const { device_index: index, metrics } = snapshot;
  latest.set(index, snapshot);
  if (form === 'snapshots')
    figures.set(index, {
      powerKw: metrics.power_kw,
      reactiveKvar: metrics.reactive_power_kvar,
      socPct: metrics.state_of_charge_pct,
      voltageV: metrics.voltage_ln_v,
      voltagePct: null,
      frequencyHz: metrics.frequency_hz,
      state: null,
      limitedBy: null,
    });
  clockTime = snapshot.clock_time;
  for (const listener of listeners) listener(snapshot);
  noteTick(snapshot.tick);
}

/** A message of all devices in columns. */
interface FleetMessage {
  readonly tick: number;
  readonly sim_time: string;
  readonly index: readonly number[];
  readonly p_kw: readonly number[];
  readonly q_kvar: readonly number[];
  readonly v_pct: readonly number[];
  readonly soc_pct: readonly (number | null)[];
  readonly state: readonly number[];
  readonly limited_by: readonly (number | null)[];
  /** words of the codes, in the first message only */
  readonly codes?: FleetCodes;
}

interface FleetCodes {
  readonly state: readonly KindState[];
  readonly limited_by: readonly LimitKey[];
}

let codes: FleetCodes = { state: [], limited_by: [] };

function takeFleet(message: FleetMessage): void {
  clockTime = timeOfDay(message.sim_time);
  codes = message.codes ?? codes;
  message.index.forEach((index, at) => {
    figures.set(index, {
      powerKw: message.p_kw[at] ?? 0,
      reactiveKvar: message.q_kvar[at] ?? 0,
      socPct: message.soc_pct[at] ?? null,
      voltageV: null,
      voltagePct: message.v_pct[at] ?? null,
      frequencyHz: null,
      state: codes.state[message.state[at] ?? -1] ?? null,
      limitedBy: codes.limited_by[message.limited_by[at] ?? -1] ?? null,
    });
  });
  noteTick(message.tick);
}

/** Messages per second that a page can use. */
const maxRate = 4;
/** Number of devices above which the stream has one message for all of them. */
export const manyDevices = 30;

type Form = 'snapshots' | 'fleet';

let form: Form = 'snapshots';
let main: WebSocket | null = null;

/** True while the other side refuses the form of a fleet, as a gateway does. */
let isFleetRefused = false;

/** True if figures of so many devices come as one message for all. */
export const isFleet = (count: number): boolean => count > manyDevices && !isFleetRefused;

const formFor = (count: number): Form => (isFleet(count) ? 'fleet' : 'snapshots');

/** Opens the stream again in the other form when devices have joined or left. */
function useFormFor(count: number): void {
  if (main === null || formFor(count) === form) return;
  main.onclose = null;
  main.close();
  connect(formFor(count));
}

const addressOf = (query: string) => `${location.origin.replace(/^http/, 'ws')}/api/sim/ws/telemetry?${query}`;

interface DeviceStream {
  readonly socket: WebSocket;
  usedAtMs: number;
}

/** Streams of single devices beside that of a fleet. */
const deviceStreams = new Map<number, DeviceStream>();
const maxDeviceStreams = 8;
/** Time after which the stream of a device that nobody asks for is closed, ms. */
const unusedMs = 10_000;

function followDevice(index: number): void {
  const usedAtMs = performance.now();
  const present = deviceStreams.get(index);
  if (present !== undefined) {
    present.usedAtMs = usedAtMs;
    return;
  }
  if (deviceStreams.size >= maxDeviceStreams || link.peek().state !== 'open') return;
  const socket = new WebSocket(addressOf(`device=${index}&max_rate=${maxRate}`));
  socket.onmessage = ({ data }: MessageEvent<string>) => take(JSON.parse(data) as Snapshot);
  socket.onclose = () => deviceStreams.delete(index);
  deviceStreams.set(index, { socket, usedAtMs });
}

function closeUnused(): void {
  const nowMs = performance.now();
  for (const { socket, usedAtMs } of deviceStreams.values())
    if (form !== 'fleet' || nowMs - usedAtMs > unusedMs) socket.close();
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
  effect(() => {
    if (shown.value > 0) drawSoon();
  });
  setInterval(() => {
    watchAge();
    closeUnused();
  }, 1000);
}

/** Opens the stream in the form for the number of devices, and reopens it whenever it ends. */
function openStream(): void {
  isFleetRefused = false;
  perform(get('server-info')).then(
    ({ device_count: count }) => connect(formFor(count)),
    () => retryLater(),
  );
}

/** Opens the stream; a handshake that fails in the form of a fleet is made again in the plain one. */
function connect(next: Form): void {
  form = next;
  let isOpen = false;
  const socket = new WebSocket(addressOf(`${form === 'fleet' ? 'form=fleet&' : ''}max_rate=${maxRate}`));
  socket.onopen = () => {
    isOpen = true;
    main = socket;
    waitMs = firstWaitMs;
    lostAtMs = null;
    messageAtMs = Date.now();
    opened.value += 1;
    link.value = { state: 'open' };
  };
  socket.onmessage = ({ data }: MessageEvent<string>) => {
    if (next === 'fleet') takeFleet(JSON.parse(data) as FleetMessage);
    else take(JSON.parse(data) as Snapshot);
  };
  socket.onclose = () => {
    main = null;
    isFleetRefused = next === 'fleet' && !isOpen;
    if (isFleetRefused) connect('snapshots');
    else retryLater();
  };
}
