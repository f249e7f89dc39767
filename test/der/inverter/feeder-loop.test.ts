import { expect } from 'chai';
import { secondsBetween } from '../../../src/core/time/clock.ts';
import { feederImpedance, feederVoltage, riseByPower } from '../../../src/der/surroundings/grid/feeder.ts';
import { dealt } from '../../support/choice.ts';
import { pick } from '../../support/depth.ts';
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

describe('Momentary cessation behind a feeder', () => {
  const feeder = { scr: 20, xOverR: 1 };
  const impedance = feederImpedance(feeder);
  const ticksS = pick({ quick: [0.1, 15], ci: [0.1, 1.5, 15] });

  async function charging(): Promise<Rig> {
    const rig = new Rig({ types: ['Batt'], feeder });
    rig.set((tx) => {
      Object.assign(tx.m704, { WSetMod: 'WATTS', WSet: -6000, WSetEna: 'ENABLED' });
    });
    await rig.run(20);
    return rig;
  }

  /** Service states after those at the call, with their times in s since then. */
  function changesOf(rig: Rig): () => readonly (readonly [string, number])[] {
    const { length } = rig.device.trace.transitions;
    const from = rig.plant.now;
    return () =>
      rig.device.trace.transitions.slice(length).map(({ to, at }) => [to, secondsBetween(from, at)] as const);
  }

  it('a device whose load lowers its voltage below the threshold ceases once, until the sag ends', async () => {
    for (const tickS of ticksS) {
      const rig = await charging();
      const changes = changesOf(rig);
      rig.plant.setGrid({ voltagePu: 0.5, durationS: 1.5 });
      await rig.watch(15, tickS, () => undefined);
      expect(changes(), `ticks of ${tickS} s`).to.deep.equal([
        ['momentary_cessation', 0.083],
        ['in_service', 1.5],
      ]);
      expect(rig.w).to.equal(-6000);
    }
  });

  it('a device whose power raises its voltage above the threshold ceases once', async () => {
    for (const tickS of ticksS) {
      const rig = await Rig.sunny({ feeder });
      const changes = changesOf(rig);
      rig.plant.setGrid({ voltagePu: 1.09 });
      await rig.watch(30, tickS, () => undefined);
      expect(changes(), `ticks of ${tickS} s`).to.deep.equal([['momentary_cessation', 0.083]]);
      expect(terminalPu(rig)).to.equal(1.09);
    }
  });

  it('ends at the instant at which the voltage with that power would be at the threshold', async () => {
    const risePu = feederVoltage(1.09, 1, 0, impedance)! - 1.09;
    for (const tickS of ticksS) {
      const rig = await Rig.sunny({ feeder });
      rig.plant.setGrid({ voltagePu: 1.09 });
      await rig.run(3);
      expect(rig.w).to.equal(0);
      const changes = changesOf(rig);
      rig.plant.setGrid({ voltagePu: 1.05, rampS: 4 });
      await rig.watch(15, tickS, () => undefined);
      const [[to, returnS] = ['', 0], ...others] = changes();
      expect(to, `ticks of ${tickS} s`).to.equal('in_service');
      expect(returnS).to.be.closeTo((1.09 + risePu - 1.1) / 0.01, 2e-6);
      expect(others).to.deep.equal([]);
    }
  });

  it('a rise by power that helps does not delay the return', async () => {
    const rig = await Rig.sunny({ feeder });
    rig.plant.setGrid({ voltagePu: 0.4 });
    await rig.run(0.5);
    expect(rig.w).to.equal(0);
    rig.plant.setGrid({ voltagePu: 0.5001 });
    await rig.run(0.1);
    expect(rig.w).to.be.above(0);
  });

  it('the rise by power is the difference to the voltage of the exact solution without it', () => {
    for (const [pPu, qPu] of [
      [1, 0],
      [-1, 0.3],
      [0.2, -0.4],
      [0, 0],
    ] as const)
      for (const sourcePu of [0.5, 1, 1.1]) {
        const terminal = feederVoltage(sourcePu, pPu, qPu, impedance)!;
        expect(riseByPower(terminal, pPu, qPu, impedance), `${pPu} ${qPu}`).to.be.closeTo(terminal - sourcePu, 1e-12);
      }
    expect(riseByPower(0, 1, 0, impedance)).to.equal(0);
  });
});
