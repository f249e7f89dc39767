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

/** The device as its faults use it. */
export interface EffectHost {
  readonly deviceIndex: number;
  readonly bank: RegisterBank;
  readonly scheduler: Scheduler;
  /** registers from which physics reads its settings under faults */
  readonly effective: EffectiveRegisters;
  /** True if the device is off. */
  isDown(): boolean;
  now(): SimTime;
  /** Makes physics read its settings again. */
  refresh(): void;
  /** @param forget true: reset settings and curves */
  powerDown(forget: boolean, by: Origin): void;
  powerUp(): void;
}

/** A register write of a master or client, about to be committed. */
export interface WriteUnderFaults {
  /** points that it changes for physics; for an adoption those of set 1 */
  readonly changed: readonly PointSlot[];
  readonly commit: Commit;
  /** points withheld from physics; each belongs to the first fault that strikes it */
  readonly taken: Set<PointSlot>;
}

/** One fault at one device. */
export interface Effect {
  readonly fault: ActiveFault;
  /** called at the begin and at each tick */
  look?(): void;
  /** Strikes a write or not. @returns the follow-up once the registers hold the write; null: none */
  prepare?(write: WriteUnderFaults): FollowUp | null;
  /** null: no effect on the adoption */
  adopting?(request: PointSlot, by: Origin): AdoptionOutcome | null;
  /** called after a reset of the device, which has cleared its timers */
  restart?(): void;
  /** @param spent true: its count is spent, and struck writes stay struck */
  end?(spent: boolean): void;
  /** limit in force, percent of WMax */
  readonly limitPct?: number | null;
  readonly alarmCodes?: readonly string[];
}

/** Counts an occasion. @returns true if the fault strikes, by its condition and its probability */
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
