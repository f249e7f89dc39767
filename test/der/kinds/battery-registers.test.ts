import { expect } from 'chai';
import type { DeviceCommand } from '../../../src/contract/device.ts';
import { Rest } from '../../support/rest.ts';
import { byTest } from '../../support/rig.ts';
import { counters, StorageRig } from './support-storage.ts';

/** Bits of 802.Evt1. */
const evt1 = { overTempAlarm: 1, underSocMin: 14, overSocMax: 16 } as const;
const has = (rig: StorageRig, bit: number) => Math.floor(rig.m802.Evt1 / 2 ** bit) % 2 === 1;

describe('battery device: model 802', () => {
  it('SetOp opens the strings and closes them again after their pre-charge', async () => {
    const rig = StorageRig.battery();
    rig.demand(5000);
    await rig.run(20);
    rig.write(({ m802 }) => {
      if (m802) m802.SetOp = 'DISCONNECT';
    });
    await rig.run(1);
    const { m701, m714 } = rig.map;
    expect([rig.w, m714.DCW, rig.m802.W, rig.m802.V, rig.m802.A]).to.deep.equal([0, 0, 0, 0, 0]);
    expect([rig.m802.State, rig.m802.ChaSt, m714.Prt[0]?.DCSta, m701.ConnSt]).to.deep.equal([
      'DISCONNECTED',
      'OFF',
      'OFF',
      'CONNECTED',
    ]);
    const soc = rig.battery.trueSocPct;
    await rig.run(3600);
    expect(rig.battery.trueSocPct, 'no standby loss behind open contactors').to.equal(soc);
    rig.write(({ m802 }) => {
      if (m802) m802.SetOp = 'CONNECT';
    });
    await rig.run(1);
    expect([rig.w, rig.m802.State]).to.deep.equal([0, 'INITIALIZING']);
    await rig.run(9);
    expect([rig.w, rig.m802.State, m714.Prt[0]?.DCSta]).to.deep.equal([5000, 'CONNECTED', 'ON']);
    expect(rig.m802.V).to.be.within(200, 260);
  });

  it('SetOp during a fault takes effect when the fault is cleared', async () => {
    const rig = StorageRig.battery();
    rig.plant.setSurroundings({ cellTemperatureC: 70 });
    await rig.run(20);
    rig.write(({ m802 }) => {
      if (m802) m802.SetOp = 'DISCONNECT';
    });
    rig.write(({ m802 }) => {
      if (m802) m802.SetOp = 'CONNECT';
    });
    rig.plant.setSurroundings({ cellTemperatureC: 25 });
    await rig.run(20);
    rig.write(({ m802 }) => {
      if (m802) m802.AlmRst = 1;
    });
    await rig.run(20);
    expect([rig.m802.SetOp, rig.m802.State, rig.battery.contactorsClosed]).to.deep.equal(['CONNECT', 'STANDBY', 2]);
  });

  it('SetInvState accepts only INVERTER_STARTED, and changes nothing', () => {
    const rig = StorageRig.battery();
    const before = rig.dump();
    for (const state of ['INVERTER_STOPPED', 'INVERTER_STANDBY'] as const) {
      expect(
        rig.refusalOf(({ m802 }) => {
          if (m802) m802.SetInvState = state;
        }),
        state,
      ).to.equal('MAP_NOT_SUPPORTED');
    }
    expect(rig.dump().equals(before)).to.equal(true);
    expect(
      rig.refusalOf(({ m802 }) => {
        if (m802) m802.SetInvState = 'INVERTER_STARTED';
      }),
    ).to.equal(null);
  });

  it('a refused point refuses the whole request', () => {
    const rig = StorageRig.battery();
    const refused = rig.refusalOf(({ m802 }) => {
      if (m802) Object.assign(m802, { SoCRsvMin: 40, SetOp: 'DISCONNECT', SetInvState: 'INVERTER_STOPPED' });
    });
    expect(refused).to.equal('MAP_NOT_SUPPORTED');
    expect([
      rig.m802.SoCRsvMin,
      rig.m802.SetOp,
      rig.battery.socReserveMinPct,
      rig.battery.contactorsClosed,
    ]).to.deep.equal([10, 'CONNECT', 10, 2]);
  });

  it('over temperature opens the strings, sets its bit of Evt1, and waits for AlmRst', async () => {
    const rig = StorageRig.battery();
    rig.demand(5000);
    await rig.run(20);
    rig.plant.setSurroundings({ cellTemperatureC: 70 });
    await rig.run(20);
    expect([rig.w, rig.m802.State, rig.map.m713.Sta, has(rig, evt1.overTempAlarm)]).to.deep.equal([
      0,
      'FAULT',
      'ERROR',
      true,
    ]);
    expect(rig.alarmCodes).to.include('over_temp');
    expect(rig.alarmBits).to.include(7);
    rig.write(({ m802 }) => {
      if (m802) m802.AlmRst = 1;
    });
    await rig.run(20);
    expect(rig.m802.State, 'the cause stands').to.equal('FAULT');
    rig.plant.setSurroundings({ cellTemperatureC: 25 });
    await rig.run(20);
    expect(rig.m802.State, 'latched').to.equal('FAULT');
    rig.write(({ m802 }) => {
      if (m802) m802.AlmRst = 1;
    });
    await rig.run(20);
    expect([rig.m802.AlmRst, rig.m802.State, rig.m802.Evt1, rig.map.m713.Sta, rig.w]).to.deep.equal([
      0,
      'CONNECTED',
      0,
      'OK',
      5000,
    ]);
    expect(rig.alarmCodes).to.deep.equal([]);
  });

  it('cold and heat reduce the current: charging ends below -10 C, half remains at 50 C', async () => {
    const rig = StorageRig.battery();
    for (const [cellTemperatureC, watts, least, most] of [
      [-12, -9000, 0, 0],
      [-12, 3000, 3000, 3000],
      [50, 9000, 4900, 5400],
      [25, 9000, 9000, 9000],
    ] as const) {
      rig.plant.setSurroundings({ cellTemperatureC });
      rig.demand(watts);
      await rig.run(40);
      expect(Math.abs(rig.w), `${watts} W at ${cellTemperatureC} C`).to.be.within(least, most);
    }
  });

  it('counts heartbeats and has the ratings of its profile', async () => {
    const rig = StorageRig.battery();
    const before = rig.m802.Hb ?? NaN;
    await rig.run(7);
    expect(rig.m802.Hb).to.equal(before + 7);
    expect(rig.m802).to.include({
      WHRtg: 15_000,
      WChaRteMax: 10_500,
      WDisChaRteMax: 10_500,
      SoCMin: 10,
      SoCMax: 90,
      Typ: 'LITHIUM_ION',
    });
    expect(rig.map.m713).to.include({ WHRtg: 15_000, WHAvail: 7500, SoC: 50, SoH: 100 });
    expect([rig.m802.VMax, rig.m802.VMin]).to.deep.equal([64 * 4.2, 64 * 2.5].map((v) => Math.round(10 * v) / 10));
  });

  it('devices without storage have no model 802', async () => {
    const rig = new StorageRig({ types: ['PV-3Phase'] });
    await rig.run(1);
    expect(rig.map.m802).to.equal(undefined);
    expect(rig.map.m713.SoC).to.equal(0);
  });
});

