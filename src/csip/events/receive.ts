/** Merges the programs and controls of one reading into the schedule of an EndDevice. */
import { isDeepStrictEqual } from 'node:util';
import { runWhole } from '../../core/turns.ts';
import type { ControlOutcome, ResolvedControl } from '../control/model.ts';
import type { ListedControl, ListedDefault, ListedProgram, ScheduleOptions } from './model.ts';
import { cancelInstant, givingUp, heldModes, randomizedPeriod, byPrimacy, isLive } from './state.ts';
import type { ScheduleState, TrackedEvent, TrackedProgram } from './state.ts';

/** Events of one EndDevice: the maximum that a slot of the store (8 MiB) holds if none uses curves. */
export const maxEvents = 4_000;
/** Maximum of ended events that no list shows any longer; they are kept for views. */
const maxHistory = 500;

/** An unchanged default control keeps its identity, so that it is not applied again. */
function defaultOf(listed: ListedProgram, previous: TrackedProgram | undefined): ListedDefault | null {
  const before = previous?.defaultControl ?? null;
  if (listed.defaultControl === undefined) return before;
  return isDeepStrictEqual(listed.defaultControl, before) ? before : listed.defaultControl;
}

function programsOf(listed: readonly ListedProgram[], tracked: readonly TrackedProgram[]): readonly TrackedProgram[] {
  const before = new Map(tracked.map((program) => [program.key, program]));
  const programs = new Map<string, TrackedProgram>();
  for (const program of listed) {
    const { key, href, primacy } = program;
    // a program may be reached through several assignments, of which some may be unreadable
    const earlier = programs.get(key);
    const defaultControl = defaultOf(program, earlier ?? before.get(key));
    programs.set(key, {
      key,
      href,
      primacy: earlier === undefined ? primacy : Math.min(primacy, earlier.primacy),
      defaultControl,
    });
  }
  return [...programs.values()].sort(byPrimacy);
}

interface Sighting {
  readonly listed: ListedControl;
  readonly programs: ReadonlySet<string>;
}

/** Every control of the lists once; of several copies the one with the latest status. */
function sightings(programs: readonly ListedProgram[]): ReadonlyMap<string, Sighting> {
  const seen = new Map<string, { listed: ListedControl; readonly programs: Set<string> }>();
  for (const { key, controls } of programs)
    for (const listed of controls ?? []) {
      const earlier = seen.get(listed.mrid);
      if (earlier === undefined) {
        seen.set(listed.mrid, { listed, programs: new Set([key]) });
        continue;
      }
      earlier.programs.add(key);
      if ((earlier.listed.statusS ?? 0) < (listed.statusS ?? 0)) earlier.listed = listed;
    }
  return seen;
}

/** An event keeps its first control; curves that were unreadable until now are added. */
function completed(first: ResolvedControl, latest: ResolvedControl): ResolvedControl {
  if (![...first.curves].some(([href, curve]) => curve === null && (latest.curves.get(href) ?? null) !== null))
    return first;
  const curves = new Map([...first.curves].map(([href, curve]) => [href, curve ?? latest.curves.get(href) ?? null]));
  return { ...first, curves };
}

/**
 * Everything but the status of an event is immutable (10.2.3): interval, modes and creation stay those of the first
 * reading, even if a later one has another version.
 */
function refreshed(first: ListedControl, latest: ListedControl): ListedControl {
  const { href, description, version, aheadS, status, statusS, potentiallySuperseded, responseRequired, replyTo } =
    latest;
  const control = completed(first.control, latest.control);
  return {
    ...first,
    href,
    description,
    version,
    status,
    statusS,
    potentiallySuperseded,
    responseRequired,
    replyTo,
    aheadS,
    control,
  };
}

/** False: a curve cannot be read yet, and the event is checked at its start. */
const hasCurves = ({ curves }: ResolvedControl): boolean => ![...curves.values()].includes(null);

/** Controls of a reading that may become new events. */
export function newControls({ events }: ScheduleState, programs: readonly ListedProgram[]): readonly ListedControl[] {
  return programs.flatMap(({ controls = [] }) => controls.filter(({ mrid }) => events.get(mrid)?.left ?? true));
}

/** Questions of a step about new events. */
type Asked = Pick<ScheduleOptions, 'pick' | 'check'>;

/** New events that are asked about in one part. */
const askedAtOnce = 25;

/**
 * Asks about new events in parts, so that the step that takes them in finds the answers ready.
 * @returns answers from before where there are any, otherwise asks now
 */
export function* askedBefore(controls: readonly ListedControl[], { pick, check }: Asked): Generator<undefined, Asked> {
  const picks = new Map<string, number>();
  const checks = new Map<ResolvedControl, ControlOutcome>();
  for (const [at, { mrid, control }] of controls.entries()) {
    if (at > 0 && at % askedAtOnce === 0) yield;
    if (hasCurves(control)) checks.set(control, check(control));
    for (const purpose of ['start', 'duration'] as const) picks.set(`${purpose} ${mrid}`, pick(mrid, purpose));
  }
  return {
    pick: (mrid, purpose) => picks.get(`${purpose} ${mrid}`) ?? pick(mrid, purpose),
    check: (control) => checks.get(control) ?? check(control),
  };
}

