/** Regions and trip settings of an abnormal category: areas over voltage or frequency and time. */
import {
  bandAt,
  clausesOf,
  rideThroughAt,
  rideThroughBands,
  tripElements,
} from '../../contract/abnormal-conditions.ts';
import type { AbnormalCategory, CurveTrip, Side, TripElement } from '../../contract/abnormal-conditions.ts';
import { rideThroughModes } from '../../contract/grid-trace.ts';
import type { RideThroughMode } from '../../contract/grid-trace.ts';
import { SimError } from '../../core/errors.ts';
import { inUseRanges } from '../../sunspec/map/rules.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { list, member, members, nested, number, text, word, rounded } from '../common/members.ts';
import type { Kind } from '../common/members.ts';
import { deviceIndex, deviceQuery } from '../common/schemas.ts';
import { z } from '../description/zod.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';

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
  /** maximum time until no current flows, s; null: the region has no such limit */
  readonly responseS: number | null;
  readonly corners: readonly Corner[];
}

/** A quantity with the unit of its trip curves: percent of nominal voltage, or hertz. */
export interface Axis {
  readonly quantity: 'voltage' | 'frequency';
  readonly low: CurveTrip;
  readonly high: CurveTrip;
  /** value of the axis at the zero of the tables */
  readonly origin: number;
  /** ends of the areas */
  readonly min: number;
  readonly max: number;
}

