/**
 * The state of the schedule of one EndDevice, with the effective periods of its events, and as JSON for the store, so that
 * answers, random offsets and lost modes survive a restart. Values are immutable: each step makes new ones.
 */
import { z } from 'zod';
import { csipControlStates } from '../../contract/csip-reports.ts';
import type { CsipControlState } from '../../contract/csip-reports.ts';
import { record } from '../../core/slot-values.ts';
import type { ControlInForce, ControlOutcome, ModeName, ResolvedControl } from '../control/model.ts';
import type { ListedControl, ListedDefault, ScheduleOptions } from './model.ts';
import type { JsonValue } from '../../core/store.ts';
import { runWhole } from '../../core/turns.ts';
import { isReceived } from '../xml/stored.ts';

/** `received`: new and not decided yet, within one step only. */
export type Phase = 'received' | CsipControlState;

/** Half open: includes `startS`, excludes `endS`. */
export interface Period {
  readonly startS: number;
  readonly endS: number;
}

export interface TrackedEvent {
  /** as first read; members that a server may change (as status, replyTo) are from the last reading while it is live */
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
  /** by mode, the instant at which it gave the mode up before its end; absent: it gave up none */
  readonly gaveUpS?: Readonly<Partial<Record<ModeName, number>>>;
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

/** Modes that the device cannot carry out: an event loses nothing with them. */
const idleModes = ({ outcome }: TrackedEvent): ReadonlySet<ModeName> =>
  new Set(outcome?.leftOut.filter(({ reason }) => reason !== 'outweighed').map(({ mode }) => mode));

/** The modes that no other event has taken. */
export const heldModes = ({ listed, lost }: TrackedEvent): readonly ModeName[] =>
  lost.length === 0 ? listed.modes : listed.modes.filter((mode) => !lost.includes(mode));

/** True if other events have taken every mode that the device could carry out. @param lost default: what they have taken */
export function hasLostAll(event: TrackedEvent, lost: readonly ModeName[] = event.lost): boolean {
  if (lost.length === 0) return false;
  const idle = idleModes(event);
  return event.listed.modes.every((mode) => lost.includes(mode) || idle.has(mode));
}

const texts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Order of programs: lower primacy first, then by key, which never changes. */
export const byPrimacy = (
  a: { readonly primacy: number; readonly key: string },
  b: { readonly primacy: number; readonly key: string },
): number => a.primacy - b.primacy || texts(a.key, b.key);

const isSuperseded = ({ listed }: TrackedEvent): number => (listed.status === 'superseded' ? 1 : 0);

/**
 * Order of events, winner first: lower primacy, then later creation (rule e), then mRID. An event that its server has
 * superseded wins over none: it only stays until its successor starts.
 */
export const byPriority = (a: TrackedEvent, b: TrackedEvent): number =>
  isSuperseded(a) - isSuperseded(b) ||
  a.primacy - b.primacy ||
  b.listed.creationS - a.listed.creationS ||
  texts(a.listed.mrid, b.listed.mrid);

const form = 1;

type SavedControl = Omit<ResolvedControl, 'curves'> & { readonly curves: readonly (readonly [string, unknown])[] };

const savedControl = ({ curves, ...rest }: ResolvedControl): SavedControl => ({ ...rest, curves: [...curves] });
const restoredControl = ({ curves, ...rest }: SavedControl): ResolvedControl => ({
  ...rest,
  curves: new Map(curves as Iterable<[string, never]>),
});

type SavedEvent = Omit<TrackedEvent, 'listed'> & {
  readonly listed: Omit<TrackedEvent['listed'], 'control' | 'aheadS'> & {
    readonly control: SavedControl;
    /** absent: saved by an earlier version */
    readonly aheadS?: number;
  };
};
type SavedDefault = Omit<NonNullable<TrackedProgram['defaultControl']>, 'control'> & { readonly control: SavedControl };
type SavedProgram = Omit<TrackedProgram, 'defaultControl'> & { readonly defaultControl: SavedDefault | null };

interface Saved {
  readonly form: typeof form;
  readonly events: readonly SavedEvent[];
  readonly programs: readonly SavedProgram[];
}

/**
 * The state of one schedule, to be kept in a slot of the store after the responses of the same step
 * are in their queue: a crash in between makes the next process owe responses that the queue already has.
 */
export function saveSchedule(state: ScheduleState): JsonValue {
  return runWhole(saveInParts(state));
}

/** Events that are saved in one part. */
const savedAtOnce = 100;

/** Members that are undefined are not JSON. */
const asJson = (value: unknown) => JSON.parse(JSON.stringify(value)) as JsonValue;

/** As `saveSchedule`, with pauses. */
export function* saveInParts({ events, programs }: ScheduleState): Generator<undefined, JsonValue> {
  const savedEvents: JsonValue[] = [];
  for (const event of events.values()) {
    const saved: SavedEvent = { ...event, listed: { ...event.listed, control: savedControl(event.listed.control) } };
    savedEvents.push(asJson(saved));
    if (savedEvents.length % savedAtOnce === 0) yield;
  }
  const savedPrograms = programs.map((program): SavedProgram => {
    const { defaultControl } = program;
    return {
      ...program,
      defaultControl: defaultControl && { ...defaultControl, control: savedControl(defaultControl.control) },
    };
  });
  return { form, events: savedEvents, programs: asJson(savedPrograms) };
}

const seconds = z.number().min(-1e13).max(1e13);
const text = z.string().nullable();
const modes = z.array(z.string());
const bits = z.int();
const receivedAs = (type: string) => z.custom((value) => isReceived(type, value), `is no ${type}`);

const savedControlForm = record<SavedControl>({
  base: receivedAs('DERControlBase'),
  curves: z.array(z.tuple([z.string(), receivedAs('DERCurve').nullable()])),
  settings: receivedAs('DefaultDERControl').optional(),
});

const period = z.object({ startS: seconds, endS: seconds });

const savedEvent = record<SavedEvent>({
  listed: record<SavedEvent['listed']>({
    mrid: z.string(),
    href: text,
    description: text,
    version: z.number().nullable(),
    creationS: seconds,
    aheadS: seconds.optional(),
    startS: seconds,
    written: record<NonNullable<ListedControl['written']>>({ startS: seconds, creationS: seconds }).optional(),
    durationS: seconds,
    randomizeStartS: seconds,
    randomizeDurationS: seconds,
    status: z.enum(['scheduled', 'active', 'cancelled', 'cancelled with randomization', 'superseded']),
    statusS: seconds.nullable(),
    potentiallySuperseded: z.boolean(),
    deviceCategory: bits.nullable(),
    responseRequired: bits,
    replyTo: text,
    modes,
    control: savedControlForm,
  }),
  programs: z.array(z.string()),
  programKey: z.string(),
  primacy: z.number(),
  present: z.boolean(),
  phase: z.enum(['received', ...csipControlStates]),
  own: period,
  fixed: period.nullable(),
  cancelAtS: seconds.nullable(),
  gaveUpS: z.record(z.string(), seconds).optional(),
  lost: modes,
  lostTo: text,
  outcome: record<ControlOutcome>({
    state: z.enum(['applied', 'waiting', 'unsupported', 'invalid']),
    leftOut: z.array(z.looseObject({ mode: z.string(), reason: z.string() })),
    overwritten: z.boolean(),
  }).nullable(),
  started: z.boolean(),
  optedOut: z.boolean(),
  missed: z.boolean(),
  withdrawn: z.boolean(),
  answered: z.boolean(),
  left: z.boolean(),
  endedS: seconds.nullable(),
});

/** A value of `saveSchedule`. */
export const savedSchedule = record<Saved>({
  form: z.literal(form),
  events: z.array(savedEvent),
  programs: z.array(
    record<SavedProgram>({
      key: z.string(),
      href: z.string(),
      primacy: z.number(),
      defaultControl: record<SavedDefault>({
        mrid: text,
        href: text,
        description: text,
        modes,
        control: savedControlForm,
      }).nullable(),
    }),
  ),
});

/** The schedule that `saveSchedule` has kept. @param saved fits `savedSchedule` */
export function restoreSchedule(saved: JsonValue): ScheduleState {
  const value = saved as unknown as Saved;
  const events = value.events.map((event): [string, TrackedEvent] => {
    const { listed } = event;
    return [
      listed.mrid,
      { ...event, listed: { ...listed, aheadS: listed.aheadS ?? 0, control: restoredControl(listed.control) } },
    ];
  });
  const programs = value.programs.map(({ defaultControl, ...program }): TrackedProgram => {
    return {
      ...program,
      defaultControl: defaultControl && { ...defaultControl, control: restoredControl(defaultControl.control) },
    };
  });
  // the next step works out the controls in force, and so applies them again
  return { events: new Map(events), programs, inForce: [] };
}

/** Whole seconds from 0 to `boundS`, both included; a negative bound counts downwards. */
function offsetS(boundS: number, pick: number): number {
  const size = Math.min(Math.floor(pick * (Math.abs(boundS) + 1)), Math.abs(boundS));
  return boundS < 0 ? 0 - size : size;
}

/** The period of an event with its random offsets; a negative duration becomes 0. */
export function randomizedPeriod(listed: ListedControl, pick: ScheduleOptions['pick']): Period {
  const { mrid, durationS, randomizeStartS, randomizeDurationS } = listed;
  const startS = listed.startS + offsetS(randomizeStartS, pick(mrid, 'start'));
  return { startS, endS: startS + Math.max(0, durationS + offsetS(randomizeDurationS, pick(mrid, 'duration'))) };
}

/** The instant at which an event cancelled with randomization stops. */
export function cancelInstant({ listed }: TrackedEvent, nowS: number, pick: ScheduleOptions['pick']): number {
  const bound = Math.max(Math.abs(listed.randomizeStartS), Math.abs(listed.randomizeDurationS));
  return nowS + offsetS(bound, pick(listed.mrid, 'cancel'));
}

const specifiedEndS = ({ listed }: TrackedEvent) => listed.startS + listed.durationS;

/** True if this event must end by time, so that one that starts at its specified end follows it without a gap. */
const endsByTime = (event: TrackedEvent): boolean => {
  const { listed, phase, optedOut, left } = event;
  if (optedOut) return false;
  if (phase === 'completed') return true;
  return isLive(event) && !left && (listed.status === 'scheduled' || listed.status === 'active');
};

/**
 * The event as it is after it has given up modes before its end: those that follow it have waited until this instant.
 * An earlier instant stays, unless the event has taken part again since. @param modes that it holds
 */
export function givingUp(event: TrackedEvent, modes: readonly ModeName[], atS: number): TrackedEvent {
  // no event waits for one that was never accepted
  if (event.phase === 'received' || modes.length === 0) return event;
  const earlier = endsByTime(event) ? {} : event.gaveUpS;
  const gaveUpS: Partial<Record<ModeName, number>> = { ...event.gaveUpS };
  for (const mode of modes) gaveUpS[mode] = Math.min(atS, earlier?.[mode] ?? Infinity);
  return { ...event, gaveUpS };
}

/** The latest ends of a mode among the events with one specified end; -Infinity: none. */
interface LatestEnds {
  /** of events that end by time */
  readonly inTimeS: number;
  /** of events that gave the mode up before */
  readonly earlyS: number;
}

const noEnds: LatestEnds = { inTimeS: -Infinity, earlyS: -Infinity };

/**
 * Effective periods, decided in order of specified start. Where an event starts at the specified end of an earlier one
 * with a common mode, the effective end of the earlier is the effective start of the later (2030.5-2018 10.2.3, rules m
 * and o): randomization leaves no gap that would show the default control, and no overlap of the two that would
 * supersede. Each event keeps its duration, so that a row of events without random durations runs with the random start
 * of the first. An event that ended early, or lost the mode, ended the wait of the later one at that instant: the later
 * one starts then if its own random start has passed, and at its own random start otherwise.
 */
export class PeriodPass {
  readonly #periods = new Map<string, Period>();
  /** events that another may follow, by specified end and mRID */
  readonly #byEnd = new Map<number, Map<string, TrackedEvent>>();
  /** by specified end and mode */
  readonly #latestEnds = new Map<number, ReadonlyMap<ModeName, LatestEnds>>();

