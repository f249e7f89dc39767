/** Takes the programs and controls of a reading into what is known of an EndDevice. */
import { isDeepStrictEqual } from 'node:util';
import type { ResolvedControl } from '../control/model.ts';
import type { ListedControl, ListedDefault, ListedProgram, ScheduleOptions } from './model.ts';
import { cancelInstant, randomizedPeriod } from './periods.ts';
import { byPrimacy, isLive } from './state.ts';
import type { ScheduleState, TrackedEvent, TrackedProgram } from './state.ts';

/** Events of one EndDevice: as many as a slot of the store holds (8 MiB) where they use no curves. */
export const maxEvents = 4_000;
/** Events that have ended and left their lists, kept to be shown. */
const maxHistory = 500;

/** The same default control keeps its identity, so that nothing is applied again. */
function defaultOf(listed: ListedProgram, known: TrackedProgram | undefined): ListedDefault | null {
  const before = known?.defaultControl ?? null;
  if (listed.defaultControl === undefined) return before;
  return isDeepStrictEqual(listed.defaultControl, before) ? before : listed.defaultControl;
}

function programsOf(listed: readonly ListedProgram[], known: readonly TrackedProgram[]): readonly TrackedProgram[] {
  const before = new Map(known.map((program) => [program.key, program]));
  const programs = new Map<string, TrackedProgram>();
  for (const program of listed) {
    const { key, href, primacy } = program;
    // one program may be reached through several assignments; an unreadable one says less than a readable one
    const twin = programs.get(key);
    const defaultControl = defaultOf(program, twin ?? before.get(key));
    programs.set(key, {
      key,
      href,
      primacy: twin === undefined ? primacy : Math.min(primacy, twin.primacy),
      defaultControl,
    });
  }
  return [...programs.values()].sort(byPrimacy);
}

interface Sighting {
  readonly listed: ListedControl;
  readonly programs: readonly string[];
}

/** Every control of the lists once: of several appearances the one whose status is the latest. */
function sightings(programs: readonly ListedProgram[]): ReadonlyMap<string, Sighting> {
  const seen = new Map<string, Sighting>();
  for (const { key, controls } of programs)
    for (const listed of controls ?? []) {
      const known = seen.get(listed.mrid);
      const keys = known?.programs ?? [];
      const latest = known && (known.listed.statusS ?? 0) >= (listed.statusS ?? 0) ? known.listed : listed;
      seen.set(listed.mrid, { listed: latest, programs: keys.includes(key) ? keys : [...keys, key] });
    }
  return seen;
}

/** An event keeps its control, but for curves that could not be read until now. */
function completed(known: ResolvedControl, latest: ResolvedControl): ResolvedControl {
  if (![...known.curves].some(([href, curve]) => curve === null && (latest.curves.get(href) ?? null) !== null))
    return known;
  const curves = new Map([...known.curves].map(([href, curve]) => [href, curve ?? latest.curves.get(href) ?? null]));
  return { ...known, curves };
}

/**
 * An event is immutable but for its status (10.2.3): interval, modes and creation stay those of the first reading, even
 * if a later one has another version.
 */
function refreshed(known: ListedControl, latest: ListedControl): ListedControl {
  const { href, description, version, status, statusS, potentiallySuperseded, responseRequired, replyTo } = latest;
  const control = completed(known.control, latest.control);
  return {
    ...known,
    href,
    description,
    version,
    status,
    statusS,
    potentiallySuperseded,
    responseRequired,
    replyTo,
    control,
  };
}

function received({ listed, programs }: Sighting, options: ScheduleOptions): TrackedEvent {
  // curves that are still missing decide at the start
  const decided = ![...listed.control.curves.values()].includes(null);
  return {
    listed,
    programs,
    programKey: '',
    primacy: 0,
    present: true,
    phase: 'received',
    own: randomizedPeriod(listed, options.pick),
    fixed: null,
    cancelAtS: null,
    lost: [],
    lostTo: null,
    outcome: decided ? options.check(listed.control) : null,
    started: false,
    optedOut: false,
    missed: false,
    withdrawn: false,
    answered: false,
    left: false,
    endedS: null,
  };
}

