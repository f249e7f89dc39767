/**
 * One version of OCPP at work for one station, and the types of the parts that every version has. `adapter.ts` has a
 * row for each version.
 */
import type { OcppBootStatus, OcppFunctions, OcppSubprotocol } from '../../contract/ocpp.ts';
import { errorText, SimError } from '../../core/errors.ts';
import type { OcppRule } from '../../finding-rules/ocpp.ts';
import type { Logger } from '../../core/log/log.ts';
import type { RandomStream } from '../../core/random.ts';
import type { JsonValue, Slot } from '../../core/store.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type {
  CallHandler,
  FrameDisturber,
  Line,
  LineClosed,
  LineOpened,
  After,
  CallOptions,
  CallOutcome,
} from '../rpc/model.ts';
import type { ConnectFailure } from '../rpc/socket.ts';
import type { SentLimits } from '../charging/sent-limits.ts';
import type { Connection, Network } from './connection.ts';
import type { Insistence } from './insistence.ts';
import type { StationPort } from './port.ts';

// Calls of the central system on their way to the parts of a station.

/** The handlers of all parts. @throws SimError INTERNAL for an action with two handlers */
export function mergeHandlers<Handlers extends object>(parts: readonly { readonly handlers?: Handlers }[]): Handlers {
  const merged = new Map<string, unknown>();
  for (const [action, handler] of parts.flatMap(({ handlers }) => Object.entries(handlers ?? {}))) {
    if (merged.has(action)) throw new SimError('INTERNAL', `two parts answer ${action}`);
    merged.set(action, handler);
  }
  // each of them was under its action in a table of this form
  return Object.fromEntries(merged) as Handlers;
}

/** Turns in which the promise of an answer to BootNotification runs; the next call may arrive together with it. */
const turns = 10;

/** Carries out calls once an answer to BootNotification that came before them has taken effect. */
export function afterBootAnswer(registration: { readonly booting: boolean }, act: CallHandler): CallHandler {
  const later: CallHandler = async (...call) => {
    for (let turn = 0; turn < turns && registration.booting; turn += 1) await Promise.resolve();
    return act(...call);
  };
  return (...call) => (registration.booting ? later(...call) : act(...call));
}

/** A line of a log. */
export interface LogLine {
  /** ms since the epoch: of the machine from `readLog`, of the central system in a file */
  readonly atMs: number;
  readonly text: string;
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
  /**
   * An attempt to connect has failed.
   * @param isReverted credentials on trial have failed with it: the former ones are tried at once
   */
  failed(failure: ConnectFailure, isReverted: boolean): void;
  /** Restores the certificate of the station that was in force before a refused one; null: that of the settings. PEM */
  restoreOwn(own: { readonly cert: string; readonly key: string } | null): void;
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
   * cannot have them now. `stop` or `release` follows.
   */
  leave(reason: LeaveReason): Promise<void>;
  /**
   * Another version takes over, on a connection that is its own already: sessions end, nothing goes out, and the device
   * keeps its authority and nothing else of this version, once it accepts that. What is kept waits for the version to be
   * at work again.
   */
  giveWay(): void;
  /** The station has left or the process ends: timers and listeners end, nothing more is sent. */
  stop(): void;
  /**
   * As `stop`, where the device lives on: it gives up what the version holds there, once it accepts that.
   * @param isReplaced true: a station of the next adapter takes over what it can restore
   */
  release(isReplaced: boolean): void;
}

/** Why sessions end with their station: it is removed or switched off, or its adapter restarts. */
export type LeaveReason = 'Other' | 'Reboot';

/**
 * Slots of the station, which its versions share: what they keep is a fact of the station and reads the same in every
 * version. All other slots are of one version, whose messages have a form that no other version can use.
 */
export const stationSlots: ReadonlySet<string> = new Set([
  'availability',
  'certificates',
  'firmware-version',
  'network-profiles',
  'network-variables',
  'security-log',
]);

/**
 * Notes a rule of the version that the central system has broken.
 * @param action of its call, or of the call that it has answered
 * @param rule of the catalogue of findings; null: nothing there is about it
 */
export type Find = (clause: string, text: string, action: string, rule: OcppRule | null) => void;

/** Dependencies of a version. */
export interface StackOptions {
  readonly id: string;
  readonly device: StationPort;
  /** the time of the central system; instants of transitions by `ofSim` */
  readonly clock: RemoteClock;
  /** Call it after each `sync` of the clock: a restart keeps its offset. */
  readonly clockSet: () => void;
  readonly wall: WallClock;
  /** timers on the wall clock: heartbeat, back-off, time-outs. What the protocol times by its own instants uses `clock` */
  readonly later: Later;
  readonly random: RandomStream;
  readonly log: Logger;
  /** a slot of this version at this station, or one of `stationSlots`: `store('profiles')` */
  readonly store: (name: string) => Slot;
  readonly line: Line;
  readonly connection: Connection;
  readonly network: Network;
  /** the same for all versions of the station: a version takes over the limits that the one before has left */
  readonly limits: SentLimits;
  /** The same for all versions of the station: what takes the place of their state at the device is tried until accepted. */
  readonly releases: Insistence;
  /** certificates of the settings, PEM; null: none */
  readonly certificates: { readonly rootCert: string | null; readonly ownCert: string | null };
  /** lines about the station, oldest first; no secrets */
  readonly readLog: () => readonly LogLine[];
  readonly disturber: FrameDisturber;
  /** plugging in presents the token `AUTO` */
  readonly autoAuthorize: boolean;
  /** true: the station has the password or certificates that a security profile needs */
  readonly ready: (profile: 1 | 2 | 3) => boolean;
  readonly finding: Find;
}

