import { expect } from 'chai';
import { pick } from '../../support/depth.ts';
import { Rig } from '../../support/rig.ts';
import { testPlant } from '../../support/plant.ts';
import type { TestPlantOptions } from '../../support/plant.ts';

type Totals = Record<'W' | 'VA' | 'Var' | 'A' | 'TotWhInj' | 'TotVarhInj' | 'TotVarhAbs' | 'TotWhAbs', number>;

function sums(rig: Rig, phases: number): Totals {
  const m = rig.map.m701 as unknown as Record<string, number>;
  const names = ['W', 'VA', 'Var', 'A', 'TotWhInj', 'TotWhAbs', 'TotVarhInj', 'TotVarhAbs'];
  return Object.fromEntries(
    names.map((name) => [
      name,
      Array.from({ length: phases }, (_, i) => m[`${name}L${i + 1}`]!).reduce((a, b) => a + b, 0),
    ]),
  ) as Totals;
}

const wirings: readonly { name: string; type: string; phases: number; options: TestPlantOptions; w: number }[] = [
  { name: 'three-phase', type: 'PV-3Phase', phases: 3, options: {}, w: 10_000 },
  { name: 'split-phase', type: 'PV-2Phase', phases: 2, options: {}, w: 10_000 },
  { name: 'single-phase', type: 'PV-1Phase', phases: 1, options: {}, w: 5000 },
];