function received({ listed, programs }: Sighting, options: ScheduleOptions): TrackedEvent {
  const isChecked = hasCurves(listed.control);
  return {
    listed,
    programs: [...programs],
    programKey: '',
    primacy: 0,
    present: true,
    phase: 'received',
    own: randomizedPeriod(listed, options.pick),
    fixed: null,
    cancelAtS: null,
    lost: [],
    lostTo: null,
    outcome: isChecked ? options.check(listed.control) : null,
    started: false,
    optedOut: false,
    missed: false,
    withdrawn: false,
    answered: false,
    left: false,
    endedS: null,
  };
}

/** Cancelled or superseded, and over before the first reading: no response is owed, even without a store. */
const isHistory = (listed: ListedControl, nowS: number, { pick }: ScheduleOptions): boolean =>
  listed.status !== 'scheduled' && listed.status !== 'active' && randomizedPeriod(listed, pick).endS <= nowS;

const concerns = ({ deviceCategory }: ListedControl, categoryBits: number): boolean =>
  // unsigned, since the highest bit is a category too
  deviceCategory === null || (deviceCategory & categoryBits) >>> 0 !== 0;

function seenAgain(event: TrackedEvent, { listed, programs }: Sighting, nowS: number, options: ScheduleOptions) {
  const keys = [...new Set([...event.programs, ...programs])];
  if (!isLive(event)) return { ...event, programs: keys, present: true };
  const latest = refreshed(event.listed, listed);
  const cancels = event.cancelAtS === null && latest.status === 'cancelled with randomization';
  const cancelAtS = cancels ? cancelInstant(event, nowS, options.pick) : event.cancelAtS;
  const isEnded = latest.status !== 'scheduled' && latest.status !== 'active';
  const updated = isEnded ? givingUp(event, heldModes(event), cancelAtS ?? nowS) : event;
  return { ...updated, listed: latest, programs: keys, present: true, cancelAtS };
}

/** Assigns an event to its present programs. @param programs by key */
function placed(event: TrackedEvent, programs: ReadonlyMap<string, TrackedProgram>, nowS: number): TrackedEvent {
  const present = event.programs.filter((key) => programs.has(key));
  const [first] = present.flatMap((key) => programs.get(key) ?? []).sort(byPrimacy);
  if (first === undefined) {
    if (!isLive(event)) return { ...event, programs: present };
    return { ...givingUp(event, heldModes(event), nowS), programs: present, left: true };
  }
  return { ...event, programs: present, programKey: first.key, primacy: first.primacy };
}

/** Drops the oldest of the ended events that no list shows any longer. */
function withinHistory(events: ReadonlyMap<string, TrackedEvent>): ReadonlyMap<string, TrackedEvent> {
  const gone = [...events.values()].filter((event) => !event.present && !isLive(event));
  if (gone.length <= maxHistory) return events;
  const oldest = gone.sort((a, b) => (a.endedS ?? 0) - (b.endedS ?? 0)).slice(0, gone.length - maxHistory);
  const drop = new Set(oldest.map(({ listed }) => listed.mrid));
  return new Map([...events].filter(([mrid]) => !drop.has(mrid)));
}

/**
 * The state after a reading. An event that disappears from a readable list is kept and carried out (10.2.3). An event
 * whose last program has left is marked as `left`. A new event is `received` until `nextStep` decides about it.
 */
export function afterReading(
  state: ScheduleState,
  listed: readonly ListedProgram[],
  nowS: number,
  options: ScheduleOptions,
): ScheduleState {
  return runWhole(readInParts(state, listed, nowS, options));
}

/** Events that a reading takes in, in one part. */
const takenAtOnce = 100;

/** As `afterReading`, with pauses. */
export function* readInParts(
  state: ScheduleState,
  listed: readonly ListedProgram[],
  nowS: number,
  options: ScheduleOptions,
): Generator<undefined, ScheduleState> {
  const programs = programsOf(listed, state.programs);
  const byKey = new Map(programs.map((program) => [program.key, program]));
  const unread = new Set(listed.filter(({ controls }) => controls === undefined).map(({ key }) => key));
  const seen = sightings(listed);
  const events = new Map<string, TrackedEvent>();
  let taken = 0;
  for (const [mrid, event] of state.events) {
    if (++taken % takenAtOnce === 0) yield;
    const sighting = seen.get(mrid);
    if (sighting === undefined) {
      const present = event.present && event.programs.some((key) => unread.has(key));
      events.set(mrid, placed({ ...event, present }, byKey, nowS));
      continue;
    }
    const returned = event.left && event.own.endS > nowS;
    const updated = returned ? received(sighting, options) : seenAgain(event, sighting, nowS, options);
    events.set(mrid, placed(updated, byKey, nowS));
  }
  for (const [mrid, sighting] of seen) {
    const { listed: control } = sighting;
    if (events.has(mrid) || events.size >= maxEvents) continue;
    if (++taken % takenAtOnce === 0) yield;
    if (!concerns(control, options.deviceCategory) || isHistory(control, nowS, options)) continue;
    events.set(mrid, placed(received(sighting, options), byKey, nowS));
  }
  return { ...state, programs, events: withinHistory(events) };
}
