import { setImmediate } from 'node:timers/promises';
import { options } from 'preact';

/** Effects that wait for the next frame of a screen. */
let effects: (() => void)[] = [];
let asked = 0;

/** Effects run when the page settles: no frame comes by itself. */
export function holdEffects(): void {
  options.requestAnimationFrame = (run) => effects.push(run);
}

/** Notes that the page asked the daemon for something. */
export function noteCall(): void {
  asked += 1;
}

/** Draws what has changed, runs its effects, and draws what answers change, until nothing is asked and nothing is left. */
export async function settle(): Promise<void> {
  let before: number;
  do {
    before = asked;
    await setImmediate();
    const due = effects;
    effects = [];
    for (const run of due) run();
    await setImmediate();
  } while (asked > before || effects.length > 0);
}
