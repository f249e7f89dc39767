/** Counts up `changes` when the timeline has a new entry: answers that follow changes are read again then. */
import { effect } from '@preact/signals';
import { changes } from './live';
import { link } from './stream';

/** Least time between two counts, ms: a burst of entries is one change. */
const gapMs = 1000;

let countedAtMs = -Infinity;
let timer: ReturnType<typeof setTimeout> | undefined;

function countUp(): void {
  timer = undefined;
  countedAtMs = performance.now();
  changes.value += 1;
}

function noteChange(): void {
  if (timer !== undefined) return;
  const waitMs = countedAtMs + gapMs - performance.now();
  if (waitMs <= 0) countUp();
  else timer = setTimeout(countUp, waitMs);
}

/** Follows the timeline while the telemetry stream is open, which also says when the daemon is back. */
export function followChanges(): void {
  effect(() => {
    if (link.value.state !== 'open') return undefined;
    const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/api/sim/ws/timeline`);
    socket.onmessage = noteChange;
    return () => socket.close();
  });
}
