/** Verdicts on devices, one word each with its reason, and the sentence about all of them. */
import { clausesOf } from '../contract/abnormal-conditions.ts';
import type { CurveTrip } from '../contract/abnormal-conditions.ts';
import { verdictWords } from '../contract/captures.ts';
import type { CaptureVerdict, VerdictWord } from '../contract/captures.ts';
import type { ServiceWord } from '../contract/grid-trace.ts';
import { functionTable, tripFunctions } from '../sunspec/map/grid-support/functions.ts';
import type { TripFunction } from '../sunspec/map/grid-support/functions.ts';
import { breachOf, causeOf, nearestOf, tripOf } from './breach.ts';
import { isOut, powersOf, rowBefore, stateAt, toleranceKw } from './course.ts';
import type { Course, Powers, ServiceChange } from './course.ts';
import { lengthS, runsBeyond } from './exposure.ts';
import { categoryWord, isVoltage } from './facts.ts';
import type { DeviceFacts } from './facts.ts';
import { beyondWord, capitalized, plain, spanText, valueText } from './words.ts';

type Finding = Pick<CaptureVerdict, 'verdict' | 'reason' | 'function' | 'clause' | 'marginS'>;

const noFunction = { function: null, clause: null, marginS: null } as const;

function clauseOf({ category }: DeviceFacts, name: CurveTrip, part: 'trip' | 'rideThrough'): string | null {
  return category && clausesOf(isVoltage(name) ? 'voltage' : 'frequency', category)[part];
}

const relayTexts: Readonly<Record<string, { readonly reason: string; readonly clause: string | null }>> = {
  anti_islanding: { reason: 'Anti-islanding: the mains were disconnected', clause: '8.1' },
  rocof: { reason: 'Relay for the rate of change of frequency', clause: '6.5.2.5' },
  vector_shift: { reason: 'Relay for a shift of the phase angle', clause: '6.5.2.6' },
};

function tripped(course: Course, trip: ServiceChange): Finding {
  const { facts } = course;
  const nearest = causeOf(course, trip);
  const name: TripFunction | null = tripFunctions.find((each) => each === trip.cause) ?? null;
  if (nearest === null) {
    const relay = relayTexts[trip.cause ?? ''];
    const reason = relay?.reason ?? (name === null ? 'Fault of the device' : capitalized(functionTable[name].label));
    return { verdict: 'tripped', reason, function: name, clause: relay?.clause ?? null, marginS: null };
  }
  const { limit, leftS } = nearest;
  const category = categoryWord(facts.category);
  const title = `${capitalized(functionTable[limit.name].label)}${category === null ? '' : `, Category ${category}`}`;
  return {
    verdict: 'tripped',
    reason: `${title}: ${beyondWord(limit)} ${valueText(limit.name, limit.value)} for ${spanText(limit.seconds)}`,
    function: limit.name,
    clause: clauseOf(facts, limit.name, 'trip'),
    marginS: leftS,
  };
}

const outTexts: Partial<Readonly<Record<ServiceWord, string>>> = {
  waiting: 'Waits for the grid or for the delay before it enters service',
  ceased: 'Service is not permitted',
  off: 'Switched off',
};

/** True if a charger stopped charging. */
function hasPaused({ facts, columns }: Course, { beforeKw }: Powers): boolean {
  const tolerance = toleranceKw(facts);
  if (facts.assetType !== 'evse' || beforeKw > -tolerance) return false;
  const first = rowBefore(columns) + 1;
  return columns.pKw.subarray(first, columns.length).some((power) => Math.abs(power) <= tolerance);
}

/** Extremes of voltage and frequency that a device saw, and how far they are from those before. */
function extremesOf({ columns }: Course) {
  const { vLowPct, vHighPct, fHz, length } = columns;
  const first = rowBefore(columns);
  const [nearV, nearHz] = [vLowPct[first] ?? 100, fHz[first] ?? 0];
  let [lowPct, highPct, hz] = [nearV, vHighPct[first] ?? 100, nearHz];
  for (let row = first + 1; row < length; row += 1) {
    lowPct = Math.min(lowPct, vLowPct[row] ?? lowPct);
    highPct = Math.max(highPct, vHighPct[row] ?? highPct);
    const present = fHz[row] ?? hz;
    if (Math.abs(present - nearHz) > Math.abs(hz - nearHz)) hz = present;
  }
  return {
    lowPct,
    highPct,
    hz,
    nearHz,
    isFlat: nearV - lowPct < 2 && highPct - nearV < 2 && Math.abs(hz - nearHz) < 0.2,
  };
}

function notConcerned(course: Course, powers: Powers): string | null {
  const { facts, columns, changes } = course;
  const [first, last] = [stateAt(columns, rowBefore(columns)), stateAt(columns, columns.length - 1)];
  if (isOut(first) && isOut(last)) return 'Out of service before and after';
  const isStill = Math.abs(powers.duringKw - powers.beforeKw) <= toleranceKw(facts);
  if (!isStill || changes.some(({ to }) => isOut(to))) return null;
  if (facts.isEmpty) return 'No vehicle';
  if (Math.abs(powers.beforeKw) <= toleranceKw(facts)) return 'Idle before and after';
  return extremesOf(course).isFlat ? 'Nothing changed at its terminals' : null;
}

