/** Faults decided at each tick; the decision holds until the next one. */
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import { strikesNow } from './effect.ts';
import type { Effect, EffectHost } from './effect.ts';

export function secondLimiter(fault: ActiveFault, limitPct: number, host: EffectHost): Effect {
  let presentLimitPct: number | null = null;
  return {
    fault,
    get limitPct() {
      return presentLimitPct;
    },
    look() {
      const next = strikesNow(fault, host) ? limitPct : null;
      if (next === presentLimitPct) return;
      presentLimitPct = next;
      host.refresh();
    },
  };
}

const none: readonly string[] = [];

export function falseAlarm(fault: ActiveFault, codes: readonly string[], host: EffectHost): Effect {
  let presentCodes = none;
  return {
    fault,
    get alarmCodes() {
      return presentCodes;
    },
    look() {
      presentCodes = strikesNow(fault, host) ? codes : none;
    },
  };
}
