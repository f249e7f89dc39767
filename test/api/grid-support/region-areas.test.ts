import { expect } from 'chai';
import fc from 'fast-check';
import { regionAreas } from '../../../src/api/grid-support/regions.ts';
import type { Area, Axis, Corner, Region } from '../../../src/api/grid-support/regions.ts';
import type { AbnormalCategory } from '../../../src/contract/abnormal-conditions.ts';
import { rideThroughMode } from '../../../src/der/inverter/trip.ts';
import { seriesScenarios } from '../../support/opender.ts';
import { holds } from '../../support/property.ts';

const voltage: Axis = { quantity: 'voltage', low: 'lv_trip', high: 'hv_trip', origin: 0, min: 0, max: 200 };
const frequency = (hz: number): Axis => ({
  quantity: 'frequency',
  low: 'lf_trip',
  high: 'hf_trip',
  origin: hz,
  min: 40,
  max: 70,
});
const categories = ['CAT_1', 'CAT_2', 'CAT_3'] as const;
const areasOf = Object.fromEntries(
  categories.map((category) => [
    category,
    { voltage: regionAreas(category, voltage), frequency: regionAreas(category, frequency(60)) },
  ]),
) as Record<AbnormalCategory, { voltage: Area[]; frequency: Area[] }>;

/** Even-odd rule; `Infinity` lies above every time of the tests. */
function contains({ corners }: Area, x: number, timeS: number): boolean {
  const height = ({ timeS: t }: Corner) => Math.min(t, 1e6);
  return corners.reduce((inside, corner, i) => {
    const next = corners[(i + 1) % corners.length]!;
    if (corner.x > x === next.x > x) return inside;
    const at = height(corner) + ((height(next) - height(corner)) * (x - corner.x)) / (next.x - corner.x);
    return at > timeS ? !inside : inside;
  }, false);
}

const regionsAt = (areas: readonly Area[], x: number, timeS: number): Region[] =>
  areas.filter((area) => contains(area, x, timeS)).map(({ region }) => region);

/** Time from which a device shall trip at `x`. */
function tripTimeS(areas: readonly Area[], x: number): number {
  const shall = areas.filter(({ region }) => region === 'shall_trip');
  let [low, high] = [0, 1e5];
  if (!shall.some((area) => contains(area, x, high))) return Infinity;
  while (high - low > 1e-6) {
    const middle = (low + high) / 2;
    if (shall.some((area) => contains(area, x, middle))) high = middle;
    else low = middle;
  }
  return high;
}

/** Tables 14 to 16, as the standard prints them: [upper edge, per unit], mode and minimum time, from low to high. */
type Row = readonly [upperPu: number, region: Region, timeS: (pu: number) => number | null];
const s = (seconds: number | null) => () => seconds;
const highRows: readonly Row[] = [
  [1.1, 'continuous_operation', s(null)],
  [1.15, 'permissive_operation', s(1)],
  [1.175, 'permissive_operation', s(0.5)],
  [1.2, 'permissive_operation', s(0.2)],
  [2, 'cease_to_energize', s(0.16)],
];
const printed: Record<AbnormalCategory, readonly Row[]> = {
  CAT_1: [
    [0.45, 'cease_to_energize', s(0.16)],
    // the standard asks for cessation; the trip of the 70 % element ends it
    [0.5, 'cease_to_energize', s(2)],
    [0.7, 'permissive_operation', s(0.16)],
    [0.88, 'mandatory_operation', (pu) => 0.7 + 4 * (pu - 0.7)],
    ...highRows,
  ],
  CAT_2: [
    [0.3, 'cease_to_energize', s(0.16)],
    [0.45, 'permissive_operation', s(0.16)],
    [0.65, 'permissive_operation', s(0.32)],
    [0.88, 'mandatory_operation', (pu) => 3 + 8.7 * (pu - 0.65)],
    ...highRows,
  ],
  CAT_3: [
    [0.5, 'momentary_cessation', s(1)],
    [0.7, 'mandatory_operation', s(10)],
    [0.88, 'mandatory_operation', s(20)],
    [1.1, 'continuous_operation', s(null)],
    [1.2, 'momentary_cessation', s(12)],
    [2, 'cease_to_energize', s(0.16)],
  ],
};

