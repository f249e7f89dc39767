/** Alarms of every kind, raised and cleared by what causes them; latched ones by a reset. */
import { expect } from 'chai';
import { alarmKinds } from '../../../src/der/device/alarms.ts';
import type { AlarmCode } from '../../../src/der/device/alarms.ts';
import { fleetKinds, KindRig, kindSpec } from './support.ts';
import type { FleetKind } from './support.ts';

const bitOf = (code: AlarmCode): number => alarmKinds[code].bit ?? NaN;
const bits = (rig: KindRig): number[] =>
  Array.from({ length: 31 }, (_, bit) => bit).filter(
    (bit) => Math.floor((rig.map.m701.Alrm ?? 0) / 2 ** bit) % 2 === 1,
  );
const nothing = () => undefined;

function rigOf(kind: FleetKind): KindRig {
  const rig = new KindRig(kindSpec(kind));
  rig.quickEntry(3);
  return rig;
}

const trips = [
  { code: 'ac_under_volt', patch: { voltagePu: 0.4 }, tripS: 2.3 },
  { code: 'ac_over_volt', patch: { voltagePu: 1.25 }, tripS: 0.4 },
  { code: 'over_frequency', patch: { frequencyHz: 62.5 }, tripS: 0.4 },
  { code: 'under_frequency', patch: { frequencyHz: 56 }, tripS: 0.4 },
] as const;

for (const kind of fleetKinds) {
  describe(`alarms of every kind: ${kind}`, () => {
    for (const { code, patch, tripS } of trips) {
      it(`${code} while tripped, gone with its cause`, async () => {
        const rig = rigOf(kind);
        await rig.run(5);
        expect(rig.alarms).to.deep.equal([]);
        rig.plant.setGrid(patch);
        await rig.watch(tripS, 0.1, nothing);
        const [alarm] = rig.device.alarms.filter((one) => one.code === code);
        expect(alarm).to.include({ source: 'ac', severity: 'error', latched: false, deviceIndex: 0, port: null });
        expect(alarm?.message).to.be.a('string').that.is.not.empty;
        expect(bits(rig)).to.include(bitOf(code));
        expect(rig.state).to.equal('off fault disconnected');
        rig.plant.setGrid({ voltagePu: 1, frequencyHz: 60 });
        await rig.run(1);
        expect(rig.alarms).not.to.include(code);
        await rig.run(10);
        expect([rig.map.m701.ConnSt, rig.alarms.length, rig.map.m701.Alrm]).to.deep.equal(['CONNECTED', 0, 0]);
      });
    }

    it('manual_shutdown while stopped by an operator', async () => {
      const rig = rigOf(kind);
      rig.write(({ m715 }) => {
        m715.OpCtl = 'STOP';
      });
      await rig.watch(8, 1, nothing);
      expect([rig.alarms.includes('manual_shutdown'), bits(rig).includes(bitOf('manual_shutdown'))]).to.deep.equal([
        true,
        true,
      ]);
      rig.write(({ m715 }) => {
        m715.OpCtl = 'START';
      });
      await rig.run(10);
      expect([rig.alarms.length, rig.map.m701.Alrm]).to.deep.equal([0, 0]);
    });

    it('lvrt_active in a momentary cessation, without a bit', async () => {
      const rig = rigOf(kind);
      rig.plant.setGrid({ voltagePu: 0.45, durationS: 1 });
      await rig.watch(0.5, 0.1, nothing);
      expect([rig.alarms, rig.map.m701.Alrm]).to.deep.equal([['lvrt_active'], 0]);
      await rig.run(5);
      expect(rig.alarms).to.deep.equal([]);
    });
  });
}

describe('alarms of single kinds', () => {
  it('battery: over_temp latches, and only a reset after cooling ends it', async () => {
    const rig = rigOf('battery');
    rig.plant.setSurroundings({ ambientTemperatureC: 75 });
    await rig.until(() => rig.alarms.includes('over_temp'), 360, 40_000);
    expect(bits(rig)).to.include(bitOf('over_temp'));
    expect([rig.device.latchedAlarmCount > 0, rig.w]).to.deep.equal([true, 0]);
    rig.plant.setSurroundings({ ambientTemperatureC: 20 });
    await rig.until(() => rig.detail('battery').temperatureC < 30, 360, 80_000);
    expect(rig.alarms, 'latched').to.include('over_temp');
    rig.write(({ m715 }) => {
      m715.AlarmReset = 1;
    });
    await rig.run(5);
    expect([rig.alarms.includes('over_temp'), rig.device.latchedAlarmCount]).to.deep.equal([false, 0]);
  });

  it('battery: a reset while the cause lasts brings the alarm back', async () => {
    const rig = rigOf('battery');
    rig.plant.setSurroundings({ ambientTemperatureC: 75 });
    await rig.until(() => rig.alarms.includes('over_temp'), 360, 40_000);
    rig.write(({ m715 }) => {
      m715.AlarmReset = 1;
    });
    await rig.run(5);
    expect(rig.alarms).to.include('over_temp');
  });

  it('an alarm begins once: its time stays while it is active', async () => {
    const rig = rigOf('evse');
    rig.command({ kind: 'evse.fault', connectorId: 1, errorCode: 'OtherError' });
    await rig.run(1);
    const since = rig.device.alarms[0]?.sinceMs;
    await rig.run(20);
    expect(rig.device.alarms.map(({ code, sinceMs }) => [code, sinceMs])).to.deep.equal([['connector_fault', since]]);
  });
});