/** The threshold of cessation that held the output at zero; null: none did. */
function cessationOf({ facts, columns }: Course) {
  const states = columns.state.subarray(0, columns.length);
  if (!states.some((_, row) => stateAt(columns, row) === 'momentary_cessation')) return null;
  return facts.cessations.find(({ name, value }) => runsBeyond(columns, name, value).length > 0) ?? null;
}

function rodeThrough(course: Course): Finding {
  const { facts, columns } = course;
  const nearest = nearestOf(columns, facts.trips);
  const ceased = cessationOf(course);
  const category = categoryWord(facts.category);
  const marginS = nearest && nearest.leftS;
  if (ceased) {
    // the device was removed, or a bound has ended the capture
    const isStillCeased = stateAt(columns, columns.length - 1) === 'momentary_cessation';
    const end = isStillCeased ? 'still so at the end' : 'came back';
    const limit = `${beyondWord(ceased)} ${valueText(ceased.name, ceased.value)}`;
    return {
      verdict: 'rode_through',
      reason: `Ceased ${limit}${category === null ? '' : ` (Category ${category})`}, ${end}`,
      function: ceased.name,
      clause: clauseOf(facts, ceased.name, 'rideThrough'),
      marginS,
    };
  }
  if (nearest) {
    const { limit, run } = nearest;
    const where = `${beyondWord(limit)} ${valueText(limit.name, limit.value)}`;
    return {
      verdict: 'rode_through',
      reason: `${capitalized(where)} for ${spanText(lengthS(run))}, trips after ${spanText(limit.seconds)}`,
      function: limit.name,
      clause: clauseOf(facts, limit.name, 'rideThrough'),
      marginS,
    };
  }
  const { lowPct, highPct, hz, nearHz } = extremesOf(course);
  const voltage = `Voltage from ${plain(lowPct, 1)} to ${plain(highPct, 1)} %`;
  const frequency =
    Math.abs(hz - nearHz) < 0.01 ? '' : `, frequency ${hz < nearHz ? 'down' : 'up'} to ${plain(hz, 2)} Hz`;
  return { verdict: 'rode_through', reason: `${voltage}${frequency}, no threshold exceeded`, ...noFunction };
}

function findingOf(course: Course, powers: Powers): Finding {
  const { facts, columns, changes } = course;
  const trip = tripOf(course);
  const breach = breachOf(course);
  if (breach) {
    const { name, reason, clause } = breach;
    const nearest = trip ? causeOf(course, trip) : nearestOf(columns, facts.trips);
    return { verdict: 'against_the_rule', reason, function: name, clause, marginS: nearest && nearest.leftS };
  }
  if (trip) return tripped(course, trip);
  const still = notConcerned(course, powers);
  if (still !== null) return { verdict: 'not_concerned', reason: still, ...noFunction };
  const last = stateAt(columns, columns.length - 1);
  if (isOut(last)) return { verdict: 'still_out', reason: outTexts[last] ?? 'Out of service', ...noFunction };
  if (hasPaused(course, powers)) {
    const reason = powers.backS === null ? 'Charging paused' : 'Charging paused and went on';
    return { verdict: 'interrupted', reason, ...noFunction };
  }
  if (changes.some(({ to }) => isOut(to)))
    return { verdict: 'ceased_and_came_back', reason: 'Out of service, came back', ...noFunction };
  return rodeThrough(course);
}

/** Six decimals, without negative zero. */
const seconds = (value: number | null) => value && Math.round(value * 1e6) / 1e6 + 0;

export function verdictOf(course: Course): CaptureVerdict {
  const { facts, gridBackS } = course;
  const powers = powersOf(course);
  const finding = findingOf(course, powers);
  return {
    deviceIndex: facts.index,
    name: facts.name,
    assetType: facts.assetType,
    ratingKw: facts.ratingW / 1000,
    ...finding,
    category: categoryWord(facts.category),
    marginS: seconds(finding.marginS),
    beforeKw: powers.beforeKw,
    duringKw: powers.duringKw,
    afterKw: powers.afterKw,
    backAfterS: powers.backS === null ? null : seconds(Math.max(0, powers.backS - gridBackS)),
  };
}

const wordTexts: Readonly<Record<VerdictWord, string>> = {
  against_the_rule: 'against the rule',
  tripped: 'tripped',
  still_out: 'still out',
  interrupted: 'interrupted',
  ceased_and_came_back: 'ceased and came back',
  rode_through: 'rode through',
  not_concerned: 'not concerned',
};

/** `1 of 7 tripped, 1 interrupted, 3 rode through.` */
export function summaryOf(verdicts: readonly Pick<CaptureVerdict, 'verdict'>[]): string {
  const concerned = verdicts.filter(({ verdict }) => verdict !== 'not_concerned');
  if (concerned.length === 0) return 'No device was concerned.';
  const [first] = concerned;
  if (concerned.length === verdicts.length && first && concerned.every(({ verdict }) => verdict === first.verdict))
    return `${verdicts.length === 1 ? 'It' : 'All'} ${wordTexts[first.verdict]}.`;
  const counts = verdictWords
    .filter((word) => word !== 'not_concerned')
    .map((word) => ({ word, count: concerned.filter(({ verdict }) => verdict === word).length }))
    .filter(({ count }) => count > 0)
    .map(({ word, count }, n) => `${count}${n === 0 ? ` of ${verdicts.length}` : ''} ${wordTexts[word]}`);
  return `${counts.join(', ')}.`;
}
