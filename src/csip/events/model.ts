/** Inputs and outputs of the scheduler of events. Times are seconds of server time. */
import { z } from 'zod';
import type { Members } from '../../core/slot-values.ts';
import type { CsipControlState } from '../../contract/csip-reports.ts';
import type { ControlInForce, ControlOutcome, ModeName, ResolvedControl } from '../control/model.ts';

/** EventStatus.currentStatus. */
export type EventStatusNow = 'scheduled' | 'active' | 'cancelled' | 'cancelled with randomization' | 'superseded';

/** A DERControl as its list shows it. */
export interface ListedControl {
  /** upper case */
  readonly mrid: string;
  readonly href: string | null;
  readonly description: string | null;
  readonly version: number | null;
  readonly creationS: number;
  /** seconds that the Time of its FunctionSetAssignments is ahead of that of the server */
  readonly aheadS: number;
  readonly startS: number;
  /** start and creationTime as the server writes them, without `aheadS`; absent: kept by an earlier version */
  readonly written?: { readonly startS: number; readonly creationS: number };
  readonly durationS: number;
  /** 0: no randomization */
  readonly randomizeStartS: number;
  readonly randomizeDurationS: number;
  readonly status: EventStatusNow;
  readonly statusS: number | null;
  readonly potentiallySuperseded: boolean;
  /** bits of DeviceCategoryType; null: every device */
  readonly deviceCategory: number | null;
  /** bits: 1 received, 2 specific responses, 4 responses of the user */
  readonly responseRequired: number;
  /** absolute URI; null: no response can be sent */
  readonly replyTo: string | null;
  /** modes that the control takes from others (`controlledModes`) */
  readonly modes: readonly ModeName[];
  readonly control: ResolvedControl;
}

export interface ListedDefault {
  readonly mrid: string | null;
  readonly href: string | null;
  readonly description: string | null;
  readonly modes: readonly ModeName[];
  readonly control: ResolvedControl;
}

/** A DERProgram of an EndDevice. */
export interface ListedProgram {
  /** mRID in upper case; its URI where it has none */
  readonly key: string;
  readonly href: string;
  readonly description: string | null;
  /** 0..255; the lower number has priority */
  readonly primacy: number;
  /** undefined: unreadable this time, the previous one stays; null: the program has none */
  readonly defaultControl: ListedDefault | null | undefined;
  /** undefined: the list was unreadable this time, and its controls stay */
  readonly controls: readonly ListedControl[] | undefined;
  /** true: the list has controls that are not among `controls` */
  readonly isPartial?: boolean;
  /** when `controls` were read, on `WallClock.monotonicMs`; absent or null: just now */
  readonly controlsReadMs?: number | null;
}

/** DERControlResponse.status. */
export type ResponseStatus = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 13 | 14 | 251 | 252 | 253 | 254;

/** A response that is owed. */
export interface OwedResponse {
  readonly mrid: string;
  readonly status: ResponseStatus;
  /** on the clock that governs the event: that of its FunctionSetAssignments, or of the server */
  readonly createdS: number;
  readonly replyTo: string;
}

/** Schemas of a stored response. */
export const owedMembers: Members<OwedResponse> = {
  mrid: z.string(),
  status: z.literal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 251, 252, 253, 254]),
  createdS: z.number().min(-1e13).max(1e13),
  replyTo: z.string(),
};

/** A control and its state, for REST. */
export interface KnownControl {
  readonly listed: ListedControl;
  readonly programKey: string;
  readonly primacy: number;
  readonly state: CsipControlState;
  readonly effectiveStartS: number;
  readonly effectiveDurationS: number;
  /** while in force, the modes that are neither lost to other events nor left out by the device; otherwise empty */
  readonly modesInForce: readonly ModeName[];
  readonly optedOut: boolean;
  /** true if the device has carried it out at least once */
  readonly started: boolean;
  readonly outcome: ControlOutcome | null;
}

/** Inputs of the schedule of one EndDevice. */
export type ScheduleInput =
  /** the programs of all FSAs; a missing program was removed */
  | { readonly kind: 'programs'; readonly programs: readonly ListedProgram[] }
  /** time has passed, or the clock of the server has jumped */
  | { readonly kind: 'time' }
  /** results of the device for the controls in force */
  | { readonly kind: 'outcomes'; readonly outcomes: ReadonlyMap<string, ControlOutcome> }
  /** opt-in or opt-out by the user (`csip/controls/{mrid}/opt`) */
  | { readonly kind: 'opt'; readonly mrid: string; readonly in: boolean }
  /** the device was reset: events that it has started are not applied again */
  | { readonly kind: 'reset' };

/** The effect of an input. */
export interface ScheduleStep<State> {
  readonly state: State;
  readonly responses: readonly OwedResponse[];
  /** controls in force from now on, highest priority first; the same object while nothing has changed */
  readonly inForce: readonly ControlInForce[];
  /** time at which the next `time` input is due; null: none */
  readonly nextS: number | null;
}

/** Facts about one EndDevice and choices of the client. */
export interface ScheduleOptions {
  /** bits of DeviceCategoryType of its devices */
  readonly deviceCategory: number;
  /** uniform in [0, 1), constant for each (mRID, purpose), also over restarts */
  readonly pick: (mrid: string, purpose: 'start' | 'duration' | 'cancel') => number;
  /** response 7 is due at the winner's start, or as soon as the winner is discovered */
  readonly supersededResponse: 'at_start' | 'at_discovery';
  readonly revision: '2018' | '2023';
  /** predicts the outcome of a control when it is received */
  readonly check: (control: ResolvedControl) => ControlOutcome;
}
