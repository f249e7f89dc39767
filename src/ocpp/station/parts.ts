/** Types of the parts of a station that every version has, over its own requests and replies. */
import type { OcppBootStatus } from '../../contract/ocpp.ts';
import type { After, CallOptions, CallOutcome } from '../rpc/model.ts';

/** @throws CallError */
export type HandlerOf<Request, Reply> = (request: Request, after: After) => Reply | Promise<Reply>;

/** `triggered`: the central system has asked for the message. */
export type TriggeredOptions = CallOptions & { readonly triggered?: boolean };

export type ReplyOutcomeOf<Reply> =
  | { readonly kind: 'result'; readonly payload: Reply; readonly durationMs: number }
  | Exclude<CallOutcome, { readonly kind: 'result' }>;

/** Calls to the central system. */
export interface CallsOf<Requests, Replies extends Readonly<Record<keyof Requests, unknown>>> {
  /**
   * Sends as soon as the line is free. Before the registration is accepted only BootNotification goes out, and what the
   * central system has asked for (`triggered`); everything else is `unsent` then.
   */
  send<Name extends keyof Requests & string>(
    action: Name,
    request: Requests[Name],
    options?: TriggeredOptions,
  ): Promise<ReplyOutcomeOf<Replies[Name]>>;
}

export interface RegistrationOf<Replies extends { readonly BootNotification: unknown; readonly Heartbeat: unknown }> {
  readonly status: OcppBootStatus;
  /** and the line is open: calls go out */
  readonly accepted: boolean;
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
  /** the station leaves, or the process ends */
  stop?(): void;
}

/** A time stamp: UTC with milliseconds. */
export function stamp(ms: number): string {
  return new Date(ms).toISOString();
}
