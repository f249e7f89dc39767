import { expect } from 'chai';
import { CommAlarms } from '../../../src/core/comm-alarms.ts';
import { byTest, Rig } from '../../support/rig.ts';
import { testPlant } from '../../support/plant.ts';

const openRig = () => {
  const commAlarms = new CommAlarms(() => 1234);
  return { commAlarms, rig: new Rig({ commAlarms }) };
};

describe('Communication alarms of a device', () => {
  it('stand in its list at once, without a bit in 701.Alrm', async () => {
    const { commAlarms, rig } = openRig();
    commAlarms.raise(0, 'rtu_port_lost', 'the port has disappeared');
    expect(rig.device.alarms).to.deep.equal([
      {
        code: 'rtu_port_lost',
        source: 'comm',
        severity: 'warning',
        sinceMs: 1234,
        deviceIndex: 0,
        port: null,
        latched: false,
        message: 'the port has disappeared',
      },
    ]);
    expect(rig.device.latchedAlarmCount).to.equal(0);
    await rig.run(1);
    expect(rig.alarmBits).to.deep.equal([]);
    expect(rig.snapshot.status).not.to.have.property('message');
    commAlarms.end(0, 'rtu_port_lost');
    expect(rig.device.alarms).to.deep.equal([]);
  });

  it('follow those of the device itself', async () => {
    const { commAlarms, rig } = openRig();
    commAlarms.raise(0, 'rtu_port_lost', 'lost');
    rig.set((tx) => {
      tx.m715.OpCtl = 'STOP';
    });
    await rig.run(10);
    expect(rig.alarmCodes).to.deep.equal(['manual_shutdown', 'rtu_port_lost']);
    expect(rig.alarmBits).to.deep.equal([6]);
  });

  for (const scope of ['alarms', 'device'] as const) {
    it(`stay through a reset (${scope}): their cause goes on`, async () => {
      const { commAlarms, rig } = openRig();
      commAlarms.raise(0, 'rtu_port_lost', 'lost');
      rig.device.command({ kind: 'reset', scope }, byTest);
      await rig.run(1);
      expect(rig.alarmCodes).to.deep.equal(['rtu_port_lost']);
    });
  }

  it('leave with the device', async () => {
    const commAlarms = new CommAlarms(() => 0);
    const plant = testPlant({ types: ['PV-3Phase', 'PV-3Phase'], commAlarms });
    commAlarms.raise(0, 'rtu_port_lost', 'lost');
    commAlarms.raise(1, 'rtu_port_lost', 'lost');
    await plant.remove(1);
    expect([commAlarms.of(0).length, commAlarms.of(1).length]).to.deep.equal([1, 0]);
  });
});
