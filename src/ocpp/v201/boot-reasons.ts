/** Why a station boots (BootReasonEnum). */
import type { Requests } from './messages.ts';

export type BootReason = Requests['BootNotification']['reason'];

export const bootReasons: readonly BootReason[] = [
  'ApplicationReset',
  'FirmwareUpdate',
  'LocalReset',
  'PowerUp',
  'RemoteReset',
  'ScheduledReset',
  'Triggered',
  'Unknown',
  'Watchdog',
];
