/** Regions and trip settings of the abnormal category of a device. */
import { clausesOf, tripElements } from '../../contract/abnormal-conditions.ts';
import type { AbnormalCategory, CurveTrip, TripElement } from '../../contract/abnormal-conditions.ts';
import { rideThroughModes } from '../../contract/grid-trace.ts';
import { SimError } from '../../core/errors.ts';
import { inUseRanges } from '../../sunspec/map/rules.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { rounded } from '../common/kind-replies.ts';
import { list, member, members, nested, number, text, word } from '../common/members.ts';
import type { Kind } from '../common/members.ts';
import { deviceIndex, deviceQuery } from '../common/schemas.ts';
import { z } from '../description/zod.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { regionAreas } from './region-areas.ts';
import type { Area, Axis, Corner } from './region-areas.ts';

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
  /** of the device */
  readonly nominalHz: number;
}

const pctText = 'Percent of nominal voltage (702.VNom), as in 707 and 708.';
const hzText = 'Hz, as in 709 and 710.';
const fine = nested({ schema: () => z.number(), reply: rounded });
const timeS = nested({ schema: () => z.number().min(0) });
const time = nested({
  schema: () => z.number().min(0).nullable(),
  reply: (seconds: number) => (seconds === Infinity ? null : rounded(seconds)),
});
const cornerTime = () =>
  time('Seconds since voltage or frequency went beyond the edge; null: the area has no end.', (of: Corner) => of.timeS);

const voltageCorner = members<Corner>()(null, () => ({ v_pct: fine(pctText, ({ x }) => x), time_s: cornerTime() }));
const frequencyCorner = members<Corner>()(null, () => ({ hz: fine(hzText, ({ x }) => x), time_s: cornerTime() }));

function area<T>(component: string, corner: Kind<Corner, T, unknown>) {
  return members<Area>()(component, () => ({
    region: word([...rideThroughModes, 'may_ride_through_or_trip', 'shall_trip'])(
      'Mode of operation that the standard asks for; `may_ride_through_or_trip`: the manufacturer decides; ' +
        '`shall_trip`: beyond the default trip settings of the category.',
    ),
    clause: text('Clause and table of the standard.'),
    max_response_s: timeS.orNull(
      'Seconds within which nothing may flow any more; null: the region does not ask for that.',
      ({ responseS }) => responseS,
    ),
    corners: list(corner)('Corners of the area, around it in order.'),
  }));
}

/** A trip element with thresholds in the unit of its curve. */
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

/** @param origin what the thresholds count from */
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
  nominal_hz: number('Nominal frequency, Hz. The standard is written for 60; others shift by the difference.'),
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

const getRegions = route({
  method: 'get',
  path: '/grid-support/regions',
  tag: 'Grid Support',
  operationId: 'get_regions',
  summary: 'Ride-through regions and trip settings of the abnormal category of a device',
  description:
    'What the standard asks of the category, whatever is set: for the settings in force see the trip curves of ' +
    '`grid-support`, in the same units. The areas of `voltage` and of `frequency` cover every value from time 0 on and do ' +
    'not overlap.',
  query: deviceQuery,
  reply: regions.schema,
  problems: ['unknown-resource'],
  handle(ctx, { query }) {
    const { index, bank, trace } = selectedDevice(ctx, query.device);
    const category = bank.map.m702.AbnOpCatRtg;
    if (category === null)
      throw new SimError('UNKNOWN_RESOURCE', `Device ${index} does not state its abnormal category (702.AbnOpCatRtg).`);
    return regions.reply({ index, category, nominalHz: trace.nominalHz });
  },
});

export const regionRoutes: readonly Route[] = [getRegions];