describe('battery device: one set of numbers', () => {
  it('713, 714, 802, the snapshot and REST agree at every tick', async () => {
    const rig = StorageRig.battery();
    const rest = await Rest.open(rig.plant);
    try {
      for (const watts of [7777, -3333, 0, -9999]) {
        rig.demand(watts);
        for (let tick = 0; tick < 3; tick += 1) {
          await rig.run(17.3);
          const { m701, m713, m714 } = rig.map;
          const { metrics } = rig.snapshot;
          const reply = await rest.get('/battery?detail=bank');
          const overview = await rest.get('/overview');
          expect(overview.metrics).to.deep.equal(metrics);
          expect(rig.m802).to.include({ SoC: m713.SoC, SoH: m713.SoH, W: m714.DCW, V: m714.Prt[0]?.DCV });
          expect(rig.m802.DoD).to.be.closeTo(100 - (m713.SoC ?? NaN), 1e-9);
          expect(metrics).to.include({
            power_kw: (m701.W ?? NaN) / 1000,
            dc_power_kw: (m714.DCW ?? NaN) / 1000,
            state_of_charge_pct: m713.SoC,
            soc_reserve_min_pct: rig.m802.SoCRsvMin,
            soc_reserve_max_pct: rig.m802.SocRsvMax,
            soc_min_pct: rig.m802.SoCMin,
            soc_max_pct: rig.m802.SoCMax,
          });
          expect(reply).to.include({
            soc_pct: m713.SoC,
            soh_pct: m713.SoH,
            power_kw: (m714.DCW ?? NaN) / 1000,
            dc_voltage_v: rig.m802.V,
            dc_current_a: rig.m802.A,
            energy_available_kwh: (m713.WHAvail ?? NaN) / 1000,
            cell_voltage_min_v: rig.m802.CellVMin,
            cell_voltage_max_v: rig.m802.CellVMax,
          });
          expect(m713.WHAvail).to.be.closeTo(150 * (m713.SoC ?? NaN), 7.5 + 0.5);
          expect(rig.m802.V * rig.m802.A).to.be.closeTo(rig.m802.W, 15);
        }
      }
    } finally {
      await rest.api.stop();
    }
  });
});

