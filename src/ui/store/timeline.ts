/** The stream of the timeline: what has changed in the simulator, as it happens. */
import { effect, signal } from '@preact/signals';
import type { ReplyOf } from '../api/call';
import { changes } from './live';
import { link, opened } from './stream';

export type TimelineEntry = ReplyOf<'timeline'>['entries'][number];

/** Number of times the stream was opened: after each, the timeline is read from the start. */
export const timelineOpened = signal(0);

const listeners = new Set<(entry: TimelineEntry) => void>();

/** Calls back with each new entry, and with one that has grown. @returns function that removes the listener */
export function onTimelineEntry(listener: (entry: TimelineEntry) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Least time between two counts of `changes`, ms: a burst of entries is one change. */
const gapMs = 1000;

let countedAtMs = -Infinity;
let timer: ReturnType<typeof setTimeout> | undefined;

function countUp(): void {
  timer = undefined;
  // a page that is shown again reads everything
  if (document.hidden) return;
  countedAtMs = performance.now();
  changes.value += 1;
}

function noteChange(): void {
  if (timer !== undefined) return;
  const waitMs = countedAtMs + gapMs - performance.now();
  if (waitMs <= 0) countUp();
  else timer = setTimeout(countUp, waitMs);
}

function take(entry: TimelineEntry): void {
  for (const listener of listeners) listener(entry);
  noteChange();
}

const [firstWaitMs, maxWaitMs] = [5000, 300_000];
/** Grows while the stream is refused, as by a gateway, whose shards have a timeline each. */
let waitMs = firstWaitMs;
let socket: WebSocket | null = null;

function open(): void {
  socket?.close();
  const next = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/api/sim/ws/timeline`);
  socket = next;
  next.onopen = () => {
    waitMs = firstWaitMs;
    timelineOpened.value += 1;
  };
  next.onmessage = ({ data }: MessageEvent<string>) => take(JSON.parse(data) as TimelineEntry);
  next.onclose = () => {
    if (socket !== next) return;
    socket = null;
    setTimeout(() => {
      // a lost telemetry stream opens both when it is back
      if (socket === null && link.peek().state === 'open') open();
    }, waitMs);
    waitMs = Math.min(waitMs * 2, maxWaitMs);
  };
}

/** Keeps the stream open from now on, while the telemetry stream is. */
export function startTimeline(): void {
  effect(() => {
    if (opened.value > 0) open();
  });
}
