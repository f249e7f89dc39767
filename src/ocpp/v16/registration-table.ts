/** Registration of OCPP 1.6 (4.2): what the station may do in each state, and what follows an answer. No time in it. */
import type { OcppBootStatus } from '../../contract/ocpp.ts';
import type { Replies } from './messages.ts';

/** How a call of the central system is taken: `refused` with SecurityError, `ignored` without any answer. */
export type Incoming = 'answered' | 'refused' | 'ignored';

interface BootState {
  /** besides BootNotification */
  readonly sends: 'all' | 'triggered' | 'nothing';
  readonly incoming: Incoming;
  /** RemoteStartTransaction and RemoteStopTransaction start and stop something */
  readonly remote: boolean;
}

export const bootTable: Readonly<Record<OcppBootStatus, BootState>> = {
  none: { sends: 'nothing', incoming: 'refused', remote: false },
  pending: { sends: 'triggered', incoming: 'answered', remote: false },
  accepted: { sends: 'all', incoming: 'answered', remote: true },
  rejected: { sends: 'nothing', incoming: 'ignored', remote: false },
};

export const bootStatusOf = {
  Accepted: 'accepted',
  Pending: 'pending',
  Rejected: 'rejected',
} as const satisfies Record<Replies['BootNotification']['status'], OcppBootStatus>;

/** HeartbeatInterval takes no more, s: a week. */
export const maxHeartbeatIntervalS = 604_800;

/** First wait of the own back-off, s; doubled after each attempt without an interval. */
const firstWaitS = 10;
const maxWaitS = 300;

/** The own back-off after a number of attempts without an interval, s. */
export function ownWaitS(attempts: number): number {
  return Math.min(firstWaitS * 2 ** Math.min(attempts, 10), maxWaitS);
}

export interface AfterBoot {
  readonly status: OcppBootStatus;
  /** the next BootNotification, s; null: none */
  readonly againInS: number | null;
  /** to be written to HeartbeatInterval, s; null: own choice */
  readonly heartbeatS: number | null;
}

/**
 * What an answer of the central system leads to.
 * @param attempts made so far that left the wait to the station
 */
export function afterBoot({ status, interval }: Replies['BootNotification'], attempts: number): AfterBoot {
  const next = bootStatusOf[status];
  const heartbeatS = interval > 0 ? Math.min(interval, maxHeartbeatIntervalS) : null;
  if (next === 'accepted') return { status: next, againInS: null, heartbeatS };
  return { status: next, againInS: interval > 0 ? interval : ownWaitS(attempts), heartbeatS: null };
}
