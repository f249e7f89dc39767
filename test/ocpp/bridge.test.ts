/** The station behind an OCPP client: its meters, its powers and its commands. Simulated seconds, W, Wh. */
import { expect } from 'chai';
import type { EvseTransition } from '../../src/contract/kinds/evse-transitions.ts';
import { createStationPort } from '../../src/ocpp/bridge.ts';
import type { MeterSample } from '../../src/ocpp/station/port.ts';
import { KindRig, operator } from '../der/kinds/support.ts';
import type { KindSpec } from '../der/kinds/support.ts';

const quick = { startDelayMinS: 1, startDelayMaxS: 1 };

function stationOf(profile: string, spec: Partial<KindSpec> = {}) {
  const rig = new KindRig({ ...spec, args: ['--evse_profile', profile], evse: { ...quick, ...spec.evse } });
  return { rig, port: createStationPort(rig.device, rig.plant, 'SIM-CP-1') };
}

/** |P| = PF x sum of V x I, and the phases add up to it. */
function expectCoherent(sample: MeterSample): void {
  const va = sample.voltageV.reduce((total, v, i) => total + v * (sample.currentA[i] ?? NaN), 0);
  expect(va * sample.powerFactor).to.be.closeTo(Math.abs(sample.powerW), 1e-6 * (1 + va));
  expect(sample.powerByPhaseW.reduce((a, b) => a + b, 0)).to.be.closeTo(sample.powerW, 1e-6 * (1 + va));
  expect(Math.hypot(sample.powerW, sample.reactivePowerVar)).to.be.at.most(va * (1 + 1e-9) + 1e-6);
}

const mixed: readonly (readonly [string, string, 1 | 3])[] = [
  ['EVSE-AC-22kW-1port', 'three phases', 3],
  ['EVSE-AC-22kW-1port', 'a single-phase vehicle on three phases', 1],
  ['EVSE-AC-7.4kW-2port', 'single-phase connectors', 1],
  ['EVSE-Hybrid-2DC-1AC', 'DC and AC', 3],
];

