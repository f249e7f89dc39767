/** Sentences that the forms of a report share. */
import type { FindingJson, ReportJson, RuleJson } from './document.ts';

const countText = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Name of the peer, with that of the scenario. */
export const headingText = ({ peer: { name }, scenario }: ReportJson) =>
  scenario === null ? name : `${name}, scenario ${scenario}`;

export const coverageText = ({ coverage: { exercised, observable }, broken, held, not_observable }: ReportJson) =>
  `${exercised} of ${countText(observable, 'rule')} came up: ${broken.length} broken, ${held.length} held` +
  (not_observable.length === 0 ? '' : `; ${not_observable.length} more cannot be judged here`);

/** Explanation of the words of a report. */
export const legend = [
  'violation: a clause or schema of the standard forbids it; risk: devices in the field fail because of it; remark: a habit worth knowing.',
  'core: a rule without which nothing can be said of a peer. A repetition is the same case again within a minute of the last one.',
  'Peer, master, server and central system are the other side; device, outstation, client and station are those of the simulator.',
];

/** `3 cases, 41 repetitions` */
export function countsText({ count, repeats, excused, state }: FindingJson): string {
  return [
    countText(state === 'excused' ? excused : count, 'case'),
    ...(repeats > 0 ? [countText(repeats, 'repetition')] : []),
    ...(excused > 0 && state !== 'excused' ? [`${excused} excused`] : []),
  ].join(', ');
}

export function devicesText({ devices, more_devices: hasMore }: FindingJson): string {
  const noun = devices.length === 1 && !hasMore ? 'device' : 'devices';
  return devices.length === 0 ? '' : `${noun} ${devices.join(', ')}${hasMore ? ' and others' : ''}`;
}

/** Circumstances in which the rule would be judged. */
export const situationText = ({ situation, provoked_by: provokedBy }: RuleJson) =>
  provokedBy.length === 0 ? situation : `${situation} The fault ${provokedBy.join(' or ')} brings it about.`;

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
