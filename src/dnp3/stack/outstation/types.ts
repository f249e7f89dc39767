/** Interface between an outstation, the program around it, and its parts. */
import type { Buffer } from 'node:buffer';
import type { Answer, AppControl, Request } from '../application/types.ts';
import type { PointClass, PointKind, PointSpec, PointState, PointValue, Stamp } from '../points.ts';

/** Status octets of controls. IEEE 1815 table of control status codes */
export const controlStatus = {
  success: 0,
  timeout: 1,
  noSelect: 2,
  formatError: 3,
  notSupported: 4,
  alreadyActive: 5,
  hardwareError: 6,
  local: 7,
  tooManyObjects: 8,
  notAuthorized: 9,
  automationInhibit: 10,
  processingLimited: 11,
  outOfRange: 12,
  downstreamLocal: 13,
  alreadyComplete: 14,
  blocked: 15,
  canceled: 16,
  blockedOtherMaster: 17,
  downstreamFail: 18,
  undefined: 127,
} as const;
export type ControlStatus = (typeof controlStatus)[keyof typeof controlStatus];

/** One parsed control of a request: g12v1 or g41. */
export type Control =
  | {
      readonly kind: 'binary';
      readonly index: number;
      /** latch on, pulse on, close: 1; latch off, pulse off, trip: 0 */
      readonly state: 0 | 1;
    }
  /** @property value wire units; may be NaN or infinite @property isFloat true for g41v3 and v4 */
  | { readonly kind: 'analog'; readonly index: number; readonly value: number; readonly isFloat: boolean };

/** The sender of a control. */
export interface MasterId {
  readonly address: number;
  /** `4@127.0.0.1:50123` */
  readonly peer: string;
}

/** The outputs of a device. */
export interface ControlPort {
  /** True if there is such an output; if not, the request also gets IIN2.2. */
  has(kind: Control['kind'], index: number): boolean;
  /** Checks everything and changes nothing. Never throws. */
  select(control: Control, from: MasterId): ControlStatus;
  /** Checks and carries out. Never throws. */
  operate(control: Control, from: MasterId): ControlStatus;
  /** Called for a control that is refused without the device: unknown output, no select, select of another master. */
  refused?(control: Control, status: ControlStatus, from: MasterId, isSelect: boolean): void;
}

/** Time of an event on the clock of one master. */
export interface DnpTime {
  /** ms since the epoch, UTC */
  readonly ms: number;
  /** false before the first time write of this master, and while the time is lost */
  readonly synchronised: boolean;
}

/** The instant of an event, fixed when the event is made. */
export interface Instant {
  /** ms on a monotonic clock that no master sets */
  readonly localMs: number;
  /** date of the instant, ms since the epoch; valid until a master writes the time */
  readonly dateMs: number;
}

/** The clock of one association, which its master sets. */
export interface AssociationClock {
  nowMs(): number;
  /** The instant of a new event. Call it once per event, so that all transmissions have the same time. */
  instantOf(stamp: Stamp): Instant;
  /** Time of an instant on the clock of the master. */
  timeOf(instant: Instant): DnpTime;
  /** true: the master has to write the time (NEED_TIME) */
  readonly needsTime: boolean;
  /**
   * Sets the clock to the time of the master.
   * @param ms time of the master, ms since the epoch @param monotonicMs instant of that time
   * @returns false: outside of the range of the clock, which is unchanged
   */
  sync(ms: number, monotonicMs: number): boolean;
  /** The instant of an event from before a restart. @param ms its `timeOf` then, ms since the epoch */
  restoredInstant(ms: number): Instant;
  /** Called at a restart of the association: the master must write the time again. */
  forget(): void;
}

/** The fate of one response. */
export interface Disturbance {
  readonly dropped: boolean;
  readonly badCrc: boolean;
  readonly sequenceShift: number;
  /** true: CON is set */
  readonly asksForConfirm: boolean;
  /** octets added after the last object; null: none */
  readonly addedOctets: Buffer | null;
  /** delay of the response, wall ms */
  readonly delayMs: number;
}

/** A response without a fault. */
export const undisturbed: Disturbance = {
  dropped: false,
  badCrc: false,
  sequenceShift: 0,
  asksForConfirm: false,
  addedOctets: null,
  delayMs: 0,
};