describe('OCPP bridge: the meters of a station (OCPP 1.6 3.14, 7.31)', () => {
  for (const [profile, what, phases] of mixed) {
    it(`${profile}, ${what}: one instant, coherent, as REST and the registers show it`, async () => {
      const { rig, port } = stationOf(profile);
      for (const connectorId of port.connectorIds) {
        rig.command({ kind: 'evse.plug', connectorId, ev: { socPct: 30 + connectorId, phases } });
      }
      await rig.run(30);
      rig.plant.setGrid({ voltageAPu: 0.97, voltageBPu: 1.01, voltageCPu: 1.04 });
      await rig.run(20);
      const { m701 } = rig.map;
      let totalW = port.detail.standbyW;
      for (const connectorId of port.connectorIds) {
        const sample = port.sample(connectorId);
        const shown = rig.connector(connectorId);
        expect(sample.powerW).to.be.above(1000);
        expectCoherent(sample);
        expect(sample).to.include({ powerW: shown.powerW, energyImportWh: shown.energyWh, socPct: shown.ev?.socPct });
        expect(sample.at).to.equal(rig.plant.latest.sim);
        expect(sample.frequencyHz).to.equal(m701.Hz);
        const volts = [m701.VL1, m701.VL2, m701.VL3];
        sample.phases.forEach((phase, i) => expect(sample.voltageV[i]).to.be.closeTo(volts[phase - 1] ?? NaN, 0.06));
        shown.currentA.forEach((a, i) => expect(sample.currentA[i]).to.be.closeTo(a, 1e-9));
        totalW += sample.powerW;
      }
      const station = port.sample(0);
      expect(station.powerW).to.be.closeTo(totalW, 1e-6);
      expect(-rig.w).to.be.closeTo(totalW, 10);
      expect(station.energyImportWh).to.be.closeTo(m701.TotWhAbs ?? NaN, 20);
      expect(station.reactivePowerVar).to.equal(0 - (m701.Var ?? NaN));
      expect(station.phases).to.deep.equal([1, 2, 3]);
      expect(station.offeredW).to.be.at.least(totalW - port.detail.standbyW - 1);
    });
  }

  it('energy is the integral of the power over the ticks', async () => {
    const { rig, port } = stationOf('EVSE-DC-350kW-CCS-2port');
    for (const connectorId of [1, 2]) {
      rig.command({ kind: 'evse.plug', connectorId, ev: { socPct: 20, batteryCapacityWh: 80_000 } });
    }
    let integralWh = 0;
    let stationWh = 0;
    const startWh = port.sample(0).energyImportWh;
    await rig.watch(120, 0.5, () => {
      integralWh += (port.sample(1).powerW * 0.5) / 3600;
      stationWh += (port.sample(0).powerW * 0.5) / 3600;
    });
    const { energyImportWh } = port.sample(1);
    expect(energyImportWh).to.be.above(2000);
    expect(integralWh).to.be.closeTo(energyImportWh, 0.005 * energyImportWh);
    expect(stationWh).to.be.closeTo(port.sample(0).energyImportWh - startWh, 0.005 * stationWh);
  });

  it('a transition inside a long tick carries the meter of its own instant', async () => {
    const { rig, port } = stationOf('EVSE-AC-22kW-1port');
    const seen: { transition: EvseTransition; sample: MeterSample }[] = [];
    port.onTransition((transition) => {
      if (!('connector' in transition)) return;
      const sample = port.sampleOf(transition);
      seen.push({ transition, sample });
      expect(sample.at).to.equal(port.now);
      expectCoherent(sample);
      expect(port.sample(transition.connectorId).energyImportWh).to.equal(sample.energyImportWh);
      expect(port.sample(transition.connectorId).at).to.equal(transition.at);
    });
    rig.command({ kind: 'evse.plug', connectorId: 1, ev: { batteryCapacityWh: 5000, socPct: 70, targetSocPct: 80 } });
    await rig.watch(600, 300, () => undefined);
    const full = seen.find(({ transition }) => transition.event === 'ev_hold');
    expect(full?.sample.socPct).to.be.closeTo(80, 1e-6);
    expect(full?.sample.energyImportWh).to.equal(port.sample(1).energyImportWh);
    expect(full?.sample.at).to.be.below(rig.plant.latest.sim);
  });

  it('an act within a tick reads the meter of its own instant', async () => {
    const { rig, port } = stationOf('EVSE-AC-22kW-1port');
    rig.command({ kind: 'evse.plug', connectorId: 1, ev: { socPct: 30 } });
    await rig.run(60);
    const { at, energyImportWh, powerW } = port.sample(1);
    let seen: MeterSample | null = null;
    rig.plant.at((at + 100e6) as typeof at, () => (seen = port.sample(1)));
    await rig.watch(360, 360, () => undefined);
    expect(seen).to.deep.include({ at: at + 100e6 });
    expect((seen as MeterSample | null)?.energyImportWh).to.be.closeTo(energyImportWh + (powerW * 100) / 3600, 0.5);
  });

  it('a command has the source ocpp and the identity as its writer, and local control refuses it', async () => {
    const { rig, port } = stationOf('EVSE-AC-22kW-1port');
    port.command({ kind: 'evse.profile_limit', connectorId: 1, limitW: 5000, limitA: null });
    expect(rig.device.overrides[0]).to.deep.include({ name: 'evse_profile_limit', connectorId: 1 });
    expect(rig.device.overrides[0]).to.deep.include({ source: 'ocpp', peer: 'SIM-CP-1' });
    rig.device.command({ kind: 'local', local: true }, operator);
    expect(() => {
      port.command({ kind: 'evse.profile_limit', connectorId: 1, limitW: 1000, limitA: null });
    }).to.throw(/local/i);
    await rig.run(1);
    expect(() => port.sample(7)).to.throw('SIM-CP-1 has no connector 7; it has 1.');
  });

  it('ratings and nameplate are those of profile and map', () => {
    const { port, rig } = stationOf('EVSE-AC-22kW-1port');
    expect(port.nameplate.serialNumber).to.equal(rig.map.m1.SN);
    expect(port.ratings[0]).to.include({
      connectorId: 1,
      type: 'ac',
      phases: 3,
      maxPowerW: 22_000,
      bidirectional: false,
    });
    expect(port.stationRating).to.include({ connectorId: 0, phases: 3, maxPowerW: port.detail.maxPowerW });
    expect(port.stationRating.nominalVoltageV).to.be.closeTo(rig.map.m701.VL1 ?? NaN, 15);
  });
});