/** A part of an area between two neighbouring edges of the tables; `begin` and `end` are times at both edges, s. */
interface Slab {
  readonly region: Region;
  readonly responseS: number | null;
  readonly left: number;
  readonly right: number;
  readonly begin: readonly [left: number, right: number];
  readonly end: readonly [left: number, right: number];
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
  const modeEnd: Slab['end'] = mode !== null && band.rideThroughS === null ? trip : [rides(left), rides(right)];
  const stack: readonly Slab[] = [
    ...(mode === null ? [] : [{ ...column, region: mode, responseS, begin: [0, 0] as const, end: modeEnd }]),
    { ...column, region: 'may_ride_through_or_trip', responseS: null, begin: modeEnd, end: trip },
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

/** Joins neighbouring slabs of the same region. @param columns slabs by ascending x */
function joined(columns: readonly (readonly Slab[])[]): readonly (readonly Slab[])[] {
  const runs: Slab[][] = [];
  for (const column of columns) {
    for (const slab of column) {
      const run = runs.find((each) => {
        const last = each.at(-1);
        return last !== undefined && last.right === slab.left && continues(last, slab);
      });
      if (run) run.push(slab);
      else runs.push([slab]);
    }
  }
  return runs;
}

/** True if a corner is redundant: equal to the next one, or on the straight line between its neighbours. */
function isRedundant(before: Corner | undefined, { x, timeS }: Corner, after: Corner): boolean {
  if (x === after.x && timeS === after.timeS) return true;
  if (!before) return false;
  if (before.timeS === timeS || timeS === after.timeS) return before.timeS === after.timeS;
  return Math.abs((timeS - before.timeS) * (after.x - x) - (after.timeS - timeS) * (x - before.x)) < 1e-9;
}

function simplified(corners: readonly Corner[]): readonly Corner[] {
  const needed: Corner[] = [];
  for (const corner of corners) {
    for (let last = needed.at(-1); last && isRedundant(needed.at(-2), last, corner); last = needed.at(-1)) needed.pop();
    needed.push(corner);
  }
  return needed;
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
 * axis from time 0 on, and do not overlap.
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

/** The areas end where the registers of the trip curves do. */
const [minPct, maxPct] = [fixedBound('707.Crv.MustTrip.Pt.V', 'min'), fixedBound('708.Crv.MustTrip.Pt.V', 'max')];
const [minHz, maxHz] = [fixedBound('709.Crv.MustTrip.Pt.Hz', 'min'), fixedBound('710.Crv.MustTrip.Pt.Hz', 'max')];

function fixedBound(point: string, end: 'min' | 'max'): number {
  const bound = inUseRanges[point]?.[end];
  return typeof bound === 'number' ? bound : 0;
}

function axes(nominalHz: number): { readonly voltage: Axis; readonly frequency: Axis } {
  return {
    voltage: { quantity: 'voltage', low: 'lv_trip', high: 'hv_trip', origin: 0, min: minPct, max: maxPct },
    frequency: { quantity: 'frequency', low: 'lf_trip', high: 'hf_trip', origin: nominalHz, min: minHz, max: maxHz },
  };
}

interface OfCategory {
  readonly index: number;
  readonly category: AbnormalCategory;
  /** nominal frequency of the device */
  readonly nominalHz: number;
}

const pctText = 'Percent of nominal voltage (702.VNom), as in 707 and 708.';
const hzText = 'Hz, as in 709 and 710.';
const roundedNumber = nested({ schema: () => z.number(), reply: rounded });
const timeS = nested({ schema: () => z.number().min(0) });
const time = nested({
  schema: () => z.number().min(0).nullable(),
  reply: (seconds: number) => (seconds === Infinity ? null : rounded(seconds)),
});
const cornerTime = () =>
  time('Seconds since voltage or frequency entered this range; null: the area has no end.', (of: Corner) => of.timeS);

const voltageCorner = members<Corner>()(null, () => ({
  v_pct: roundedNumber(pctText, ({ x }) => x),
  time_s: cornerTime(),
}));
const frequencyCorner = members<Corner>()(null, () => ({
  hz: roundedNumber(hzText, ({ x }) => x),
  time_s: cornerTime(),
}));

function area<T>(component: string, corner: Kind<Corner, T, unknown>) {
  return members<Area>()(component, () => ({
    region: word([...rideThroughModes, 'may_ride_through_or_trip', 'shall_trip'])(
      'Mode of operation that the standard requires; `may_ride_through_or_trip`: the manufacturer decides; ' +
        '`shall_trip`: beyond the default trip settings of the category.',
    ),
    clause: text('Clause and table of the standard.'),
    max_response_s: timeS.orNull(
      'Maximum time until no current flows, s; null: the region has no such limit.',
      ({ responseS }) => responseS,
    ),
    corners: list(corner)('Corners of the area, in order around it.'),
  }));
}

/** A setting of a trip element with its range, in the unit of its curve. */
type Setting = TripElement['threshold'];

const range = (unit: string) =>
  members<Setting>()(null, () => ({
    min: number(`Minimum, ${unit}.`),
    max: number(`Maximum, ${unit}; equal to the minimum if the setting is fixed.`),
  }));
const timeRange = () => nested(range('s'))('Range of the clearing time.', (of: TripElement) => of.clearingS);
const clearing = () => timeS('Clearing time, s.', (of: TripElement) => of.clearingS.value);
const thresholdText = 'Range of the threshold.';

function element<D, A>(
  component: string,
  ofDefault: Kind<TripElement, D, unknown>,
  ofRange: Kind<TripElement, A, unknown>,
) {
  return members<TripElement>()(component, () => ({
    name: word(['uv1', 'uv2', 'ov1', 'ov2', 'uf1', 'uf2', 'of1', 'of2'])(
      'Name of the trip element: 2 is the outer one.',
    ),
    default: nested(ofDefault)('Default setting of the category.', (of) => of),
    adjustable: nested(ofRange)('Settings that the standard allows.', (of) => of),
  }));
}

const voltageElement = element(
  'VoltageTripElement',
  members<TripElement>()(null, () => ({ v_pct: number(pctText, (of) => of.threshold.value), time_s: clearing() })),
  members<TripElement>()(null, () => ({
    v_pct: nested(range('percent of nominal'))(thresholdText, (of) => of.threshold),
    time_s: timeRange(),
  })),
);
const frequencyElement = element(
  'FrequencyTripElement',
  members<TripElement>()(null, () => ({ hz: number(hzText, (of) => of.threshold.value), time_s: clearing() })),
  members<TripElement>()(null, () => ({
    hz: nested(range('Hz'))(thresholdText, (of) => of.threshold),
    time_s: timeRange(),
  })),
);

/** Trip elements of a function. @param origin offset of the thresholds */
function elementsOf(name: CurveTrip, category: AbnormalCategory, origin: number): readonly TripElement[] {
  const shifted = (value: number) => rounded(origin + value);
  return tripElements(name, category).map(({ threshold: { value, min, max }, ...rest }) => ({
    ...rest,
    threshold: { value: shifted(value), min: shifted(min), max: shifted(max) },
  }));
}

function trip<T>(name: CurveTrip, quantity: Axis['quantity'], of: Kind<TripElement, T, unknown>) {
  const table = members<OfCategory>()(null, () => ({
    clause: text('Clause and table of the standard.', ({ category }) => clausesOf(quantity, category).trip),
    elements: list(of)('Trip elements, the outer one first.', ({ category, nominalHz }) =>
      elementsOf(name, category, quantity === 'voltage' ? 0 : nominalHz),
    ),
  }));
  return nested(table)((source: OfCategory) => source);
}

const trips = members<OfCategory>()(null, () => ({
  lv_trip: trip('lv_trip', 'voltage', voltageElement),
  hv_trip: trip('hv_trip', 'voltage', voltageElement),
  lf_trip: trip('lf_trip', 'frequency', frequencyElement),
  hf_trip: trip('hf_trip', 'frequency', frequencyElement),
}));

const categoryWords = { CAT_1: 'cat_1', CAT_2: 'cat_2', CAT_3: 'cat_3' } as const;

const regions = members<OfCategory>()('Regions', () => ({
  device_index: member(() => deviceIndex)(({ index }) => index),
  standard: member(() => z.literal('IEEE 1547-2018'))(
    'Standard that the regions are from.',
    () => 'IEEE 1547-2018' as const,
  ),
  abnormal_category: word(Object.values(categoryWords))('702.AbnOpCatRtg.', ({ category }) => categoryWords[category]),
  nominal_hz: number(
    'Nominal frequency, Hz. The frequencies of the standard are for 60 Hz; for another nominal frequency they are shifted ' +
      'by the difference.',
  ),
  voltage: list(area('VoltageRegion', voltageCorner))(
    'Areas over voltage and time; together they cover 0 to 200 %.',
    ({ category, nominalHz }) => regionAreas(category, axes(nominalHz).voltage),
  ),
  frequency: list(area('FrequencyRegion', frequencyCorner))(
    'Areas over frequency and time; together they cover 40 to 70 Hz.',
    ({ category, nominalHz }) => regionAreas(category, axes(nominalHz).frequency),
  ),
  trips: nested(trips)('Default and range of each trip setting, in the units of the curves.', (of) => of),
}));

export const regionRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/grid-support/regions',
    tag: 'Grid Support',
    operationId: 'get_regions',
    summary: 'Ride-through regions and trip settings of the abnormal category of a device',
    description:
      'Requirements of the standard for the category, independent of the settings: for the settings in force see the trip curves of ' +
      '`grid-support`, in the same units. The areas of `voltage` and of `frequency` cover every value from time 0 on and do ' +
      'not overlap.',
    query: deviceQuery,
    reply: regions.schema,
    problems: ['unknown-resource'],
    handle(ctx, { query }) {
      const { index, bank, trace } = selectedDevice(ctx, query.device);
      const category = bank.map.m702.AbnOpCatRtg;
      if (category === null)
        throw new SimError(
          'UNKNOWN_RESOURCE',
          `Device ${index} does not state its abnormal category (702.AbnOpCatRtg).`,
        );
      return regions.reply({ index, category, nominalHz: trace.nominalHz });
    },
  }),
];
