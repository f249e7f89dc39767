import { expect } from 'chai';
import { feederImpedance, feederVoltage } from '../../../src/der/surroundings/grid/feeder.ts';
import { dealt } from '../../support/choice.ts';
import { pick } from '../../support/depth.ts';
import type { TestPlantOptions } from '../../support/plant.ts';
import { Rig } from '../../support/rig.ts';
import { goldenRows, needsGolden } from '../golden.ts';
import { ratedW, useCurve } from './ideal-rig.ts';

const terminalPu = (rig: Rig) => rig.map.m701.LLV! / rig.map.m702.VNomRtg!;

describe('A device behind a feeder', () => {
  it(`at full power has the voltage of the golden data at its terminals ${needsGolden}`, async function () {
    const rows = goldenRows(this, 'feeder_voltage.csv')
      // above 110 % the device would cease
      .filter((row) => Number(row.p_inj_pu) === 1 && Number(row.q_inj_pu) === 0 && Number(row.v_pcc_pu_exact) < 1.1);
    expect(rows.map(({ scr, x_over_r }) => [Number(scr), Number(x_over_r)])).to.deep.equal([
      [10, 1],
      [20, 3],
    ]);
    for (const row of rows) {
      const rig = await Rig.sunny({ feeder: { scr: Number(row.scr), xOverR: Number(row.x_over_r) } });
      expect(rig.w).to.equal(ratedW);
      // 701.LLV holds tenths of a volt
      expect(terminalPu(rig), `SCR ${row.scr ?? ''} X/R ${row.x_over_r ?? ''}`).to.be.closeTo(
        Number(row.v_pcc_pu_exact),
        0.06 / 480,
      );
    }
  });

  it('SCR 20, X/R 1: rises by 3.4 % at full power', async () => {
    const rig = await Rig.sunny({ feeder: { scr: 20, xOverR: 1 } });
    expect(terminalPu(rig)).to.be.closeTo(feederVoltage(1, 1, 0, feederImpedance({ scr: 20, xOverR: 1 }))!, 0.06 / 480);
    expect(terminalPu(rig)).to.be.closeTo(1.034, 5e-4);
  });

  it('starts settled: the first snapshot has the voltage of its own power', () => {
    const rig = new Rig({ feeder: { scr: 20, xOverR: 1 } });
    const wanted = feederVoltage(1, rig.w / ratedW, 0, feederImpedance({ scr: 20, xOverR: 1 }))!;
    expect(terminalPu(rig)).to.be.closeTo(wanted, 0.1 / 480);
  });

  it('a feeder that cannot carry the power: an alarm, the last voltage ratio, and numbers everywhere', async () => {
    const rig = await Rig.sunny({ feeder: { scr: 1, xOverR: 5 } });
    expect(rig.alarmCodes).to.deep.equal(['voltage_collapse']);
    for (const slot of rig.device.bank.layout.slots) {
      const value = rig.device.bank.value(slot);
      if (typeof value === 'number') expect(Number.isFinite(value), slot.path).to.equal(true);
    }
    rig.set((tx) => {
      tx.m704.WMaxLimPctEna = 'ENABLED';
      tx.m704.WMaxLimPct = 30;
    });
    await rig.run(30);
    expect(rig.alarmCodes).to.deep.equal([]);
    expect(terminalPu(rig)).to.be.closeTo(feederVoltage(1, 0.3, 0, feederImpedance({ scr: 1, xOverR: 5 }))!, 0.1 / 480);
  });

  it('without power the grid itself is at the terminals', async () => {
    const rig = await Rig.sunny({ feeder: { scr: 5, xOverR: 1 } });
    rig.set((tx) => {
      tx.m703.ES = 'DISABLED';
    });
    await rig.run(1);
    expect(terminalPu(rig)).to.equal(1);
  });
});

/** Steady state of volt-var and feeder: Q of the curve at the voltage that this Q causes. */
function fixedPointVar(sourcePu: number, watts: number): number {
  const impedance = feederImpedance({ scr: 10, xOverR: 1 });
  let [low, high] = [-0.44, 0.44];
  for (let i = 0; i < 60; i += 1) {
    const q = (low + high) / 2;
    const v = 100 * feederVoltage(sourcePu, watts / ratedW, q, impedance)!;
    const curve = Math.max(-0.44, Math.min(0, (-0.44 * (v - 102)) / 2));
    if (curve > q) low = q;
    else high = q;
  }
  return (ratedW * (low + high)) / 2;
}

