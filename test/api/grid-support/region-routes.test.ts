import { expect } from 'chai';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

let rest: Rest;

describe('GET grid-support/regions', () => {
  afterEach(() => rest.api.stop());

  it('is that of the category and the nominal frequency of the device', async () => {
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'Batt-1Phase'], nominalHz: 50 }));
    const reply = await rest.get('/grid-support/regions?device=1');
    expect(reply).to.include({
      device_index: 1,
      standard: 'IEEE 1547-2018',
      abnormal_category: 'cat_3',
      nominal_hz: 50,
    });
    expect(reply.trips.lf_trip).to.deep.equal({
      clause: '6.5.1, Table 18',
      elements: [
        {
          name: 'uf2',
          default: { hz: 46.5, time_s: 0.16 },
          adjustable: { hz: { min: 40, max: 47 }, time_s: { min: 0.16, max: 1000 } },
        },
        {
          name: 'uf1',
          default: { hz: 48.5, time_s: 300 },
          adjustable: { hz: { min: 40, max: 49 }, time_s: { min: 180, max: 1000 } },
        },
      ],
    });
    const hertz = reply.frequency.flatMap(({ corners }: { corners: { hz: number }[] }) => corners.map(({ hz }) => hz));
    expect([Math.min(...hertz), Math.max(...hertz)]).to.deep.equal([40, 70]);
  });

  for (const [category, uv1] of [
    ['CAT_1', { v_pct: 70, time_s: 2 }],
    ['CAT_2', { v_pct: 70, time_s: 10 }],
    ['CAT_3', { v_pct: 88, time_s: 21 }],
  ] as const) {
    it(`${category}: the default settings are the start values of the must-trip curves, in the same units`, async () => {
      rest = await Rest.open(testPlant({ models: { 702: { AbnOpCatRtg: category } } }));
      const { trips, abnormal_category: shown } = await rest.get('/grid-support/regions');
      expect(shown).to.equal(category.toLowerCase());
      expect(trips.lv_trip.elements[1].default).to.deep.equal(uv1);
      const settings = await rest.get('/grid-support');
      for (const name of ['lv_trip', 'hv_trip', 'lf_trip', 'hf_trip'])
        expect(trips[name].elements.map((each: { default: object }) => each.default)).to.deep.equal(
          settings[name].must_trip.points,
        );
    });
  }

  it('does not depend on what is set', async () => {
    rest = await Rest.open();
    const before = await rest.get('/grid-support/regions');
    await rest.post('/grid-support/lv-trip', { must_trip: { points: [{ v_pct: 60, time_s: 3 }] } });
    expect(await rest.get('/grid-support/regions')).to.deep.equal(before);
  });

  it('refuses another device and an unknown parameter', async () => {
    rest = await Rest.open();
    await rest.refused('/grid-support/regions?device=1', 404, 'unknown-device');
    await rest.refused('/grid-support/regions?category=cat_1', 422, 'validation');
    await rest.refused('/grid-support/regions', 405, 'method-not-allowed', {});
  });
});
