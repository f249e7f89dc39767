import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { falsifyFault, falsifySwitches } from '../../../src/fault-kinds/modbus-map.ts';
import { FaultyMapRig } from '../../support/faulty-map.ts';
import { errorOf } from '../../support/map.ts';
import { skip } from '../../support/skip.ts';

type Shown = Readonly<Record<string, number>>;

/** What a master reads of a device that truly gives 48 kW and 14 kvar at 480 V (test/support/faulty-map.ts). */
const shownUnder: Readonly<Record<string, Shown>> = {
  DAManipulation: { '1.DA': 247 },
  ChangeCommonModelID: { '1.ID': 2 },
  ChangeCommonModelLength: { '1.L': 64 },
  MeasPAlwaysNameplate: {
    '701.W': 100_000,
    '701.WL2': 33_330,
    '701.Var': 14_000,
    '701.VA': 100_980,
    '701.VAL1': 33_660,
    '701.PF': 0.99,
    '701.PFL3': 0.99,
    '701.A': 327.67,
    '701.AL1': 121.47,
    '714.DCW': 103_090,
    '714.Prt[0].DCW': 68_740,
    '714.Prt[1].DCA': 45.81,
    '714.DCA': 137.46,
  },
  MeasZeroP: {
    '701.W': 0,
    '701.WL1': 0,
    '701.Var': 0,
    '701.VarL3': 0,
    '701.VA': 0,
    '701.VAL2': 0,
    '701.PF': 1,
    '701.A': 0,
    '701.AL2': 0,
    '714.DCW': 0,
    '714.DCA': 0,
    '714.Prt[0].DCW': 0,
  },
  MeasQAlwaysMinimum: {
    '701.W': 48_000,
    '701.Var': -48_000,
    '701.VarL1': -16_000,
    '701.VA': 67_880,
    '701.PF': 0.707,
    '701.A': 245.0,
  },
  MeasQAlwaysMaximum: { '701.Var': 44_000, '701.VarL3': 14_670, '701.VA': 65_120, '701.PF': 0.737 },
  MeasQAlwaysZero: { '701.Var': 0, '701.VarL1': 0, '701.VA': 48_000, '701.PF': 1, '701.A': 173.22 },
  MeasInvertQ: { '701.Var': -14_000, '701.VarL1': -4670, '701.VA': 50_000, '701.PF': 0.96 },
  MeasHighQ: { '701.Var': 35_200, '701.VA': 59_520, '701.PF': 0.806 },
  MeasLowQ: { '701.Var': -38_400, '701.VA': 61_470, '701.PF': 0.781 },
  MeasLowV: { '701.LLV': 384, '701.LNV': 221.7, '701.VL1': 221.7, '701.VL3L1': 384, '701.A': 180.42 },
  MeasHighV: { '701.LLV': 576, '701.LNV': 332.5, '701.VL2': 332.5, '701.VL1L2': 576 },
  MeasLowL1V: { '701.VL1': 221.7, '701.VL2': 277.1, '701.LNV': 258.6, '701.LLV': 480 },
  MeasHighL1V: { '701.VL1': 332.5, '701.VL3': 277.1, '701.LNV': 295.6, '701.VL1L2': 480 },
  MeasLowF: { '701.Hz': 55.811 },
  MeasHighF: { '701.Hz': 64.213 },
  MeasLowAmps: { '701.A': 90.21, '701.AL1': 30.07, '701.VA': 50_000 },
  MeasHighAmps: { '701.A': 270.63, '701.AL3': 90.21 },
  MeasHighS: { '701.VA': 75_000, '701.VAL1': 25_010, '701.W': 48_000, '701.PF': 0.96 },
  MeasLowS: { '701.VA': 25_000, '701.VAL2': 8340 },
  MeasLowPF: { '701.PF': 0.3, '701.PFL2': 0.3, '701.W': 48_000 },
  MeasLowReversedPF: { '701.PF': -0.3, '701.PFL1': -0.3 },
  NameplateHighP: { '702.WMaxRtg': 150_000, '702.WMax': 100_000 },
  NameplateLowP: { '702.WMaxRtg': 50_000 },
  NameplateHighS: { '702.VAMaxRtg': 165_000 },
  NameplateLowS: { '702.VAMaxRtg': 55_000 },
  NameplateHighQ: { '702.VarMaxInjRtg': 66_000, '702.VarMaxAbsRtg': 72_000 },
  NameplateLowQ: { '702.VarMaxInjRtg': 22_000, '702.VarMaxAbsRtg': 24_000 },
  NameplateHighNomV: { '702.VNomRtg': 576, '702.VNom': 480 },
  NameplateLowNomV: { '702.VNomRtg': 384 },
  NameplateLowAmps: { '702.AMaxRtg': 66 },
  NameplateLowVarmaxinj: { '702.VarMaxInjRtg': 22_000, '702.VarMaxAbsRtg': 48_000 },
  NameplateLowVarmaxabs: { '702.VarMaxAbsRtg': 24_000, '702.VarMaxInjRtg': 44_000 },
  NameplateLowPF: { '702.PFOvrExtRtg': 0.4, '702.PFUndExtRtg': 0.4 },
  SettingsHighNomV: { '702.VNom': 576, '702.VNomRtg': 480 },
  SettingsLowAmps: { '702.AMax': 66 },
  SettingsHighP: { '702.WMax': 150_000, '702.WMaxRtg': 100_000 },
  SettingsLowP: { '702.WMax': 50_000 },
  SettingsHighVAMax: { '702.VAMax': 165_000 },
  SettingsHighVarmaxinj: { '702.VarMaxInj': 66_000 },
  SettingsHighVarmaxabs: { '702.VarMaxAbs': 72_000 },
};

