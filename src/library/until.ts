/** Waits until a value passes a test: by steps while the clock is paused, otherwise by polling. */
import { checkedNumber, refusal } from './checks.ts';
import { DerbenchError } from './error.ts';
import type { WaitOptions, Wanted } from './options.ts';
import type { Time } from './replies.ts';
import type { Sample } from './sample.ts';
import { tickSeconds } from './time.ts';

/** The simulator and the clock that waiting needs. */
export interface Waiting {
  readonly sample: () => Promise<Sample>;
  readonly time: () => Promise<Time>;
  /** runs one tick, or a shorter one that ends at an instant */
  readonly step: (until: string | null) => Promise<Time>;
  readonly nowMs: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

const wordOf = ({ value, symbol }: Sample) => symbol ?? String(value);

/** @throws DerbenchError `validation` for a value that no point can have, such as null */
function checkWanted(wanted: unknown): void {
  const isValue = typeof wanted === 'number' ? !Number.isNaN(wanted) : ['string', 'boolean'].includes(typeof wanted);
  if (!isValue && typeof wanted !== 'function') throw refusal(wanted, 'a number, a word, or a test of the value');
}

async function passes(sample: Sample, wanted: Wanted): Promise<boolean> {
  if (sample.value === null) return false;
  if (typeof wanted === 'function') return wanted(Number(sample.value), wordOf(sample));
  return sample.value === wanted || sample.symbol === wanted;
}

function shownSample(sample: Sample): string {
  if (sample.value === null) return 'none';
  return sample.symbol == null ? String(sample.value) : `${sample.symbol} (${String(sample.value)})`;
}

const shownWanted = (wanted: Wanted) =>
  typeof wanted === 'function' ? 'what the test waits for' : JSON.stringify(wanted);

/** Milliseconds as seconds without rounding errors. */
const shownS = (ms: number) => String(Math.round(ms) / 1000);

/**
 * The first value that passes; the first check is immediate.
 * @throws DerbenchError `timeout` with the last value and the time waited; `validation`
 */
export async function waitUntil(
  name: string,
  wanted: Wanted,
  { sample, time, step, nowMs, pause }: Waiting,
  { timeoutS = 60, simulated }: WaitOptions,
): Promise<Sample> {
  checkWanted(wanted);
  checkedNumber('timeoutS', timeoutS, 0);
  let current = await time();
  const bySimulation = simulated ?? current.mode === 'paused';
  const [firstTick, firstMs] = [current.tick, nowMs()];
  const elapsedOf = (at: Time, firstSim: number) =>
    bySimulation ? Date.parse(at.sim_time) - firstSim : nowMs() - firstMs;
  const firstSim = Date.parse(current.sim_time);
  for (;;) {
    const last = await sample();
    if (await passes(last, wanted)) return last;
    const elapsedMs = elapsedOf(current, firstSim);
    const leftMs = timeoutS * 1000 - elapsedMs;
    if (leftMs <= 0)
      throw new DerbenchError({
        code: 'timeout',
        detail:
          `${name} did not become ${shownWanted(wanted)} within ${shownS(elapsedMs)} s of ` +
          `${bySimulation ? 'simulated' : 'real'} time (${current.tick - firstTick} ticks); its last value was ${shownSample(last)}`,
      });
    if (current.mode === 'paused') {
      const isLast = bySimulation && leftMs < tickSeconds(current) * 1000;
      current = await step(isLast ? new Date(firstSim + timeoutS * 1000).toISOString() : null);
    } else {
      // twice per tick, so that none is passed over
      await pause(Math.min(Math.max(current.tick_interval_s * 500, 20), 1000, bySimulation ? 1000 : leftMs));
      current = await time();
    }
  }
}
