/** A schedule as JSON for `core/store`, so that answers, random offsets and lost modes survive a restart. */
import type { JsonValue } from '../../core/store.ts';
import type { ResolvedControl } from '../control/model.ts';
import type { ScheduleState, TrackedEvent, TrackedProgram } from './state.ts';

const form = 1;

type SavedControl = Omit<ResolvedControl, 'curves'> & { readonly curves: readonly (readonly [string, unknown])[] };

const savedControl = ({ curves, ...rest }: ResolvedControl): SavedControl => ({ ...rest, curves: [...curves] });
const restoredControl = ({ curves, ...rest }: SavedControl): ResolvedControl => ({
  ...rest,
  curves: new Map(curves as Iterable<[string, never]>),
});

type SavedEvent = Omit<TrackedEvent, 'listed'> & {
  readonly listed: Omit<TrackedEvent['listed'], 'control'> & { readonly control: SavedControl };
};
type SavedDefault = Omit<NonNullable<TrackedProgram['defaultControl']>, 'control'> & { readonly control: SavedControl };
type SavedProgram = Omit<TrackedProgram, 'defaultControl'> & { readonly defaultControl: SavedDefault | null };

interface Saved {
  readonly form: typeof form;
  readonly events: readonly SavedEvent[];
  readonly programs: readonly SavedProgram[];
}

/**
 * The state of one schedule, to be kept with `slot.replace([saveSchedule(state)])` after the responses of the same step
 * are in their queue: a crash in between makes the next process owe responses that the queue already has.
 */
export function saveSchedule({ events, programs }: ScheduleState): JsonValue {
  const saved: Saved = {
    form,
    events: [...events.values()].map((event) => {
      return { ...event, listed: { ...event.listed, control: savedControl(event.listed.control) } };
    }),
    programs: programs.map((program) => {
      const { defaultControl: known } = program;
      return { ...program, defaultControl: known && { ...known, control: savedControl(known.control) } };
    }),
  };
  // members that are undefined are not JSON
  return JSON.parse(JSON.stringify(saved)) as JsonValue;
}

const isSaved = (value: unknown): value is Saved =>
  typeof value === 'object' && value !== null && 'form' in value && value.form === form;

/** The schedule that `saveSchedule` has kept; null for the value of another version of the program. */
export function restoreSchedule(value: JsonValue): ScheduleState | null {
  if (!isSaved(value)) return null;
  const events = value.events.map((event): [string, TrackedEvent] => {
    const { listed } = event;
    return [listed.mrid, { ...event, listed: { ...listed, control: restoredControl(listed.control) } }];
  });
  const programs = value.programs.map(({ defaultControl: known, ...program }): TrackedProgram => {
    return { ...program, defaultControl: known && { ...known, control: restoredControl(known.control) } };
  });
  // the next step works out the controls in force, and so applies them again
  return { events: new Map(events), programs, inForce: [] };
}
