/** The faults that act at one device, by kind. */
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import type { Origin } from '../../core/origin.ts';
import { targetSlots, holds } from '../../sunspec/faults/targets.ts';
import type { PointSlot, Layout } from '../../sunspec/map/layout.ts';
import { strikesNow, originOf } from './effect.ts';
import type { Effect, EffectHost, WriteUnderFaults } from './effect.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { Timer } from '../../core/time/scheduler.ts';
import { functionsOf, targetedPoints } from './function-points.ts';
import type { FunctionPoints } from './function-points.ts';

/** The fault `adoption`: the result of an adoption is false, stays in progress, or is a failure. */
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

/** Points of a write that belong to the fault and are not struck by another. @param meant null: all */
function own({ changed, taken }: WriteUnderFaults, meant: ReadonlySet<PointSlot> | null): PointSlot[] {
  return changed.filter((slot) => (meant === null || meant.has(slot)) && !taken.has(slot));
}

function take(
  { taken }: WriteUnderFaults,
  slots: readonly PointSlot[],
  fault: ActiveFault,
  { effective }: EffectHost,
): number {
  for (const slot of slots) taken.add(slot);
  return effective.hold(slots, fault);
}

/** A fault that has spent its count keeps its hold: a lost write stays lost until the point is written again. */
const endOfHold =
  (fault: ActiveFault, { effective }: EffectHost) =>
  (spent: boolean) => {
    if (!spent) effective.releaseAll(fault);
  };

/** Faults that withhold a write from physics: permanently, for a time, or until the function is enabled again. */
export function ignoreEffect(fault: ActiveFault, host: EffectHost): Effect {
  const meant = targetedPoints(host.bank.layout, targetSlots(host.bank.layout, fault.facts.target));
  return {
    fault,
    prepare(write) {
      const slots = own(write, meant);
      if (slots.length > 0 && strikesNow(fault, host)) take(write, slots, fault, host);
      return null;
    },
    end: endOfHold(fault, host),
  };
}

/** Maximum number of delayed writes kept separately per fault; further ones arrive with the newest. */
const maxUnderWay = 1000;

interface Arrival {
  /** number of the newest write in it */
  write: number;
  readonly words: Map<PointSlot, Buffer>;
}

function octetsOf(bank: EffectHost['bank'], { address, def: { size } }: PointSlot): Buffer {
  const at = 2 * (address - bank.layout.base);
  return Buffer.from(bank.image().subarray(at, at + 2 * size));
}

/** Points that act at the moment of their write cannot be delayed. */
const isState = ({ def, modelId, path }: PointSlot) =>
  def.effect !== 'latch' && modelId !== 802 && !(modelId === 123 && path === 'Conn');

export function lateEffect(fault: ActiveFault, delayS: number, host: EffectHost): Effect {
  const { bank, effective, scheduler } = host;
  const meant = targetedPoints(bank.layout, targetSlots(bank.layout, fault.facts.target));
  const underWay = new Map<Timer, Arrival>();

  /** Holds the words of a committed write until they arrive. @param number number of the write */
  function delay(number: number, slots: readonly PointSlot[]): void {
    const newest = underWay.size < maxUnderWay ? undefined : [...underWay.values()].at(-1);
    const arrival: Arrival = newest ?? { write: number, words: new Map() };
    arrival.write = number;
    for (const slot of slots) arrival.words.set(slot, octetsOf(bank, slot));
    if (newest !== undefined) return;
    const timer = scheduler.at(addSeconds(host.now(), delayS), () => {
      underWay.delete(timer);
      effective.arrive(arrival.write, arrival.words, fault);
      host.refresh();
    });
    underWay.set(timer, arrival);
  }

  return {
    fault,
    prepare(write) {
      const slots = own(write, meant).filter(isState);
      if (slots.length === 0 || !strikesNow(fault, host)) return null;
      const number = take(write, slots, fault, host);
      return () => {
        delay(number, slots);
      };
    },
    restart() {
      underWay.clear();
    },
    end(spent) {
      if (spent) return;
      for (const timer of underWay.keys()) scheduler.cancel(timer);
      effective.releaseAll(fault);
    },
  };
}

export function enableEdge(fault: ActiveFault, host: EffectHost): Effect {
  const { bank, effective } = host;
  const target = targetedPoints(bank.layout, targetSlots(bank.layout, fault.facts.target));
  const functions = functionsOf(bank.layout).map(({ enable, setPoints }) => ({
    enable,
    setPoints: new Set(
      target === null || target.has(enable) ? setPoints : setPoints.filter((slot) => target.has(slot)),
    ),
  }));
  const isOn = (value: unknown) => value === 'ENABLED';
  return {
    fault,
    prepare(write) {
      const struck = functions.flatMap(({ enable, setPoints }) => {
        const rises = !isOn(bank.value(enable)) && isOn(write.commit.value(enable));
        if (rises) effective.release(setPoints, fault);
        return rises ? [] : own(write, setPoints);
      });
      if (struck.length > 0 && strikesNow(fault, host)) take(write, struck, fault, host);
      return null;
    },
    end: endOfHold(fault, host),
  };
}

/** Reboots when the fault begins and each time its condition becomes true; once without a condition. */
export function reboot(fault: ActiveFault, offS: number, forget: boolean, host: EffectHost): Effect {
  let held = false;
  let off: Timer | null = null;

  function start(): void {
    host.powerDown(forget, originOf(fault));
    off = host.scheduler.at(addSeconds(host.now(), offS), () => {
      off = null;
      host.powerUp();
    });
  }

  return {
    fault,
    update() {
      // the condition does not apply to measurements while the device is off
      if (host.isDown()) return;
      const holdsNow = holds(host.bank, fault.facts.when);
      const begins = holdsNow && !held;
      held = holdsNow;
      if (begins && fault.strikes(host.deviceIndex)) start();
    },
    restart() {
      off = null;
    },
    end(spent) {
      if (spent || off === null) return;
      host.scheduler.cancel(off);
      off = null;
      host.powerUp();
    },
  };
}

/** Faults decided at each tick; the decision holds until the next one. */
export function secondLimiter(fault: ActiveFault, limitPct: number, host: EffectHost): Effect {
  let presentLimitPct: number | null = null;
  return {
    fault,
    get limitPct() {
      return presentLimitPct;
    },
    update() {
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
    update() {
      presentCodes = strikesNow(fault, host) ? codes : none;
    },
  };
}

/** Functions with a point in the target; without a target those of 704. */
export function revertedFunctions(layout: Layout, target: ReadonlySet<PointSlot> | null): readonly FunctionPoints[] {
  return functionsOf(layout).filter(({ enable, setPoints }) =>
    target === null ? enable.modelId === 704 : [enable, ...setPoints].some((slot) => target.has(slot)),
  );
}

/** The fault `silent_revert`: functions switch themselves off again. */
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

  let hasBegun = false;
  return {
    fault,
    update() {
      // for functions already enabled the time runs from the begin of the fault
      if (!hasBegun) for (const { enable } of functions) if (bank.value(enable) === 'ENABLED') begin(enable);
      hasBegun = true;
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
      hasBegun = false;
    },
    end(spent) {
      if (!spent) for (const { enable } of functions) stop(enable);
    },
  };
}