/** Faults of an outstation, for tests of masters. */
export interface Disturber {
  /**
   * Bits of IIN that are set in every response.
   * @param isSent false: only for display, no response has these bits
   */
  iin(isSent: boolean): number;
  /** Called once for each application confirm. @returns true: it is ignored */
  ignoresConfirm(): boolean;
  /**
   * Fate of a response or unsolicited response to a request of this function (130: unsolicited).
   * @param response before its faults: a fault that would change nothing does not strike
   */
  response(
    functionCode: number,
    response: { readonly asksForConfirm: boolean; readonly freeBytes: number },
  ): Disturbance;
}

/** Conditions of the device that IIN shows. */
export interface DeviceConditions {
  /** IIN1.5 */
  localControl(): boolean;
  /** IIN1.6 */
  trouble(): boolean;
}

/** A change of a point that is to be reported. */
export interface PointEvent {
  readonly spec: PointSpec;
  readonly class: 1 | 2 | 3;
  readonly state: PointState;
  readonly stamp: Stamp;
}

/** Present state and settings of a point. */
export interface DatabasePoint {
  readonly spec: PointSpec;
  /** class from ASSIGN_CLASS of a master, else from the configuration */
  readonly class: PointClass;
  /** deadband from a write of a master (g34), else from the configuration */
  readonly deadband: number;
  readonly state: PointState;
}

/** Points with their present values; `at` is the place of a point in `specs`. */
export interface PointList {
  /** ascending by index */
  readonly specs: readonly PointSpec[];
  value(at: number): PointValue;
  flags(at: number): number;
}

/** The present values of an outstation: one for all its masters. */
export interface Database {
  /** Updates all values. Call it before reading. */
  refresh(): void;
  /** All points of a kind. */
  list(kind: PointKind): PointList;
  /** Points of a kind that a read of class 0 includes. */
  listOfClass0(kind: PointKind): PointList;
  /** All points of a kind with their settings, ascending by index. */
  points(kind: PointKind): readonly DatabasePoint[];
  point(kind: PointKind, index: number): DatabasePoint | undefined;
  /** Sets a value; creates an event if class and deadband require one. No effect for an unknown point. */
  update(kind: PointKind, index: number, state: PointState, stamp: Stamp): void;
  /** ASSIGN_CLASS. @returns false: there is no such point, or it cannot make events */
  assignClass(kind: PointKind, index: number, to: PointClass): boolean;
  /** g34. @returns false: there is no such analog input, or the deadband is negative or not finite */
  setDeadband(index: number, deadband: number): boolean;
  /**
   * Copies counters to frozen counters, with an event for each; `clear` has no effect on counters that are never
   * cleared.
   * @returns false: an index is not that of a counter
   */
  freeze(indexes: readonly number[] | 'all', clear: boolean, stamp: Stamp): boolean;
  /** Listeners are called with each event, in order; the returned function removes the listener. */
  onEvent(listener: (event: PointEvent) => void): () => void;
  /** Listeners are called after changes of classes, deadbands and frozen counters. */
  onSettings(listener: () => void): () => void;
  /** Sets a frozen counter as it was before a restart, without an event. No effect for an unknown point. */
  restoreFrozen(index: number, state: PointState): void;
  /** Restores the configured classes and deadbands. */
  restart(): void;
}

/** The clocks that the stack reads. */
export interface StackClock {
  /** Monotonic time, ms. */
  monotonicMs(): number;
  /** the present instant, to stamp events with */
  stamp(): Stamp;
}
/** Calls `act` once after `ms`; the returned function cancels it. */
export type StackLater = (ms: number, act: () => void) => () => void;

export interface OutstationLimits {
  /** octets of a fragment sent, 249 to 2048 */
  readonly fragmentBytes: number;
  /** maximum number of events for each kind of point and class, per association */
  readonly eventsPerKind: number;
  readonly selectTimeoutMs: number;
  readonly confirmTimeoutMs: number;
  /** wait between two attempts of an unsolicited response */
  readonly unsolicitedRetryMs: number;
  /** controls of one request; the rest get status 8 */
  readonly controlsPerRequest: number;
}

export const defaultLimits: OutstationLimits = {
  fragmentBytes: 2048,
  eventsPerKind: 500,
  selectTimeoutMs: 5000,
  confirmTimeoutMs: 5000,
  unsolicitedRetryMs: 5000,
  controlsPerRequest: 64,
};

/** A device attribute (g0). */
export interface DeviceAttribute {
  readonly variation: number;
  readonly value: string | number;
}

