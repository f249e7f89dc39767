/** Stop reasons of the device in the words of 1.6. */
import type { Requests } from '../messages.ts';

export type StopReason = NonNullable<Requests['StopTransaction']['reason']>;

const words: ReadonlySet<string> = new Set<StopReason>([
  'DeAuthorized',
  'EmergencyStop',
  'EVDisconnected',
  'HardReset',
  'Local',
  'Other',
  'PowerLoss',
  'Reboot',
  'Remote',
  'SoftReset',
  'UnlockCommand',
]);

/** Reasons of 2.x that mean one of 1.6; any other is Other. */
const meanings: Readonly<Record<string, StopReason>> = {
  ImmediateReset: 'HardReset',
  MasterPass: 'Local',
};

function isStopReason(reason: string): reason is StopReason {
  return words.has(reason);
}

/** @param reason of the session; null: it is not known, and the default of 1.6 counts */
export function stopReasonOf(reason: string | null): StopReason {
  if (reason === null) return 'Local';
  return isStopReason(reason) ? reason : (meanings[reason] ?? 'Other');
}
