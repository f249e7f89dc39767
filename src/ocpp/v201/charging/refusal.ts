/** How a refused profile is told: to the central system by its reason code, to the user as a broken rule. */
import type { Replies, StationParts } from '../parts.ts';
import { clauseOf } from '../registration.ts';
import type { Issue } from './rules/issue.ts';

type StatusInfo = NonNullable<Replies['SetChargingProfile']['statusInfo']>;

export type RefusalParts = Pick<StationParts, 'finding' | 'version'>;

/** Characters that `additionalInfo` of 2.0.1 may have; 2.1 permits more. */
const maxInfo = 512;

/** @param subject what the text is about; absent: the text says it */
export function refusal(
  { finding, version }: RefusalParts,
  action: string,
  { reason, text, rule }: Issue,
  subject?: string,
): { readonly statusInfo: StatusInfo } {
  if (rule !== null) {
    const whole = subject === undefined ? text : `${subject}: ${text}`;
    finding(clauseOf(version, rule), whole, action);
  }
  return { statusInfo: { reasonCode: reason, additionalInfo: text.slice(0, maxInfo) } };
}
