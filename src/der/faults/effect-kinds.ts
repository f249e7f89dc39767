/** The faults that act at one device, by kind. */
import { keptRecord } from '../../core/kept.ts';
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import { plainOrigin } from '../../core/origin.ts';
import type { Origin } from '../../core/origin.ts';
import { targetSlots, holds } from '../../sunspec/faults/targets.ts';
import type { PointSlot, Layout } from '../../sunspec/map/layout.ts';
import { keptPoint, pointOf, unscaledPointOf } from '../../sunspec/map/layout-table.ts';
import { strikesNow, originOf } from './effect.ts';
import type { Effect, EffectHost, WriteUnderFaults } from './effect.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { keptTimer } from '../../core/time/scheduler.ts';
import type { KeptTimer, Timer } from '../../core/time/scheduler.ts';
import { functionsOf, targetedPoints } from './function-points.ts';
import type { FunctionPoints } from './function-points.ts';

/** The fault `adoption`: nothing is adopted, and the result reads as completed, in progress, or failed. */
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
    kept: () =>
      keptRecord(
        () => ({ stuck: Array.from(stuck, ([slot, by]) => ({ request: keptPoint(slot), by: plainOrigin(by) })) }),
        (saved) => {
          stuck.clear();
          for (const { request: point, by } of saved.stuck) {
            const request = pointOf(bank.layout, point);
            if (request) stuck.set(request, by);
          }
        },
      ),
  };
}

/** Points of a write that a fault may strike: targeted, and not struck by another fault. @param target null: all */
function openPoints({ changed, withheld }: WriteUnderFaults, target: ReadonlySet<PointSlot> | null): PointSlot[] {
  return changed.filter((slot) => (target === null || target.has(slot)) && !withheld.has(slot));
}

/** Withholds points of a write from physics. @returns the number of the write, for `EffectiveRegisters.arrive` */
function withhold(
  { withheld }: WriteUnderFaults,
  slots: readonly PointSlot[],
  fault: ActiveFault,
  { effective }: EffectHost,
): number {
  for (const slot of slots) withheld.add(slot);
  return effective.hold(slots, fault);
}

/** A fault that has spent its count keeps its hold: a lost write stays lost until the point is written again. */
const endOfHold =
  (fault: ActiveFault, { effective }: EffectHost) =>
  (spent: boolean) => {
    if (!spent) effective.releaseAll(fault.facts.id);
  };

/** The fault `ignore_effect`: physics does not follow a write. */
export function ignoreEffect(fault: ActiveFault, host: EffectHost): Effect {
  const target = targetedPoints(host.bank.layout, targetSlots(host.bank.layout, fault.facts.target));
  return {
    fault,
    prepare(write) {
      const slots = openPoints(write, target);
      if (slots.length > 0 && strikesNow(fault, host)) withhold(write, slots, fault, host);
      return null;
    },
    end: endOfHold(fault, host),
  };
}

/** Maximum number of delayed writes kept separately per fault; further ones arrive with the newest. */
const maxUnderWay = 1000;

/** Delayed writes that reach physics together. */
interface Arrival {
  /** number of the newest of these writes */
  write: number;
  readonly words: Map<PointSlot, Buffer>;
}

function octetsOf(bank: EffectHost['bank'], { address, def: { size } }: PointSlot): Buffer {
  const at = 2 * (address - bank.layout.base);
  return Buffer.from(bank.image().subarray(at, at + 2 * size));
}

/** True unless a point acts at the moment of its write, which cannot be delayed. */
const canBeDelayed = ({ def, modelId, path }: PointSlot) =>
  def.effect !== 'latch' && modelId !== 802 && !(modelId === 123 && path === 'Conn');