const category = fc.constantFrom(...categories);
/** Not within 1e-3 of an edge of the tables, where two areas touch. */
const offEdge = (min: number, max: number, step: number) =>
  fc.integer({ min: Math.ceil(min / step), max: Math.floor(max / step) - 1 }).map((n) => (n + 0.37) * step);

describe('areas of the ride-through regions', () => {
  it('cover every value and time exactly once', () => {
    holds(
      'each value and time has one area',
      [
        category,
        fc.constantFrom('voltage' as const, 'frequency' as const),
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        offEdge(0, 1100, 0.01),
      ],
      (cat, quantity, share, timeS) => {
        const x = quantity === 'voltage' ? share * 199.999 + 1e-6 : 40 + share * 29.999 + 1e-6;
        expect(regionsAt(areasOf[cat][quantity], x, timeS)).to.have.lengthOf(1);
      },
    );
  });

  it('begin with the mode in which physics shows the device to be', () => {
    holds('the first mode by voltage', [category, offEdge(0, 200, 0.1)], (cat, pct) => {
      const mode = rideThroughMode(cat, { lowestVoltagePct: pct, highestVoltagePct: pct, hz: 60 }, 60);
      expect(regionsAt(areasOf[cat].voltage, pct, 1e-6)).to.deep.equal([mode]);
    });
    holds(
      'the first mode by frequency',
      [category, fc.constantFrom(50, 60), offEdge(-3, 1.8, 0.01)],
      (cat, nominalHz, offsetHz) => {
        const hz = nominalHz + offsetHz;
        const mode = rideThroughMode(cat, { lowestVoltagePct: 100, highestVoltagePct: 100, hz }, nominalHz);
        expect(regionsAt(regionAreas(cat, frequency(nominalHz)), hz, 1e-6)).to.deep.equal([mode]);
      },
    );
  });

  for (const cat of categories) {
    it(`${cat}: voltage after the table of the standard, then the choice of the manufacturer, then the trip`, () => {
      let lower = 0;
      for (const [upper, region, timeOf] of printed[cat]) {
        for (const share of [0.01, 0.5, 0.99]) {
          const pu = lower + share * (upper - lower);
          const areas = areasOf[cat].voltage;
          const untilS = timeOf(pu);
          expect(regionsAt(areas, pu * 100, 1e-4), `${pu}`).to.deep.equal([region]);
          if (untilS === null) expect(regionsAt(areas, pu * 100, 9e5)).to.deep.equal([region]);
          else {
            expect(regionsAt(areas, pu * 100, untilS - 2e-3), `${pu}, before ${untilS} s`).to.deep.equal([region]);
            const after = regionsAt(areas, pu * 100, untilS + 2e-3);
            expect(after, `${pu}, after ${untilS} s`).to.be.deep.oneOf([['may_ride_through_or_trip'], ['shall_trip']]);
          }
        }
        lower = upper;
      }
    });
  }

  it('frequency: 299 s of mandatory operation, no demand beyond, trips of Table 18', () => {
    const at = (hz: number, timeS: number) => regionsAt(areasOf.CAT_3.frequency, hz, timeS);
    for (const hz of [57.1, 58.7, 61.3, 61.7]) expect(at(hz, 298.9)).to.deep.equal(['mandatory_operation']);
    expect(at(58.7, 9e5)).to.deep.equal(['may_ride_through_or_trip']);
    expect(at(58.4, 299.5)).to.deep.equal(['may_ride_through_or_trip']);
    expect(at(58.4, 300.5)).to.deep.equal(['shall_trip']);
    expect(at(61.9, 0.01)).to.deep.equal(['may_ride_through_or_trip']);
    expect(at(61.9, 300.5)).to.deep.equal(['shall_trip']);
    expect(at(62.1, 0.15)).to.deep.equal(['may_ride_through_or_trip']);
    expect(at(62.1, 0.17)).to.deep.equal(['shall_trip']);
    expect(at(60, 9e5)).to.deep.equal(['continuous_operation']);
  });

  it('have no needless corner, no area twice, and the clause of their table', () => {
    for (const cat of categories) {
      for (const areas of Object.values(areasOf[cat])) {
        for (const { corners, clause, region, responseS } of areas) {
          expect(new Set(corners.map(({ x, timeS }) => `${x} ${timeS}`)).size).to.equal(corners.length);
          expect(corners.length).to.be.within(4, 12);
          expect(clause).to.match(/^6\.[45]\.[12], Table 1[1-9](; 6\.[45]\.1, Table 1[1-8])?$/);
          expect(responseS !== null, region).to.equal(['cease_to_energize', 'momentary_cessation'].includes(region));
        }
      }
    }
    const mandatory = areasOf.CAT_2.voltage.find(({ region }) => region === 'mandatory_operation');
    expect(mandatory?.corners).to.deep.equal([
      { x: 65, timeS: 0 },
      { x: 88, timeS: 0 },
      { x: 88, timeS: 5 },
      { x: 65, timeS: 3 },
    ]);
    const shall = areasOf.CAT_3.voltage.find(({ region }) => region === 'shall_trip');
    expect(shall?.corners).to.deep.equal([
      { x: 0, timeS: 2 },
      { x: 50, timeS: 2 },
      { x: 50, timeS: 21 },
      { x: 88, timeS: 21 },
      { x: 88, timeS: Infinity },
      { x: 0, timeS: Infinity },
    ]);
  });
});

