/** Faults that are decided with each tick; the decision holds until the next one. */
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import { strikesNow } from './effect.ts';
import type { Effect, EffectHost } from './effect.ts';

export function secondLimiter(fault: ActiveFault, limitPct: number, host: EffectHost): Effect {
  let now: number | null = null;
  return {
    fault,
    get limitPct() {
      return now;
    },
    look() {
      const next = strikesNow(fault, host) ? limitPct : null;
      if (next === now) return;
      now = next;
      host.refresh();
    },
  };
}

const none: readonly string[] = [];

export function falseAlarm(fault: ActiveFault, codes: readonly string[], host: EffectHost): Effect {
  let now = none;
  return {
    fault,
    get alarmCodes() {
      return now;
    },
    look() {
      now = strikesNow(fault, host) ? codes : none;
    },
  };
}