describe('battery device: reset', () => {
  const reset = (rig: StorageRig, scope: Extract<DeviceCommand, { kind: 'reset' }>['scope']) => {
    rig.device.command({ kind: 'reset', scope }, byTest);
  };

  /** Registers that differ, but for the heartbeats, which go on. */
  const differing = (one: StorageRig, other: StorageRig) =>
    one.device.bank.layout.slots
      .map((slot) => ({
        name: `${slot.modelId}.${slot.path}`,
        values: [one, other].map(({ device }) => device.bank.value(slot)),
      }))
      .filter(({ name, values: [a, b] }) => a !== b && !['715.DERHb', '802.Hb'].includes(name));

  it('of the device brings it back to its first second', async () => {
    const rig = StorageRig.battery();
    rig.demand(-9000);
    await rig.run(900);
    rig.write(({ m802 }) => {
      if (m802) Object.assign(m802, { SoCRsvMin: 30, SocRsvMax: 70, SetOp: 'DISCONNECT' });
    });
    rig.command({ kind: 'battery.control', mode: 'charge', powerW: 2000 });
    await rig.run(100);
    expect(counters(rig)[1]).to.be.greaterThan(2000);
    reset(rig, 'device');
    await rig.run(50);
    const fresh = StorageRig.battery();
    await fresh.run(50);
    expect(counters(rig)).to.deep.equal([0, 0, 0, 0]);
    expect(rig.battery).to.include({
      control: 'auto',
      cycleCount: 0,
      energyChargedWh: 0,
      socReserveMinPct: 10,
      contactorsClosed: 2,
    });
    expect(differing(rig, fresh)).to.deep.equal([]);
    // and goes on like a fresh one
    for (const each of [rig, fresh]) {
      each.demand(8000);
      await each.run(600);
    }
    expect(differing(rig, fresh)).to.deep.equal([]);
  });

  it('of the alarms leaves charge, set-points and counters alone', async () => {
    const rig = StorageRig.battery();
    rig.demand(-9000);
    await rig.run(900);
    const before = [rig.battery.trueSocPct, ...counters(rig)];
    reset(rig, 'alarms');
    expect([rig.battery.trueSocPct, ...counters(rig)]).to.deep.equal(before);
    await rig.run(10);
    expect(rig.w).to.equal(-9000);
  });
});
