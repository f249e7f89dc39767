/** Instants of the simulated clock: times of day, cron patterns, and triggers without a condition. */
import { createTask, validateDetailed } from 'node-cron';
import { zoneOffsetMs } from '../../core/time/zone.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Rule, Trigger } from '../model.ts';
import type { ScenarioPlant } from './host.ts';

const msPerHour = 3_600_000;
const msPerDay = 24 * msPerHour;
/** Search step inside months that the pattern excludes. */
const skippedMs = 20 * msPerHour;
/** Days without a match after which the search ends: five years. */
const searchedDays = 366 * 5;

/** The pattern of a time of day: once a day, apart from days on which the clock is changed. */
export function patternOf(ofDayS: number): string {
  return `${ofDayS % 60} ${Math.floor(ofDayS / 60) % 60} ${Math.floor(ofDayS / 3600)} * * *`;
}

/** Cron patterns on the simulated clock: node-cron decides, this class proposes candidate dates. */
export class CronPattern {
  readonly #task: { match(date: Date): boolean };
  readonly #fields: {
    readonly second: readonly number[];
    readonly minute: readonly number[];
    readonly hour: readonly number[];
    readonly month: readonly number[];
  };
  readonly #zone: string;

  constructor(pattern: string, zone: string) {
    this.#task = createTask(pattern, () => undefined, { timezone: zone });
    const { fields } = validateDetailed(pattern);
    const all = (length: number) => Array.from({ length }, (_, n) => n);
    const { second, minute, hour, month } = fields ?? { second: [0], minute: all(60), hour: all(24), month: all(13) };
    const sorted = (values: readonly number[]) => [...values].sort((a, b) => a - b);
    this.#fields = { second: sorted(second), minute: sorted(minute), hour, month };
    this.#zone = zone;
  }

  /** The next match after `afterMs`, ms since the epoch; null: none within five years. */
  next(afterMs: number): number | null {
    const end = afterMs + searchedDays * msPerDay;
    // offsets of zones from UTC are multiples of a quarter of an hour
    for (
      let quarter = Math.floor(afterMs / (msPerHour / 4)) * (msPerHour / 4);
      quarter < end;
      quarter += msPerHour / 4
    ) {
      const matchMs = this.#within(quarter, afterMs);
      if (matchMs !== null) return matchMs;
      // a jump within excluded months cannot skip the first hour of a month that matches
      if (!this.#hasMonth(quarter) && !this.#hasMonth(quarter + skippedMs)) quarter += skippedMs;
    }
    return null;
  }

  #hasMonth(ms: number): boolean {
    return this.#fields.month.includes(new Date(ms + zoneOffsetMs(this.#zone, ms)).getUTCMonth() + 1);
  }

  #within(quarter: number, afterMs: number): number | null {
    const local = new Date(quarter + zoneOffsetMs(this.#zone, quarter));
    const { second, minute, hour, month } = this.#fields;
    if (!hour.includes(local.getUTCHours()) || !month.includes(local.getUTCMonth() + 1)) return null;
    const firstMinute = local.getUTCMinutes();
    for (const m of minute) {
      if (m < firstMinute || m >= firstMinute + 15) continue;
      for (const s of second) {
        const at = quarter + (m - firstMinute) * 60_000 + s * 1000;
        if (at > afterMs && this.#task.match(new Date(at))) return at;
      }
    }
    return null;
  }
}

/** Instants of triggers without a condition. */
export class Instants {
  readonly #plant: Pick<ScenarioPlant, 'time' | 'dateMs' | 'simAt'>;
  readonly #start: SimTime;
  readonly #patterns = new Map<string, CronPattern>();

  /** @param start start of the scenario */
  constructor(plant: Pick<ScenarioPlant, 'time' | 'dateMs' | 'simAt'>, start: SimTime) {
    this.#plant = plant;
    this.#start = start;
  }

  /** The next instant of a trigger; null: none. @param last the instant of the previous step */
  dueOf(trigger: Exclude<Trigger, { readonly kind: 'when' }>, last: SimTime): SimTime | null {
    const { sim, timezone } = this.#plant.time;
    switch (trigger.kind) {
      case 'now':
        return sim;
      case 'at':
        return addSeconds(this.#start, trigger.offsetS);
      case 'after':
        return addSeconds(last, trigger.delayS);
      case 'time':
      case 'cron': {
        const text = trigger.kind === 'time' ? patternOf(trigger.ofDayS) : trigger.pattern;
        const next = this.#pattern(text, timezone).next(this.#plant.dateMs(sim));
        return next === null ? null : this.#plant.simAt(next);
      }
    }
  }

  #pattern(text: string, timezone: string): CronPattern {
    const key = `${timezone} ${text}`;
    const pattern = this.#patterns.get(key) ?? new CronPattern(text, timezone);
    this.#patterns.set(key, pattern);
    return pattern;
  }
}

/** The trigger of a rule, without a timeout: the rule waits until the end of the scenario. */
export function endless(trigger: Extract<Rule['trigger'], { readonly kind: 'cron' | 'when' }>): Trigger {
  return trigger.kind === 'when' ? { ...trigger, timeoutS: Infinity, realTimeoutS: null } : trigger;
}
