/** What a charging profile is checked against, and what a check finds. */
import type { ChargingProfile } from '../../messages.ts';
import type { Version2 } from '../../version.ts';

export type SentProfile = ChargingProfile;
export type SentSchedule = SentProfile['chargingSchedule'][number];
export type SentPeriod = SentSchedule['chargingSchedulePeriod'][number];
export type SentMode = NonNullable<SentPeriod['operationMode']>;

/** Why a profile is refused. */
export interface Issue {
  /** reason code of the appendix */
  readonly reason: string;
  readonly text: string;
  /** requirement that the central system has broken; null: the station cannot do what a profile may ask for */
  readonly rule: string | null;
}

export const broken = (rule: string, reason: string, text: string): Issue => ({ reason, text, rule });
export const unable = (reason: string, text: string): Issue => ({ reason, text, rule: null });

/** An EVSE that a profile concerns. */
export interface EvseFacts {
  readonly type: 'ac' | 'dc';
  readonly phases: 1 | 3;
  /** operation modes that it supports */
  readonly modes: readonly SentMode[];
}

export interface RuleFacts {
  readonly version: Version2;
  readonly maxStackLevel: number;
  readonly maxPeriods: number;
  readonly rateUnits: readonly string[];
  /** ids up to this are those of external constraints */
  readonly maxExternalId: number;
  /** of the place of the profile: one EVSE, all of them, or the grid connection */
  readonly evses: readonly EvseFacts[];
}

/** A check of one aspect; null: nothing found. */
export type Check<Subject extends readonly unknown[]> = (...subject: Subject) => Issue | null;

/** What the first of several checks finds. */
export function firstIssue<Subject extends readonly unknown[]>(
  checks: readonly Check<Subject>[],
  ...subject: Subject
): Issue | null {
  for (const check of checks) {
    const issue = check(...subject);
    if (issue !== null) return issue;
  }
  return null;
}