/** the registered definition, where a checkout of it lies beside this one */
const definition = fileURLToPath(new URL('../../../../shared/data/dersec-models/model_64412.json', import.meta.url));

describe('falsified measurements (model 64412)', () => {
  it('has each switch of the model once', function () {
    if (!existsSync(definition)) skip(this, 'the definition of model 64412 is not beside this repository');
    const { group } = JSON.parse(readFileSync(definition, 'utf8')) as { group: { points: { name: string }[] } };
    const names = group.points.map(({ name }) => name).filter((name) => name !== 'ID' && name !== 'L');
    expect([...falsifySwitches])
      .to.have.members(names)
      .and.have.lengthOf(43);
  });

  it('has each switch in the table of the documentation', () => {
    const page = readFileSync(new URL('../../../docs/reference/faults-reading.md', import.meta.url), 'utf8');
    const rows = page
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => line.split('|')[1] ?? '');
    const named = rows.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name));
    expect(falsifySwitches.filter((name) => named.filter((each) => each === name).length !== 1)).to.deep.equal([]);
  });

  it('shows another maker and type, and the true serial number', () => {
    const rig = new FaultyMapRig();
    const text = (name: string) => Buffer.from(rig.hex(name), 'hex').toString('latin1').replace(/\0+$/, '');
    rig.inject(falsifyFault, { switch: 'FalsifyDeviceIdentity' });
    expect([text('1.Mn'), text('1.Md'), text('1.SN')]).to.deep.equal(['Other Maker', 'Other Model', '1']);
    expect(rig.map.value('1.Mn')).to.equal('derbench');
    rig.end();
  });

  for (const name of falsifySwitches.filter((each) => each !== 'FalsifyDeviceIdentity')) {
    it(`${name} is read, and the registers stay true`, () => {
      const rig = new FaultyMapRig();
      const before = rig.map.dump();
      rig.inject(falsifyFault, { switch: name });
      for (const [point, value] of Object.entries(shownUnder[name] ?? {})) {
        expect(rig.shown(point), point).to.be.closeTo(value, 0.6 * 10 ** rig.slot(point).sf);
      }
      expect(Object.keys(shownUnder[name] ?? {})).to.not.have.length(0);
      expect(rig.map.dump().equals(before)).to.equal(true);
      rig.bench.registry.clear();
      expect(rig.all().equals(before)).to.equal(true);
      rig.end();
    });
  }

  it('keeps to what the device has: a single-phase one has one phase', () => {
    const lacks = ['L2', 'L3'].flatMap((phase) =>
      ['W', 'VA', 'Var', 'PF', 'A', 'V'].map((name) => `701.${name}${phase}`),
    );
    const rig = new FaultyMapRig({ omit: [...lacks, '701.LLV', '701.VL1L2', '701.VL2L3', '701.VL3L1'] });
    rig.inject(falsifyFault, { switch: 'MeasPAlwaysNameplate' });
    expect([rig.shown('701.WL1'), rig.shown('701.W')]).to.deep.equal([100_000, 100_000]);
    expect([rig.hex('701.WL2'), rig.hex('701.AL3')]).to.deep.equal(['8000', '8000']);
    rig.inject(falsifyFault, { switch: 'MeasLowV' });
    expect([rig.shown('701.LNV'), rig.shown('701.LLV')]).to.deep.equal([221.7, null]);
    rig.end();
  });

  it('lies on top of a lie, in the order of injection', () => {
    const rig = new FaultyMapRig();
    rig.inject(falsifyFault, { switch: 'MeasQAlwaysMaximum' });
    rig.inject(falsifyFault, { switch: 'MeasInvertQ' });
    expect([rig.shown('701.Var'), rig.shown('701.VA')]).to.deep.equal([-44_000, 65_120]);
    rig.end();
  });

  it('is one state for reads of any span', () => {
    const rig = new FaultyMapRig();
    rig.inject(falsifyFault, { switch: 'MeasPAlwaysNameplate' });
    expect(rig.shown('701.PF')).to.equal(0.99);
    const { address } = rig.slot('701.W');
    const block = rig.read(address, 5);
    const [w = 0, va = 0, q = 0] = [0, 2, 4].map((at) => 10 * block.readInt16BE(at));
    expect(Math.hypot(w, q)).to.be.closeTo(va, 10);
    rig.end();
  });

  it('refuses a switch that has nothing to lie about in a device, and one that is none', () => {
    const rig = new FaultyMapRig({ omit: ['702.AMax'] });
    for (const name of ['SettingsLowAmps', 'MeasNothing']) {
      expect(errorOf(() => rig.inject(falsifyFault, { switch: name })).issues[0]?.name).to.equal(
        '/0/parameters/switch',
      );
    }
    rig.end();
  });
});
