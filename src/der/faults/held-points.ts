/** Faults that withhold a write from physics: permanently, for a time, or until the function is enabled again. */
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { Timer } from '../../core/time/scheduler.ts';
import { targetSlots } from '../../sunspec/faults/targets.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import { strikesNow } from './effect.ts';
import type { Effect, EffectHost, WriteUnderFaults } from './effect.ts';
import { functionsOf, targetedPoints } from './function-points.ts';

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

  /** Keeps the words of a committed write until they arrive. @param number of the write */
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
