import { expect } from 'chai';
import { loadConfig } from '../../../src/config/layers/load.ts';
import { simTimeFromMs } from '../../../src/core/time/clock.ts';
import type { PvParameters } from '../../../src/contract/kinds/pv.ts';
import type { SimError } from '../../../src/core/errors.ts';
import type { Wiring } from '../../../src/der/inverter/ac.ts';
import { createTemplate } from '../../../src/der/device/template.ts';
import type { DeviceTemplate, ProfileSpec } from '../../../src/der/device/template.ts';
import { createMapView } from '../../../src/sunspec/map/view.ts';
import type { MapView } from '../../../src/sunspec/map/view.ts';
import { configuredDevices } from '../../support/configured.ts';
import { errorOf } from '../../support/map.ts';
import { testPlant } from '../../support/plant.ts';

const base = ((): ProfileSpec => {
  const loaded = loadConfig(['--device_type', 'PV-3Phase'], {});
  if (loaded.kind !== 'run') throw new Error('no configuration');
  return loaded.config.devices[0]!.profile;
})();

type Models = ProfileSpec['models'];

function template(
  models: Models = {},
  wiring: Wiring = 'three',
  nominalHz = 60,
  pv: Partial<PvParameters> = {},
): DeviceTemplate {
  const merged = { ...base.models, ...models, 702: { ...base.models['702'], ...models['702'] } };
  if (base.source.kind !== 'pv') throw new Error('no PV');
  const source = { ...base.source, pv: { ...base.source.pv, ...pv } };
  return createTemplate({ ...base, models: merged, source }, wiring, nominalHz, simTimeFromMs(0), 0);
}

const mapOf = ({ layout, image }: DeviceTemplate): MapView => createMapView(layout, image);
const fails = (models: Models): SimError => errorOf(() => template(models));