describe('Measurements (model 701)', () => {
  for (const { name, type, phases, options, w } of wirings) {
    describe(name, () => {
      for (const [condition, patch] of [
        ['balanced', { voltagePu: 1 }],
        ['unbalanced', { voltageAPu: 1.05, voltageBPu: 0.95, voltageCPu: 1 }],
      ] as const) {
        it(`per phase adds up to the totals, ${condition}`, async () => {
          const rig = await Rig.sunny({ types: [type], ...options });
          rig.set((tx) => {
            tx.m704.VarSetEna = 'ENABLED';
            tx.m704.VarSetPct = -50;
            tx.m704.WMaxLimPctEna = 'ENABLED';
            tx.m704.WMaxLimPct = 70;
          });
          rig.plant.setGrid(patch);
          await rig.run(3600);
          const total = rig.map.m701;
          const sum = sums(rig, phases);
          const step = 10 ** Number(total.W_SF);
          for (const key of ['W', 'VA', 'Var'] as const)
            expect(sum[key], key).to.be.closeTo(total[key]!, 0.5 * (phases + 1) * step + 1e-9);
          expect(sum.A).to.be.closeTo(total.A!, 0.5 * (phases + 1) * 0.01 + 1e-9);
          for (const key of ['TotWhInj', 'TotWhAbs', 'TotVarhInj', 'TotVarhAbs'] as const)
            expect(sum[key], key).to.be.closeTo(total[key]!, phases);
          expect(total.W).to.equal(0.7 * w);
          expect(total.TotVarhAbs).to.be.above(500);
          expect(total.TotVarhInj).to.equal(0);
          expect(total.PF).to.be.closeTo(total.W! / total.VA!, 0.001);
        });
      }
    });
  }

  it('the same current flows in every phase, so each carries power by its voltage', async () => {
    const rig = await Rig.sunny();
    rig.plant.setGrid({ voltageAPu: 1.08, voltageBPu: 1, voltageCPu: 0.92 });
    await rig.run(1);
    const m = rig.map.m701;
    expect(new Set([m.AL1, m.AL2, m.AL3]).size).to.equal(1);
    expect(m.WL1! / m.WL3!).to.be.closeTo(1.08 / 0.92, 0.001);
    for (const [w, v] of [
      [m.WL1!, m.VL1!],
      [m.WL2!, m.VL2!],
      [m.WL3!, m.VL3!],
    ] as const)
      expect(w).to.be.closeTo(v * m.AL1!, 5);
    // the distance of phasors 120 degrees apart
    expect(m.VL1L2).to.be.closeTo(277.128 * Math.sqrt(1.08 ** 2 + 1 + 1.08), 0.06);
    expect(m.VL2L3).to.be.closeTo(277.128 * Math.sqrt(1 + 0.92 ** 2 + 0.92), 0.06);
    expect(m.VL3L1).to.be.closeTo(277.128 * Math.sqrt(0.92 ** 2 + 1.08 ** 2 + 0.92 * 1.08), 0.06);
  });

  it('points of phases that are not there are not implemented', () => {
    const single = new Rig({ types: ['PV-1Phase'] });
    expect([single.map.m701.LLV, single.map.m701.VL1L2, single.map.m701.WL2, single.map.m701.TotWhInjL3]).to.deep.equal(
      [null, null, null, null],
    );
    expect(single.map.m701.LNV).to.equal(240);
    expect(single.snapshot.metrics.voltage_ll_v).to.equal(null);
    const split = new Rig({ types: ['PV-2Phase'] });
    expect([
      split.map.m701.LLV,
      split.map.m701.VL1L2,
      split.map.m701.LNV,
      split.map.m701.VL2L3,
      split.map.m701.WL3,
    ]).to.deep.equal([240, 240, 120, null, null]);
  });

  it('S = sqrt(3) V I = sqrt(P^2 + Q^2)', async () => {
    const rig = await Rig.sunny();
    rig.set((tx) => {
      tx.m704.VarSetEna = 'ENABLED';
      tx.m704.VarSetPct = 60;
    });
    await rig.run(10);
    const { m701 } = rig.map;
    expect(m701.VA).to.be.closeTo(Math.hypot(m701.W!, m701.Var!), 1);
    // 701.A is the sum over the phases
    expect(m701.VA).to.be.closeTo((Math.sqrt(3) * m701.LLV! * m701.A!) / 3, 10);
  });

  it('power factor is 1 and the angle 0 where nothing flows', async () => {
    const rig = new Rig();
    rig.device.command({ kind: 'switch', closed: false }, { source: 'rest' });
    await rig.run(10);
    expect(rig.map.m701.PF).to.equal(1);
    expect(rig.snapshot.metrics.power_factor).to.equal(1);
    expect(rig.snapshot.pq.angle_deg).to.equal(0);
  });

  it('500 kW: scale factors carry every value', async () => {
    const rig = await Rig.sunny({
      models: { 702: { WMaxRtg: 500_000, VAMaxRtg: 500_000 } },
      pv: { series: 22, parallel: 119, minDcVoltageV: 800, maxDcVoltageV: 1500, efficiencyNominal: 0.98 },
    });
    rig.plant.setGrid({ voltagePu: 0.95 });
    await rig.run(3600);
    const { m701, m702, m714 } = rig.map;
    expect([m701.W_SF, m702.W_SF, m714.DCW_SF, m701.A_SF]).to.deep.equal([2, 2, 2, -1]);
    expect([m702.WMaxRtg, m702.VAMax, m701.W, m701.VA]).to.deep.equal([500_000, 500_000, 500_000, 500_000]);
    expect(m701.A).to.be.closeTo(500_000 / ((0.95 * 480) / Math.sqrt(3)), 0.1);
    expect(m714.DCW).to.be.closeTo(500_000 / 0.98, 1000);
    expect(m714.DCA! * m714.Prt[0]!.DCV!).to.be.closeTo(m714.DCW!, 200);
    expect(m701.TotWhInj).to.be.closeTo((500_000 * 3630) / 3600, 500);
    expect(rig.snapshot.metrics.power_kw).to.equal(500);
  });

  it('the cabinet warms and cools with a time constant of ten minutes, the same at any tick', async () => {
    for (const tickS of pick({ quick: [1, 60], ci: [0.1, 60] })) {
      const rig = await Rig.sunny();
      const { m701 } = rig.map;
      rig.plant.setSurroundings({ irradianceWm2: 1100, ambientTemperatureC: 20 });
      await rig.run(9000);
      expect([m701.W, m701.TmpCab]).to.deep.equal([10_000, 45]);
      rig.device.command({ kind: 'switch', closed: false }, { source: 'rest' });
      await rig.watch(600, tickS, () => undefined);
      // 20 C and 1/e of 25 K
      expect([m701.W, m701.TmpCab]).to.deep.equal([0, 29.2]);
    }
  });

  it('temperatures, heartbeat, mode and identity', async () => {
    const rig = await Rig.sunny({ firstIndex: 7 });
    rig.plant.setSurroundings({ ambientTemperatureC: 31.5 });
    await rig.run(10.7);
    const { m701, m715, m1 } = rig.map;
    expect([m701.TmpAmb, m701.TmpSnk]).to.deep.equal([31.5, null]);
    expect(m715.DERHb).to.equal(40);
    expect(m701.DERMode).to.equal(1 + 4);
    expect([m1.Mn, m1.SN, m1.Vr, m1.Md]).to.deep.equal(['derbench', 'DB-000007', '0.1.0', 'PV-3Phase']);
    const port = rig.map.m714.Prt[0]!;
    expect([port.PrtTyp, port.ID, port.IDStr, port.DCAlrm, port.DCSta]).to.deep.equal(['PV', 1, 'PV', 0, 'ON']);
  });

  it('what a profile gives of model 1 is the identity, also after a reset; the rest is of the simulator', () => {
    const plant = testPlant({ models: { '1': { Mn: 'Maker', Md: 'X-10', SN: 'S 0815', Vr: '4.2' } } });
    const { bank } = plant.device(0);
    const identity = () => [bank.map.m1.Mn, bank.map.m1.Md, bank.map.m1.SN, bank.map.m1.Vr];
    expect(identity()).to.deep.equal(['Maker', 'X-10', 'S 0815', '4.2']);
    plant.device(0).command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    expect(identity()).to.deep.equal(['Maker', 'X-10', 'S 0815', '4.2']);
    expect(bank.provenance(bank.layout.slot(1, 'SN')!)).to.include({ source: 'profile' });
    expect(testPlant({ models: { '1': { Md: 'X-10' } } }).device(0).bank.map.m1.SN).to.equal('DB-000000');
  });

  it('no two devices of a profile have one serial number, also after a reset', () => {
    const serials = (SN: string) => {
      const plant = testPlant({ types: ['PV-3Phase', 'PV-3Phase', 'PV-3Phase'], models: { '1': { SN } } });
      plant.device(1).command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
      return plant.devices.map(({ bank }) => bank.map.m1.SN);
    };
    expect(serials('S1')).to.deep.equal(['S1', 'S1-000001', 'S1-000002']);
    const long = 'S'.repeat(32);
    expect(serials(long)).to.deep.equal([long, `${long.slice(7)}-000001`, `${long.slice(7)}-000002`]);
  });
});

