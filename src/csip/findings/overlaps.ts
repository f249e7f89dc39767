/** Judges pairs of events that overlap or nearly touch. */
import type { ListedControl } from '../events/model.ts';
import type { JudgeParts, SeenPrograms } from './model.ts';

/** Live events that are compared with each other; more are not judged. */
const maxCompared = 200;
/** Longest gap that devices notice as a jump, s. */
const shortGapS = 60;

interface Placed extends ListedControl {
  readonly programKey: string;
  readonly primacy: number;
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
  for (const { key, primacy, controls = [] } of programs)
    for (const control of controls)
      if (control.status === 'scheduled' || control.status === 'active')
        events.set(control.mrid, { ...control, programKey: key, primacy });
  return [...events.values()].sort((a, b) => a.startS - b.startS);
}

export function judgeOverlaps({ rules, peer }: JudgeParts, seen: SeenPrograms): void {
  const events = liveEvents(seen);
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
}