describe('Template of a profile', () => {
  it('ratings follow from power, voltage and category (IEEE 1547-2018 Table 7)', () => {
    const { ratings } = template({ 702: { NorOpCatRtg: 'CAT_A' } });
    expect(ratings).to.deep.include({
      wMaxW: 10_000,
      vaMaxVa: 10_000,
      varInjectVar: 4400,
      varAbsorbVar: 2500,
      category: 'CAT_A',
      abnormal: 'CAT_3',
    });
    expect(ratings.aMaxA).to.be.closeTo((1.1 * 10_000) / (480 / Math.sqrt(3)), 1e-9);
    expect(template().ratings.varAbsorbVar).to.equal(4400);
    expect(template({ 702: { NorOpCatRtg: 0, AbnOpCatRtg: 1 } }).ratings).to.deep.include({
      category: 'CAT_A',
      abnormal: 'CAT_2',
    });
  });

  it('settings start at the ratings, also at ratings of the profile', () => {
    const { m702 } = mapOf(template({ 702: { VAMaxRtg: 11_000, VarMaxInjRtg: 5000, AMaxRtg: 20 } }));
    expect([m702.WMax, m702.VAMax, m702.VarMaxInj, m702.VarMaxAbs, m702.VNom, m702.AMax]).to.deep.equal([
      10_000, 11_000, 5000, 4840, 480, 20,
    ]);
    expect(m702.PFOvrExtRtg).to.be.closeTo(Math.sqrt(1 - (5000 / 11_000) ** 2), 0.001);
    expect(mapOf(template({ 702: { WMax: 8000 } })).m702.WMax).to.equal(8000);
  });

  it('the defaults of IEEE 1547-2018 by category', () => {
    const b = mapOf(template());
    const a = mapOf(template({ 702: { NorOpCatRtg: 'CAT_A', AbnOpCatRtg: 'CAT_1' } }));
    const voltVar = (map: MapView) => map.m705.Crv[0]!.Pt.slice(0, map.m705.Crv[0]!.ActPt).map((p) => [p.V, p.Var]);
    expect(voltVar(b)).to.deep.equal([
      [92, 44],
      [98, 0],
      [102, 0],
      [108, -44],
    ]);
    expect(voltVar(a)).to.deep.equal([
      [90, 25],
      [100, 0],
      [100, 0],
      [110, -25],
    ]);
    const trip = (map: MapView) => map.m707.Crv[0]!.MustTrip.Pt.slice(0, 2).map((p) => [p.V, p.Tms]);
    expect(trip(b)).to.deep.equal([
      [50, 2],
      [88, 21],
    ]);
    expect(trip(a)).to.deep.equal([
      [45, 0.16],
      [70, 2],
    ]);
    expect(trip(mapOf(template({ 702: { AbnOpCatRtg: 'CAT_2' } })))).to.deep.equal([
      [45, 0.16],
      [70, 10],
    ]);
    expect(b.m706.Crv[0]!.Pt.slice(0, 2).map((p) => [p.V, p.W])).to.deep.equal([
      [106, 100],
      [110, 0],
    ]);
    expect([b.m707, b.m708, b.m709, b.m710].map((model) => model.Ena)).to.deep.equal(Array(4).fill('ENABLED'));
    expect([b.m711.Ena, b.m704.AntiIslEna]).to.deep.equal(['ENABLED', 'ENABLED']);
    expect([b.m705.Ena, b.m706.Ena, b.m712.Ena, b.m704.WMaxLimPctEna, b.m704.PFWInjEna]).to.deep.equal(
      Array(5).fill('DISABLED'),
    );
  });

  it('50 Hz shifts frequencies by their distance from nominal', () => {
    const { m703, m709, m710 } = mapOf(template({}, 'three', 50));
    expect([m703.ESHzHi, m703.ESHzLo]).to.deep.equal([50.1, 49.5]);
    expect(m709.Crv[0]!.MustTrip.Pt.slice(0, 2).map((p) => p.Hz)).to.deep.equal([46.5, 48.5]);
    expect(m710.Crv[0]!.MustTrip.Pt.slice(0, 2).map((p) => p.Hz)).to.deep.equal([52, 51.2]);
  });

  it('the wiring decides about the points of 701', () => {
    for (const [wiring, type] of [
      ['single', 'SINGLE_PHASE'],
      ['split', 'SPLIT_PHASE'],
      ['three', 'THREE_PHASE'],
    ] as const) {
      expect(mapOf(template({}, wiring)).m701.ACType).to.equal(type);
    }
    expect(template({}, 'split').layout.slot(701, 'WL2')!.implemented).to.equal(true);
    expect(template({}, 'single').layout.slot(701, 'WL2')!.implemented).to.equal(false);
  });

  it('remembers which points the profile set', () => {
    const { layout, profilePoints } = template({ 703: { ESDlyTms: 5 } });
    expect(profilePoints.get(layout.slot(703, 'ESDlyTms')!)).to.include({ source: 'profile' });
    expect(profilePoints.get(layout.slot(702, 'WMaxRtg')!)).to.include({ source: 'profile' });
    expect(profilePoints.has(layout.slot(703, 'ESRndTms')!)).to.equal(false);
  });

  for (const wMaxW of [100, 1000, 5000, 25_000, 100_000, 1e6, 2e7]) {
    it(`the map of ${wMaxW} W holds its ratings with at least three digits`, () => {
      const { m702 } = mapOf(template({ 702: { WMaxRtg: wMaxW, VAMaxRtg: wMaxW } }));
      expect(m702.WMaxRtg! / wMaxW).to.be.closeTo(1, 1e-3);
      expect(m702.VarMaxInjRtg! / (0.44 * wMaxW)).to.be.closeTo(1, 2e-3);
      expect(m702.AMaxRtg! / ((1.1 * wMaxW) / (480 / Math.sqrt(3)))).to.be.closeTo(1, 0.03);
    });
  }

  it('names every fault of a profile', () => {
    const error = fails({
      704: { NoSuch: 1, WMaxLimPct: 'x', PFWAbsEna: 'ENABLED' },
      701: { W: 5 },
      999: { X: 1 },
      1: { L: 3 },
    });
    expect(error.code).to.equal('CONFIG_INVALID');
    expect(error.issues.map((issue) => issue.name).sort()).to.deep.equal([
      'models.1.L',
      'models.701.W',
      'models.704.NoSuch',
      'models.704.PFWAbsEna',
      'models.704.WMaxLimPct',
      'models.999.X',
    ]);
  });

  it('refuses values that a write would be refused for', () => {
    expect(fails({ 704: { WMaxLimPct: 110 } }).issues[0]!.name).to.equal('models.704.WMaxLimPct');
    expect(fails({ 702: { WMax: 20_000 } }).issues[0]!.name).to.equal('models.702.WMax');
    expect(fails({ 704: { 'PFWInj.PF': 0.5 } }).issues[0]!.name).to.equal('models.704.PFWInj.PF');
    expect(errorOf(() => template({}, 'three', 60, { module: 'constructor' })).code).to.equal('CONFIG_INVALID');
  });

  it('refuses ratings that contradict each other, and an array that does not suit its input', () => {
    const error = fails({
      702: {
        WMaxRtg: 10_000,
        VAMaxRtg: 5000,
        VNomRtg: 480,
        VMinRtg: 500,
        VMaxRtg: 100,
        VarMaxInjRtg: 20_000,
        PFOvrExtRtg: 2,
      },
    });
    expect(error.issues.map((issue) => issue.name).sort()).to.deep.equal([
      'models.702.PFOvrExtRtg',
      'models.702.VAMaxRtg',
      'models.702.VMaxRtg',
      'models.702.VMinRtg',
      'models.702.VarMaxInjRtg',
    ]);
    const window = errorOf(() => template({}, 'three', 60, { minDcVoltageV: 650, maxDcVoltageV: 600 }));
    expect(window.issues.map((issue) => issue.name).sort()).to.deep.equal([
      'pv.max_dc_voltage_v',
      'pv.min_dc_voltage_v',
    ]);
  });

  it('faults of several profiles are told together, each under the first device that uses it', () => {
    const error = errorOf(() =>
      testPlant({ types: ['PV-3Phase', 'PV-1Phase', 'PV-3Phase'], models: { 704: { Foo: 1 }, 701: { W: 5 } } }),
    );
    expect(error.issues.map((issue) => issue.name.replace(/ \(.*\)/, '')).sort()).to.deep.equal([
      'devices[0]: models.701.W',
      'devices[0]: models.704.Foo',
      'devices[1]: models.701.W',
      'devices[1]: models.704.Foo',
    ]);
  });

  it('faults of a profile that the user chose are told where it was chosen', () => {
    const [device] = configuredDevices('-d', 'PV-3Phase');
    const profile = { ...device!.profile, models: { 704: { Foo: 1 } } };
    const chosen = { ...device!, profile, profilePlace: 'c.yaml: devices[3].profile' };
    const error = errorOf(() => testPlant({ devices: [chosen] }));
    expect(error.issues.map((issue) => issue.name)).to.deep.equal(['c.yaml: devices[3].profile: models.704.Foo']);
  });
});
