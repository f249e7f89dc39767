/** Security events: the log of all events, and the messages for the reported events (A04, N01). */
import { z } from 'zod';
import type { Logger } from '../../core/log/log.ts';
import { instant, readEach, recordOf } from '../../core/slot-values.ts';
import type { Slot } from '../../core/store.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';
import { createOutbox } from '../files/outbox.ts';
import type { OutboxParts } from '../files/outbox.ts';
import type { CallOutcome } from '../rpc/model.ts';
import type { ConnectFailure } from '../rpc/socket.ts';
import { createSaver } from '../station/stack.ts';

// Security events of failed attempts to connect.

/** Types of security events in a version. */
export interface FailureEvents {
  /** the certificate of the central system is not accepted */
  readonly certificate: string;
  readonly tlsVersion: string;
  readonly cipherSuite: string;
  /** the central system does not accept the credentials of the station */
  readonly refused: string;
}

/** null: the failure says nothing about security. */
export function failureEvent({ kind, status }: ConnectFailure, events: FailureEvents): string | null {
  if (kind === 'certificate') return events.certificate;
  if (kind === 'tls_version') return events.tlsVersion;
  if (kind === 'cipher_suite') return events.cipherSuite;
  // no other status is about the identity of the station
  return kind === 'rejected' && (status === 401 || status === 403) ? events.refused : null;
}

/** An event of the list of a version. */
export interface SecurityEventRow {
  readonly type: string;
  /** true: sent to the central system with guaranteed delivery */
  readonly critical: boolean;
  /** true: reported because of a use case, although it is not critical */
  readonly reported?: true;
}

/** The list of events of a version. An event outside the list is of a vendor and only logged. */
interface SecurityEventTable {
  /** True if the event must reach the central system, also after a lost connection. */
  readonly isCritical: (type: string) => boolean;
  /** True if the event is reported to the central system. */
  readonly isReported: (type: string) => boolean;
}

export function securityEventTableOf(rows: readonly SecurityEventRow[]): SecurityEventTable {
  const byType: ReadonlyMap<string, SecurityEventRow> = new Map(rows.map((row) => [row.type, row]));
  return {
    isCritical: (type) => byType.get(type)?.critical ?? false,
    isReported: (type) => {
      const row = byType.get(type);
      return row !== undefined && (row.critical || row.reported === true);
    },
  };
}

/** SecurityEventNotification of every version. */
interface SecurityEventReport {
  readonly type: string;
  readonly timestamp: string;
  readonly techInfo?: string;
}

/** A line of the security log. */
export interface SecurityLogEntry {
  /** time of the central system, ms since the epoch */
  readonly atMs: number;
  readonly type: string;
  readonly techInfo: string | null;
}

const entryForm = recordOf<SecurityLogEntry>({ atMs: instant, type: z.string(), techInfo: z.string().nullish() });
const reportForm = recordOf<SecurityEventReport>({
  type: z.string(),
  timestamp: z.iso.datetime({ offset: true }),
  techInfo: z.string().optional(),
});

export interface EventLog {
  /** oldest first */
  readonly entries: readonly SecurityLogEntry[];
  /** events that the central system has not confirmed */
  readonly waiting: number;
  raise(type: string, techInfo?: string): void;
  /** Raises the event of a failed attempt to connect, if it has one. */
  failed(failure: ConnectFailure): void;
  /** Restores the log and the waiting reports, and raises StartupOfTheDevice. */
  load(): Promise<void>;
  stop(): void;
}

interface EventLogParts extends OutboxParts {
  readonly clock: RemoteClock;
  readonly log: Logger;
  readonly store: (name: string) => Slot;
}

/** Maximum of log lines; beyond it the oldest are removed. */
export const securityLogCapacity = 1000;
const queueCapacity = 500;
/** Maximum characters of techInfo in every version. */
const techInfoLength = 255;
const repeatMs = 60_000;

interface EventLogOptions extends SecurityEventTable {
  readonly failures: FailureEvents;
  /** SecurityEventNotification */
  readonly send: (report: SecurityEventReport) => Promise<Pick<CallOutcome, 'kind'>>;
  /** Calls back with the name of a changed setting of security. The returned functions unsubscribe. */
  readonly watch: (changed: (name: string) => void) => readonly (() => void)[];
}

export function createEventLog(parts: EventLogParts, options: EventLogOptions): EventLog {
  const { isCritical, isReported, failures, send, watch } = options;
  const { clock, log, store, device } = parts;
  const logSlot = store('security-log');
  const queueSlot = store('security-events');
  let entries: readonly SecurityLogEntry[] = [];

  const logSaver = createSaver(logSlot, () => entries.map((entry) => ({ ...entry })), log);
  const queueSaver = createSaver(queueSlot, () => outbox.waiting.map((report) => ({ ...report })), log);
  const outbox = createOutbox<SecurityEventReport>({
    parts,
    send,
    capacity: queueCapacity,
    repeatMs,
    spare: ({ type }) => !isCritical(type),
    changed: () => {
      queueSaver.save();
    },
  });

  const raise = (type: string, techInfo?: string) => {
    const info = techInfo === undefined || techInfo === '' ? null : techInfo.slice(0, techInfoLength);
    const atMs = clock.nowMs();
    entries = [...entries, { atMs, type, techInfo: info }].slice(-securityLogCapacity);
    logSaver.save();
    log.info(`security event ${type}${info === null ? '' : `: ${info}`}`, device.deviceIndex);
    if (!isReported(type)) return;
    outbox.push({ type, timestamp: new Date(atMs).toISOString(), ...(info !== null && { techInfo: info }) });
  };

  // the value of a setting is never in its event
  const ends = watch((name) => {
    raise('ReconfigurationOfSecurityParameters', `${name} changed`);
  });
  return {
    get entries() {
      return entries;
    },
    get waiting() {
      return outbox.waiting.length;
    },
    raise,
    failed(failure) {
      const type = failureEvent(failure, failures);
      if (type !== null) raise(type, failure.text);
    },
    async load() {
      const lines = await readEach(logSlot, entryForm, log);
      const queued = await readEach(queueSlot, reportForm, log);
      const earlier = lines.map((line) => ({ ...line, techInfo: line.techInfo ?? null }));
      entries = [...earlier, ...entries].slice(-securityLogCapacity);
      outbox.restore(queued);
      raise('StartupOfTheDevice');
    },
    stop() {
      for (const end of ends) end();
      outbox.stop();
    },
  };
}
