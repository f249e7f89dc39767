/** The fault `adoption`: the result of an adoption is false, stays in progress, or is a failure. */
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import type { Origin } from '../../core/origin.ts';
import { targetSlots } from '../../sunspec/faults/targets.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import { strikesNow } from './effect.ts';
import type { Effect, EffectHost } from './effect.ts';

export function adoption(fault: ActiveFault, result: 'lies' | 'stuck' | 'failed', host: EffectHost): Effect {
  const { bank } = host;
  const target = targetSlots(bank.layout, fault.facts.target);
  const models = target && new Set([...target].map(({ modelId }) => modelId));
  const stuck = new Map<PointSlot, Origin>();
  return {
    fault,
    adopting(request, by) {
      if ((models !== null && !models.has(request.modelId)) || !strikesNow(fault, host)) return null;
      if (result === 'failed') return 'FAILED';
      if (result === 'lies') return 'COMPLETED';
      stuck.set(request, by);
      return 'IN_PROGRESS';
    },
    restart() {
      stuck.clear();
    },
    end(spent) {
      if (!spent) for (const [request, by] of stuck) bank.completeAdoption(request, by);
    },
  };
}
