/** The state of the schedule of one EndDevice. Values are immutable: each step makes new ones. */
import type { ControlInForce, ControlOutcome, ModeName } from '../control/model.ts';
import type { CsipControlState } from '../../contract/csip-reports.ts';
import type { ListedControl, ListedDefault } from './model.ts';

/** `received`: new and not decided yet, within one step only. */
export type Phase = 'received' | CsipControlState;

/** Half open: includes `startS`, excludes `endS`. */
export interface Period {
  readonly startS: number;
  readonly endS: number;
}

export interface TrackedEvent {
  /** as first read; members that a server may change (status, replyTo, hints) are from the last reading */
  readonly listed: ListedControl;
  /** keys of the present programs that list the event */
  readonly programs: readonly string[];
  /** the one of lowest primacy among them */
  readonly programKey: string;
  readonly primacy: number;
  /** true if the last reading listed it */
  readonly present: boolean;
  readonly phase: Phase;
  /** start and end with their random offsets */
  readonly own: Period;
  /** effective period, fixed when the event starts or ends; null before */
  readonly fixed: Period | null;
  /** end of an event that is cancelled with randomization */
  readonly cancelAtS: number | null;
  /** modes taken by other events; they do not come back */
  readonly lost: readonly ModeName[];
  /** key of the program whose event took the last mode */
  readonly lostTo: string | null;
  readonly outcome: ControlOutcome | null;
  /** true if it was applied at least once */
  readonly started: boolean;
  readonly optedOut: boolean;
  /** true if it was opted out for a part of its time */
  readonly missed: boolean;
  /** true if the device was reset during the event: it is not applied again */
  readonly withdrawn: boolean;
  /** true if its last response is owed, or would be if the server had asked for it */
  readonly answered: boolean;
  /** true if it ended because its last program left: when that returns, the event counts as new */
  readonly left: boolean;
  readonly endedS: number | null;
}

export interface TrackedProgram {
  readonly key: string;
  readonly href: string;
  readonly primacy: number;
  readonly defaultControl: ListedDefault | null;
}

/** Made by `createSchedule` and `nextStep`, stored by `saveSchedule`. */
export interface ScheduleState {
  /** by mRID, in order of receipt */
  readonly events: ReadonlyMap<string, TrackedEvent>;
  /** by primacy, then by key */
  readonly programs: readonly TrackedProgram[];
  readonly inForce: readonly ControlInForce[];
}

export const isLive = ({ phase }: TrackedEvent): boolean =>
  phase === 'received' || phase === 'scheduled' || phase === 'active';

/** Modes that the device cannot carry out; they do not count as held. */
const idleModes = ({ outcome }: TrackedEvent): ReadonlySet<ModeName> =>
  new Set(outcome?.leftOut.filter(({ reason }) => reason !== 'outweighed').map(({ mode }) => mode));

/** The modes that no other event has taken. */
export const heldModes = ({ listed, lost }: TrackedEvent): readonly ModeName[] =>
  lost.length === 0 ? listed.modes : listed.modes.filter((mode) => !lost.includes(mode));

/** True if other events have taken every mode that the device could carry out. */
export function hasLostAll(event: TrackedEvent): boolean {
  if (event.lost.length === 0) return false;
  const idle = idleModes(event);
  return heldModes(event).every((mode) => idle.has(mode));
}

const texts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Order of programs: lower primacy first, then by key, which never changes. */
export const byPrimacy = (
  a: { readonly primacy: number; readonly key: string },
  b: { readonly primacy: number; readonly key: string },
): number => a.primacy - b.primacy || texts(a.key, b.key);

/** Order of events, winner first: lower primacy, then later creation (rule e), then mRID. */
export const byPriority = (a: TrackedEvent, b: TrackedEvent): number =>
  a.primacy - b.primacy || b.listed.creationS - a.listed.creationS || texts(a.listed.mrid, b.listed.mrid);
