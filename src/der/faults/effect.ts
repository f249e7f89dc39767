/** The common interface of the faults that act at one device. */
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Origin } from '../../core/origin.ts';
import type { Scheduler } from '../../core/time/scheduler.ts';
import { holds } from '../../sunspec/faults/condition.ts';
import type { RegisterBank } from '../../sunspec/map/register-bank.ts';
import type { AdoptionOutcome, Commit, FollowUp } from '../../sunspec/map/commit.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import type { EffectiveRegisters } from './effective-registers.ts';

/** The device as its faults see it. */
export interface EffectHost {
  readonly deviceIndex: number;
  readonly bank: RegisterBank;
  readonly scheduler: Scheduler;
  /** the registers from which physics reads its settings while there are faults */
  readonly effective: EffectiveRegisters;
  /** True if the device is off. */
  isDown(): boolean;
  now(): SimTime;
  /** Physics reads its settings again. */
  refresh(): void;
  /** @param forget settings and curves are those of the start again */
  powerDown(forget: boolean, by: Origin): void;
  powerUp(): void;
}

/** A register write of a master or client, about to be committed. */
export interface WriteUnderFaults {
  /** the points that it changes for physics; an adoption changes set 1 */
  readonly changed: readonly PointSlot[];
  readonly commit: Commit;
  /** points that a fault keeps from physics; each belongs to the first fault that strikes it */
  readonly taken: Set<PointSlot>;
}

/** One fault at one device. */
export interface Effect {
  readonly fault: ActiveFault;
  /** at the beginning, and with each tick */
  look?(): void;
  /** Strikes a write or leaves it alone. @returns what follows once the registers hold the write; null: nothing */
  prepare?(write: WriteUnderFaults): FollowUp | null;
  /** null: the fault leaves the adoption alone */
  adopting?(request: PointSlot, by: Origin): AdoptionOutcome | null;
  /** the device was reset and its timers are gone */
  restart?(): void;
  /** @param spent it has struck as often as it should: writes that it struck stay struck */
  end?(spent: boolean): void;
  /** limit in force now, percent of WMax */
  readonly limitPct?: number | null;
  readonly alarmCodes?: readonly string[];
}

/** Counts an occasion. @returns whether the fault strikes, by its condition and its probability */
export function strikesNow(
  fault: ActiveFault,
  { bank, deviceIndex }: Pick<EffectHost, 'bank' | 'deviceIndex'>,
): boolean {
  return holds(bank, fault.facts.when) && fault.strikes(deviceIndex);
}

/** The origin of writes in the name of a fault. */
export function originOf({ facts }: ActiveFault): Origin {
  return { source: 'fault', peer: `${facts.kind.kind} ${facts.id}` };
}
