/**
 * Registration (1.6 4.2, 2.x B01 to B03): what the station may do in each state, and what follows an answer. No time in
 * it.
 */
import type { OcppBootStatus } from '../../contract/ocpp.ts';

/** The answer to BootNotification, as every version has it. */
export type BootReply = {
  readonly status: 'Accepted' | 'Pending' | 'Rejected';
  readonly currentTime: string;
  /** s */
  readonly interval: number;
};

/** How a call of the central system is taken: `refused` with SecurityError, `ignored` without any answer. */
export type Incoming = 'answered' | 'refused' | 'ignored';

interface BootState {
  /** besides BootNotification */
  readonly sends: 'all' | 'triggered' | 'nothing';
  readonly incoming: Incoming;
  /** remote starts and stops start and stop something */
  readonly remote: boolean;
}

export type BootTable = Readonly<Record<OcppBootStatus, BootState>>;

/** 4.2 */
export const bootTable16: BootTable = {
  none: { sends: 'nothing', incoming: 'refused', remote: false },
  pending: { sends: 'triggered', incoming: 'answered', remote: false },
  accepted: { sends: 'all', incoming: 'answered', remote: true },
  rejected: { sends: 'nothing', incoming: 'ignored', remote: false },
};

/** B02.FR.01, B02.FR.05, B03.FR.08 */
export const bootTable2: BootTable = {
  ...bootTable16,
  rejected: { sends: 'nothing', incoming: 'refused', remote: false },
};

export const bootStatusOf = {
  Accepted: 'accepted',
  Pending: 'pending',
  Rejected: 'rejected',
} as const satisfies Record<BootReply['status'], OcppBootStatus>;

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
export function afterBoot({ status, interval }: BootReply, attempts: number): AfterBoot {
  const next = bootStatusOf[status];
  const heartbeatS = interval > 0 ? Math.min(interval, maxHeartbeatIntervalS) : null;
  if (next === 'accepted') return { status: next, againInS: null, heartbeatS };
  return { status: next, againInS: interval > 0 ? interval : ownWaitS(attempts), heartbeatS: null };
}
