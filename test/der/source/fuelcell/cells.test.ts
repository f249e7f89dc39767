import { expect } from 'chai';
import {
  amphlettCell,
  ballardMarkV,
  currentForHydrogen,
  electrolyserCell,
  electrolyserCurrent,
  faradayCMol,
  faradayEfficiency,
  hydrogenKgMol,
  oxideCellV,
  oxideCurrent,
  pemCurrent,
  pemLaws,
  pemReversibleV,
  pemV,
} from '../../../../src/der/source/fuelcell/cells.ts';
import { goldenRows, needsGolden } from '../../golden.ts';

const warmK = 338.15;

/** Relative to the golden value, but at least its last printed digit. */
function same(actual: number, golden: string | undefined, what: string): void {
  const value = Number(golden);
  expect(actual, what).to.be.closeTo(value, 1e-5 * Math.max(Math.abs(value), 1e-2));
}

describe('fuel cell and electrolyser cells (physics 5)', () => {
  it(`Ballard Mark V after Amphlett ${needsGolden}`, function () {
    const rows = goldenRows(this, 'fuelcell_pem_ballard_mkv.csv');
    expect(rows.length).to.be.above(15);
    for (const row of rows) {
      const current = Number(row.i_a);
      const cell = amphlettCell(ballardMarkV, current, { tK: 343, h2Atm: 1, o2Atm: 1 });
      same(cell.reversibleV, row.e_nernst_v, 'E');
      same(cell.activationV, row.eta_act_v, `activation at ${current} A`);
      same(cell.ohmicV, row.eta_ohm_v, `ohmic at ${current} A`);
      same(cell.concentrationV, row.eta_conc_v, `concentration at ${current} A`);
      same(cell.cellV, row.v_cell_v, `voltage at ${current} A`);
      same(cell.cellV * 35, row.v_stack_v, `stack at ${current} A`);
      same(cell.cellV * 35 * current, row.p_stack_w, `power at ${current} A`);
      same((35 * current) / (2 * faradayCMol), row.h2_mol_s, `hydrogen at ${current} A`);
    }
  });

  it('Ballard Mark V: about 977 W near 65 A, 878 W at 75 A, finite everywhere', () => {
    const power = (current: number) =>
      35 * current * amphlettCell(ballardMarkV, current, { tK: 343, h2Atm: 1, o2Atm: 1 }).cellV;
    const currents = Array.from({ length: 75 }, (_, at) => at + 1);
    const best = currents.reduce((a, b) => (power(b) > power(a) ? b : a));
    expect(best).to.be.within(62, 68);
    expect(power(best)).to.be.closeTo(977, 3);
    expect(power(75)).to.be.closeTo(877.6493, 0.01);
    for (const current of [-1, 0, 1e9]) {
      expect(Number.isFinite(amphlettCell(ballardMarkV, current, { tK: 343, h2Atm: 1, o2Atm: 1 }).cellV)).to.equal(
        true,
      );
    }
  });

  it('the law of the Amphlett stack is that of its cell on the gases of the plant, at any area', () => {
    for (const j of [0.01, 0.3, 0.7, 1.2]) {
      const { cellV } = amphlettCell(ballardMarkV, j * 50.6, { tK: warmK, h2Atm: 1.5, o2Atm: 0.315 });
      expect(pemV(j, warmK, pemLaws.amphlett)).to.equal(cellV);
    }
    expect(0.7 * pemV(0.7, warmK, pemLaws.amphlett)).to.be.closeTo(0.3914124, 1e-7);
    expect(pemV(0, warmK, pemLaws.amphlett)).to.be.closeTo(0.978, 0.001);
  });

  it('the slope of the voltage is the derivative of either law', () => {
    for (const law of Object.values(pemLaws)) {
      for (const tK of [250, warmK]) {
        for (const j of [0.02, 0.4, 1, 1.4]) {
          const slope = (law.idealV(j + 1e-6, tK) - law.idealV(j - 1e-6, tK)) / 2e-6;
          expect(law.fallV(j, tK)).to.be.closeTo(-j * slope, 1e-6);
        }
      }
    }
  });

  it(`Tafel stack of 5 kW ${needsGolden}`, function () {
    for (const row of goldenRows(this, 'fuelcell_generic_5kw.csv')) {
      const j = Number(row.j_a_cm2);
      const v = pemLaws.tafel.idealV(j, warmK);
      same(v, row.v_cell_v, `voltage at ${j} A/cm2`);
      same(pemReversibleV(warmK), row.e_rev_v, 'E');
      same(75 * v, row.v_stack_v, `stack at ${j}`);
      same(75 * v * 160 * j, row.p_stack_w, `power at ${j}`);
      same(((75 * 160 * j) / (2 * faradayCMol)) * hydrogenKgMol * 3600, row.h2_kg_h, `hydrogen at ${j}`);
      same(75 * 160 * j * (1.481 - v), row.heat_hhv_w, `heat at ${j}`);
    }
  });

  it('Tafel stack: 5.15 kW, 46.0 V, 112 A, 0.316 kg/h and 49 % at 0.7 A/cm2', () => {
    const v = pemV(0.7, warmK);
    expect(75 * v).to.be.closeTo(46.00341, 1e-4);
    expect(75 * v * 112).to.be.closeTo(5152.382, 0.01);
    expect(((75 * 112) / (2 * faradayCMol)) * hydrogenKgMol * 3600).to.be.closeTo(0.315904, 1e-5);
    expect(v / 1.254).to.be.closeTo(0.4891378, 1e-5);
  });

  it('a PEM cell at open circuit is at about 1 V, and finite beyond its limit', () => {
    expect(pemV(0, warmK)).to.be.within(0.95, 1);
    expect(Number.isFinite(pemV(2, warmK))).to.equal(true);
  });

  it(`PEM electrolyser ${needsGolden}`, function () {
    for (const row of goldenRows(this, 'electrolyser_pem_cell.csv')) {
      const j = Number(row.j_a_cm2);
      const cell = electrolyserCell(j, Number(row.t_c) + 273.15);
      const where = `${row.t_c} C, ${j} A/cm2`;
      same(cell.reversibleV, row.e_cell_v, `E at ${where}`);
      same(cell.anodeV, row.eta_act_anode_v, `anode at ${where}`);
      same(cell.cathodeV, row.eta_act_cathode_v, `cathode at ${where}`);
      same(cell.ohmicV, row.eta_ohm_v, `ohmic at ${where}`);
      same(cell.cellV, row.v_cell_v, `voltage at ${where}`);
      same(faradayEfficiency(j), row.faraday_eff, `Faraday efficiency at ${where}`);
      same((faradayEfficiency(j) * 1.481) / cell.cellV, row.eff_hhv, `efficiency at ${where}`);
    }
  });

  it('PEM electrolyser: 2.0431133 V at 60 C and 1 A/cm2', () => {
    expect(electrolyserCell(1, 333.15).cellV).to.be.closeTo(2.0431133, 1e-5);
    expect(electrolyserCell(1, 323.15).cellV).to.be.closeTo(2.060588, 1e-5);
    expect(faradayEfficiency(0.01)).to.be.closeTo(0.2845714, 1e-7);
  });

  it('solid oxide: one line through both directions', () => {
    expect(oxideCellV(0.5, 1023.15)).to.be.closeTo(0.75, 1e-12);
    expect(oxideCellV(-0.8, 1023.15)).to.be.closeTo(1.27, 1e-12);
    expect(oxideCellV(0.5, 973.15)).to.be.closeTo(0.65, 1e-12);
  });

  describe('from power back to current', () => {
    for (const tC of [-20, 25, 65, 90]) {
      it(`PEM at ${tC} C from any guess`, () => {
        const tK = tC + 273.15;
        for (let j = 1e-4; j <= 1.02; j += 0.01) {
          for (const guess of [0, j, 0.001, 0.9, 1.4]) {
            expect(pemCurrent(j * pemV(j, tK), tK, guess)).to.be.closeTo(j, 1e-9 * j + 1e-12);
            expect(electrolyserCurrent(j * electrolyserCell(j, tK).cellV, tK, guess)).to.be.closeTo(
              j,
              1e-9 * j + 1e-12,
            );
          }
        }
      });
    }

    for (const [tC, maxJ] of [
      [-40, 0.4],
      [0, 0.7],
      [50, 0.95],
      [65, 1.2],
    ] as const) {
      it(`Amphlett at ${tC} C from any guess`, () => {
        const law = pemLaws.amphlett;
        const tK = tC + 273.15;
        for (let j = 1e-4; j <= maxJ; j += 0.01) {
          for (const guess of [0, j, 0.001, 0.9, 1.4]) {
            expect(pemCurrent(j * pemV(j, tK, law), tK, guess, law)).to.be.closeTo(j, 1e-9 * j + 1e-12);
          }
        }
        expect(pemCurrent(5, tK, 0, law)).to.be.within(0, 1.5);
      });
    }

    it('above the maximum and at nothing it stays finite', () => {
      expect(pemCurrent(5, warmK)).to.be.within(0.5, 1.5);
      expect(pemCurrent(0.6, warmK, 1.4)).to.be.within(0.5, 1.5);
      expect([pemCurrent(0, warmK), electrolyserCurrent(0, warmK), electrolyserCurrent(-1, warmK)]).to.deep.equal([
        0, 0, 0,
      ]);
      expect(Number.isFinite(oxideCurrent(50, 1023.15))).to.equal(true);
    });

    it('solid oxide in both directions', () => {
      for (const j of [-0.8, -0.1, 0.01, 0.5])
        expect(oxideCurrent(j * oxideCellV(j, 1023.15), 1023.15)).to.be.closeTo(j, 1e-12);
    });

    it('current for an amount of hydrogen', () => {
      for (const j of [1e-5, 0.003, 0.05, 0.4, 2])
        expect(currentForHydrogen(j * faradayEfficiency(j))).to.be.closeTo(j, 1e-10 * j);
      expect(currentForHydrogen(0)).to.equal(0);
    });
  });
});