/** The fault `late_effect`: physics follows a write later. */
export function lateEffect(fault: ActiveFault, delayS: number, host: EffectHost): Effect {
  const { bank, effective, scheduler } = host;
  const target = targetedPoints(bank.layout, targetSlots(bank.layout, fault.facts.target));
  const underWay = new Map<Timer, Arrival>();

  /** Lets the words of a committed write arrive after the delay. @param write its number */
  function delay(write: number, slots: readonly PointSlot[]): void {
    const newest = underWay.size < maxUnderWay ? undefined : [...underWay.values()].at(-1);
    const arrival: Arrival = newest ?? { write, words: new Map() };
    arrival.write = write;
    for (const slot of slots) arrival.words.set(slot, octetsOf(bank, slot));
    if (newest !== undefined) return;
    start(arrival, (arrive) => scheduler.at(addSeconds(host.now(), delayS), arrive));
  }

  function start(arrival: Arrival, set: (arrive: () => void) => Timer): void {
    const timer = set(() => {
      underWay.delete(timer);
      effective.arrive(arrival.write, arrival.words, fault);
      host.refresh();
    });
    underWay.set(timer, arrival);
  }

  return {
    fault,
    prepare(write) {
      const slots = openPoints(write, target).filter(canBeDelayed);
      if (slots.length === 0 || !strikesNow(fault, host)) return null;
      const writeNumber = withhold(write, slots, fault, host);
      return () => {
        delay(writeNumber, slots);
      };
    },
    restart() {
      underWay.clear();
    },
    end(spent) {
      if (spent) return;
      for (const timer of underWay.keys()) scheduler.cancel(timer);
      effective.releaseAll(fault.facts.id);
    },
    get isUnderWay() {
      return underWay.size > 0;
    },
    kept: () =>
      keptRecord(
        () => ({
          underWay: Array.from(underWay, ([timer, { write, words }]) => ({
            ...keptTimer(timer),
            write,
            words: Array.from(words, ([slot, octets]) => ({ slot: keptPoint(slot), octets: octets.toString('hex') })),
          })),
        }),
        (saved) => {
          underWay.clear();
          for (const { write, words, ...timer } of saved.underWay) {
            const octets = words.flatMap(({ slot: point, octets: text }) => {
              const slot = unscaledPointOf(bank.layout, point);
              return slot ? [[slot, Buffer.from(text, 'hex')] as const] : [];
            });
            start({ write, words: new Map(octets) }, (arrive) => scheduler.again(timer, arrive));
          }
        },
      ),
  };
}

/** The fault `enable_edge`: physics follows a write when its function is enabled again. */
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
        return rises ? [] : openPoints(write, setPoints);
      });
      if (struck.length > 0 && strikesNow(fault, host)) withhold(write, struck, fault, host);
      return null;
    },
    end: endOfHold(fault, host),
  };
}

/** The fault `reboot`: strikes when its condition becomes true; without a condition once, when the fault begins. */
export function reboot(fault: ActiveFault, offS: number, forget: boolean, host: EffectHost): Effect {
  let heldBefore = false;
  let powerUp: Timer | null = null;

  function comeUp(): void {
    powerUp = null;
    host.powerUp();
  }

  function start(): void {
    host.powerDown(forget, originOf(fault));
    powerUp = host.scheduler.at(addSeconds(host.now(), offS), comeUp);
  }

  return {
    fault,
    update() {
      // the condition does not apply to measurements while the device is off
      if (host.isDown()) return;
      const holdsNow = holds(host.bank, fault.facts.when);
      const begins = holdsNow && !heldBefore;
      heldBefore = holdsNow;
      if (begins && fault.strikes(host.deviceIndex)) start();
    },
    restart() {
      powerUp = null;
    },
    end(spent) {
      if (spent || powerUp === null) return;
      host.scheduler.cancel(powerUp);
      comeUp();
    },
    get isUnderWay() {
      return powerUp !== null;
    },
    kept: () =>
      keptRecord(
        () => ({ heldBefore, powerUp: powerUp && keptTimer(powerUp) }),
        (saved) => {
          heldBefore = saved.heldBefore;
          powerUp = saved.powerUp && host.scheduler.again(saved.powerUp, comeUp);
        },
      ),
  };
}

/** The fault `second_limiter`: whether it strikes is decided at each tick, until the next one. */
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
    kept: () =>
      keptRecord(
        () => ({ presentLimitPct }),
        (saved) => {
          ({ presentLimitPct } = saved);
        },
      ),
  };
}

