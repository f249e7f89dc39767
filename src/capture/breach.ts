/** Breaches of the standard: a trip too early, or none where a device must trip. */
import { bandAt, clausesOf, rideThroughAt, rideThroughBands } from '../contract/abnormal-conditions.ts';
import type { AbnormalCategory, CurveTrip } from '../contract/abnormal-conditions.ts';
import type { CaptureColumns } from '../contract/captures.ts';
import { isOut, stateAt } from './course.ts';
import type { Course, ServiceChange } from './course.ts';
import { inputAt, lengthS, runsBeyond } from './exposure.ts';
import type { Run } from './exposure.ts';
import { categoryWord, curveTrips, isLow, isVoltage } from './facts.ts';
import type { Limit } from './facts.ts';
import { beyondWord, spanText, valueText } from './words.ts';

/** Rounding of seconds. */
const slackS = 1e-6;

export interface Breach {
  readonly name: CurveTrip;
  readonly reason: string;
  readonly clause: string;
}

const curveCause = ({ cause }: Pick<ServiceChange, 'cause'>): CurveTrip | null =>
  curveTrips.find((name) => name === cause) ?? null;

export const tripOf = ({ changes }: Pick<Course, 'changes'>): ServiceChange | null =>
  changes.find(({ to }) => to === 'tripped') ?? null;

const quantityOf = (name: CurveTrip) => (isVoltage(name) ? 'voltage' : 'frequency');

/** Minimum ride-through at an input. */
interface Duty {
  /** value at which the band begins; null: continuous operation, without an end */
  readonly edge: number | null;
  readonly seconds: number;
}

function dutyAt(name: CurveTrip, category: AbnormalCategory, input: number, nominalHz: number): Duty {
  const origin = isVoltage(name) ? 0 : nominalHz;
  const bands = rideThroughBands(name, category);
  const place = bandAt(bands, { name, sign: isLow(name) ? -1 : 1 }, input - origin);
  const band = bands[place];
  if (!band) return { edge: null, seconds: Infinity };
  return { edge: origin + band.edge, seconds: rideThroughAt(bands, place, input - origin) };
}

const holds = (tS: number) => (run: Run) => run.fromS <= tS + slackS && tS <= run.toS + slackS;

/** A trip inside of what the category must ride through. */
function earlyTrip({ facts, columns, changes }: Course): Breach | null {
  const trip = tripOf({ changes });
  const name = trip && curveCause(trip);
  const { category, nominalHz } = facts;
  if (!name || category === null) return null;
  const row = columns.tS.subarray(0, columns.length).findIndex((tS) => tS > trip.tS + slackS);
  const input = row < 0 || columns.tick[row] === 1 ? null : inputAt(columns, name, row);
  if (input === null) return null;
  const { edge, seconds } = dutyAt(name, category, input, nominalHz);
  const at = `Category ${categoryWord(category) ?? ''}: tripped at ${valueText(name, input)}`;
  const clause = clausesOf(quantityOf(name), category).rideThrough;
  if (edge === null) return { name, clause, reason: `${at}, inside continuous operation` };
  const run = runsBeyond(columns, name, edge).find(holds(trip.tS));
  if (!run?.hasBegin || trip.tS - run.fromS >= seconds - slackS) return null;
  return {
    name,
    clause,
    reason: `${at} after ${spanText(trip.tS - run.fromS)}, must ride through ${spanText(seconds)}`,
  };
}

/** True if the device is still in service after `tS`, within a run. */
function staysOn(columns: CaptureColumns, tS: number, { toS }: Run): boolean {
  for (let row = 1; row < columns.length; row += 1) {
    const [beginS, endS] = [columns.tS[row - 1] ?? 0, columns.tS[row] ?? 0];
    if (beginS >= tS - slackS && endS <= toS + slackS) return !isOut(stateAt(columns, row));
  }
  return false;
}

/** A threshold that was exceeded for its whole time without a trip. */
function missedTrip({ facts, columns }: Course): Breach | null {
  for (const { name, value, seconds } of facts.trips) {
    const run = runsBeyond(columns, name, value).find(
      (each) => lengthS(each) > seconds + slackS && staysOn(columns, each.fromS + seconds, each),
    );
    if (!run) continue;
    const where = `${beyondWord({ name })} ${valueText(name, value)}`;
    return {
      name,
      clause: clausesOf(quantityOf(name), facts.category ?? 'CAT_3').trip,
      reason: `Not tripped ${where} for ${spanText(lengthS(run))}, must trip after ${spanText(seconds)}`,
    };
  }
  return null;
}

export const breachOf = (course: Course): Breach | null => earlyTrip(course) ?? missedTrip(course);

/** The threshold whose time was nearest to its end, or over; `leftS` is negative then. */
export interface Nearest {
  readonly limit: Limit;
  readonly run: Run;
  readonly leftS: number;
}

/** @param limits those of the trip where there was one, else all */
export function nearestOf(columns: CaptureColumns, limits: readonly Limit[]): Nearest | null {
  let nearest: Nearest | null = null;
  for (const limit of limits) {
    for (const run of runsBeyond(columns, limit.name, limit.value)) {
      const leftS = limit.seconds - lengthS(run);
      if (nearest === null || leftS < nearest.leftS) nearest = { limit, run, leftS };
    }
  }
  return nearest;
}

/** The threshold that has caused a trip: its time was over at that instant. */
export function causeOf({ facts, columns }: Course, trip: ServiceChange): Nearest | null {
  const name = curveCause(trip);
  const candidates = facts.trips
    .filter((limit) => limit.name === name)
    .flatMap((limit) =>
      runsBeyond(columns, limit.name, limit.value)
        .filter(holds(trip.tS))
        .map((run) => ({ limit, run, leftS: limit.seconds - lengthS(run) })),
    );
  const offS = ({ run, limit }: Nearest) => Math.abs(run.fromS + limit.seconds - trip.tS);
  return candidates.reduce<Nearest | null>((best, each) => (best && offS(best) <= offS(each) ? best : each), null);
}