describe('Energy counters', () => {
  it('are the integral of the telemetry within 0.1 %, and never fall', async () => {
    const rig = new Rig({
      weatherSource: 'clear_sky',
      clouds: 'broken',
      tickIntervalS: 0.1,
      pv: { latitudeDeg: 40, longitudeDeg: 0 },
    });
    rig.set((tx) => {
      tx.m704.PFWInjEna = 'ENABLED';
      tx.m704.PFWInj.PF = 0.95;
    });
    let wh = 0,
      varh = 0,
      dcWh = 0;
    let [lastW, lastQ, lastDc] = [rig.w, rig.q, rig.map.m714.DCW!];
    let [counted, countedDc] = [0, 0];
    const tickS = 0.5;
    const seconds = pick({ quick: 1800, ci: 7200 });
    await rig.watch(seconds, tickS, () => {
      const { m701, m714 } = rig.map;
      wh += (((lastW + m701.W!) / 2) * tickS) / 3600;
      varh += (((lastQ + m701.Var!) / 2) * tickS) / 3600;
      dcWh += (((lastDc + m714.DCW!) / 2) * tickS) / 3600;
      [lastW, lastQ, lastDc] = [m701.W!, m701.Var!, m714.DCW!];
      if (m701.TotWhInj! < counted || m714.DCWhInj! < countedDc) throw new Error('a counter fell');
      [counted, countedDc] = [m701.TotWhInj!, m714.DCWhInj!];
    });
    const { m701, m714 } = rig.map;
    expect(wh).to.be.above((3000 * seconds) / 7200);
    expect(m701.TotWhInj).to.be.closeTo(wh, 0.001 * wh + 1);
    expect(m701.TotVarhInj).to.be.closeTo(varh, 0.001 * varh + 1);
    expect(m714.DCWhInj).to.be.closeTo(dcWh, 0.001 * dcWh + 1);
    expect(m714.Prt[0]!.DCWhInj).to.equal(m714.DCWhInj);
    expect(m714.DCWhInj).to.be.above(m701.TotWhInj!);
    expect(m701.TotWhAbs).to.equal(0);
  });

  it('are exact for constant power, whatever the tick', async () => {
    for (const tickS of pick({ quick: [1.5, 100], ci: [0.1, 1.5, 100] })) {
      const rig = await Rig.sunny();
      const before = rig.map.m701.TotWhInj!;
      await rig.watch(Math.round(3600 / tickS) * tickS, tickS, () => undefined);
      expect(rig.map.m701.TotWhInj! - before, `${tickS}`).to.be.closeTo(10_000, 1);
    }
  });

  it('stand still out of service', async () => {
    const rig = await Rig.sunny();
    rig.set((tx) => {
      tx.m703.ES = 'DISABLED';
    });
    await rig.run(1);
    const before = [rig.map.m701.TotWhInj, rig.map.m714.DCWhInj];
    await rig.run(3600);
    expect([rig.map.m701.TotWhInj, rig.map.m714.DCWhInj]).to.deep.equal(before);
  });

  it('go back to zero with a reset of the device', async () => {
    const rig = await Rig.sunny();
    rig.device.command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    await rig.run(0.1);
    expect([rig.map.m701.TotWhInj, rig.map.m701.TotWhInjL1, rig.map.m714.DCWhInj]).to.deep.equal([0, 0, 0]);
  });
});

