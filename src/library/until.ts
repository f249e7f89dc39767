/**
 * Values of a device, and waiting until one passes a test: by steps while the clock is paused, otherwise by polling.
 */
import { checkedNumber, refusal } from './checks.ts';
import { DerbenchError } from './error.ts';
import type { WaitOptions, ValueCondition } from './options.ts';
import type { Time, RegisterModel, Snapshot } from './replies.ts';
import { tickSeconds } from './time.ts';

/** The simulator and the clock that waiting needs. */
interface Waiting {
  readonly sample: () => Promise<Sample>;
  readonly time: () => Promise<Time>;
  /** runs one tick, or a shorter one that ends at an instant */
  readonly step: (until: string | null) => Promise<Time>;
  readonly nowMs: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

const symbolOrText = ({ value, symbol }: Sample) => symbol ?? String(value);

/** @throws DerbenchError `validation` for a value that no point can have, such as null */
function checkCondition(condition: unknown): void {
  const isValue =
    typeof condition === 'number' ? !Number.isNaN(condition) : ['string', 'boolean'].includes(typeof condition);
  if (!isValue && typeof condition !== 'function') throw refusal(condition, 'a number, a word, or a test of the value');
}

async function passes(sample: Sample, condition: ValueCondition): Promise<boolean> {
  if (sample.value === null) return false;
  if (typeof condition === 'function') return condition(Number(sample.value), symbolOrText(sample));
  return sample.value === condition || sample.symbol === condition;
}

function shownSample(sample: Sample): string {
  if (sample.value === null) return 'none';
  return sample.symbol == null ? String(sample.value) : `${sample.symbol} (${String(sample.value)})`;
}

const shownCondition = (condition: ValueCondition) =>
  typeof condition === 'function' ? 'what the test waits for' : JSON.stringify(condition);

/** Milliseconds as seconds, rounded to milliseconds. */
const shownS = (ms: number) => String(Math.round(ms) / 1000);

/**
 * The first value that passes; the first check is immediate.
 * @throws DerbenchError `timeout` with the last value and the time waited; `validation`
 */
export async function waitUntil(
  name: string,
  condition: ValueCondition,
  { sample, time, step, nowMs, pause }: Waiting,
  { timeoutS = 60, simulated }: WaitOptions,
): Promise<Sample> {
  checkCondition(condition);
  checkedNumber('timeoutS', timeoutS, 0);
  let current = await time();
  const inSimulatedTime = simulated ?? current.mode === 'paused';
  const [startTick, startMs] = [current.tick, nowMs()];
  const elapsedOf = (at: Time, startSimMs: number) =>
    inSimulatedTime ? Date.parse(at.sim_time) - startSimMs : nowMs() - startMs;
  const startSimMs = Date.parse(current.sim_time);
  for (;;) {
    const lastSample = await sample();
    if (await passes(lastSample, condition)) return lastSample;
    const elapsedMs = elapsedOf(current, startSimMs);
    const leftMs = timeoutS * 1000 - elapsedMs;
    if (leftMs <= 0)
      throw new DerbenchError({
        code: 'timeout',
        detail:
          `${name} did not become ${shownCondition(condition)} within ${shownS(elapsedMs)} s of ` +
          `${inSimulatedTime ? 'simulated' : 'real'} time (${current.tick - startTick} ticks); ` +
          `its last value was ${shownSample(lastSample)}`,
      });
    if (current.mode === 'paused') {
      const isLast = inSimulatedTime && leftMs < tickSeconds(current) * 1000;
      current = await step(isLast ? new Date(startSimMs + timeoutS * 1000).toISOString() : null);
    } else {
      // about twice per tick, so that hardly a tick is missed
      await pause(Math.min(Math.max(current.tick_interval_s * 500, 20), 1000, inSimulatedTime ? 1000 : leftMs));
      current = await time();
    }
  }
}

/** One value of a device, by its register point or its path in the snapshot. */
export interface Sample {
  /** null: the device does not have it */
  readonly value: number | string | boolean | null;
  /** name of an enumeration value */
  readonly symbol?: string | null;
}

/** Readers of the register map and of the snapshot. */
interface SampleSource {
  readonly registers: (model: string, point: string) => Promise<RegisterModel>;
  readonly snapshot: () => Promise<Snapshot>;
}

function memberOf(name: string, snapshot: Snapshot): Sample {
  let value: unknown = snapshot;
  for (const step of name.split('.'))
    value =
      typeof value === 'object' && value !== null && Object.hasOwn(value, step)
        ? (value as Readonly<Record<string, unknown>>)[step]
        : undefined;
  if (value === null || ['number', 'string', 'boolean'].includes(typeof value))
    return { value: value as Sample['value'] };
  throw new DerbenchError({
    code: 'validation',
    detail: `given "${name}"; allowed: a point such as 701.W, or a member of the snapshot such as metrics.power_kw`,
    issues: [{ name, detail: 'is not a value of the snapshot' }],
  });
}

/** @param name `701.W`, `705.Crv[0].Pt[1].V`, `metrics.power_kw` @throws DerbenchError for a name of neither form */
export async function sampleOf(name: string, { registers, snapshot }: SampleSource): Promise<Sample> {
  const [, model, point] = /^(\d+(?::\d+)?)\.(.+)$/.exec(name) ?? [];
  if (model === undefined || point === undefined) return memberOf(name, await snapshot());
  const { points } = await registers(model, point);
  const { value = null, symbol = null } = points[0] ?? {};
  return { value, symbol };
}

/** @throws DerbenchError `not-a-number` */
export function numberOf(name: string, { value }: Sample): number {
  if (typeof value === 'number') return value;
  const reason = value === null ? 'the device does not have it' : `it is ${JSON.stringify(value)}`;
  throw new DerbenchError({ code: 'not-a-number', detail: `${name} is no number: ${reason}` });
}

/** @throws DerbenchError `not-a-text` */
export function wordOf(name: string, { value, symbol }: Sample): string {
  if (typeof symbol === 'string') return symbol;
  if (typeof value === 'string') return value;
  const reason = value === null ? 'the device does not have it' : `it is ${value}`;
  throw new DerbenchError({ code: 'not-a-text', detail: `${name} is no text: ${reason}` });
}