  constructor(events: ReadonlyMap<string, TrackedEvent>) {
    for (const event of events.values()) {
      if (event.fixed !== null) this.#periods.set(event.listed.mrid, event.fixed);
      this.replace(event);
    }
  }

  /** by mRID, as far as they are decided */
  get periods(): ReadonlyMap<string, Period> {
    return this.#periods;
  }

  /** Takes an event as it is now: one that has ended, or lost modes, makes later ones wait no longer. */
  replace(event: TrackedEvent): void {
    const endS = specifiedEndS(event);
    const sameEnd = this.#byEnd.get(endS);
    const isFollowed = event.listed.durationS > 0 && (endsByTime(event) || event.gaveUpS !== undefined);
    if (!isFollowed) sameEnd?.delete(event.listed.mrid);
    else if (sameEnd) sameEnd.set(event.listed.mrid, event);
    else this.#byEnd.set(endS, new Map([[event.listed.mrid, event]]));
  }

  /** Decides the period of an event; those with an earlier specified start must be decided already. */
  decide(event: TrackedEvent): Period {
    if (event.fixed !== null) return event.fixed;
    const { listed, own } = event;
    const durationS = own.endS - own.startS;
    const startS = durationS > 0 ? this.#startOf(event) : own.startS;
    const period = { startS, endS: startS + durationS };
    this.#periods.set(listed.mrid, period);
    return period;
  }

