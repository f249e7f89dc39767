import { expect } from 'chai';
import { createControlTarget } from '../../../src/csip/control/control-bridge.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { rebootFault } from '../../../src/fault-kinds/device-effect.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { SimError } from '../../../src/core/errors.ts';
import { FaultyRig } from '../../support/faulty-rig.ts';
import { testPlant } from '../../support/plant.ts';
import {
  apply,
  control,
  curve,
  differences,
  event,
  point,
  points,
  standard,
  stateOf,
  target,
} from '../../support/csip-controls.ts';
import type { Base } from '../../support/csip-controls.ts';

const rest = { source: 'rest' } as const;
const link = { href: '/c' };

async function started(type = 'Batt-3Phase'): Promise<SimPlant> {
  const plant = testPlant({ types: [type] });
  await plant.step(2);
  return plant;
}

function write(plant: SimPlant, name: string, value: number | string): void {
  const { bank } = plant.device(0);
  const dot = name.indexOf('.');
  const slot = bank.layout.slot(Number(name.slice(0, dot)), name.slice(dot + 1));
  if (!slot) throw new Error(`no point ${name}`);
  bank.assign(rest, [{ slot, value }]);
}

function commits(plant: SimPlant): () => number {
  let count = 0;
  plant.device(0).bank.onChange(() => (count += 1));
  return () => count;
}

describe('The stamp of what controls act on', () => {
  it('changes with everything that a check depends on, and with nothing else', async () => {
    const rig = new FaultyRig({ tickIntervalS: 1, types: ['Batt-3Phase', 'Batt-3Phase'] });
    const { plant } = rig;
    await plant.step(2);
    const [first, second] = [plant.device(0), plant.device(1)];
    const group = createControlTarget({
      devices: [first],
      plant,
      siteOwner: 'csip:group',
      revision: '2018',
      log: silentLogger,
    });
    const half = control({ opModMaxLimW: 5000 });
    let { stamp } = group;
    const changes: readonly (readonly [string, () => unknown])[] = [
      ['a setting', () => write(plant, '702.WMax', 5000)],
      ['local control', () => first.command({ kind: 'local', local: true }, rest)],
      ['its end', () => first.command({ kind: 'local', local: false }, rest)],
      ['a device that goes off', () => rig.inject(rebootFault, { off_s: 20, forget: false })],
      ['its return', () => plant.step(25)],
      ['a device that joins', () => group.regroup([first, second])],
      ['a reset', () => second.command({ kind: 'reset', scope: 'device' }, rest)],
    ];
    for (const [name, change] of changes) {
      await change();
      expect(group.stamp, name).to.not.equal(stamp);
      ({ stamp } = group);
      group.check(half);
      await plant.step(1);
      expect(group.stamp, `after ${name}`).to.equal(stamp);
    }
    group.close();
  });
});

