import { expect } from 'chai';
import { heierCp, nrelCp, rotorCp, slootwegCp } from '../../../../src/der/source/wind/cp.ts';
import { goldenRows, needsGolden } from '../../golden.ts';

describe('power coefficients of wind rotors', () => {
  it('have their known maxima', () => {
    expect(heierCp(8.1, 0)).to.be.closeTo(0.48, 1e-4);
    expect(slootwegCp(6.908, 0)).to.be.closeTo(0.4412, 1e-4);
    expect(nrelCp(7.5, 0)).to.equal(0.466);
  });

  it(`Heier and Slootweg follow their formulas ${needsGolden}`, function () {
    for (const row of goldenRows(this, 'wind_cp_analytic.csv')) {
      const [ratio, pitch] = [Number(row['tsr']), Number(row['pitch_deg'])];
      expect(heierCp(ratio, pitch), `heier ${ratio} ${pitch}`).to.be.closeTo(Number(row['cp_heier_raw']), 1e-5);
      expect(slootwegCp(ratio, pitch), `slootweg ${ratio} ${pitch}`).to.be.closeTo(
        Number(row['cp_slootweg_raw']),
        1e-5,
      );
    }
  });

  it(`the table of the NREL rotor is the rounded one of ROSCO ${needsGolden}`, function () {
    for (const row of goldenRows(this, 'wind_cp_nrel5mw.csv')) {
      expect(nrelCp(Number(row['tsr']), Number(row['pitch_deg']))).to.be.closeTo(Number(row['cp']), 0.00051);
    }
  });

  it('goes in straight lines between the values of the table', () => {
    expect(nrelCp(7.25, 0)).to.be.closeTo((nrelCp(7, 0) + nrelCp(7.5, 0)) / 2, 1e-12);
    expect(nrelCp(7.5, 10.5)).to.be.closeTo((nrelCp(7.5, 10) + nrelCp(7.5, 11)) / 2, 1e-12);
  });

  it('stays finite for any tip-speed ratio and pitch, and brakes where blades are feathered or far too fast', () => {
    for (const model of ['nrel-5mw', 'heier', 'slootweg'] as const) {
      const rotor = { model, bestRatio: 8, factor: 1 };
      for (const ratio of [0, 1e-9, 0.3, 1, 2, 8, 25, 30, 1000]) {
        for (const pitch of [0, 0.5, 5, 30, 45, 70, 90])
          expect(Number.isFinite(rotorCp(rotor, ratio, pitch)), `${model} ${ratio} ${pitch}`).to.equal(true);
        expect(rotorCp(rotor, ratio, 90)).to.be.at.most(0);
      }
      expect(rotorCp(rotor, 60, 0)).to.be.at.most(0);
      expect(rotorCp(rotor, 0, 0)).to.equal(0);
    }
  });
});