const noCodes: readonly string[] = [];

/** The fault `alarm`: whether it strikes is decided at each tick, until the next one. */
export function falseAlarm(fault: ActiveFault, codes: readonly string[], host: EffectHost): Effect {
  let presentCodes = noCodes;
  return {
    fault,
    get alarmCodes() {
      return presentCodes;
    },
    update() {
      presentCodes = strikesNow(fault, host) ? codes : noCodes;
    },
    kept: () =>
      keptRecord(
        () => ({ presentCodes }),
        (saved) => {
          ({ presentCodes } = saved);
        },
      ),
  };
}

/** Functions with a point in the target; without a target those of 704. */
export function revertedFunctions(layout: Layout, target: ReadonlySet<PointSlot> | null): readonly FunctionPoints[] {
  return functionsOf(layout).filter(({ enable, setPoints }) =>
    target === null ? enable.modelId === 704 : [enable, ...setPoints].some((slot) => target.has(slot)),
  );
}

/** The fault `silent_revert`: functions switch themselves off some time after a write. */
export function silentRevert(fault: ActiveFault, afterS: number, host: EffectHost): Effect {
  const { bank, scheduler } = host;
  const functions = revertedFunctions(
    bank.layout,
    targetedPoints(bank.layout, targetSlots(bank.layout, fault.facts.target)),
  );
  /** by enable point */
  const timers = new Map<PointSlot, { readonly timer: Timer; readonly since: SimTime }>();

  function stopTimer(enable: PointSlot): void {
    const running = timers.get(enable);
    if (running) scheduler.cancel(running.timer);
    timers.delete(enable);
  }

  function revert(enable: PointSlot, since: SimTime): void {
    timers.delete(enable);
    // a fault that has spent its count does not revert a later enable
    if (fault.remaining === 0 && (bank.provenance(enable)?.at ?? since) > since) return;
    if (bank.value(enable) === 'ENABLED') bank.assign(originOf(fault), [{ slot: enable, value: 'DISABLED' }]);
  }

  /** Stops the timer, and starts it anew if the fault strikes. */
  function restartTimer(enable: PointSlot): void {
    stopTimer(enable);
    if (!strikesNow(fault, host)) return;
    const since = host.now();
    const timer = scheduler.at(addSeconds(since, afterS), () => {
      revert(enable, since);
    });
    timers.set(enable, { timer, since });
  }

  function setAgain(point: string | number, since: SimTime, kept: KeptTimer): void {
    const enable = pointOf(bank.layout, point);
    if (!enable) return;
    const timer = scheduler.again(kept, () => {
      revert(enable, since);
    });
    timers.set(enable, { timer, since });
  }

  let hasBegun = false;
  return {
    fault,
    update() {
      // for functions already enabled the time runs from the begin of the fault
      if (!hasBegun) for (const { enable } of functions) if (bank.value(enable) === 'ENABLED') restartTimer(enable);
      hasBegun = true;
    },
    prepare({ changed, commit }) {
      for (const { enable, setPoints } of functions) {
        if (!changed.some((slot) => slot === enable || setPoints.includes(slot))) continue;
        if (commit.value(enable) === 'ENABLED') restartTimer(enable);
        else stopTimer(enable);
      }
      return null;
    },
    restart() {
      timers.clear();
      hasBegun = false;
    },
    end(spent) {
      if (!spent) for (const { enable } of functions) stopTimer(enable);
    },
    get isUnderWay() {
      return timers.size > 0;
    },
    kept: () =>
      keptRecord(
        () => ({
          hasBegun,
          timers: Array.from(timers, ([slot, { timer, since }]) => ({
            enable: keptPoint(slot),
            since,
            ...keptTimer(timer),
          })),
        }),
        (saved) => {
          ({ hasBegun } = saved);
          timers.clear();
          for (const { enable, since, ...timer } of saved.timers) setAgain(enable, since, timer);
        },
      ),
  };
}
