/** Judges pairs of events that overlap or nearly touch. */
import type { ListedControl } from '../events/model.ts';
import { readingS } from './model.ts';
import type { JudgeParts, SeenPrograms } from './model.ts';

/** Live events that are compared with each other; more are not judged. */
const maxCompared = 200;
/** Longest gap that devices notice as a jump, s. */
const shortGapS = 60;

interface Placed extends ListedControl {
  readonly programKey: string;
  readonly primacy: number;
  /** reading of its list, on `WallClock.monotonicMs`; null: just now */
  readonly readMs: number | null;
}

const endS = ({ startS, durationS }: ListedControl) => startS + durationS;
const isRandom = ({ randomizeStartS, randomizeDurationS }: ListedControl) =>
  randomizeStartS !== 0 || randomizeDurationS !== 0;
const sharesMode = (a: ListedControl, b: ListedControl) => a.modes.some((mode) => b.modes.includes(mode));
const sharesCategory = ({ deviceCategory: a }: ListedControl, { deviceCategory: b }: ListedControl) =>
  a === null || b === null || (a & b) !== 0;

/** The live events of all programs by start, each once. */
function liveEvents({ programs }: SeenPrograms): readonly Placed[] {
  const events = new Map<string, Placed>();
  for (const { key, primacy, controls = [], controlsReadMs: readMs = null } of programs)
    for (const control of controls)
      if (control.status === 'scheduled' || control.status === 'active')
        events.set(control.mrid, { ...control, programKey: key, primacy, readMs });
  return [...events.values()].sort((a, b) => a.startS - b.startS);
}

/** True if one of two events has to give way as a whole: it has no mode and no devices that the other one has not. */
const areEqual = (a: Placed, b: Placed) =>
  a.programKey === b.programKey &&
  a.deviceCategory === b.deviceCategory &&
  a.modes.length === b.modes.length &&
  a.modes.every((mode) => b.modes.includes(mode));

export function judgeOverlaps({ rules, peer, clock }: JudgeParts, seen: SeenPrograms): void {
  const events = liveEvents(seen);
  if (seen.programs.some(({ controls = [] }) => controls.some(({ status }) => status === 'superseded')))
    rules.superseded_unmarked.exercised(peer);
  if (events.length > maxCompared) return;
  for (const [at, first] of events.entries())
    for (const second of events.slice(at + 1)) {
      if (second.startS > endS(first) + shortGapS) break;
      if (!sharesMode(first, second) || !sharesCategory(first, second)) continue;
      judgePair(first, second);
    }

  function judgePair(first: Placed, second: Placed): void {
    const pair = `${first.mrid} ${second.mrid}`;
    const gapS = second.startS - endS(first);
    if (gapS < 0) {
      if (first.primacy !== second.primacy || first.creationS !== second.creationS)
        rules.overlap_undecidable.exercised(peer);
      else
        rules.overlap_undecidable.broken(
          peer,
          seen.deviceIndex,
          () => ({
            text: `the events ${first.mrid} and ${second.mrid} overlap with equal primacy and creationTime`,
            facts: { first: first.mrid, second: second.mrid, primacy: first.primacy },
          }),
          pair,
        );
      judgeMark(first, second, pair);
      return;
    }
    if (first.programKey !== second.programKey || isRandom(first) || isRandom(second)) return;
    // an event between the two fills the gap
    const isFilled = events.some((other) => other.startS <= endS(first) && endS(other) > endS(first));
    if (gapS === 0 || isFilled) rules.gap_between_events.exercised(peer);
    else
      rules.gap_between_events.broken(
        peer,
        seen.deviceIndex,
        () => ({
          text: `${gapS} s lie between the events ${first.mrid} and ${second.mrid}`,
          facts: { first: first.mrid, second: second.mrid, gapS },
        }),
        pair,
      );
  }

  /** Judges whether one of two events under way is marked, whichever creationTime the server shows. */
  function judgeMark(first: Placed, second: Placed, pair: string): void {
    const rule = rules.superseded_unmarked;
    if (seen.nowS === null || first.creationS === second.creationS || !areEqual(first, second)) return;
    if (isRandom(first) || isRandom(second)) return;
    const readS = readingS(seen.nowS, clock.monotonicMs(), first.readMs);
    const bothForS = readS - second.startS;
    if (bothForS < rule.param('wait_s') || readS >= Math.min(endS(first), endS(second))) return;
    rule.broken(
      peer,
      seen.deviceIndex,
      () => ({
        text: `the events ${first.mrid} and ${second.mrid} are both shown as live ${Math.round(bothForS)} s after both began`,
        facts: { first: first.mrid, second: second.mrid, bothForS: Math.round(bothForS) },
      }),
      pair,
    );
  }
}