/** The parts of one outstation, shared by its associations. */
export interface OutstationOptions {
  readonly database: Database;
  readonly controls: ControlPort;
  readonly conditions: DeviceConditions;
  readonly disturber: Disturber;
  readonly clock: StackClock;
  readonly later: StackLater;
  readonly limits: OutstationLimits;
  readonly attributes: readonly DeviceAttribute[];
  /** true: unsolicited responses are configured; the master enables their classes */
  readonly unsolicited: boolean;
  /** Makes the clock of one master. */
  readonly masterClock: (address: number) => AssociationClock;
  /** delay in the answer to COLD_RESTART and WARM_RESTART, ms */
  readonly restartDelayMs: number;
  /**
   * Resolves when all changes by a request of this function are durable, never rejects; null: they are. Absent: the
   * outstation has no memory that survives the process.
   */
  readonly durable?: (functionCode: number) => Promise<void> | null;
  /** Makes the observer of one master; absent: nobody observes. */
  readonly observerOf?: (masterAddress: number) => MasterObserver;
  readonly log: { info(message: string): void; warning(message: string): void; debug(message: string): void };
}

/** Observer of what one master says and hears. All members are called in the order of the wire, and never throw. */
export interface MasterObserver {
  /** A connection begins. @param peer `4@127.0.0.1:50123` */
  opened(peer: string): void;
  /** The connection ends. */
  closed(): void;
  /** The association restarts: DEVICE_RESTART is set again. */
  restarted(): void;
  /** A fragment is dropped without an answer, because it is no request. */
  dropped(fragment: Buffer): void;
  /** A request that is no CONFIRM has come; called before it is carried out. */
  requested(request: Request, cast: Cast): void;
  /** A control of the present request has got its status. */
  controlled(control: Control, status: ControlStatus): void;
  /** The request is carried out. @param iin2 bits of IIN2 that refuse it, or parts of it */
  answered(request: Request, iin2: number): void;
  /** A response or an unsolicited response goes out; called before faults act on it. */
  sent(fragment: Buffer): void;
  /** A confirm has come; called before it has an effect. */
  confirmed(control: AppControl): void;
}

/** Everything that a function handler may use for one request. */
export interface FunctionContext {
  readonly outstation: OutstationOptions;
  readonly master: MasterId;
  readonly time: AssociationClock;
  /** instant at which this request arrived, monotonic ms */
  readonly receivedMs: number;
  /** true if another association has a select pending on this output */
  selectedByOther(kind: Control['kind'], index: number): boolean;
  /** called with the status of each control */
  controlled(control: Control, status: ControlStatus): void;
  /** clears IIN1.7 */
  clearRestart(): void;
  /** begins the restart of the association once the answer is sent */
  requestRestart(kind: 'cold' | 'warm'): void;
}

/** Carries a request out. `headers` have been parsed, `refusal` is 0. Never throws. */
export type FunctionHandler = (request: Request, context: FunctionContext) => Answer;

/** All functions except READ, CONFIRM, ENABLE_UNSOLICITED and DISABLE_UNSOLICITED. One set per association. */
export interface FunctionSet {
  handler(functionCode: number): FunctionHandler | undefined;
  /**
   * called for every request but CONFIRM and repetitions: any request but the matching OPERATE cancels a select
   */
  precede(request: Request): void;
  /** true if a select waits for its OPERATE */
  readonly hasSelect: boolean;
  /** true if an output is selected now */
  isSelected(kind: Control['kind'], index: number): boolean;
  /** called when the connection is lost, and at a restart: drops select and recorded time */
  sessionEnded(): void;
}

/** One connection of a master. */
export interface Session {
  /** `4@127.0.0.1:50123` */
  readonly peer: string;
  send(fragment: Buffer, options?: { readonly badCrc: boolean }): void;
  /** Called when another connection of the same master replaces this one. */
  replaced(): void;
  /** Checks that the master still answers, when another connection wants to replace this one. */
  probe(): void;
}

/** Destination of a fragment: this outstation, or all outstations by one of the three broadcast addresses. */
export type Cast = 'unicast' | 'broadcast-no-confirm' | 'broadcast-confirm' | 'broadcast-confirm-optional';

/** One master of an outstation, as the connection layer sees it. It outlives connections. */
export interface AssociationPort {
  readonly masterAddress: number;
  /** the connection of this master; null: it has none */
  readonly session: Session | null;
  /** Begins a connection of this master; an open connection is replaced. */
  open(session: Session): void;
  /** Ends a connection; does nothing for a replaced one. */
  close(session: Session): void;
  /** A whole fragment from the transport function. Never throws. @param from `address@peer` that sent a broadcast */
  receive(fragment: Buffer, cast: Cast, from?: string): void;
}