/** Trip settings of a scenario, if they are not those of the other scenarios of its category. */
const otherSettings = new Set(['timer-reset-A', 'timer-reset-B', 'trip-of-B', 'trip-uf-B']);
/** The reference model shows momentary cessation above 120 % too. */
const otherWord = new Set(['trip-ov2-A']);

describe('areas of the ride-through regions against runs of OpenDER', () => {
  const excursions = seriesScenarios.flatMap(({ id, settings, events, states, transitions }) => {
    const event = events.find(({ t, v, hz }) => t > 0 && (typeof v === 'number' || typeof hz === 'number'));
    const [first] = states;
    if (!first || !event || !/^(trip|ride|momentary)/.test(id) || otherSettings.has(id)) return [];
    const cat = settings['702']?.['AbnOpCatRtg'] === 1 ? ('CAT_2' as const) : ('CAT_3' as const);
    const trip = transitions.find(([, what]) => what === 'trip');
    return [{ id, cat, event, state: first[1], tripS: trip ? trip[0] - event.t : null }];
  });

  it('finds runs of two categories', () => {
    expect(new Set(excursions.map(({ cat }) => cat))).to.deep.equal(new Set(['CAT_2', 'CAT_3']));
    expect(excursions.length).to.be.at.least(12);
  });

  for (const { id, cat, event, state, tripS } of excursions) {
    it(`${id}: the mode at first, and the instant of the trip`, () => {
      const byVoltage = typeof event.v === 'number';
      const areas = areasOf[cat][byVoltage ? 'voltage' : 'frequency'];
      const x = typeof event.v === 'number' ? 100 * event.v : (event.hz ?? 60);
      const region = state === 'not_defined' ? 'may_ride_through_or_trip' : state;
      if (!otherWord.has(id)) expect(regionsAt(areas, x, 1e-3)).to.deep.equal([region]);
      // the reference model counts whole steps, of at most 0.1 s here
      if (tripS !== null) expect(tripTimeS(areas, x)).to.be.closeTo(tripS, 0.1);
    });
  }
});
