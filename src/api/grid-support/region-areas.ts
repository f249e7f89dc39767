/** The ride-through regions of a category as areas over voltage or frequency and time. */
import { clausesOf, rideThroughBands, tripElements } from '../../contract/abnormal-conditions.ts';
import type { AbnormalCategory, CurveTrip, RideThroughBand } from '../../contract/abnormal-conditions.ts';
import type { RideThroughMode } from '../../contract/grid-trace.ts';

/** Regions of IEEE 1547-2018 6.4 and 6.5. */
export type Region = RideThroughMode | 'may_ride_through_or_trip' | 'shall_trip';

/** A corner of an area. `timeS` is Infinity where the area has no end. */
export interface Corner {
  readonly x: number;
  readonly timeS: number;
}

/** One area, with its corners around it: along its beginning to higher x, and back along its end. */
export interface Area {
  readonly region: Region;
  readonly clause: string;
  /** maximum time until nothing flows, s; null: the device may go on feeding */
  readonly responseS: number | null;
  readonly corners: readonly Corner[];
}

/** A quantity with the unit of its trip curves: percent of nominal voltage, or hertz. */
export interface Axis {
  readonly quantity: 'voltage' | 'frequency';
  readonly low: CurveTrip;
  readonly high: CurveTrip;
  /** zero point of the numbers of the tables */
  readonly origin: number;
  /** ends of the areas */
  readonly min: number;
  readonly max: number;
}

/** A part of an area between two neighbouring edges of the tables; times at its two ends. */
interface Slab {
  readonly region: Region;
  readonly responseS: number | null;
  readonly left: number;
  readonly right: number;
  readonly begin: readonly [left: number, right: number];
  readonly end: readonly [left: number, right: number];
}

/** The tables of one side of nominal. */
interface Side {
  readonly name: CurveTrip;
  /** 1: beyond an edge is above it */
  readonly sign: 1 | -1;
}

/** The band that holds `x`, and its place. */
function bandAt(bands: readonly RideThroughBand[], { sign }: Side, x: number): number {
  return bands.findIndex(({ edge }) => sign * (x - edge) > 0);
}

/** Minimum ride-through at `x`, which lies in the band at `place` or on its edges, s. */
function rideThroughAt(bands: readonly RideThroughBand[], place: number, x: number): number {
  const band = bands[place];
  if (!band?.rideThroughS) return 0;
  const [outerS, innerS] = band.rideThroughS;
  const outer = bands[place - 1]?.edge ?? band.edge;
  return outer === band.edge ? innerS : outerS + ((innerS - outerS) * (x - outer)) / (band.edge - outer);
}

/** Time after which a device with the default settings shall trip at `x`; Infinity: never. */
function tripAt(category: AbnormalCategory, { name, sign }: Side, x: number): number {
  const beyond = tripElements(name, category).filter(({ threshold }) => sign * (x - threshold.value) > 0);
  return Math.min(Infinity, ...beyond.map(({ clearingS }) => clearingS.value));
}

const always: Slab['end'] = [Infinity, Infinity];

/** The stacked regions between two neighbouring edges. */
function slabsOf(category: AbnormalCategory, side: Side, left: number, right: number): readonly Slab[] {
  const bands = rideThroughBands(side.name, category);
  const middle = (left + right) / 2;
  const place = bandAt(bands, side, middle);
  const band = bands[place];
  const column = { left, right };
  const tripS = tripAt(category, side, middle);
  const trip: Slab['end'] = [tripS, tripS];
  if (!band) return [{ ...column, region: 'continuous_operation', responseS: null, begin: [0, 0], end: always }];
  const { mode, responseS } = band;
  const rides = (x: number) => Math.min(tripS, rideThroughAt(bands, place, x));
  // a mode without a ride-through time extends to the trip
  const held: Slab['end'] = mode !== null && band.rideThroughS === null ? trip : [rides(left), rides(right)];
  const stack: readonly Slab[] = [
    ...(mode === null ? [] : [{ ...column, region: mode, responseS, begin: [0, 0] as const, end: held }]),
    { ...column, region: 'may_ride_through_or_trip', responseS: null, begin: held, end: trip },
    { ...column, region: 'shall_trip', responseS: null, begin: trip, end: always },
  ];
  return stack.filter(({ begin, end }) => end[0] > begin[0] || end[1] > begin[1]);
}

