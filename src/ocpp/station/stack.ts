/** One version of OCPP at work for one station. `../versions.ts` has a row for each version that makes one. */
import type { OcppBootStatus, OcppFunctions, OcppSubprotocol } from '../../contract/ocpp.ts';
import type { Logger } from '../../core/log/log.ts';
import type { RandomStream } from '../../core/random.ts';
import type { Slot } from '../../core/store.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type { FrameDisturber } from '../rpc/disturber.ts';
import type { ConnectFailure } from '../rpc/failures.ts';
import type { CallHandler, Line, LineClosed, LineOpened } from '../rpc/model.ts';
import type { Connection } from './connection.ts';
import type { Network } from './network.ts';
import type { StationPort } from './port.ts';

/** A line of a log. */
export interface LogLine {
  /** ms since the epoch: of the machine from `readLog`, of the central system in a file */
  readonly atMs: number;
  readonly text: string;
}

/** Credentials that are in force after others were tried. Null: those of the settings. */
export interface InForce {
  readonly password: Buffer | null;
  /** PEM */
  readonly own: { readonly cert: string; readonly key: string } | null;
}

export interface VersionStack {
  readonly bootStatus: OcppBootStatus;
  readonly heartbeatIntervalS: number | null;
  readonly lastHeartbeatMs: number | null;
  readonly transactionMessages: number;
  readonly droppedMeterValues: number;
  readonly functions: OcppFunctions;
  /** Restores its state; before the first connection. */
  load(): Promise<void>;
  opened(event: LineOpened): void;
  closed(event: LineClosed): void;
  /** An attempt to connect has failed. */
  failed(failure: ConnectFailure): void;
  /** Changed credentials have opened a connection, or have failed and are not used any more. */
  credentials(outcome: 'proven' | 'reverted', inForce: InForce): void;
  /** The next connection leads to another central system, which knows nothing of the station yet. */
  retargeted(): void;
  /** A frame has gone out. */
  sent(): void;
  /** Calls of the central system get no answer now, also no refusal. */
  readonly isMute: boolean;
  /** Answers a call that fits its schema. */
  readonly handle: CallHandler;
  /**
   * The station leaves while the process goes on: its sessions end. Resolves when the central system has their messages, or
   * cannot have them now. `stop` follows.
   */
  leave(): Promise<void>;
  /** The station has left or the process ends: timers and listeners end, nothing more is sent. */
  stop(): void;
}

/** What a version is made of. */
export interface StackOptions {
  readonly id: string;
  readonly device: StationPort;
  /** the time of the central system; instants of transitions by `ofSim` */
  readonly clock: RemoteClock;
  readonly wall: WallClock;
  /** timers on the wall clock: heartbeat, back-off, time-outs. What the protocol times by its own instants uses `clock` */
  readonly later: Later;
  readonly random: RandomStream;
  readonly log: Logger;
  /** a slot of this station: `store('profiles')` */
  readonly store: (name: string) => Slot;
  readonly line: Line;
  readonly connection: Connection;
  readonly network: Network;
  /** certificates of the settings, PEM; null: none */
  readonly certificates: { readonly rootCert: string | null; readonly ownCert: string | null };
  /** lines about the station, oldest first; no secrets */
  readonly readLog: () => readonly LogLine[];
  readonly disturber: FrameDisturber;
  /** plugging in presents the token `AUTO` */
  readonly autoAuthorize: boolean;
  /** whether password or certificates of a security profile are there */
  readonly ready: (profile: 1 | 2 | 3) => boolean;
  /** The central system has broken a rule of the version. */
  readonly finding: (clause: string, text: string, action?: string) => void;
}

/** A version as a station uses it. */
export interface Version {
  readonly subprotocol: OcppSubprotocol;
  readonly makeStack: (options: StackOptions) => VersionStack;
}
