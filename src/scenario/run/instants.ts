/** The instants of triggers without a condition. */
import type { Plant } from '../../contract/plant.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Rule, Trigger } from '../model.ts';
import { CronPattern, patternOf } from './calendar.ts';

export class Instants {
  readonly #plant: Plant;
  readonly #start: SimTime;
  readonly #patterns = new Map<string, CronPattern>();

  /** @param start of the scenario */
  constructor(plant: Plant, start: SimTime) {
    this.#plant = plant;
    this.#start = start;
  }

  /** The next instant of a trigger; null: none. @param last instant of the previous step */
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

/** The trigger of a rule without a timeout: it waits until the end of the scenario. */
export function endless(trigger: Extract<Rule['trigger'], { readonly kind: 'cron' | 'when' }>): Trigger {
  return trigger.kind === 'when' ? { ...trigger, timeoutS: Infinity, realTimeoutS: null } : trigger;
}
