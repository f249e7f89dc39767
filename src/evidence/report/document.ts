/** Everything that shows how both sides behaved, as one document: findings, answers, differences, refusals, changes. */
import type { TimelineEntryJson } from '../../contract/timeline.ts';
import type { ReportsJson } from '../findings/document.ts';

/** Scalars as REST shows them. */
export type Value = number | string | boolean | null;

/** A quantity that a protocol presents otherwise than the register of the device. */
export interface DifferenceJson {
  readonly quantity: string;
  readonly unit: string | null;
  readonly reference: Value;
  readonly protocol: string;
  readonly place: string;
  readonly value: Value;
  readonly cause: string;
  readonly explanation: string | null;
}

/** A command that was answered positively. */
export interface AnswerJson {
  readonly protocol: string;
  readonly peer: string;
  readonly wall_time: string;
  readonly command: string;
  readonly told: { readonly name: string; readonly value: Value };
  readonly found: { readonly place: string; readonly value: Value } | null;
  readonly done: boolean | null;
  readonly cause: string;
  readonly explanation: string | null;
}

/** A point that differs from its start value. */
export interface ChangeJson {
  readonly point: string;
  readonly start_value: Value;
  readonly value: Value;
  readonly unit: string | null;
  readonly changed_by: { readonly source: string; readonly source_detail: string | null } | null;
}

export interface DeviceEvidence {
  readonly device_index: number;
  readonly name: string;
  /** quantities that were compared */
  readonly quantity_count: number;
  readonly differences: readonly DifferenceJson[];
  /** not done first */
  readonly answers: readonly AnswerJson[];
  /** reason why the commands of a protocol are not known */
  readonly unrecorded: readonly { readonly protocol: string; readonly reason: string }[];
  readonly changes: readonly ChangeJson[];
}

export interface EvidenceJson extends ReportsJson {
  readonly devices: readonly DeviceEvidence[];
  /** devices that are left out */
  readonly more_devices: number;
  readonly refusals: readonly TimelineEntryJson[];
}

/** True for a difference that neither rounding nor age explains. */
export const isFault = ({ cause }: DifferenceJson): boolean => cause === 'fault' || cause === 'unexplained';
