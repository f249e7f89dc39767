/** Effective periods of events: random offsets, and consecutive events without a gap. */
import type { ModeName } from '../control/model.ts';
import type { ListedControl, ScheduleOptions } from './model.ts';
import { isLive } from './state.ts';
import type { Period, TrackedEvent } from './state.ts';

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

/** True if an event that starts at the end of this one may follow it without a gap: this one must end by time. */
const hasSuccessor = (event: TrackedEvent): boolean => {
  const { listed, phase, optedOut, left } = event;
  if (listed.durationS <= 0 || optedOut) return false;
  if (phase === 'completed') return true;
  return isLive(event) && !left && (listed.status === 'scheduled' || listed.status === 'active');
};

/**
 * Effective periods by mRID. Where an event starts at the specified end of an earlier one with a common mode, the
 * effective end of the earlier is the effective start of the later (rule m): randomization leaves no gap that would
 * show the default control, and no overlap that would supersede. Each event keeps its own end, so that offsets do not
 * add up along a row of events.
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
  // end by mode, for the events that end at an instant
  const latestEnds = new Map<number, ReadonlyMap<ModeName, number>>();
  const endsBefore = (startS: number): ReadonlyMap<ModeName, number> => {
    const cached = latestEnds.get(startS);
    if (cached) return cached;
    const latest = new Map<ModeName, number>();
    for (const { listed, own } of byEnd.get(startS) ?? []) {
      const { endS } = periods.get(listed.mrid) ?? own;
      for (const mode of listed.modes) latest.set(mode, Math.max(endS, latest.get(mode) ?? -Infinity));
    }
    latestEnds.set(startS, latest);
    return latest;
  };
  // an event with an earlier specified start comes first, so that its period is known to its followers
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

/** True if two half-open periods have an instant in common. */
export const overlap = (a: Period, b: Period): boolean => a.startS < b.endS && b.startS < a.endS;
