/** When events run: random offsets, and events that follow one another without a gap. */
import type { ModeName } from '../control/model.ts';
import type { ListedControl, ScheduleOptions } from './model.ts';
import { isLive } from './state.ts';
import type { Period, TrackedEvent } from './state.ts';

/** Whole seconds from 0 to `boundS`, both included; a negative bound counts downwards. */
function offsetS(boundS: number, pick: number): number {
  const size = Math.min(Math.floor(pick * (Math.abs(boundS) + 1)), Math.abs(boundS));
  return boundS < 0 ? 0 - size : size;
}

/** The period of an event with the offsets picked for it; a duration that becomes negative is 0. */
export function randomizedPeriod(listed: ListedControl, pick: ScheduleOptions['pick']): Period {
  const { mrid, durationS, randomizeStartS, randomizeDurationS } = listed;
  const startS = listed.startS + offsetS(randomizeStartS, pick(mrid, 'start'));
  return { startS, endS: startS + Math.max(0, durationS + offsetS(randomizeDurationS, pick(mrid, 'duration'))) };
}

/** The instant at which an event stops that is cancelled with randomization. */
export function cancelInstant({ listed }: TrackedEvent, nowS: number, pick: ScheduleOptions['pick']): number {
  const bound = Math.max(Math.abs(listed.randomizeStartS), Math.abs(listed.randomizeDurationS));
  return nowS + offsetS(bound, pick(listed.mrid, 'cancel'));
}

const specifiedEndS = ({ listed }: TrackedEvent) => listed.startS + listed.durationS;

/** Whether an event that starts where this one ends takes over from it: not if it ends in another way than by time. */
const hasSuccessor = (event: TrackedEvent): boolean => {
  const { listed, phase, optedOut, left } = event;
  if (listed.durationS <= 0 || optedOut) return false;
  if (phase === 'completed') return true;
  return isLive(event) && !left && (listed.status === 'scheduled' || listed.status === 'active');
};

/**
 * Effective periods by mRID. Where an event begins at the specified end of another one with a mode in common, the
 * effective end of the earlier is the effective start of the later (rule m): randomization leaves no gap in which the
 * default control would flash, and no overlap in which one would supersede the other. The end of the later stays its own,
 * so that offsets do not add up along a row of events.
 */
export function effectivePeriods(events: ReadonlyMap<string, TrackedEvent>): ReadonlyMap<string, Period> {
  const periods = new Map<string, Period>();
  const byEnd = new Map<number, TrackedEvent[]>();
  for (const event of events.values()) {
    if (event.fixed !== null) periods.set(event.listed.mrid, event.fixed);
    if (!hasSuccessor(event)) continue;
    const endS = specifiedEndS(event);
    const sameEnd = byEnd.get(endS);
    if (sameEnd) sameEnd.push(event);
    else byEnd.set(endS, [event]);
  }
  // by mode, of the events that end at an instant
  const latestEnds = new Map<number, ReadonlyMap<ModeName, number>>();
  const endsBefore = (startS: number): ReadonlyMap<ModeName, number> => {
    const known = latestEnds.get(startS);
    if (known) return known;
    const latest = new Map<ModeName, number>();
    for (const { listed, own } of byEnd.get(startS) ?? []) {
      const { endS } = periods.get(listed.mrid) ?? own;
      for (const mode of listed.modes) latest.set(mode, Math.max(endS, latest.get(mode) ?? -Infinity));
    }
    latestEnds.set(startS, latest);
    return latest;
  };
  // an earlier one has the earlier specified start, so its period is known when that of the later is worked out
  const open = [...events.values()].filter(({ fixed }) => fixed === null);
  for (const event of open.sort((a, b) => a.listed.startS - b.listed.startS)) {
    const { modes, mrid, startS: specifiedS } = event.listed;
    periods.set(mrid, event.own);
    if (event.own.endS <= event.own.startS) continue;
    const before = endsBefore(specifiedS);
    const startS = Math.max(...modes.map((mode) => before.get(mode) ?? -Infinity));
    if (startS > -Infinity) periods.set(mrid, { startS, endS: Math.max(startS, event.own.endS) });
  }
  return periods;
}

/** Half-open periods with an instant in common. */
export const overlap = (a: Period, b: Period): boolean => a.startS < b.endS && b.startS < a.endS;