  #startOf({ listed, own }: TrackedEvent): number {
    const latest = this.#endsBefore(listed.startS);
    let [inTimeS, earlyS] = [-Infinity, -Infinity];
    for (const mode of listed.modes) {
      const ends = latest.get(mode) ?? noEnds;
      inTimeS = Math.max(inTimeS, ends.inTimeS);
      earlyS = Math.max(earlyS, ends.earlyS);
    }
    return Math.max(earlyS, inTimeS > -Infinity ? inTimeS : own.startS);
  }

  #endsBefore(startS: number): ReadonlyMap<ModeName, LatestEnds> {
    const cached = this.#latestEnds.get(startS);
    if (cached) return cached;
    const latest = new Map<ModeName, LatestEnds>();
    for (const event of this.#byEnd.get(startS)?.values() ?? []) {
      const { endS } = this.#periods.get(event.listed.mrid) ?? event.own;
      const held = endsByTime(event) ? heldModes(event) : [];
      for (const mode of event.listed.modes) {
        const { inTimeS, earlyS } = latest.get(mode) ?? noEnds;
        const gaveUpS = event.gaveUpS?.[mode];
        if (held.includes(mode)) latest.set(mode, { inTimeS: Math.max(inTimeS, endS), earlyS });
        // a step that comes late ends an event after its time
        else if (gaveUpS !== undefined)
          latest.set(mode, { inTimeS, earlyS: Math.max(earlyS, Math.min(gaveUpS, endS)) });
      }
    }
    this.#latestEnds.set(startS, latest);
    return latest;
  }
}

/** Events in order of their specified start: one comes before those that may start at its end. */
export const byStart = (events: Iterable<TrackedEvent>): readonly TrackedEvent[] =>
  [...events].sort((a, b) => a.listed.startS - b.listed.startS);

/** Effective periods by mRID. */
export function effectivePeriods(events: ReadonlyMap<string, TrackedEvent>): ReadonlyMap<string, Period> {
  const pass = new PeriodPass(events);
  for (const event of byStart(events.values())) pass.decide(event);
  return pass.periods;
}

/** True if two half-open periods have an instant in common. */
export const overlap = (a: Period, b: Period): boolean => a.startS < b.endS && b.startS < a.endS;
