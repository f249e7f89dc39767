import { expect } from 'chai';
import {
  ignoreEffectFault,
  lateEffectFault,
  rebootFault,
  silentRevertFault,
} from '../../../src/fault-kinds/device-effect.ts';
import { pointName } from '../../../src/sunspec/map/view.ts';
import { FaultyRig } from '../../support/faulty-rig.ts';
import { codeOf } from '../../support/map.ts';
import type { TestPlantOptions } from '../../support/plant.ts';
import { byTest } from '../../support/rig.ts';

const quick = { '703': { ESDlyTms: 20, ESRndTms: 0, ESRmpTms: 0 }, '704': { WRmp: 1000 } } as const;
const sunny = (options: TestPlantOptions = {}) => FaultyRig.sunny({ models: quick, ...options });
const limit = { '704.WMaxLimPct': 50, '704.WMaxLimPctEna': 'ENABLED' } as const;
const silent = (rig: FaultyRig) => [...rig.plant.silentDevices];

describe('device fault reboot', () => {
  it('off at once for its time, then back through enter service', async () => {
    const rig = await sunny();
    rig.inject(rebootFault, { off_s: 40 });
    expect(silent(rig)).to.deep.equal([0]);
    await rig.run(1);
    expect([rig.w, rig.q, rig.state, rig.snapshot.status.message]).to.deep.equal([
      0,
      0,
      'off off disconnected',
      'rebooting',
    ]);
    expect(rig.alarmCodes).to.deep.equal([]);
    await rig.run(38);
    expect([silent(rig), rig.w]).to.deep.equal([[0], 0]);
    await rig.run(2);
    expect([silent(rig), rig.w, rig.state]).to.deep.equal([[], 0, 'off standby disconnected']);
    expect(rig.value('703.ESDlyRemTms')).to.equal(19);
    await rig.run(25);
    expect([rig.w > 9900, rig.state]).to.deep.equal([true, 'on running connected']);
  });

  it('forgets settings, curves, provenance and what was staged; energy goes on, the heartbeat begins anew', async () => {
    const rig = await sunny();
    const fresh = new FaultyRig({ models: quick });
    rig.write(limit);
    rig.write({ '705.Crv[1].Pt[0].V': 91, '705.AdptCrvReq': 2, '703.ESDlyTms': 3, '715.ControllerHb': 7 });
    await rig.run(10);
    const energy = Number(rig.map.m701.TotWhInj);
    expect(energy).to.be.above(0);
    rig.inject(rebootFault, { off_s: 5 });
    for (const name of [
      '704.WMaxLimPct',
      '704.WMaxLimPctEna',
      '705.Crv[0].Pt[0].V',
      '705.Crv[1].Pt[0].V',
      '703.ESDlyTms',
      '715.ControllerHb',
      '1.SN',
    ]) {
      expect(rig.value(name), name).to.equal(fresh.value(name));
    }
    expect(rig.device.bank.provenance(rig.device.bank.layout.slot(704, 'WMaxLimPct')!)).to.equal(undefined);
    await rig.run(8);
    expect(Number(rig.map.m701.TotWhInj)).to.equal(energy);
    expect(rig.value('715.DERHb')).to.equal(3);
    await rig.run(40);
    expect(rig.w).to.be.above(9900);
  });

  it('what is measured and what surrounds the device is not forgotten, and is no change', async () => {
    const rig = await sunny({ simModels: true });
    rig.write({ '64414.GridFrequency': 59.9, '64414.Irradiance': 900 });
    await rig.run(10);
    const names = [
      '701.TotWhInj',
      '701.Hz',
      '64414.GridFrequency',
      '64414.Irradiance',
      '64414.GridModelSource',
      '64414.Time',
    ];
    const before = names.map((name) => rig.value(name));
    expect(before.every(Boolean)).to.equal(true);
    rig.write(limit);
    const changed: string[] = [];
    rig.device.bank.onChange(({ points }) => {
      changed.push(...points.map(pointName));
    });
    rig.inject(rebootFault, { off_s: 5 });
    expect(names.map((name) => rig.value(name))).to.deep.equal(before);
    expect(changed).to.have.members(['704.WMaxLimPct', '704.WMaxLimPctEna']);
  });

  it('a storage follows what it commands at the start: connected, its reserve open', async () => {
    const rig = new FaultyRig({ types: ['Batt-3Phase'] });
    await rig.run(60);
    const reserve = rig.value('802.SoCRsvMin');
    rig.write({ '802.SetOp': 'DISCONNECT', '802.SoCRsvMin': 40 });
    await rig.run(10);
    expect([rig.value('802.State'), rig.value('802.SoCRsvMin')]).to.deep.equal(['DISCONNECTED', 40]);
    rig.inject(rebootFault, { off_s: 5 });
    await rig.run(30);
    expect([rig.value('802.SetOp'), rig.value('802.SoCRsvMin')]).to.deep.equal(['CONNECT', reserve]);
    expect(rig.value('802.State')).to.not.equal('DISCONNECTED');
  });

  it('forget false: settings stay, timers that ran do not', async () => {
    const rig = await sunny();
    rig.write({ '704.WMaxLimPctRvrtTms': 600, ...limit });
    await rig.run(10);
    expect(Number(rig.value('704.WMaxLimPctRvrtRem'))).to.be.above(0);
    rig.inject(rebootFault, { off_s: 5, forget: false });
    await rig.run(60);
    expect([rig.value('704.WMaxLimPct'), rig.value('704.WMaxLimPctRvrtRem'), Math.round(rig.w / 100)]).to.deep.equal([
      50, 0, 50,
    ]);
    await rig.run(1200);
    expect(rig.value('704.WMaxLimPctEna')).to.equal('ENABLED');
  });

  it('takes nothing while it is off, but a reset, which ends it', async () => {
    const rig = await sunny();
    rig.inject(rebootFault, { off_s: 1000 });
    const before = rig.dump();
    expect(
      codeOf(() => {
        rig.write(limit);
      }),
    ).to.equal('COMMAND_CONFLICT');
    for (const kind of ['start', 'stop'] as const)
      expect(
        codeOf(() => {
          rig.device.command({ kind }, byTest);
        }),
      ).to.equal('COMMAND_CONFLICT');
    expect(rig.dump().equals(before)).to.equal(true);
    rig.device.command({ kind: 'reset', scope: 'device' }, byTest);
    expect(silent(rig)).to.deep.equal([]);
    await rig.run(25);
    expect(rig.w).to.be.above(9900);
    await rig.run(1000);
    expect(rig.w).to.be.above(9900);
  });

  it('cleared or at the end of its duration the device is up at once', async () => {
    const rig = await sunny();
    rig.inject(rebootFault, { off_s: 1000 });
    await rig.run(5);
    rig.faults.clear();
    expect(silent(rig)).to.deep.equal([]);
    await rig.run(25);
    expect(rig.w).to.be.above(9900);
    rig.inject(rebootFault, { off_s: 1000 }, { durationS: 10 });
    await rig.run(35);
    expect(rig.w).to.be.above(9900);
  });

  it('with count 1 the fault is over at once, and the device is off for its time', async () => {
    const rig = await sunny();
    rig.inject(rebootFault, { off_s: 30 }, { count: 1 });
    expect([rig.faults.active.length, silent(rig)]).to.deep.equal([0, [0]]);
    await rig.run(29);
    expect(silent(rig)).to.deep.equal([0]);
    await rig.run(2);
    expect(silent(rig)).to.deep.equal([]);
    rig.inject(rebootFault, { off_s: 30 }, { count: 1 });
    rig.device.command({ kind: 'reset', scope: 'device' }, byTest);
    expect(silent(rig), 'a reset brings it up').to.deep.equal([]);
  });

  it('each time its condition begins to hold', async () => {
    const rig = await sunny();
    const fault = rig.inject(rebootFault, { off_s: 5 }, { when: { point: '701.Hz', below: 59.9 } });
    await rig.run(10);
    expect(fault.strikeCount).to.equal(0);
    for (const times of [1, 2]) {
      rig.plant.setGrid({ frequencyHz: 59.8 });
      for (let i = 0; i < 20; i += 1) await rig.run(0.5);
      expect(fault.strikeCount).to.equal(times);
      rig.plant.setGrid({ frequencyHz: 60 });
      for (let i = 0; i < 4; i += 1) await rig.run(0.5);
    }
  });

  it('without a condition once', async () => {
    const rig = await sunny();
    const fault = rig.inject(rebootFault, { off_s: 5 });
    await rig.run(200);
    expect([fault.strikeCount, rig.faults.active.length, rig.w > 9900]).to.deep.equal([1, 1, true]);
  });

  it('what other faults held back is forgotten with the settings', async () => {
    const rig = await sunny();
    rig.inject(ignoreEffectFault, {}, { target: { points: ['704.WMaxLimPct'] } });
    rig.inject(lateEffectFault, { delay_s: 30 }, { target: { points: ['704.WMaxLimPctEna'] } });
    rig.inject(silentRevertFault, { after_s: 15 });
    rig.write({ '704.WMaxLimPct': 10, '704.WMaxLimPctEna': 'ENABLED' });
    rig.inject(rebootFault, { off_s: 5 });
    await rig.run(60);
    expect(rig.w).to.be.above(9900);
    expect(rig.value('704.WMaxLimPct')).to.equal(100);
  });

  it('an open switch is closed by it, as a start would find it; local control stays', async () => {
    const rig = await sunny();
    rig.device.command({ kind: 'switch', closed: false }, byTest);
    rig.device.command({ kind: 'local', local: true }, byTest);
    await rig.run(5);
    rig.inject(rebootFault, { off_s: 5 });
    await rig.run(30);
    expect([rig.w > 9900, rig.value('715.LocRemCtl')]).to.deep.equal([true, 'LOCAL']);
    expect(rig.device.overrides.find(({ name }) => name === 'switch')).to.deep.include({
      source: 'fault',
      peer: 'reboot 1',
    });
  });

  for (const type of ['Batt-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase', 'EVSE']) {
    it(`${type} goes down and comes back`, async () => {
      const rig = new FaultyRig({ types: [type] });
      await rig.run(60);
      rig.inject(rebootFault, { off_s: 20 });
      await rig.run(10);
      expect([rig.w, rig.q, rig.state]).to.deep.equal([0, 0, 'off off disconnected']);
      await rig.run(700);
      expect(rig.snapshot.status.service_state).to.equal('on');
      expect(silent(rig)).to.deep.equal([]);
    });
  }

  it('of all devices, one that joins later too; a device that leaves is not silent any more', async () => {
    const rig = await sunny({ types: ['PV-3Phase', 'PV-3Phase'] });
    rig.inject(rebootFault, { off_s: 100 });
    expect(silent(rig)).to.deep.equal([0, 1]);
    await rig.plant.remove(1);
    expect(silent(rig)).to.deep.equal([0]);
  });
});