/** A version as a station uses it. */
export interface Version {
  readonly subprotocol: OcppSubprotocol;
  readonly makeStack: (options: StackOptions) => VersionStack;
}

// The authority about the sessions of a device while the client runs.

/**
 * The central system decides from the start to the end of the client; then the device returns to its profile.
 * @param central false: the client ends
 */
export function setAuthority({ device, log }: Pick<StackOptions, 'device' | 'log'>, central: boolean): void {
  try {
    device.command({ kind: 'evse.authority', central });
    if (central) return;
    device.command({
      kind: 'evse.behaviour',
      connectionTimeoutS: null,
      authorizationTimeoutS: null,
      endOnEvDisconnect: null,
      unlockOnEvDisconnect: null,
      autoAuthorize: null,
    });
  } catch (error) {
    // at the end the device may have left already
    if (central) log.warning(`the station keeps its own authority: ${errorText(error)}`, device.deviceIndex);
  }
}

/** Listeners to one kind of event; one that fails is logged and does not keep the others from it. */
export interface Signal<T> {
  /** The returned function unsubscribes. */
  on(listener: (event: T) => void): () => void;
  emit(event: T): void;
}

export function createSignal<T>(log: Pick<Logger, 'error'>): Signal<T> {
  const listeners = new Set<(event: T) => void>();
  return {
    on(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    emit(event) {
      for (const listener of listeners) {
        try {
          listener(event);
        } catch (error) {
          log.error(`a listener has failed: ${errorText(error)}`);
        }
      }
    },
  };
}

// Instants in messages: RFC 3339 with a zone, as the schemas of every version demand it (OCPP-J 1.6 3.4 and 4.2).

/** The last instant whose year has four digits, ms since the epoch: later ones have no RFC 3339 text. */
const lastMs = 253_402_300_799_999;

/** Ms since the epoch; NaN: no date. A leap second, which this calendar lacks, is the second before it. */
export function instantOf(text: string): number {
  const ms = Date.parse(text.toUpperCase().replace(/:60(?=[.Z+-])/, ':59'));
  return Math.min(ms, lastMs);
}

// Keeps a slot of the store at the newest state of a part.

export interface Saver {
  /**
   * Writes the state within the call: an answer that is sent next waits until this change is durable, and changes reach
   * the disk in their order. A failure is logged.
   */
  save(): void;
}

/** @param state read at the moment of writing */
export function createSaver(slot: Slot, state: () => readonly JsonValue[], log: Pick<Logger, 'error'>): Saver {
  return {
    save() {
      slot.replace(state()).catch((error: unknown) => {
        log.error(`the store has refused a change: ${errorText(error)}`);
      });
    },
  };
}

/** @throws CallError */
export type HandlerOf<Request, Reply> = (request: Request, after: After) => Reply | Promise<Reply>;

/** `triggered`: the central system has asked for the message. */
type TriggeredOptions = CallOptions & { readonly triggered?: boolean };

type ReplyOutcomeOf<Reply> =
  | { readonly kind: 'result'; readonly payload: Reply; readonly durationMs: number }
  | Exclude<CallOutcome, { readonly kind: 'result' }>;

/** Calls to the central system. */
export interface CallsOf<Requests, Replies extends Readonly<Record<keyof Requests, unknown>>> {
  /**
   * Sends as soon as the line is free. Before the registration is accepted only BootNotification goes out, and while
   * Pending what the central system has asked for (`triggered`); everything else is `unsent` then.
   */
  send<Name extends keyof Requests & string>(
    action: Name,
    request: Requests[Name],
    options?: TriggeredOptions,
  ): Promise<ReplyOutcomeOf<Replies[Name]>>;
}

export interface RegistrationOf<Replies extends { readonly BootNotification: unknown; readonly Heartbeat: unknown }> {
  readonly status: OcppBootStatus;
  /** Registration is accepted and the line is open: calls go out. */
  readonly isReady: boolean;
  /** Sends a BootNotification now. */
  boot(options?: TriggeredOptions): Promise<ReplyOutcomeOf<Replies['BootNotification']>>;
  heartbeat(options?: TriggeredOptions): Promise<ReplyOutcomeOf<Replies['Heartbeat']>>;
  /** Calls back each time the station becomes accepted, also again after a new connection. */
  onAccepted(listener: () => void): () => void;
}

/** StatusNotification. */
export interface StatusReports {
  /** Sends the status of a connector (2.x: an EVSE), of all when absent, though it has not changed. */
  announce(connectorId?: number, options?: { readonly triggered?: boolean }): void;
}

/** Operative states that the central system sets; they survive a restart. */
export interface Availability {
  /** the whole station is set inoperative */
  readonly stationInoperative: boolean;
  operative(connectorId: number): boolean;
}

/** Security events: sent when critical, logged always. */
export interface SecurityEvents {
  raise(type: string, techInfo?: string): void;
}

/** A part as `version.ts` sees it. */
export interface PartOf<Handlers> {
  readonly handlers?: Handlers;
  /** restores its state from the store; before the first connection */
  load?(): Promise<void>;
  /** the work of the part ends; `close` or `release` follows */
  stop?(): void;
  /** the station leaves, or the process ends */
  close?(): void;
  /**
   * Another version takes over, or the version could not be loaded: takes back what the device holds of the part, as soon
   * as the device accepts it.
   */
  release?(): void;
  /** A station of the next adapter takes over: takes back what that one makes anew. */
  handOver?(): void;
}

/** A time stamp: UTC with milliseconds. */
export function stamp(ms: number): string {
  return new Date(ms).toISOString();
}

/** The versions of `v201`. */
export type Version2 = Exclude<OcppSubprotocol, 'ocpp1.6'>;
