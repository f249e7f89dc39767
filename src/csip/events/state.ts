/** What the scheduler remembers about one EndDevice. Values are never changed in place: a step makes new ones. */
import type { ControlInForce, ControlOutcome, ModeName } from '../control/model.ts';
import type { CsipControlState } from '../../contract/csip-events.ts';
import type { ListedControl, ListedDefault } from './model.ts';

/** `received`: its list has just shown it, and nothing is decided; it lasts within one step only. */
export type Phase = 'received' | CsipControlState;

/** Half open: `startS` belongs to it, `endS` does not. */
export interface Period {
  readonly startS: number;
  readonly endS: number;
}

export interface TrackedEvent {
  /** as its list showed it first; what a server may change (status, replyTo, hints) is of the last reading */
  readonly listed: ListedControl;
  /** keys of the present programs whose lists have shown it */
  readonly programs: readonly string[];
  /** the program of lowest primacy among them */
  readonly programKey: string;
  readonly primacy: number;
  /** the last reading of its lists still showed it */
  readonly present: boolean;
  readonly phase: Phase;
  /** start and end with the random offsets picked for it */
  readonly own: Period;
  /** fixed from its start, or its end, on; null before */
  readonly fixed: Period | null;
  /** cancelled with randomization: the instant at which it stops */
  readonly cancelAtS: number | null;
  /** modes that other events have taken, which do not come back */
  readonly lost: readonly ModeName[];
  /** key of the program whose event took a mode last */
  readonly lostTo: string | null;
  readonly outcome: ControlOutcome | null;
  /** it was applied at least once */
  readonly started: boolean;
  readonly optedOut: boolean;
  /** it was opted out for a part of its time */
  readonly missed: boolean;
  /** the device was reset under it: it is not applied again */
  readonly withdrawn: boolean;
  /** its last response is owed, or would be if the server asked for it; none follows */
  readonly answered: boolean;
  /** it ended because its last program left: if that returns, the event is a new one */
  readonly left: boolean;
  readonly endedS: number | null;
}

export interface TrackedProgram {
  readonly key: string;
  readonly href: string;
  readonly primacy: number;
  readonly defaultControl: ListedDefault | null;
}

/** Made by `createSchedule` and `nextStep`; kept by `saveSchedule`. */
export interface ScheduleState {
  /** by mRID, in the order of receipt */
  readonly events: ReadonlyMap<string, TrackedEvent>;
  /** by primacy, then by key */
  readonly programs: readonly TrackedProgram[];
  readonly inForce: readonly ControlInForce[];
}

export const isLive = ({ phase }: TrackedEvent): boolean =>
  phase === 'received' || phase === 'scheduled' || phase === 'active';

/** Modes that the device cannot carry out; they count for nothing when it is asked whether an event has any left. */
const idleModes = ({ outcome }: TrackedEvent): ReadonlySet<ModeName> =>
  new Set(outcome?.leftOut.filter(({ reason }) => reason !== 'outweighed').map(({ mode }) => mode));

/** The modes that an event has not lost. */
export const heldModes = ({ listed, lost }: TrackedEvent): readonly ModeName[] =>
  lost.length === 0 ? listed.modes : listed.modes.filter((mode) => !lost.includes(mode));

/** Whether other events have taken every mode that the device could carry out. */
export function hasLostAll(event: TrackedEvent): boolean {
  if (event.lost.length === 0) return false;
  const idle = idleModes(event);
  return heldModes(event).every((mode) => idle.has(mode));
}

const texts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Order of programs: lower primacy first; a tie is decided by their keys, which do not change. */
export const byPrimacy = (
  a: { readonly primacy: number; readonly key: string },
  b: { readonly primacy: number; readonly key: string },
): number => a.primacy - b.primacy || texts(a.key, b.key);

/** Order of events, the winner first: lower primacy, then later creation (rule e); a tie is decided by the mRIDs. */
export const byPriority = (a: TrackedEvent, b: TrackedEvent): number =>
  a.primacy - b.primacy || b.listed.creationS - a.listed.creationS || texts(a.listed.mrid, b.listed.mrid);
