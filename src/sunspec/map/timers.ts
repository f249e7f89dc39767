/**
 * Timers of the map in simulated time: adoptions that take time, and reversions (models 704, 705, 706, 711, 712). The
 * groups of reversions follow from the marks in the model tables: a set-point `X` reverts to `XRvrt`, an enable to
 * `...EnaRvrt`, a curve model to set `RvrtCrv`.
 */
import { errorText } from '../../core/errors.ts';
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { keptTimer } from '../../core/time/scheduler.ts';
import type { Scheduler, Timer } from '../../core/time/scheduler.ts';
import { plainOrigin } from '../../core/origin.ts';
import type { Origin } from '../../core/origin.ts';
import type { CommitClock, RegisterBank } from './register-bank.ts';
import type { Commit, CommitParticipant, AdoptionOutcome } from './commit.ts';
import { memoPerLayout, adoptionPoints, isInSet1 } from './layout.ts';
import type { Layout, ModelPlace, PointSlot, AdoptionPoints } from './layout.ts';
import { keptPoint, pointOf } from './layout-table.ts';
import type { AnyPointValue } from './types.ts';

interface ReversionGroup {
  readonly timer: PointSlot;
  readonly remaining: PointSlot;
  readonly enable: PointSlot;
  /** points whose write restarts the timer */
  readonly members: ReadonlySet<PointSlot>;
  /** [point, the point whose value it takes on expiry] */
  readonly pairs: readonly (readonly [PointSlot, PointSlot])[];
  /** null: the model has no set to adopt on expiry */
  readonly adoption: (AdoptionPoints & { readonly reversion: PointSlot }) | null;
}

function partnerPath(path: string): string {
  const dot = path.indexOf('.');
  return dot < 0 ? `${path}Rvrt` : `${path.slice(0, dot)}Rvrt${path.slice(dot)}`;
}

function groupsOfModel(layout: Layout, { def: { id }, slots }: ModelPlace): ReversionGroup[] {
  const marked = slots.filter((slot) => slot.def.reversion !== undefined);
  return [...new Set(marked.map((slot) => slot.def.reversion))].flatMap((timerName = '') => {
    const members = marked.filter((slot) => slot.def.reversion === timerName);
    const timer = layout.slot(id, timerName);
    const remaining = layout.slot(id, timerName.replace(/Tms$/, 'Rem'));
    const enable = members.find((slot) => slot.path.endsWith('Ena'));
    if (!timer || !remaining || !enable) return [];
    const pairs = members.flatMap((slot) => {
      const partner = layout.slot(id, partnerPath(slot.path));
      // a device may have only one of two set-points, or a set-point without a reversion value
      return slot.implemented && partner?.implemented ? [[slot, partner] as const] : [];
    });
    const points = adoptionPoints(layout, id);
    const adoption = points?.reversion ? { ...points, reversion: points.reversion } : null;
    const restarting = new Set([...members, timer, ...(adoption ? [adoption.request] : [])]);
    return [{ timer, remaining, enable, members: restarting, pairs, adoption }];
  });
}

const groupsOf = memoPerLayout((layout): readonly ReversionGroup[] =>
  layout.models.flatMap((place) => groupsOfModel(layout, place)),
);

/**
 * The timer points (RvrtTms) by the points whose effect the timer ends: the points whose write restarts the timer,
 * and set 1 if the timer adopts another set.
 */
export const reversionTimers = memoPerLayout((layout): ReadonlyMap<PointSlot, PointSlot> => {
  const timers = new Map<PointSlot, PointSlot>();
  for (const { timer, members, adoption } of groupsOf(layout)) {
    if (!timer.implemented) continue;
    for (const slot of members) if (slot !== timer) timers.set(slot, timer);
    if (!adoption) continue;
    for (const slot of layout.slots) if (slot.modelId === timer.modelId && isInSet1(slot)) timers.set(slot, timer);
  }
  // timers of the classic models run as timers of the current models, with which they share their settings
  for (const slot of layout.slots) {
    const timer = slot.def.reversion === undefined ? undefined : layout.slot(slot.modelId, slot.def.reversion);
    if (timer?.implemented === true && slot.writable && !timers.has(slot)) timers.set(slot, timer);
  }
  return timers;
});

