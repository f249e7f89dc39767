/** The faults of one device, applied to its writes, adoptions and ticks. */
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import { keptFault, restoredFault } from '../../core/faults/kept-fault.ts';
import type { KeptFault } from '../../core/faults/kept-fault.ts';
import type { FaultKind } from '../../core/faults/kinds.ts';
import { keptParts, keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { Origin, Source } from '../../core/origin.ts';
import type { JsonValue } from '../../core/store.ts';
import { keptTimer } from '../../core/time/scheduler.ts';
import type { KeptTimer, Timer } from '../../core/time/scheduler.ts';
import {
  adoptionFault,
  alarmFault,
  deviceEffectFaults,
  enableEdgeFault,
  ignoreEffectFault,
  lateEffectFault,
  rebootFault,
  secondLimiterFault,
  silentRevertFault,
} from '../../fault-kinds/device-effect.ts';
import type { AdoptionOutcome, Commit, CommitParticipant, FollowUp } from '../../sunspec/map/commit.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import type { AnyPointValue } from '../../sunspec/map/types.ts';
import type { MapView } from '../../sunspec/map/view.ts';
import { alarmKinds } from '../device/alarms.ts';
import type { AlarmCode } from '../device/alarms.ts';
import {
  adoption,
  enableEdge,
  ignoreEffect,
  lateEffect,
  reboot,
  silentRevert,
  secondLimiter,
  falseAlarm,
} from './effect-kinds.ts';
import type { Effect, EffectHost } from './effect.ts';
import { changedBy } from './function-points.ts';

/** Sources of writes by the device itself, exempt from faults. */
const exemptSources: readonly Source[] = ['reversion', 'fault', 'default', 'profile'];

function effectOf(fault: ActiveFault, host: EffectHost): Effect | null {
  if (fault.isOf(ignoreEffectFault)) return ignoreEffect(fault, host);
  if (fault.isOf(lateEffectFault)) return lateEffect(fault, fault.parameters.delay_s, host);
  if (fault.isOf(enableEdgeFault)) return enableEdge(fault, host);
  if (fault.isOf(adoptionFault)) return adoption(fault, fault.parameters.result, host);
  if (fault.isOf(silentRevertFault)) return silentRevert(fault, fault.parameters.after_s, host);
  if (fault.isOf(secondLimiterFault)) return secondLimiter(fault, fault.parameters.limit_pct, host);
  if (fault.isOf(rebootFault)) return reboot(fault, fault.parameters.off_s, fault.parameters.forget, host);
  return fault.isOf(alarmFault) ? falseAlarm(fault, fault.parameters.codes, host) : null;
}

const isUnderWay = (effect: Effect) => effect.isUnderWay === true;

/** An effect as state that a restart keeps. */
interface KeptEffect {
  /** id of a fault in force, or an ended fault whose effect goes on */
  readonly fault: number | KeptFault;
  /** end of the fault by its duration; null: it has none */
  readonly end: KeptTimer | null;
  readonly lapsing: boolean;
  readonly state: JsonValue;
}

/** An ended fault of an earlier process; undefined: this version has no such kind. */
function endedFault(saved: KeptFault): ActiveFault | undefined {
  const kinds: readonly FaultKind[] = deviceEffectFaults;
  const kind = kinds.find((row) => row.kind === saved.kind);
  // an ended fault strikes no more
  return kind && restoredFault(saved, kind, { isDue: () => false, spent: () => undefined });
}

export class DeviceEffects implements CommitParticipant {
  readonly #host: EffectHost;
  /** in order of injection */
  #effects: readonly Effect[] = [];
  /** timers that end faults with a duration, each at its exact instant */
  readonly #ends = new Map<ActiveFault, Timer>();
  /** ended effects whose last strike lasts until the next tick */
  readonly #lapsing = new Set<Effect>();
  /** effects of faults with spent counts: their timers go on */
  #spent: readonly Effect[] = [];
  /** while refreshes are deferred: true if one was requested; null: refreshes are not deferred */
  #refreshDue: boolean | null = null;

  constructor(host: EffectHost) {
    const { effective } = host;
    this.#host = {
      ...host,
      refresh: () => {
        if (this.#refreshDue !== null) {
          this.#refreshDue = true;
          return;
        }
        effective.takeOver();
        host.refresh();
      },
      powerDown(forget, by) {
        if (forget) effective.clear();
        host.powerDown(forget, by);
      },
    };
  }

  /** The registers from which physics reads its settings. */
  get map(): MapView {
    return this.#host.effective.map;
  }

  /** True if a fault keeps the last write of a point from physics. */
  withholds(slot: PointSlot): boolean {
    return this.#host.effective.holds(slot);
  }

  /** The value in force for physics, if a fault withholds the last write of a point; undefined: the register. */
  heldValue(slot: PointSlot): AnyPointValue | undefined {
    return this.#host.effective.heldValue(slot);
  }

  /** The lowest limit of a fault, percent of WMax; undefined: none. */
  get limitPct(): number | undefined {
    const limits = this.#effects.flatMap(({ limitPct }) => limitPct ?? []);
    return limits.length === 0 ? undefined : Math.min(...limits);
  }

  /** Alarms without a cause, raised by faults. */
  get alarmCodes(): readonly AlarmCode[] {
    return this.#effects
      .flatMap(({ alarmCodes }) => alarmCodes ?? [])
      .filter((code): code is AlarmCode => Object.hasOwn(alarmKinds, code));
  }

  begin(faults: readonly ActiveFault[]): void {
    this.#batch(() => {
      for (const fault of faults) this.#begin(fault);
    });
  }

  /** Ends faults: points follow the registers again at once, except those held by a fault that has spent its count. */
  end(faults: readonly ActiveFault[]): void {
    this.#batch(() => {
      for (const fault of faults) this.#end(fault);
    });
  }

  /** Makes physics read its settings once for all changed faults. */
  #batch(change: () => void): void {
    const outermost = this.#refreshDue === null;
    this.#refreshDue ??= false;
    try {
      change();
    } finally {
      const due = this.#refreshDue;
      if (outermost) this.#refreshDue = null;
      if (outermost && due) this.#host.refresh();
    }
  }

  #begin(fault: ActiveFault): void {
    const effect = effectOf(fault, this.#host);
    if (effect === null) return;
    this.#effects = [...this.#effects, effect];
    this.#arm(fault);
    effect.update?.();
  }

  #end(fault: ActiveFault): void {
    const at = this.#effects.findIndex((candidate) => candidate.fault === fault);
    const effect = this.#effects[at];
    if (effect === undefined) return;
    const timer = this.#ends.get(fault);
    if (timer !== undefined) this.#host.scheduler.cancel(timer);
    this.#ends.delete(fault);
    const spent = fault.remaining === 0;
    if (spent && (effect.limitPct !== undefined || effect.alarmCodes !== undefined)) {
      this.#lapsing.add(effect);
      return;
    }
    this.#effects = this.#effects.toSpliced(at, 1);
    effect.end?.(spent);
    if (spent) this.#spent = [...this.#spent, effect];
    this.#host.refresh();
  }

  /** Called at the end of each tick, when the registers hold its results. */
  update(): void {
    // not at the end of a fault: its last strike sets its timer afterwards
    if (this.#spent.length > 0) this.#spent = this.#spent.filter(isUnderWay);
    if (this.#effects.length === 0) return;
    if (this.#lapsing.size > 0) {
      this.#dropLapsing();
      this.#host.refresh();
    }
    for (const effect of this.#effects) effect.update?.();
  }

  /** If a fault strikes the write, holds points for physics and withholds them from later participants. */
  prepare(commit: Commit): FollowUp | null {
    const { effective, bank } = this.#host;
    if (this.#effects.length === 0 && !effective.holding) return null;
    const changed = changedBy(bank.layout, commit);
    const withheld = new Set<PointSlot>();
    const followUps: FollowUp[] = [];
    if (!exemptSources.includes(commit.by.source)) {
      for (const effect of this.#effects) {
        const followUp = effect.prepare?.({ changed, commit, withheld }) ?? null;
        if (followUp !== null) followUps.push(followUp);
      }
    }
    effective.release(changed.filter((slot) => !withheld.has(slot)));
    commit.withhold(withheld);
    return () => {
      effective.takeOver();
      for (const followUp of followUps) followUp();
    };
  }

  reloaded(): void {
    this.#host.effective.takeOver();
  }

  /** The outcome of an adoption under a fault; null: no fault strikes it. */
  adopting(request: PointSlot, by: Origin): AdoptionOutcome | null {
    for (const effect of this.#effects) {
      const outcome = effect.adopting?.(request, by) ?? null;
      if (outcome !== null) return outcome;
    }
    return null;
  }

  /** Releases all held points. */
  forget(): void {
    this.#host.effective.clear();
  }

  /** Restarts the faults still active after a reset of the device, which has cleared its timers. */
  restart(): void {
    this.#host.effective.clear();
    this.#ends.clear();
    this.#spent = [];
    this.#dropLapsing();
    for (const effect of this.#effects) {
      effect.restart?.();
      this.#arm(effect.fault);
    }
    this.#host.refresh();
  }

  #dropLapsing(): void {
    this.#effects = this.#effects.filter((effect) => !this.#lapsing.has(effect));
    this.#lapsing.clear();
  }

  /** Sets the timer for the end of a fault, independent of ticks. */
  #arm(fault: ActiveFault): void {
    const { sim } = fault.due;
    if (sim !== null) this.#ends.set(fault, this.#host.scheduler.at(sim, this.#endOf(fault)));
  }

  readonly #endOf = (fault: ActiveFault) => () => {
    this.end([fault]);
  };

  /** State that a restart keeps, restored after registers and timers of the device and after the registry of faults. */
  kept(): Kept {
    return keptParts({ effective: this.#host.effective.kept(), effects: this.#keptEffects() });
  }

  #keptEffects(): Kept {
    return keptRecord(
      () => ({
        effects: this.#effects.map((effect) => this.#saved(effect)),
        spent: this.#spent.filter(isUnderWay).map((effect) => this.#saved(effect)),
      }),
      ({ effects, spent }) => {
        this.#ends.clear();
        this.#lapsing.clear();
        const active = new Map(this.#host.activeFaults().map((fault) => [fault.facts.id, fault]));
        const again = (saved: KeptEffect) => this.#restored(saved, active) ?? [];
        this.#effects = effects.flatMap(again);
        this.#spent = spent.flatMap(again);
      },
    );
  }

  #saved(effect: Effect): KeptEffect {
    const { fault } = effect;
    const end = this.#ends.get(fault);
    return {
      fault: fault.end === null ? fault.facts.id : keptFault(fault),
      end: end ? keptTimer(end) : null,
      lapsing: this.#lapsing.has(effect),
      state: effect.kept?.().save() ?? null,
    };
  }

  /** An effect of an earlier process; null: its fault was dropped, and holds no point any more. */
  #restored(
    { fault: saved, end, lapsing, state }: KeptEffect,
    active: ReadonlyMap<number, ActiveFault>,
  ): Effect | null {
    const fault = typeof saved === 'number' ? active.get(saved) : endedFault(saved);
    const effect = fault ? effectOf(fault, this.#host) : null;
    if (fault === undefined || effect === null) {
      this.#host.effective.releaseAll(typeof saved === 'number' ? saved : saved.facts.id);
      return null;
    }
    effect.kept?.().restore(state);
    if (end !== null) this.#ends.set(fault, this.#host.scheduler.again(end, this.#endOf(fault)));
    if (lapsing) this.#lapsing.add(effect);
    return effect;
  }

  /** Begins the faults in force that have no effect yet: they were saved later than the state of the device. */
  beginMissing(): void {
    const { deviceIndex } = this.#host;
    const isOver = ({ due: { sim } }: ActiveFault) => sim !== null && sim <= this.#host.now();
    const hasEffect = (fault: ActiveFault) => this.#effects.some((effect) => effect.fault === fault);
    const isMissing = (fault: ActiveFault) => fault.concerns(deviceIndex) && !isOver(fault) && !hasEffect(fault);
    this.begin(this.#host.activeFaults().filter(isMissing));
  }
}