describe('Snapshot', () => {
  it('shows the decoded registers, rounded once', async () => {
    const rig = await Rig.sunny();
    rig.set((tx) => {
      tx.m704.VarSetEna = 'ENABLED';
      tx.m704.VarSetPct = -33;
    });
    await rig.run(5);
    const { m701, m714 } = rig.map;
    const { metrics, pq } = rig.snapshot;
    expect(metrics).to.deep.include({
      power_kw: m701.W! / 1000,
      reactive_power_kvar: m701.Var! / 1000,
      apparent_power_kva: m701.VA! / 1000,
      voltage_ll_v: m701.LLV,
      voltage_ln_v: m701.LNV,
      current_a: m701.A,
      frequency_hz: m701.Hz,
      power_factor: m701.PF,
      dc_power_kw: m714.DCW! / 1000,
      dc_voltage_v: m714.Prt[0]!.DCV,
      dc_current_a: m714.DCA,
      state_of_charge_pct: null,
      soc_reserve_min_pct: null,
      soc_reserve_max_pct: null,
      soc_min_pct: null,
      soc_max_pct: null,
    });
    expect(pq.active_kw).to.equal(metrics.power_kw);
    expect(pq.angle_deg).to.be.closeTo((Math.atan2(m701.Var!, m701.W!) * 180) / Math.PI, 0.001);
    expect(rig.plant.latest.published[0]!.json.toString()).to.equal(JSON.stringify(rig.snapshot));
  });

  it('names device, tick and times', async () => {
    const rig = new Rig({ firstIndex: 3, time: '23:59:58', timezone: 'America/New_York' });
    await rig.run(3);
    expect(rig.snapshot).to.deep.include({
      clock_time: '00:00:01',
      dc_mode: 'pv',
      dc_port_count: 1,
      device_type: 'PV-3Phase',
      device_profile_name: null,
      asset_type: 'pv',
      device_index: 3,
      tick: 1,
    });
    expect(rig.snapshot.metrics.timestamp).to.equal('2026-06-22T04:00:01.000Z');
    expect(Date.parse(rig.snapshot.wall_time)).to.be.closeTo(Date.now(), 60_000);
  });
});