const byReversion: Origin = { source: 'reversion' };

/**
 * The running reversion timers of one device. A timer runs while its function is enabled and its RvrtTms is above 0.
 * Every write of the enable, a set-point, an adoption request or RvrtTms restarts it; RvrtTms 0 or disabling the
 * function ends it. After expiry it is idle until the next such write. (The model leaves open whether a set-point alone
 * restarts the timer; here it does.)
 */
export class ReversionTimers implements CommitParticipant {
  readonly #bank: RegisterBank;
  readonly #scheduler: Scheduler;
  readonly #clock: CommitClock;
  readonly #running = new Map<ReversionGroup, Timer>();
  readonly #onError: (message: string) => void;

  /** @param onError receives the reason why stored reversion values were refused at expiry */
  constructor(bank: RegisterBank, scheduler: Scheduler, clock: CommitClock, onError: (message: string) => void) {
    this.#bank = bank;
    this.#scheduler = scheduler;
    this.#clock = clock;
    this.#onError = onError;
  }

  /** Starts, restarts or ends the timers of the groups that were written. */
  prepare(commit: Commit): null {
    // skips writes by a reversion timer; the end of a hold has the same source and does restart the timer of a master
    if (commit.by === byReversion) return null;
    for (const group of groupsOf(this.#bank.layout)) {
      if (!commit.points.some((slot) => group.members.has(slot))) continue;
      const seconds = commit.value(group.timer);
      const enabled = commit.value(group.enable) === 'ENABLED';
      this.#stop(group);
      if (enabled && typeof seconds === 'number' && seconds > 0) {
        this.#running.set(
          group,
          this.#scheduler.at(addSeconds(this.#clock.sim(), seconds), () => {
            this.#expire(group);
          }),
        );
        commit.set(group.remaining, seconds);
      } else commit.set(group.remaining, 0);
    }
    return null;
  }

  /** Publishes the seconds left, rounded up: 0 means idle. */
  publish(time: SimTime): void {
    for (const [group, timer] of this.#running) {
      this.#bank.publish(group.remaining, Math.max(0, Math.ceil(secondsBetween(time, timer.due))));
    }
  }

  /** Ends all timers without their effect (reset of the device). */
  clear(): void {
    for (const group of [...this.#running.keys()]) {
      this.#stop(group);
      this.#bank.publish(group.remaining, 0);
    }
  }

  /** State that a restart keeps; restored after the scheduler. */
  kept(): Kept {
    return keptRecord(
      () => ({
        running: Array.from(this.#running, ([{ timer }, running]) => ({
          point: keptPoint(timer),
          ...keptTimer(running),
        })),
      }),
      ({ running }) => {
        this.#running.clear();
        for (const { point, ...timer } of running) {
          const group = groupsOf(this.#bank.layout).find((each) => each.timer === pointOf(this.#bank.layout, point));
          if (!group) continue;
          const expire = () => {
            this.#expire(group);
          };
          this.#running.set(group, this.#scheduler.again(timer, expire));
        }
      },
    );
  }

  #stop(group: ReversionGroup): void {
    const timer = this.#running.get(group);
    if (!timer) return;
    this.#scheduler.cancel(timer);
    this.#running.delete(group);
  }

  #expire(group: ReversionGroup): void {
    this.#running.delete(group);
    this.#bank.publish(group.remaining, 0);
    const bank = this.#bank;
    const values = group.pairs.map(([slot, partner]) => ({ slot, value: bank.value(partner) }));
    if (group.adoption) {
      const { request, reversion } = group.adoption;
      const number = bank.value(reversion);
      if (typeof number === 'number' && number > 0) values.push({ slot: request, value: number });
    }
    const refusal = this.#revert(group, values);
    if (refusal !== null) this.#onError(`reversion of ${group.timer.modelId}.${group.timer.path}: ${refusal}`);
  }

  /** @returns why the values were refused; null when they were written */
  #revert(
    group: ReversionGroup,
    values: readonly { readonly slot: PointSlot; readonly value: AnyPointValue }[],
  ): string | null {
    if (values.length === 0) return null;
    try {
      this.#bank.assign(byReversion, values);
    } catch (error) {
      // a set-point that other settings no longer allow must not keep the function from ending
      const off = values.filter(({ slot, value }) => slot === group.enable && value === 'DISABLED');
      if (off.length > 0) this.#bank.assign(byReversion, off);
      return errorText(error);
    }
    const result = group.adoption?.result;
    return result && this.#bank.value(result) === 'FAILED' ? 'the stored set could not be adopted' : null;
  }
}

