/**
 * The surroundings of a Modbus server: limits, clock and log, and the interface of fault injection, implemented in
 * `faults/`.
 */
import type { Buffer } from 'node:buffer';
import type { AdapterStatus } from '../../../core/adapter.ts';
import type { ModbusTap } from '../../../core/wire/modbus.ts';
import type { WallClock } from '../../../core/time/clock.ts';
import type { LimitedLog } from '../../../core/log/limited-log.ts';
import type { Later } from '../../../core/time/timers.ts';
import type { RequestReport } from './report.ts';
import type { KeptPorts } from '../../../core/net/kept-ports.ts';
import type { Sweeper } from '../../../core/net/sweeper.ts';
import type { LoopQueue } from '../../../core/turns.ts';
import type { TlsGate } from '../../../core/tls/gate.ts';
import type { Role, RoleFinding } from '../access/certificate-role.ts';
import type { Framing } from '../framing/framing.ts';
import type { ModbusUnit } from './unit.ts';

/** Limits of one listener; the defaults are those of `defaultLimits`. */
export interface ModbusLimits {
  /** connections of one listener */
  readonly maxConnections: number;
  /** octets of unsent answers above which the requests of a peer are no longer read */
  readonly maxUnsentBytes: number;
  /** a connection whose peer reads nothing for this long is closed */
  readonly stalledMs: number;
  /** time limit of an incomplete frame */
  readonly frameTimeoutMs: number;
  /** a connection without traffic for this long is closed; 0: never */
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

/** Answer to an unserved unit id: none, or exception 0x0B as of a gateway. */
export type ForeignUnitPolicy = 'silent' | 'gateway';

/** Counts of one group of listeners since its start. */
export class ModbusCounters {
  /** complete requests; on a serial line only to served addresses */
  requests = 0;
  /** answers, including exceptions */
  answers = 0;
  exceptions = 0;
  /** requests to an unserved unit id; on a serial line also answers of other devices */
  foreign = 0;
  /** pieces of octets on a serial line that are not a frame: noise, bad CRC, truncated frame */
  unreadable = 0;
  /** write requests answered without an exception */
  writes = 0;
  /** write requests answered with an exception */
  refusedWrites = 0;
  acceptedConnections = 0;
  /** connections refused or replaced at the limit */
  refusedConnections = 0;
  /** connections closed for an illegal header */
  violations = 0;
  /** connections closed by a time limit */
  timeouts = 0;
  /** connections that failed the TLS handshake */
  handshakeFailures = 0;
  /** internal errors, answered with exception 4 */
  internalErrors = 0;
  /** monotonic time of the last octets received; null: none yet */
  lastActivityMs: number | null = null;