describe('What becomes of DERControls', () => {
  it('refuses values out of range, with everything beside them', async () => {
    const plant = await started();
    const before = stateOf(plant);
    const bridge = target(plant);
    const wrong: Readonly<Record<string, Base>> = {
      'above the rating': { opModTargetW: { multiplier: 4, value: 2 } },
      'no number': { opModMaxLimW: Number.NaN },
      'absurd power of ten': { opModTargetW: { multiplier: 99, value: 2 } },
      'above 100 %': { opModMaxLimW: 10_001 },
      'below -100 %': { opModFixedW: -10_001 },
      'no reference': { opModFixedVar: { refType: 7, value: 100 } },
      'power factor of 0': { opModFixedPFInjectW: { displacement: 0, excitation: true, multiplier: 0 } },
      'below the rated power factor': { opModFixedPFInjectW: { displacement: 5, excitation: true, multiplier: -1 } },
      'droop of 0': { opModFreqDroop: { dBOF: 30, dBUF: 30, kOF: 0, kUF: 40, openLoopTms: 400 } },
      'negative limit': { opModExpLimW: { multiplier: 0, value: -5 } },
      'excitation missing': { opModFixedPFInjectW: { displacement: 95, multiplier: -2 } },
    };
    for (const [name, base] of Object.entries(wrong)) {
      const of = control({ opModEnergize: false, ...base });
      expect(bridge.check(of).state, name).to.equal('invalid');
      const [outcome] = apply(bridge, event(name, of));
      expect(outcome?.state, name).to.equal('invalid');
      expect(
        outcome?.leftOut.map(({ mode, reason }) => [mode, reason]),
        name,
      ).to.deep.equal([[Object.keys(base)[0], 'invalid']]);
      expect(differences(before, stateOf(plant)), name).to.deep.equal({});
    }
  });

  it('names the member that a droop lacks', async () => {
    const bridge = target(await started());
    for (const member of ['dBOF', 'dBUF', 'kOF', 'kUF', 'openLoopTms']) {
      const droop = { dBOF: 36, dBUF: 17, kOF: 50, kUF: 40, openLoopTms: 500, [member]: Number.NaN };
      const [outcome] = apply(bridge, event(member, control({ opModFreqDroop: droop })));
      expect(outcome?.leftOut[0]?.detail).to.equal(`opModFreqDroop lacks the value of ${member}`);
    }
  });

  it('takes a limit above what can be set as none', async () => {
    const plant = await started();
    const bridge = target(plant);
    const [outcome] = apply(bridge, event('E', control({ opModExpLimW: { multiplier: 9, value: 32_767 } })));
    expect(outcome?.state).to.equal('applied');
    expect(plant.siteOf([0]).limits.export).to.include({ limitW: 1e9, owner: 'csip:0' });
  });

  it('runs the supported modes, and refuses a control that has none', async () => {
    const plant = await started('PV-3Phase');
    const bridge = target(plant);
    const [outcome] = apply(bridge, event('E', control({ opModMaxLimW: 5000, opModFreqWatt: link })));
    expect(outcome?.state).to.equal('applied');
    expect(outcome?.leftOut.map(({ mode, reason }) => [mode, reason])).to.deep.equal([
      ['opModFreqWatt', 'unsupported'],
    ]);
    const none = control({ opModFreqWatt: link, opModWattPF: link, opModStorageTargetW: { multiplier: 0, value: 1 } });
    expect(bridge.check(none).state).to.equal('unsupported');
    expect(apply(bridge, event('F', none))[0]?.state).to.equal('unsupported');
    for (const mode of [
      'opModFreqWatt',
      'opModWattPF',
      'opModFixedPFAbsorbW',
      'opModStorageTargetW',
      'opModMaxLimWInject',
    ] as const) {
      expect(bridge.supported.has(mode), mode).to.equal(false);
    }
  });

  it('refuses curves that cannot be read or do not fit, and sorts points', async () => {
    const plant = await started();
    const bridge = target(plant);
    const many = Array.from({ length: 11 }, (_, i) => [90 + i, 0] as const);
    const wrong = [
      ['unreadable', null, 'invalid'],
      ['another type', curve(12, [[92, 44]]), 'invalid'],
      ['no points', curve(11, []), 'invalid'],
      ['reference', curve(11, [[92, 44]], { yRefType: 7 }), 'invalid'],
      ['reference of 2023', curve(11, [[92, 44]], { yRefType: 8 }), 'invalid'],
      ['y', curve(11, [[92, 144]]), 'invalid'],
      ['too many points', curve(11, many), 'unsupported'],
    ] as const;
    for (const [name, of, state] of wrong) {
      const [outcome] = apply(bridge, event(name, control({ opModVoltVar: link }, { '/c': of })));
      expect(outcome?.state, name).to.equal(state);
    }
    const back = curve(10, [
      [2, 88],
      [10, 50],
    ]);
    expect(bridge.check(control({ opModLVRTMustTrip: link }, { '/c': back }))).to.deep.include({ state: 'invalid' });
    const unsorted = curve(
      11,
      [
        [108, -44],
        [92, 44],
        [98, 0],
      ],
      { yRefType: 3, openLoopTms: 1000 },
    );
    const [outcome] = apply(bridge, event('E', control({ opModVoltVar: link }, { '/c': unsorted })));
    expect(outcome?.state).to.equal('applied');
    const [device] = plant.devices;
    expect(
      points(
        device!,
        '705.Ena',
        '705.Crv[0].ActPt',
        '705.Crv[0].Pt[0].V',
        '705.Crv[0].Pt[1].V',
        '705.Crv[0].Pt[2].Var',
      ),
    ).to.deep.equal(['ENABLED', 3, 92, 98, -44]);
    expect(points(device!, '705.Crv[0].DeptRef', '705.Crv[0].RspTms')).to.deep.equal(['VAR_AVAL_PCT', 10]);
    expect(point(device!, '705.AdptCrvRslt')).to.equal('COMPLETED');
  });

  it('goes from default to event and back in one commit each', async () => {
    const plant = await started();
    const bridge = target(plant);
    const all = standard(control({ opModMaxLimW: 8000, opModFixedVar: { refType: 2, value: 1000 } }));
    apply(bridge, all);
    const underDefault = stateOf(plant);
    const count = commits(plant);
    const other = event('E', control({ opModMaxLimW: 4000 }));
    apply(bridge, other, { ...all, modes: ['opModFixedVar'] });
    expect(count()).to.equal(1);
    const [device] = plant.devices;
    expect(points(device!, '704.WMaxLimPct', '704.VarSetPct')).to.deep.equal([40, 10]);
    apply(bridge, other, { ...all, modes: ['opModFixedVar'] });
    expect(count()).to.equal(1);
    apply(bridge, all);
    expect(count()).to.equal(2);
    expect(differences(underDefault, stateOf(plant))).to.deep.equal({});
    apply(bridge, event('F', control({ opModMaxLimW: 3000, opModFixedVar: { refType: 2, value: 500 } })));
    expect(count()).to.equal(3);
    expect(points(device!, '704.WMaxLimPct', '704.VarSetPct')).to.deep.equal([30, 5]);
  });

  it('leaves points alone that another writer has taken', async () => {
    const plant = await started();
    const before = stateOf(plant);
    const bridge = target(plant);
    const limit = event('E', control({ opModMaxLimW: 4000 }));
    apply(bridge, limit);
    write(plant, '704.WMaxLimPct', 70);
    const [device] = plant.devices;
    expect(apply(bridge, limit)[0]).to.deep.include({ state: 'applied', overwritten: true });
    const droop = event('F', control({ opModEnergize: true, opModFixedVar: { refType: 2, value: 500 } }));
    apply(bridge, limit, droop);
    expect(point(device!, '704.WMaxLimPct')).to.equal(70);
    apply(bridge, event('G', control({ opModMaxLimW: 2000 })));
    expect(point(device!, '704.WMaxLimPct')).to.equal(20);
    apply(bridge);
    expect(Object.keys(differences(before, stateOf(plant)))).to.deep.equal(['704.WMaxLimPct']);
    expect(point(device!, '704.WMaxLimPct')).to.equal(70);
  });

  it('leaves a switch and a gradient alone that somebody else has set', async () => {
    const plant = await started();
    const bridge = target(plant);
    const of = control({ opModConnect: true, opModTargetW: { multiplier: 3, value: 5 }, rampTms: 1000 });
    apply(bridge, event('E', of));
    const [device] = plant.devices;
    expect(device?.gradient.w.source).to.equal('gradient');
    device?.command({ kind: 'switch', closed: false }, rest);
    device?.command({ kind: 'gradient', wPctPerS: 3 }, rest);
    expect(apply(bridge, event('E', of))[0]?.overwritten).to.equal(true);
    apply(bridge);
    expect(device?.switchClosed).to.equal(false);
    expect(device?.gradient.w).to.deep.equal({ pctPerS: 3, source: 'gradient' });
  });

  it('waits while the device is under local control, and gives back meanwhile', async () => {
    const plant = await started();
    const before = stateOf(plant);
    const bridge = target(plant);
    const [device] = plant.devices;
    const first = event('E', control({ opModMaxLimW: 4000, opModConnect: false }));
    apply(bridge, first);
    device?.command({ kind: 'local', local: true }, { source: 'rest' });
    const second = event('F', control({ opModFixedVar: { refType: 2, value: 500 } }));
    expect(bridge.check(second.control).state).to.equal('waiting');
    expect(apply(bridge, first, second).map(({ state }) => state)).to.deep.equal(['applied', 'waiting']);
    expect(apply(bridge, second).map(({ state }) => state)).to.deep.equal(['waiting']);
    expect(differences(before, stateOf(plant))).to.deep.equal({});
    device?.command({ kind: 'local', local: false }, { source: 'rest' });
    expect(apply(bridge, second).map(({ state }) => state)).to.deep.equal(['applied']);
    expect(point(device!, '704.VarSetPct')).to.equal(5);
    apply(bridge);
    expect(differences(before, stateOf(plant))).to.deep.equal({});
  });

  it('tells a reset, after which nothing is in force and nothing is given back', async () => {
    const plant = await started();
    const before = stateOf(plant);
    const bridge = target(plant);
    const told: string[] = [];
    const end = bridge.onChange((reset) => told.push(reset ? 'reset' : 'ready'));
    const [device] = plant.devices;
    apply(bridge, event('E', control({ opModMaxLimW: 4000, opModConnect: false, rampTms: 100 })));
    device?.command({ kind: 'reset', scope: 'device' }, rest);
    expect(told).to.deep.equal(['reset']);
    write(plant, '704.WMaxLimPct', 60);
    apply(bridge);
    expect(Object.keys(differences(before, stateOf(plant)))).to.deep.equal(['704.WMaxLimPct']);
    apply(bridge, event('F', control({ opModConnect: false })));
    device?.command({ kind: 'reset', scope: 'device' }, rest);
    expect(device?.switchClosed).to.equal(true);
    expect(apply(bridge, event('G', control({ opModConnect: false })))[0]?.state).to.equal('applied');
    end();
    apply(bridge);
    expect(device?.switchClosed).to.equal(true);
    device?.command({ kind: 'reset', scope: 'device' }, rest);
    expect(told).to.deep.equal(['reset', 'reset']);
  });

  it('ends whatever 702 says by then', async () => {
    const plant = await started();
    const before = stateOf(plant);
    const bridge = target(plant);
    const of = control({ opModTargetW: { multiplier: 3, value: 9 }, opModMaxLimW: 10_000, rampTms: 500 });
    apply(bridge, event('E', of));
    write(plant, '702.WMax', 3000);
    expect(apply(bridge, event('E', of))[0]).to.deep.include({ state: 'applied', overwritten: false });
    apply(bridge);
    expect(Object.keys(differences(before, stateOf(plant)))).to.deep.equal(['702.WMax']);
  });

  it('throws what is no refusal', async () => {
    const plant = await started();
    const bridge = target(plant);
    const { bank } = plant.device(0);
    bank.adopt = () => {
      throw new SimError('INTERNAL', 'broken');
    };
    expect(() => apply(bridge, event('E', control({ opModMaxLimW: 4000 })))).to.throw('broken');
  });
});