/** Duration and outcome of adoptions. While one takes time, its result point reads IN_PROGRESS. */
interface AdoptionTimersOptions {
  /** duration of an adoption, s; 0: inside the commit */
  readonly adoptionS: number;
  /** outcome in place of the usual one; null: the usual one */
  readonly overrule?: (request: PointSlot, by: Origin) => AdoptionOutcome | null;
}

/** An adoption that takes time. */
interface Adoption {
  readonly timer: Timer;
  readonly request: PointSlot;
  /** writer of the request */
  readonly by: Origin;
}

/** Settles the adoption requests of a bank. A later request for a model replaces the running one. */
export class AdoptionTimers implements CommitParticipant {
  readonly #bank: RegisterBank;
  readonly #scheduler: Scheduler;
  readonly #clock: CommitClock;
  readonly #options: AdoptionTimersOptions;
  /** by model, the last one; it may have ended */
  readonly #underWay = new Map<number, Adoption>();

  constructor(bank: RegisterBank, scheduler: Scheduler, clock: CommitClock, options: AdoptionTimersOptions) {
    this.#bank = bank;
    this.#scheduler = scheduler;
    this.#clock = clock;
    this.#options = options;
  }

  prepare(commit: Commit): null {
    for (const request of commit.adoptions) commit.settle(request, this.#outcome(request, commit.by));
    return null;
  }

  #outcome(request: PointSlot, by: Origin): AdoptionOutcome {
    // a reversion adopts at the instant at which its timer ends
    if (by.source === 'reversion') return 'ADOPT';
    const overruled = this.#options.overrule?.(request, by) ?? null;
    if (overruled !== null) {
      this.#drop(request);
      return overruled;
    }
    if (this.#options.adoptionS <= 0) return 'ADOPT';
    this.#start(request, by);
    return 'IN_PROGRESS';
  }

  #start(request: PointSlot, by: Origin): void {
    this.#drop(request);
    const due = addSeconds(this.#clock.sim(), this.#options.adoptionS);
    const timer = this.#scheduler.at(due, () => {
      this.#bank.completeAdoption(request, by);
    });
    this.#underWay.set(request.modelId, { timer, request, by });
  }

  /** State that a restart keeps; restored after the scheduler. */
  kept(): Kept {
    return keptRecord(
      () => ({
        underWay: [...this.#underWay.values()].flatMap(({ timer, request, by }) =>
          timer.waiting ? [{ request: keptPoint(request), by: plainOrigin(by), ...keptTimer(timer) }] : [],
        ),
      }),
      ({ underWay }) => {
        this.#underWay.clear();
        for (const { request: point, by, ...kept } of underWay) {
          const request = pointOf(this.#bank.layout, point);
          if (!request) continue;
          const timer = this.#scheduler.again(kept, () => {
            this.#bank.completeAdoption(request, by);
          });
          this.#underWay.set(request.modelId, { timer, request, by });
        }
      },
    );
  }

  #drop({ modelId }: PointSlot): void {
    const before = this.#underWay.get(modelId);
    if (before) this.#scheduler.cancel(before.timer);
    this.#underWay.delete(modelId);
  }
}
