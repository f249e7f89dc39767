/** The pace of figures: eyes cannot follow more, and drawing each tick of a fast clock would cost a core. */
import { effect, signal } from '@preact/signals';
import { frame } from './stream';

/** Least time between two figures in the same place, ms. */
const gapMs = 1000;

const shown = signal(0);
let shownAtMs = -Infinity;
let timer: ReturnType<typeof setTimeout> | undefined;

function showNow(): void {
  timer = undefined;
  shownAtMs = performance.now();
  shown.value += 1;
}

effect(() => {
  if (frame.value === 0 || timer !== undefined) return;
  const waitMs = shownAtMs + gapMs - performance.now();
  if (waitMs <= 0) showNow();
  else timer = setTimeout(showNow, waitMs);
});

/** Renders the calling component again with newer snapshots, at most once per second. */
export function useFigures(): number {
  return shown.value;
}