/** True if the second slab continues the area of the first. */
function continues(first: Slab, second: Slab): boolean {
  const begin = Math.max(first.begin[1], second.begin[0]);
  const end = Math.min(first.end[1], second.end[0]);
  return first.region === second.region && first.responseS === second.responseS && end > begin;
}

/** Joins neighbouring slabs of the same region. @param columns slabs by place, ascending */
function joined(columns: readonly (readonly Slab[])[]): readonly (readonly Slab[])[] {
  const done: Slab[][] = [];
  for (const column of columns) {
    for (const slab of column) {
      const run = done.find((each) => {
        const last = each.at(-1);
        return last !== undefined && last.right === slab.left && continues(last, slab);
      });
      if (run) run.push(slab);
      else done.push([slab]);
    }
  }
  return done;
}

/** True if a corner is redundant: equal to the next one, or on the straight line between its neighbours. */
function isNeedless(before: Corner | undefined, { x, timeS }: Corner, after: Corner): boolean {
  if (x === after.x && timeS === after.timeS) return true;
  if (!before) return false;
  if (before.timeS === timeS || timeS === after.timeS) return before.timeS === after.timeS;
  return Math.abs((timeS - before.timeS) * (after.x - x) - (after.timeS - timeS) * (x - before.x)) < 1e-9;
}

function simplified(corners: readonly Corner[]): readonly Corner[] {
  const kept: Corner[] = [];
  for (const corner of corners) {
    for (let last = kept.at(-1); last && isNeedless(kept.at(-2), last, corner); last = kept.at(-1)) kept.pop();
    kept.push(corner);
  }
  return kept;
}

function areaOf(run: readonly Slab[], clauses: ReturnType<typeof clausesOf>): Area | null {
  const [first] = run;
  if (!first) return null;
  const along = (edge: 'begin' | 'end') =>
    simplified(
      run.flatMap((slab) => [
        { x: slab.left, timeS: slab[edge][0] },
        { x: slab.right, timeS: slab[edge][1] },
      ]),
    );
  const { region, responseS } = first;
  const clause =
    region === 'shall_trip'
      ? clauses.trip
      : region === 'may_ride_through_or_trip'
        ? `${clauses.rideThrough}; ${clauses.trip}`
        : clauses.rideThrough;
  return { region, clause, responseS, corners: [...along('begin'), ...along('end').toReversed()] };
}

/**
 * The areas of all regions with the default trip settings of the category. They cover every voltage or frequency of the
 * axis from time 0 on, and none lies upon another.
 */
export function regionAreas(category: AbnormalCategory, { quantity, low, high, origin, min, max }: Axis): Area[] {
  const sides: readonly Side[] = [
    { name: low, sign: -1 },
    { name: high, sign: 1 },
  ];
  const edges = sides.flatMap(({ name }) => [
    ...rideThroughBands(name, category).map(({ edge }) => edge),
    ...tripElements(name, category).map(({ threshold }) => threshold.value),
  ]);
  const places = [...new Set([min - origin, ...edges, max - origin])].sort((a, b) => a - b);
  const nominal = quantity === 'voltage' ? 100 : 0;
  const columns = places.slice(1).map((right, i) => {
    const left = places[i] ?? right;
    const side = sides[left < nominal ? 0 : 1];
    return side ? slabsOf(category, side, left, right) : [];
  });
  const clauses = clausesOf(quantity, category);
  return joined(columns)
    .map((run) => areaOf(run, clauses))
    .filter((area) => area !== null)
    .map((area) => ({ ...area, corners: area.corners.map(({ x, timeS }) => ({ x: x + origin, timeS })) }));
}
