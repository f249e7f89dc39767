import { expect } from 'chai';
import { clausesOf, rideThroughBands, tripElements } from '../../src/contract/abnormal-conditions.ts';
import type { AbnormalCategory, CurveTrip } from '../../src/contract/abnormal-conditions.ts';
import { createMapView } from '../../src/sunspec/map/view.ts';
import { testPlant } from '../support/plant.ts';

const categories: readonly AbnormalCategory[] = ['CAT_1', 'CAT_2', 'CAT_3'];
const functions: readonly CurveTrip[] = ['lv_trip', 'hv_trip', 'lf_trip', 'hf_trip'];
const isLow = (name: CurveTrip) => name.startsWith('l');

/** Default and range of threshold and clearing time, as the standard prints them: per unit, Hz at 60 Hz, s. */
const printed: Readonly<Record<string, Readonly<Record<AbnormalCategory, string>>>> = {
  ov2: ofAll('1.20 1.20 1.20 0.16 0.16 0.16'),
  ov1: {
    CAT_1: '1.10 1.10 1.20 2 1 13',
    CAT_2: '1.10 1.10 1.20 2 1 13',
    CAT_3: '1.10 1.10 1.20 13 1 13',
  },
  uv1: { CAT_1: '0.70 0 0.88 2 2 21', CAT_2: '0.70 0 0.88 10 2 21', CAT_3: '0.88 0 0.88 21 21 50' },
  uv2: { CAT_1: '0.45 0 0.50 0.16 0.16 2', CAT_2: '0.45 0 0.50 0.16 0.16 2', CAT_3: '0.50 0 0.50 2 2 21' },
  of2: ofAll('62.0 61.8 66 0.16 0.16 1000'),
  of1: ofAll('61.2 61.0 66 300 180 1000'),
  uf1: ofAll('58.5 50 59.0 300 180 1000'),
  uf2: ofAll('56.5 50 57.0 0.16 0.16 1000'),
};

function ofAll(text: string): Record<AbnormalCategory, string> {
  return { CAT_1: text, CAT_2: text, CAT_3: text };
}

describe('IEEE 1547-2018 clause 6: tables of abnormal conditions', () => {
  for (const category of categories) {
    it(`${category}: trip settings are those of Tables 11 to 13 and 18`, () => {
      const elements = functions.flatMap((name) => tripElements(name, category));
      expect(elements.map(({ name }) => name).toSorted()).to.deep.equal(Object.keys(printed).toSorted());
      for (const { name, threshold, clearingS } of elements) {
        const isVoltage = name[1] === 'v';
        const numbers = printed[name]![category].split(' ').map(Number);
        const shown = [threshold.value, threshold.min, threshold.max].map((x) => (isVoltage ? x / 100 : 60 + x));
        for (const [i, value] of [...shown, clearingS.value, clearingS.min, clearingS.max].entries())
          expect(value, `${name} ${i}`).to.be.closeTo(numbers[i]!, 1e-9);
      }
    });

    it(`${category}: each default lies in its range, and no default trips before the ride-through is over`, () => {
      for (const name of functions) {
        const beyond = (x: number, edge: number) => (isLow(name) ? x < edge : x > edge);
        for (const { threshold, clearingS } of tripElements(name, category)) {
          for (const { value, min, max } of [threshold, clearingS]) expect(value).to.be.within(min, max);
          for (const { edge, rideThroughS } of rideThroughBands(name, category)) {
            // a band that is within the threshold, or that it cuts, must be over when the element trips
            const touches = beyond(edge, threshold.value) || edge === threshold.value;
            if (touches && rideThroughS) expect(clearingS.value).to.be.at.least(Math.min(...rideThroughS));
          }
        }
      }
    });

    it(`${category}: bands and elements go from the outer to the inner edge`, () => {
      for (const name of functions) {
        for (const edges of [
          rideThroughBands(name, category).map(({ edge }) => edge),
          tripElements(name, category).map(({ threshold }) => threshold.value),
        ])
          expect(edges).to.deep.equal(edges.toSorted((a, b) => (isLow(name) ? a - b : b - a)));
      }
    });
  }

  it('names clause and table', () => {
    expect(clausesOf('voltage', 'CAT_1')).to.deep.equal({
      trip: '6.4.1, Table 11',
      rideThrough: '6.4.2, Table 14',
    });
    expect(clausesOf('frequency', 'CAT_3')).to.deep.equal({
      trip: '6.5.1, Table 18',
      rideThrough: '6.5.2, Table 19',
    });
  });
});

/** Start values that were written as numbers before they were derived: [MustTrip, MayTrip, MomCess] as `x/s`. */
const startCurves: Readonly<Record<AbnormalCategory, Readonly<Record<string, readonly [string, string, string]>>>> = {
  CAT_1: {
    m707: ['45/0.16 70/2', '50/0.16 70/0.16 88/1.42', '50/0.16'],
    m708: ['120/0.16 110/2', '120/0 117.5/0.2 115/0.5 110/1', '120/0.16'],
  },
  CAT_2: {
    m707: ['45/0.16 70/10', '30/0.16 45/0.16 65/0.32 88/5', '30/0.16'],
    m708: ['120/0.16 110/2', '120/0 117.5/0.2 115/0.5 110/1', '120/0.16'],
  },
  CAT_3: {
    m707: ['50/2 88/21', '50/1 70/10 88/20', '50/0.083'],
    m708: ['120/0.16 110/13', '120/0 110/12', '110/0.083'],
  },
};
const startFrequency = {
  m709: ['56.5/0.16 58.5/300', '57/0 58.8/299', ''],
  m710: ['62/0.16 61.2/300', '61.8/0 61.2/299', ''],
};

describe('start values of the trip curves', () => {
  for (const category of categories) {
    it(`${category}: all sets of 707 to 710 begin with the tables`, () => {
      const { bank } = testPlant({ models: { 702: { AbnOpCatRtg: category } } }).devices[0]!;
      const map = createMapView(bank.layout, Buffer.from(bank.read(bank.layout.base, bank.layout.size)));
      for (const [model, texts] of Object.entries({ ...startCurves[category], ...startFrequency })) {
        for (const set of map[model as 'm707'].Crv) {
          const text = [set.MustTrip, set.MayTrip, set.MomCess].map((curve) =>
            curve.Pt.slice(0, curve.ActPt!)
              .map((point) => `${'Hz' in point ? String(point.Hz) : point.V!}/${point.Tms!}`)
              .join(' '),
          );
          expect(text, model).to.deep.equal(texts);
        }
      }
    });
  }
});
