import type { AdapterStatus } from '../../../core/adapter.ts';
import type { ModbusTap } from '../../../core/wire/modbus-tap.ts';
import type { WallClock } from '../../../core/time/clock.ts';
import type { LimitedLog } from '../../../core/log/limited-log.ts';
import type { Later } from '../../../core/time/timers.ts';
import type { Disturber } from './disturbance.ts';
import type { RequestReport } from './report.ts';
import type { Sweeper } from '../../../core/net/sweeper.ts';
import type { LoopQueue } from '../../../core/turns.ts';
import type { TlsGate } from '../../../core/tls/gate.ts';
import type { RoleFinding } from '../access/certificate-role.ts';

/** Limits of one listener; the defaults are those of `defaultLimits`. */
export interface ModbusLimits {
  /** connections of one listener */
  readonly maxConnections: number;
  /** octets of answers that may wait for a peer before its requests are no longer read */
  readonly maxUnsentBytes: number;
  /** the connection of a peer that takes no octets for so long is closed */
  readonly stalledMs: number;
  /** time limit for a frame that has begun */
  readonly frameTimeoutMs: number;
  /** time after which a connection without traffic is closed; 0 = never */
  readonly idleTimeoutMs: number;
  /** TCP keep-alive */
  readonly keepAliveMs: number;
  /** time limit for the handshake of a TLS session */
  readonly handshakeTimeoutMs: number;
}

export const defaultLimits: ModbusLimits = {
  maxConnections: 1024,
  maxUnsentBytes: 64 * 1024,
  stalledMs: 30_000,
  frameTimeoutMs: 30_000,
  idleTimeoutMs: 3_600_000,
  keepAliveMs: 60_000,
  handshakeTimeoutMs: 10_000,
};

/** Answer to a unit id that is not served: none, or exception 0x0B as from a gateway. */
export type ForeignUnitPolicy = 'silent' | 'gateway';

/** Counts of one group of listeners since its start. */
export class ModbusCounters {
  /** requests that came in whole; on a line only those to its own addresses */
  requests = 0;
  /** answers, exceptions among them */
  answers = 0;
  exceptions = 0;
  /** requests for a unit id that is not served; on a line also the answers of other devices */
  foreign = 0;
  /** octets on a line that made no frame: noise, a bad CRC, a frame cut short; counted by the piece */
  unreadable = 0;
  accepted = 0;
  /** connections refused or given up at the cap */
  refused = 0;
  /** connections closed for an illegal header */
  violations = 0;
  /** connections closed by a time limit */
  timeouts = 0;
  /** connections that did not become a TLS session */
  handshakeFailures = 0;
  /** failures of the simulator, answered with exception 4 */
  internalErrors = 0;
  /** monotonic time of the last octets received, or null */
  lastActivityMs: number | null = null;

  /** Failures of all kinds; a kind that a listener cannot have counts 0. */
  get errors(): number {
    return this.exceptions + this.violations + this.timeouts + this.unreadable + this.handshakeFailures;
  }
}

/** The members of an adapter's status that follow from the counts of its group. */
export function countsStatus({ counters, clock }: Pick<ModbusContext, 'counters' | 'clock'>): Partial<AdapterStatus> {
  const { lastActivityMs, requests, answers, errors } = counters;
  return {
    lastActivityMs: lastActivityMs === null ? null : clock.nowMs() - (clock.monotonicMs() - lastActivityMs),
    rxCount: requests,
    txCount: answers,
    errorCount: errors,
  };
}

/** Shared by the listeners of one group. */
export interface ModbusContext {
  readonly limits: ModbusLimits;
  readonly foreignUnit: ForeignUnitPolicy;
  readonly clock: WallClock;
  readonly log: LimitedLog;
  /** lines about requests */
  readonly report: RequestReport;
  readonly counters: ModbusCounters;
  readonly sweeper: Sweeper;
  /** the share of all connections in each turn of the event loop */
  readonly turns: LoopQueue;
  readonly later: Later;
  /** TLS of every connection; absent: connections are in clear */
  readonly tls?: TlsGate<RoleFinding>;
  /** fault injection; absent: there is none */
  readonly disturber?: Disturber;
  /** the wire log; absent: there is none */
  readonly tap?: ModbusTap;
}