  /** Errors of all kinds. */
  get errors(): number {
    return this.exceptions + this.violations + this.timeouts + this.unreadable + this.handshakeFailures;
  }
}

/** Status members derived from the counters of a group. */
export function countsStatus({
  counters,
  clock,
  report,
}: Pick<ModbusContext, 'counters' | 'clock' | 'report'>): Partial<AdapterStatus> {
  const { lastActivityMs, requests, answers, errors } = counters;
  return {
    lastActivityMs: lastActivityMs === null ? null : clock.nowMs() - (clock.monotonicMs() - lastActivityMs),
    rxCount: requests,
    txCount: answers,
    errorCount: errors,
    lastError: report.lastError,
  };
}

/** Identity of a master. */
export interface MasterIdentity {
  /** without port; path of a serial line */
  readonly address: string;
  /** SHA-256 of its certificate, hex; absent: no TLS */
  readonly certificate?: string;
  readonly role?: Role | null;
  readonly transport: 'tcp' | 'tls' | 'serial';
  /** local port; absent: a serial line */
  readonly listener?: number;
}

/** Judges what masters do. It looks only: no call throws or changes an answer. */
export interface MasterJudge {
  /** null: nothing is judged */
  connected(master: MasterIdentity): ConnectionJudge | null;
  /** Takes a handshake that failed. @param isRefused true: the certificate of the master was refused for good */
  handshakeFailed(address: string, reason: string, isRefused: boolean): void;
}

/** Judges the requests of one connection or line. */
export interface ConnectionJudge {
  /** Takes the arrival of octets. */
  received(nowMs: number): void;
  /** Takes the message of the wire log with the request that follows. */
  logged(messageId: number): void;
  /** Fault injection changes the answer to a request, or its way. */
  disturbed(): void;
  /** Takes the error with which the unit refuses the request at hand; `served` or `withheld` follows. */
  refused(error: unknown): void;
  /**
   * Takes a request.
   * @param unit undefined: not served here
   * @param exception 0: carried out; -1: there is no answer
   */
  served(request: Framing, unit: ModbusUnit | undefined, exception: number): void;
  /** Takes a request that fault injection answers, or leaves without an answer. @param exception 0: no answer */
  withheld(request: Framing, unit: ModbusUnit | undefined, exception: number): void;
  /** The stream is no Modbus TCP any more. */
  broken(): void;
  /** A frame was not finished in time. */
  unfinished(): void;
  /** @param byMaster true: the master has ended the connection */
  closed(byMaster: boolean): void;
}

/** Shared by the listeners of one group. */
export interface ModbusContext {
  readonly limits: ModbusLimits;
  readonly foreignUnit: ForeignUnitPolicy;
  readonly clock: WallClock;
  readonly log: LimitedLog;
  /** log lines about requests */
  readonly report: RequestReport;
  readonly counters: ModbusCounters;
  readonly sweeper: Sweeper;
  /** binds the ports of listeners that fail again */
  readonly ports: KeptPorts;
  /** the connections' share of each turn of the event loop */
  readonly turns: LoopQueue;
  readonly later: Later;
  /** TLS of every connection; absent: no TLS */
  readonly tls?: TlsGate<RoleFinding>;
  /** absent: no fault injection */
  readonly disturber?: Disturber;
  /** the wire log; absent: no observer */
  readonly tap?: ModbusTap;
  /** absent: nobody judges the masters */
  readonly judge?: MasterJudge;
}

/** Properties of a request, from its PDU. */
export interface RequestFacts {
  /** the device of the unit id, or one of the devices of a broadcast; undefined: none */
  readonly deviceIndex: number | undefined;
  readonly unitId: number;
  readonly functionCode: number;
  /** null: the PDU is too short */
  readonly address: number | null;
  readonly count: number | null;
  /** true if an answer is sent unless a fault prevents it */
  readonly answered: boolean;
}

/** The disturbance of one request. An empty object: serve normally. */
export interface Disturbance {
  /** answer with this exception; `carriedOut`: carry the request out first */
  readonly exception?: { readonly code: number; readonly carriedOut: boolean };
  /** no answer; `carriedOut`: carry the request out */
  readonly silence?: { readonly carriedOut: boolean };
  /** delay of the answer, ms; later answers of the connection wait for it */
  readonly delayMs?: number;
  /**
   * Calls back once when the faults that cause the delays are removed, which ends the delays. The returned function
   * cancels.
   */
  readonly onTakenBack?: (then: () => void) => () => void;
  /** Replaces the ADU of the answer by any number of chunks. @param request the ADU of the request */
  readonly rewrite?: (adu: Buffer, request: Buffer) => readonly Buffer[];
  /** pause between the chunks of `rewrite`, ms; absent: all are sent together */
  readonly gapMs?: number;
  /** true: the connection ends after the answer */
  readonly close?: boolean;
}

/** Time in which a new connection is not read: octets received meanwhile are lost. */
export interface Deafness {
  readonly ms: number;
  /** true if the faults that cause the deafness are removed, which ends it */
  readonly isTakenBack: () => boolean;
}

/** Treatment of a new connection. */
export type Reception =
  /** reset at once */
  | { readonly kind: 'refuse' }
  | {
      readonly kind: 'serve';
      /** close the oldest connections of the listener until only this number remains; absent: none */
      readonly left?: number;
      readonly deaf?: Deafness;
      /** octets sent at the start; absent: none */
      readonly greeting?: Buffer;
    };

/** Decisions are asked for only while `active`. */
export interface Disturber {
  readonly active: boolean;
  /** @param open number of other connections of the listener, unfinished handshakes included */
  onConnect(deviceIndex: number | undefined, open: number): Reception;
  /** null: undisturbed */
  onRequest(request: RequestFacts, framing: 'mbap' | 'rtu'): Disturbance | null;
  /**
   * How long the port of a listener stays closed, ms; 0: open; Infinity: until the faults or the device change.
   * Called at each sweep and whenever a connection begins or ends.
   * @param deviceIndex undefined: several devices
   * @param sinceCloseMs time since the end of the last connection; Infinity: none has ended
   */
  shutForMs(deviceIndex: number | undefined, sinceCloseMs: number): number;
  /** Calls back when faults begin or end. The returned function unsubscribes. */
  onChange(listener: () => void): () => void;
  /**
   * True if the open connections of a listener have to end now; called at each sweep.
   * @param deviceIndex undefined: several devices
   */
  cuts(deviceIndex: number | undefined): boolean;
  /**
   * The device that answers to a unit id not served by the listener; undefined: none.
   * @param deviceIndex as in `cuts`
   */
  aliasOf(deviceIndex: number | undefined, unitId: number): number | undefined;
}