/** Taken back and over before the client knew of it: nothing is owed, also after a restart without a store. */
const isHistory = (listed: ListedControl, nowS: number, { pick }: ScheduleOptions): boolean =>
  listed.status !== 'scheduled' && listed.status !== 'active' && randomizedPeriod(listed, pick).endS <= nowS;

const concerns = ({ deviceCategory }: ListedControl, own: number): boolean =>
  // unsigned: the highest bit is a category too
  deviceCategory === null || (deviceCategory & own) >>> 0 !== 0;

function seenAgain(event: TrackedEvent, { listed, programs }: Sighting, nowS: number, options: ScheduleOptions) {
  const keys = [...event.programs, ...programs.filter((key) => !event.programs.includes(key))];
  if (!isLive(event)) return { ...event, programs: keys, present: true };
  const latest = refreshed(event.listed, listed);
  const cancels = event.cancelAtS === null && latest.status === 'cancelled with randomization';
  const cancelAtS = cancels ? cancelInstant(event, nowS, options.pick) : event.cancelAtS;
  return { ...event, listed: latest, programs: keys, present: true, cancelAtS };
}

/** Programs and primacy of an event among the present programs, which are in the order of `byPrimacy`. */
function placed(event: TrackedEvent, programs: readonly TrackedProgram[]): TrackedEvent {
  const best = programs.find(({ key }) => event.programs.includes(key));
  const present = event.programs.filter((key) => programs.some((program) => program.key === key));
  if (best === undefined) return { ...event, programs: present, left: isLive(event) || event.left };
  return { ...event, programs: present, programKey: best.key, primacy: best.primacy };
}

/** Without the oldest of the events that have ended and are no longer listed. */
function withinHistory(events: ReadonlyMap<string, TrackedEvent>): ReadonlyMap<string, TrackedEvent> {
  const gone = [...events.values()].filter((event) => !event.present && !isLive(event));
  if (gone.length <= maxHistory) return events;
  const oldest = gone.sort((a, b) => (a.endedS ?? 0) - (b.endedS ?? 0)).slice(0, gone.length - maxHistory);
  const drop = new Set(oldest.map(({ listed }) => listed.mrid));
  return new Map([...events].filter(([mrid]) => !drop.has(mrid)));
}

/**
 * The state after a reading. An event that a readable list no longer shows is kept and carried out (10.2.3); one whose
 * last program has left is marked; a new one is `received`, which the step decides at once.
 */
export function afterReading(
  state: ScheduleState,
  listed: readonly ListedProgram[],
  nowS: number,
  options: ScheduleOptions,
): ScheduleState {
  const programs = programsOf(listed, state.programs);
  const unread = new Set(listed.filter(({ controls }) => controls === undefined).map(({ key }) => key));
  const seen = sightings(listed);
  const events = new Map<string, TrackedEvent>();
  for (const [mrid, event] of state.events) {
    const sighting = seen.get(mrid);
    if (sighting === undefined) {
      const present = event.present && event.programs.some((key) => unread.has(key));
      events.set(mrid, placed({ ...event, present }, programs));
      continue;
    }
    const returned = event.left && event.own.endS > nowS;
    const now = returned ? received(sighting, options) : seenAgain(event, sighting, nowS, options);
    events.set(mrid, placed(now, programs));
  }
  for (const [mrid, sighting] of seen) {
    const { listed: control } = sighting;
    if (events.has(mrid) || events.size >= maxEvents) continue;
    if (!concerns(control, options.deviceCategory) || isHistory(control, nowS, options)) continue;
    events.set(mrid, placed(received(sighting, options), programs));
  }
  return { ...state, programs, events: withinHistory(events) };
}