describe('Volt-var on a weak feeder, steepest curve (44 % over 0.02 pu, SCR 10)', () => {
  /** 10 kW of sun, limited to 8 kW: room on the circle */
  async function loop(responseS: number): Promise<Rig> {
    const rig = await Rig.sunny({ feeder: { scr: 10, xOverR: 1 } });
    rig.set((tx) => {
      tx.m704.WMaxLimPctEna = 'ENABLED';
      tx.m704.WMaxLimPct = 80;
    });
    await rig.run(30);
    rig.set((tx) => {
      useCurve(
        tx,
        705,
        [
          [102, 0],
          [104, -44],
        ],
        { RspTms: responseS },
      );
    });
    rig.device.trace.record(100_000);
    return rig;
  }

  for (const [i, sourcePu] of [0.97, 0.98, 0.99].entries()) {
    for (const [k, responseS] of [1, 0.2, 0].entries()) {
      it(`source at ${sourcePu} pu, response ${responseS} s: settles without oscillation, the same in any tick`, async () => {
        // with each voltage and with each response every tick once
        for (const tickS of pick({ quick: dealt([0.1, 1.5, 150], 3, i + k), ci: [0.1, 1.5, 150] })) {
          const rig = await loop(responseS);
          rig.plant.setGrid({ voltagePu: sourcePu });
          await rig.watch(150, tickS, () => undefined);
          const wanted = fixedPointVar(sourcePu, rig.w);
          expect(rig.w).to.equal(8000);
          expect(rig.q, `tick ${tickS}`).to.be.closeTo(wanted, 2);
          const vars = rig.device.trace.rows.map(({ reactivePowerVar }) => reactivePowerVar);
          const turns = vars.slice(2).filter((q, i) => (q - vars[i + 1]!) * (vars[i + 1]! - vars[i]!) < -1);
          expect(turns.length, `turns in ticks of ${tickS}`).to.be.at.most(1);
        }
      });
    }
  }
});

describe('Start on a weak feeder with volt-var on', () => {
  it('is settled, also where the loop gain is above 1', async () => {
    const rig = new Rig({
      feeder: { scr: 5, xOverR: 2 },
      models: { 705: { Ena: 'ENABLED' }, 704: { WMaxLimPctEna: 'ENABLED', WMaxLimPct: 60 } },
    });
    const start = [rig.w, rig.q];
    const { voltagePct } = rig.device.trace.now;
    expect(voltagePct).to.be.above(102);
    expect(rig.q).to.be.closeTo((-ratedW * 0.44 * (voltagePct - 102)) / 6, 1);
    await rig.run(60);
    expect(rig.w).to.equal(start[0]);
    expect(rig.q).to.be.closeTo(start[1]!, 1);
  });
});

describe('Cessation above 110 % by its own power (IEEE 1547-2018 4.3, 6.4.2)', () => {
  /** The grid has 107 %, and full power behind the feeder raises that to 113 %. */
  async function run(options: TestPlantOptions, seconds: number): Promise<Rig> {
    const rig = await Rig.sunny({ feeder: { scr: 10, xOverR: 1 }, ...options });
    rig.plant.setGrid({ voltagePu: 1.07 });
    await rig.run(seconds);
    return rig;
  }
  const ms = (from: number, to: number) => Math.round((to - from) / 1000);
  /** Times with and without power in turn, ms; the first one begins with the grid. */
  const spans = ({ device }: Rig) => {
    const instants = device.trace.transitions.map(({ at }) => Number(at));
    return instants.slice(1).map((at, i) => ms(instants[i]!, at));
  };

  it('ends without that power and begins again with it: a voltage counts whoever causes it', async () => {
    const rig = await run({}, 20);
    const [pause, power] = spans(rig);
    // a sub-step until the voltage of the last power is gone, and one until that of the next is there
    expect([pause, power]).to.deep.equal([20, 103]);
    expect(new Set(rig.device.trace.transitions.map(({ from }) => from))).to.deep.equal(
      new Set(['in_service', 'momentary_cessation']),
    );
    expect(rig.state, 'each return clears the timer of the trip after 13 s').to.match(/connected$/);
  });

  it('pauses for the return delay of the profile, and its ramp ends where the voltage exceeds the threshold', async () => {
    const rig = await run({ inverter: { cessationReturnS: 0.2, cessationRampS: 0.2 } }, 3);
    const [pause, power] = spans(rig);
    expect(pause).to.equal(20);
    expect(power).to.be.within(200 + 100 + 83, 200 + 200 + 83);
  });

  it('ends for good with volt-watt, which settles below the threshold', async () => {
    const rig = await run({ models: { 706: { Ena: 'ENABLED' } } }, 30);
    const settled = [...rig.device.trace.transitions];
    await rig.run(30);
    expect(rig.device.trace.transitions).to.deep.equal(settled);
    expect(rig.device.trace.now.voltagePct).to.be.within(106, 110);
    expect(rig.w).to.be.within(0.2 * ratedW, 0.4 * ratedW);
  });
});
