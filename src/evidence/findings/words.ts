/** Sentences that the forms of a report share. */
import type { FindingJson, ReportJson, RuleJson } from './document.ts';

const countText = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Name of the peer, with that of the scenario. */
export const headingText = ({ peer: { name }, scenario }: ReportJson) =>
  scenario === null ? name : `${name}, scenario ${scenario}`;

export const coverageText = ({ coverage: { exercised, observable } }: ReportJson) =>
  `${exercised} of ${countText(observable, 'check')} came up`;

/** `3 times, 41 repetitions` */
export function countsText({ count, repeats, excused, state }: FindingJson): string {
  return [
    countText(state === 'excused' ? excused : count, 'time'),
    ...(repeats > 0 ? [countText(repeats, 'repetition')] : []),
    ...(excused > 0 && state !== 'excused' ? [`${excused} excused`] : []),
  ].join(', ');
}

export function devicesText({ devices, more_devices: hasMore }: FindingJson): string {
  return devices.length === 0 ? '' : `${devices.join(', ')}${hasMore ? ' and others' : ''}`;
}

/** Circumstances in which the rule would be judged. */
export const situationText = ({ situation, provoked_by: provokedBy }: RuleJson) =>
  provokedBy.length === 0 ? situation : `${situation} Provoked by the fault ${provokedBy.join(' or ')}.`;

export const undecidedText = 'the peer left, or its time is not over';

/** Reason why an observable rule was neither held nor broken. */
export function skipText(row: FindingJson | RuleJson, state: string): string {
  if (state === 'waived') return `waived: ${row.reason ?? ''}`;
  if (state === 'excused') return `excused: ${row.reason ?? ''}`;
  if (state === 'undecided') return `undecided: ${undecidedText}`;
  return `not exercised: ${'situation' in row ? situationText(row) : ''}`;
}

/** The identities of a peer: `modbus 127.0.0.2, dnp3 link 1@127.0.0.2`. */
export const identitiesText = ({ peer: { identities } }: ReportJson) =>
  identities.map(({ protocol, address }) => `${protocol} ${address}`).join(', ');
