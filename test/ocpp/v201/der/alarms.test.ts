import { expect } from 'chai';
import { loadedRig, request } from './rig.ts';
import type { DerRig } from './rig.ts';

/** Alarms so far: type, fault, and whether it has ended. */
function alarms(rig: DerRig): readonly string[] {
  return rig.line
    .of('NotifyDERAlarm')
    .map(({ controlType, gridEventFault, alarmEnded }) =>
      [
        controlType,
        ...(gridEventFault === undefined ? [] : [gridEventFault]),
        alarmEnded === true ? 'ended' : 'begins',
      ].join(' '),
    );
}

/** Quick back in service, by a master. */
const quick = (rig: DerRig) => {
  rig.kind.quickEntry(5, 5);
};

describe('OCPP 2.1 R05: alarms of DER control', () => {
  it('LimitMaxDischarge: once when it holds the vehicle, once when it does no more', async () => {
    const rig = await loadedRig();
    await rig.vehicle(40_000);
    await rig.set(request('L', 'LimitMaxDischarge', { startTime: rig.at(rig.nowS() + 10), duration: 60 }));
    await rig.pass(60, 1);
    expect(alarms(rig)).to.deep.equal(['LimitMaxDischarge begins']);
    await rig.pass(60, 1);
    expect(alarms(rig)).to.deep.equal(['LimitMaxDischarge begins', 'LimitMaxDischarge ended']);
  });

  it('a limit of another writer, and one that holds nothing, are none', async () => {
    const rig = await loadedRig();
    await rig.vehicle(10_000);
    await rig.set(request('L', 'LimitMaxDischarge'));
    await rig.pass(20, 5);
    rig.kind.limit(10);
    await rig.pass(20, 5);
    expect(rig.kind.w).to.be.closeTo(5000, 20);
    expect(alarms(rig)).to.deep.equal([]);
  });

  it('VoltVar alone is none', async () => {
    const rig = await loadedRig();
    await rig.vehicle(20_000);
    await rig.set(request('V', 'VoltVar'));
    rig.plant.startGridEvent('voltage_step', { to_pu: 1.06, duration_s: 30 });
    await rig.pass(60, 1);
    await rig.call('ClearDERControl', { isDefault: false });
    await rig.pass(5, 1);
    expect(alarms(rig)).to.deep.equal([]);
  });

  it('FreqDroop on a frequency step: one alarm, also while the vehicle is at its maximum', async () => {
    for (const [toHz, fault] of [
      [61, 'OverFrequency'],
      [59, 'UnderFrequency'],
    ] as const) {
      const rig = await loadedRig();
      await rig.vehicle(40_000);
      await rig.set(request('F', 'FreqDroop'));
      rig.plant.startGridEvent('frequency_step', { to_hz: toHz, duration_s: 60 });
      await rig.pass(50, 1);
      expect(alarms(rig), fault).to.deep.equal([`FreqDroop ${fault} begins`]);
      await rig.pass(600, 10);
      expect(alarms(rig), fault).to.deep.equal([`FreqDroop ${fault} begins`, `FreqDroop ${fault} ended`]);
    }
  });

  it('VoltWatt on a swell', async () => {
    const rig = await loadedRig();
    await rig.vehicle(40_000);
    await rig.set(request('V', 'VoltWatt'));
    rig.plant.startGridEvent('swell', { level_pu: 1.08, duration_s: 20 });
    await rig.pass(120, 1);
    expect(alarms(rig)).to.deep.equal(['VoltWatt OverVoltage begins', 'VoltWatt OverVoltage ended']);
  });

  it('a trip on a sag: at its instant, until the station is in service again', async () => {
    const rig = await loadedRig();
    quick(rig);
    await rig.vehicle(40_000);
    await rig.set({
      isDefault: false,
      controlId: 'T',
      controlType: 'LVMustTrip',
      curve: {
        priority: 1,
        yUnit: 'Not_Applicable',
        curveData: [
          { x: 85, y: 3 },
          { x: 50, y: 2 },
        ],
      },
    });
    const beginS = rig.nowS();
    rig.plant.startGridEvent('sag', { residual_pu: 0.7, duration_s: 10 });
    await rig.pass(12, 1);
    const [alarm] = rig.told('NotifyDERAlarm');
    expect(alarm).to.deep.include({ controlType: 'LVMustTrip', gridEventFault: 'UnderVoltage' });
    expect(Number(alarm?.['timestamp']) - beginS).to.be.closeTo(3, 0.05);
    await rig.pass(30, 1);
    expect(alarms(rig)).to.deep.equal(['LVMustTrip UnderVoltage begins', 'LVMustTrip UnderVoltage ended']);
    expect(Number(rig.told('NotifyDERAlarm')[1]?.['timestamp']) - beginS).to.be.closeTo(20, 1.1);
  });

  it('trips by the settings of the station itself, each with its fault', async () => {
    for (const [event, args, type, fault] of [
      ['sag', { residual_pu: 0.6, duration_s: 60 }, 'LVMustTrip', 'UnderVoltage'],
      ['swell', { level_pu: 1.3, duration_s: 5 }, 'HVMustTrip', 'OverVoltage'],
      ['frequency_step', { to_hz: 56, duration_s: 5 }, 'LFMustTrip', 'UnderFrequency'],
      ['frequency_step', { to_hz: 63, duration_s: 5 }, 'HFMustTrip', 'OverFrequency'],
    ] as const) {
      const rig = await loadedRig();
      quick(rig);
      await rig.vehicle(20_000);
      rig.plant.startGridEvent(event, args);
      await rig.pass(120, 1);
      expect(alarms(rig), event).to.include.members([`${type} ${fault} begins`, `${type} ${fault} ended`]);
    }
  });

  it('a trip that is over within one tick is told as well', async () => {
    const rig = await loadedRig();
    rig.kind.quickEntry(0, 0);
    await rig.vehicle(20_000);
    rig.plant.startGridEvent('swell', { level_pu: 1.3, duration_s: 5 });
    await rig.pass(60, 60);
    expect(alarms(rig)).to.deep.equal(['HVMustTrip OverVoltage begins', 'HVMustTrip OverVoltage ended']);
  });

  it('FR.03, FR.04: another control takes over: its alarm, and no end of the first', async () => {
    const rig = await loadedRig();
    quick(rig);
    await rig.vehicle(40_000);
    await rig.set(request('L', 'LimitMaxDischarge'));
    await rig.pass(20, 1);
    await rig.set(request('E', 'EnterService'));
    rig.plant.startGridEvent('swell', { level_pu: 1.3, duration_s: 5 });
    await rig.pass(60, 1);
    expect(alarms(rig)).to.deep.equal([
      'LimitMaxDischarge begins',
      'HVMustTrip OverVoltage begins',
      'EnterService begins',
      'LimitMaxDischarge begins',
    ]);
    await rig.call('ClearDERControl', { isDefault: false });
    await rig.pass(20, 1);
    expect(alarms(rig).slice(4)).to.deep.equal(['LimitMaxDischarge ended']);
  });

  it('LVMomCess while the station rides through a deep sag', async () => {
    const rig = await loadedRig();
    await rig.vehicle(20_000);
    rig.plant.startGridEvent('sag', { residual_pu: 0.3, duration_s: 1 });
    await rig.pass(20, 0.5);
    expect(alarms(rig)).to.deep.equal(['LVMomCess UnderVoltage begins', 'LVMomCess UnderVoltage ended']);
  });
});
