import { expect } from 'chai';
import { readEvseProfiles } from '../../../src/config/profile/profiles.ts';
import type { EvseConnectorParameters } from '../../../src/contract/kinds/evse.ts';
import { KindRig, kindSpec } from './support.ts';

const noonS = 43_200;
const header = 'time_s,connector,stay_s,soc_pct,target_soc_pct,battery_capacity_kwh,max_charge_kw,phases';
function bundledConnectors(name: string): [EvseConnectorParameters, EvseConnectorParameters, EvseConnectorParameters] {
  const [a, b, c] = readEvseProfiles().find((profile) => profile.name === name)?.evse.connectors ?? [];
  return a && b && c ? [a, b, c] : expect.fail(`${name} has no three connectors`);
}

const quick = { startDelayMinS: 1, startDelayMaxS: 1 };

describe('EVSE device: the registers are the meter of the station', () => {
  it('energy of stops and starts is that of the station, whatever the tick', async () => {
    for (const tickS of [0.1, 1.5, 30]) {
      const rig = new KindRig({ args: ['--evse_profile', 'EVSE-DC-150kW-CCS-1port'], evse: quick });
      rig.command({
        kind: 'evse.plug',
        connectorId: 1,
        ev: { batteryCapacityWh: 200_000, socPct: 15, maxChargeW: 150_000 },
      });
      for (let i = 0; i < 6; i += 1) {
        await rig.watch(60, tickS, () => undefined);
        rig.command({ kind: 'evse.suspend', connectorId: 1, by: 'evse' });
        await rig.watch(30, tickS, () => undefined);
        rig.command({ kind: 'evse.resume', connectorId: 1, by: 'evse' });
      }
      const meterWh = rig.detail('evse').energyWh;
      expect(meterWh).to.be.above(5000);
      expect(rig.map.m701.TotWhAbs, `ticks of ${tickS} s`).to.be.closeTo(meterWh, 0.001 * meterWh);
    }
  });

  it('a load at a phase whose voltage has all but gone has no current', async () => {
    const rig = new KindRig(kindSpec('evse'));
    rig.command({
      kind: 'evse.plug',
      connectorId: 1,
      ev: { batteryCapacityWh: 100_000, socPct: 20, maxChargeW: 7000, phases: 1 },
    });
    await rig.run(120);
    rig.plant.setGrid({ voltagePu: 1e-310, voltageBPu: 1 });
    await rig.run(0.05);
    expect(rig.map.m701.AL1).to.equal(0);
  });

  it('phases that carry power in opposite directions have each their own registers and counters', async () => {
    const [dc, , ac] = bundledConnectors('EVSE-Hybrid-2DC-1AC');
    const connectors = [
      { ...dc, bidirectional: true, maxDischargeW: 20_000 },
      { ...ac, connectorId: 2 },
    ];
    const rig = new KindRig({ args: ['--evse_profile', 'EVSE-Hybrid-2DC-1AC'], evse: { ...quick, connectors } });
    rig.command({
      kind: 'evse.plug',
      connectorId: 1,
      ev: { batteryCapacityWh: 100_000, socPct: 90, reserveSocPct: 20, maxDischargeW: 20_000 },
    });
    rig.command({ kind: 'evse.discharge', connectorId: 1, powerW: 7000 });
    rig.command({
      kind: 'evse.plug',
      connectorId: 2,
      ev: { batteryCapacityWh: 100_000, socPct: 20, maxChargeW: 7000, phases: 1 },
    });
    await rig.run(60);
    const { m701 } = rig.map;
    const before = { l1: m701.TotWhAbsL1 ?? NaN, l2: m701.TotWhInjL2 ?? NaN };
    await rig.run(1800);
    const watts = [m701.WL1, m701.WL2, m701.WL3].map((w) => w ?? NaN);
    expect(watts[0]).to.be.within(-5000, -4000);
    expect(watts[1]).to.be.within(2000, 2500);
    expect(watts.reduce((sum, w) => sum + w, 0)).to.be.closeTo(rig.w, 15);
    expect(m701.AL1).to.be.closeTo(Math.hypot(watts[0] ?? NaN, m701.VarL1 ?? NaN) / (m701.VL1 ?? NaN), 0.1);
    expect((m701.TotWhAbsL1 ?? NaN) - before.l1).to.be.closeTo(-(watts[0] ?? NaN) / 2, 0.02 * 2500);
    expect((m701.TotWhInjL2 ?? NaN) - before.l2).to.be.closeTo((watts[1] ?? NaN) / 2, 0.02 * 2500);
  });
});

describe('vehicle table: manual operations', () => {
  const station = (rows: readonly string[], profile = 'EVSE-AC-22kW-1port') =>
    new KindRig({
      args: ['--evse_profile', profile],
      evse: quick,
      vehicles: [header, ...rows].join('\n'),
      vehiclesEnd: 'hold',
    });

  it('a vehicle that took the place of a planned one stays when the plan lets its own leave', async () => {
    const rig = station([`${noonS + 10},1,100,20,90,50,7.2,1`]);
    await rig.run(20);
    rig.command({ kind: 'evse.unplug', connectorId: 1 });
    rig.command({ kind: 'evse.plug', connectorId: 1, ev: { socPct: 40 } });
    await rig.run(200);
    expect(rig.connector().cable.evPlugged).to.equal(true);
    expect(rig.connector().ev?.id).to.equal(null);
  });

  it('a departure frees the connector for an arrival at the same instant, and two vehicles may arrive at once', async () => {
    const rig = station([`${noonS + 10},1,100,20,90,50,7.2,1`, `${noonS + 110},1,100,60,90,60,7.2,1`]);
    await rig.run(150);
    expect(rig.connector().ev).to.include({ id: 'visit-2', batteryCapacityWh: 60_000 });
    const two = station(
      [`${noonS + 10},1,100,20,90,50,7.2,1`, `${noonS + 10},2,100,30,90,50,7.2,1`],
      'EVSE-AC-7.4kW-2port',
    );
    await two.run(20);
    expect([two.connector(1).ev?.id, two.connector(2).ev?.id]).to.deep.equal(['visit-1', 'visit-2']);
  });
});
