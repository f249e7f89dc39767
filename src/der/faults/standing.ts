/** Faults that stand from tick to tick: each tick is an occasion of theirs, and what it decides holds to the next. */
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import { strikesAt } from './effect.ts';
import type { Effect, EffectHost } from './effect.ts';

export function secondLimiter(fault: ActiveFault, limitPct: number, host: EffectHost): Effect {
  let now: number | null = null;
  return {
    fault,
    get limitPct() {
      return now;
    },
    look() {
      const next = strikesAt(fault, host) ? limitPct : null;
      if (next === now) return;
      now = next;
      host.refresh();
    },
  };
}

const none: readonly string[] = [];

export function standingAlarm(fault: ActiveFault, codes: readonly string[], host: EffectHost): Effect {
  let now = none;
  return {
    fault,
    get alarmCodes() {
      return now;
    },
    look() {
      now = strikesAt(fault, host) ? codes : none;
    },
  };
}
