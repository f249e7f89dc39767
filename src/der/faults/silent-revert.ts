/** The fault `silent_revert`: functions switch themselves off again. */
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { Timer } from '../../core/time/scheduler.ts';
import { targetSlots } from '../../sunspec/faults/targets.ts';
import type { Layout, PointSlot } from '../../sunspec/map/layout.ts';
import { originOf, strikesNow } from './effect.ts';
import type { Effect, EffectHost } from './effect.ts';
import { functionsOf, targetedPoints } from './function-points.ts';
import type { FunctionPoints } from './function-points.ts';

/** Functions with a point in the target; without a target those of 704. */
export function revertedFunctions(layout: Layout, target: ReadonlySet<PointSlot> | null): readonly FunctionPoints[] {
  return functionsOf(layout).filter(({ enable, setPoints }) =>
    target === null ? enable.modelId === 704 : [enable, ...setPoints].some((slot) => target.has(slot)),
  );
}

export function silentRevert(fault: ActiveFault, afterS: number, host: EffectHost): Effect {
  const { bank, scheduler } = host;
  const functions = revertedFunctions(
    bank.layout,
    targetedPoints(bank.layout, targetSlots(bank.layout, fault.facts.target)),
  );
  const running = new Map<PointSlot, Timer>();

  function stop(enable: PointSlot): void {
    const timer = running.get(enable);
    if (timer) scheduler.cancel(timer);
    running.delete(enable);
  }

  /** Restarts the timer if the fault strikes. */
  function begin(enable: PointSlot): void {
    stop(enable);
    if (!strikesNow(fault, host)) return;
    const since = host.now();
    running.set(
      enable,
      scheduler.at(addSeconds(since, afterS), () => {
        running.delete(enable);
        // a fault that has spent its count ignores that the function was enabled again
        if (fault.remaining === 0 && (bank.provenance(enable)?.at ?? since) > since) return;
        if (bank.value(enable) === 'ENABLED') bank.assign(originOf(fault), [{ slot: enable, value: 'DISABLED' }]);
      }),
    );
  }

  let looked = false;
  return {
    fault,
    look() {
      // for functions already enabled the time runs from the begin of the fault
      if (!looked) for (const { enable } of functions) if (bank.value(enable) === 'ENABLED') begin(enable);
      looked = true;
    },
    prepare({ changed, commit }) {
      for (const { enable, setPoints } of functions) {
        if (!changed.some((slot) => slot === enable || setPoints.includes(slot))) continue;
        if (commit.value(enable) === 'ENABLED') begin(enable);
        else stop(enable);
      }
      return null;
    },
    restart() {
      running.clear();
      looked = false;
    },
    end(spent) {
      if (!spent) for (const { enable } of functions) stop(enable);
    },
  };
}
