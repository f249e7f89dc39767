/** Regions and trip settings of the abnormal category of a device. */
import { clausesOf, tripElements } from '../../contract/abnormal-conditions.ts';
import type { AbnormalCategory, CurveTrip } from '../../contract/abnormal-conditions.ts';
import { inUseRanges } from '../../sunspec/map/rules.ts';
import { rounded } from '../common/kind-replies.ts';
import { regionAreas } from './region-areas.ts';
import type { Area, Axis } from './region-areas.ts';
import type { RegionsReply } from './region-schemas.ts';

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

const timeOrNull = (timeS: number) => (timeS === Infinity ? null : rounded(timeS));

function areaReply({ region, clause, responseS }: Area) {
  return { region, clause, max_response_s: responseS };
}

/** @param origin what the thresholds count from */
function elementReplies(name: CurveTrip, category: AbnormalCategory, origin: number) {
  return tripElements(name, category).map(({ name: element, threshold, clearingS }) => ({
    name: element,
    value: rounded(origin + threshold.value),
    valueRange: { min: rounded(origin + threshold.min), max: rounded(origin + threshold.max) },
    timeS: clearingS.value,
    timeRange: { min: clearingS.min, max: clearingS.max },
  }));
}

function voltageTrips(name: CurveTrip, category: AbnormalCategory): RegionsReply['trips']['lv_trip'] {
  return {
    clause: clausesOf('voltage', category).trip,
    elements: elementReplies(name, category, 0).map((each) => ({
      name: each.name,
      default: { v_pct: each.value, time_s: each.timeS },
      adjustable: { v_pct: each.valueRange, time_s: each.timeRange },
    })),
  };
}

function frequencyTrips(name: CurveTrip, category: AbnormalCategory, hz: number): RegionsReply['trips']['lf_trip'] {
  return {
    clause: clausesOf('frequency', category).trip,
    elements: elementReplies(name, category, hz).map((each) => ({
      name: each.name,
      default: { hz: each.value, time_s: each.timeS },
      adjustable: { hz: each.valueRange, time_s: each.timeRange },
    })),
  };
}

/** @param nominalHz of the device */
export function regionsReply(deviceIndex: number, category: AbnormalCategory, nominalHz: number): RegionsReply {
  const { voltage, frequency } = axes(nominalHz);
  return {
    device_index: deviceIndex,
    standard: 'IEEE 1547-2018',
    abnormal_category: ({ CAT_1: 'cat_1', CAT_2: 'cat_2', CAT_3: 'cat_3' } as const)[category],
    nominal_hz: nominalHz,
    voltage: regionAreas(category, voltage).map((area) => ({
      ...areaReply(area),
      corners: area.corners.map(({ x, timeS }) => ({ v_pct: rounded(x), time_s: timeOrNull(timeS) })),
    })),
    frequency: regionAreas(category, frequency).map((area) => ({
      ...areaReply(area),
      corners: area.corners.map(({ x, timeS }) => ({ hz: rounded(x), time_s: timeOrNull(timeS) })),
    })),
    trips: {
      lv_trip: voltageTrips('lv_trip', category),
      hv_trip: voltageTrips('hv_trip', category),
      lf_trip: frequencyTrips('lf_trip', category, nominalHz),
      hf_trip: frequencyTrips('hf_trip', category, nominalHz),
    },
  };
}
