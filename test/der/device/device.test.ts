import { expect } from 'chai';
import { detailOf } from '../../support/detail.ts';
import type { GridPatch, SurroundingsPatch } from '../../../src/contract/environment.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { codeOf } from '../../support/map.ts';
import { byTest, quickEntry, Rig } from '../../support/rig.ts';

/** Every number of the snapshot and of the registers is one. */
function expectNumbers(rig: Rig): void {
  for (const slot of rig.device.bank.layout.slots) {
    const value = rig.device.bank.value(slot);
    if (typeof value === 'number') expect(Number.isFinite(value), `${slot.modelId}.${slot.path}`).to.equal(true);
  }
  expect(rig.plant.latest.published[0]!.json.toString()).not.to.match(/NaN|Infinity/);
}

describe('Device', () => {
  it('commands leave their origin on the points they write', () => {
    const rig = new Rig();
    const es = rig.device.bank.layout.slot(703, 'ES')!;
    rig.device.command({ kind: 'stop' }, { source: 'csip', peer: 'mRID' });
    expect(rig.device.bank.provenance(es)).to.include({ source: 'csip', peer: 'mRID' });
    rig.device.command({ kind: 'start' }, { source: 'dnp3' });
    expect(rig.device.bank.provenance(es)).to.include({ source: 'dnp3' });
    expect(rig.map.m715.OpCtl).to.equal('START');
  });

  it('start values of the profile say so', () => {
    const rig = new Rig({ models: { 704: { WRmp: 33 } } });
    const provenance = (path: string) => rig.device.bank.provenance(rig.device.bank.layout.slot(704, path)!)?.source;
    expect([provenance('WRmp'), provenance('VarRmp')]).to.deep.equal(['profile', undefined]);
  });

  it('answers its DC curve for port 0 alone', async () => {
    const rig = await Rig.sunny();
    const curve = rig.device.dcCurve(undefined, 60);
    expect(curve).to.deep.include({ kind: 'pv', port: 0, irradianceWm2: 1100, cellTemperatureC: 25 });
    expect(curve.curve).to.have.length(60);
    expect(curve.operatingPoint.p).to.be.closeTo(rig.map.m714.DCW!, 1);
    expect(curve.mpp!.p).to.be.above(curve.operatingPoint.p);
    expect(rig.device.dcCurve(0, 60).curve).to.deep.equal(curve.curve);
    expect(codeOf(() => rig.device.dcCurve(1, 60))).to.equal('UNKNOWN_RESOURCE');
  });

  it('detail is replaced as a whole by each tick', async () => {
    const rig = await Rig.sunny();
    const before = rig.device.detail;
    rig.plant.setSurroundings({ irradianceWm2: 300 });
    expect(rig.device.detail).to.equal(before);
    await rig.run(1);
    expect(rig.device.detail).not.to.equal(before);
    expect(detailOf(rig.device, 'pv').irradianceWm2).to.equal(300);
    expect(before.kind === 'pv' && before.irradianceWm2).to.equal(1100);
  });

  it('a reset of the device ends overrides and timers and loads the start values', async () => {
    const rig = await Rig.sunny({ models: { 704: { WRmp: 33 } } });
    rig.set((tx) => {
      tx.m704.WRmp = 5;
      tx.m702.WMax = 3000;
      tx.m703.ES = 'DISABLED';
      tx.m715.OpCtl = 'STOP';
    });
    rig.device.command({ kind: 'switch', closed: false }, byTest);
    rig.plant.setSurroundings({ irradianceWm2: 0 }, 0);
    await rig.run(20);
    rig.device.command({ kind: 'reset', scope: 'device' }, byTest);
    quickEntry(rig);
    await rig.run(20);
    expect(rig.state).to.equal('on running connected');
    expect([rig.map.m704.WRmp, rig.map.m702.WMax, rig.w, rig.map.m1.SN]).to.deep.equal([
      33,
      10_000,
      10_000,
      'DB-000000',
    ]);
  });

  it('a reset of the alarms leaves settings alone', async () => {
    const rig = await Rig.sunny();
    rig.set((tx) => {
      tx.m704.WRmp = 5;
    });
    rig.device.command({ kind: 'reset', scope: 'alarms' }, byTest);
    expect(rig.map.m704.WRmp).to.equal(5);
  });
});

describe('A value that is not finite', () => {
  async function broken(patch: GridPatch & SurroundingsPatch): Promise<{ rig: Rig; errors: string[] }> {
    const errors: string[] = [];
    const rig = await Rig.sunny({
      log: {
        ...silentLogger,
        error: (message: string) => {
          errors.push(message);
        },
      },
    });
    quickEntry(rig);
    if ('irradianceWm2' in patch || 'ambientTemperatureC' in patch) rig.plant.setSurroundings(patch);
    else rig.plant.setGrid(patch);
    await rig.run(5);
    return { rig, errors };
  }

  for (const [name, patch] of [
    ['voltage', { voltagePu: NaN }],
    ['one phase', { voltageBPu: Infinity }],
    ['frequency', { frequencyHz: NaN }],
    ['air temperature', { ambientTemperatureC: NaN }],
  ] as const) {
    it(`${name}: the device faults, keeps its last good values and stays at zero power until a reset`, async () => {
      const { rig, errors } = await broken(patch);
      expect(rig.state).to.equal('off fault disconnected');
      expectNumbers(rig);
      expect([rig.w, rig.q, rig.map.m714.DCW]).to.deep.equal([0, 0, 0]);
      expect([rig.map.m701.Hz, rig.map.m701.LNV]).to.deep.equal([60, 277.1]);
      expect(rig.alarmBits).to.deep.equal([15]);
      expect(rig.device.alarms[0]).to.include({ code: 'hw_test_failure', latched: true });
      expect([rig.device.latchedAlarmCount, rig.snapshot.status.message]).to.deep.equal([
        1,
        'the model gave a value that is not finite',
      ]);
      expect(errors).to.have.length(1);

      rig.plant.setGrid({ voltagePu: 1, frequencyHz: 60 });
      rig.plant.setSurroundings({ ambientTemperatureC: 20, irradianceWm2: 1100 });
      const energy = rig.map.m701.TotWhInj!;
      await rig.run(60);
      expect(rig.state).to.equal('off fault disconnected');
      expect(rig.map.m701.TotWhInj).to.equal(energy);
      expect(errors).to.have.length(1);

      rig.device.command({ kind: 'reset', scope: 'alarms' }, byTest);
      await rig.run(30);
      expect(rig.state).to.equal('on running connected');
      expect([rig.w, rig.device.latchedAlarmCount]).to.deep.equal([10_000, 0]);
      expectNumbers(rig);
      expect(rig.map.m701.TotWhInj).to.be.within(energy + 70, energy + 100);
    });
  }

  it('an irradiance that is not a number leaves the last one', async () => {
    const { rig } = await broken({ irradianceWm2: NaN });
    expectNumbers(rig);
    expect(rig.w).to.equal(10_000);
  });

  it('a reset while it lasts faults again', async () => {
    const { rig } = await broken({ voltagePu: NaN });
    rig.set((tx) => {
      tx.m715.AlarmReset = 1;
    });
    await rig.run(1);
    expect(rig.state).to.equal('off fault disconnected');
    expectNumbers(rig);
  });
});
