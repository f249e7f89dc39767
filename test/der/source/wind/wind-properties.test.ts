import fc from 'fast-check';
import { expect } from 'chai';
import type { WindParameters } from '../../../../src/contract/kinds/wind.ts';
import { parametersOf, run, settledPort, surroundings } from './support.ts';
import { windWeekText } from '../../../../scripts/make-wind-week.ts';
import { holds } from '../../../support/property.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const names = ['nrel-5mw', 'iea-15mw', 'farm-100kw'] as const;
const gusty = names.map((turbine) => parametersOf({ turbine, turbulence_class: 'A' }));
const ratedRpm: Readonly<Record<string, number>> = { 'nrel-5mw': 12.1, 'iea-15mw': 7.56, 'farm-100kw': 59.21 };

function energyOver(p: WindParameters, v: number, hours: number, rate: number, dtS: number): number {
  const input = surroundings(v, { rate });
  return run(settledPort(p, input, 7), hours * 3600, input, { dtS });
}

const scene = fc.record({
  windMS: fc.oneof(fc.double({ min: 0, max: 40, noNaN: true }), fc.constantFrom(-5, 0, 3, 25, 60, 1e9)),
  dtS: fc.constantFrom(0.02, 0.1, 0.37, 1),
  steps: fc.integer({ min: 1, max: 120 }),
  drawn: fc.constantFrom(0, 0.3, 0.999, 1),
  energized: fc.boolean(),
  terminalPu: fc.constantFrom(0, 0.2, 0.6, 0.89, 1, 1.2),
  rate: fc.constantFrom(1, 1000),
});

describe('wind turbine: invariants', () => {
  it('numbers stay finite and the rotor within bounds through any wind, draw and grid', () => {
    holds(
      'any wind, draw and grid',
      [fc.constantFrom(...gusty), fc.array(scene, { minLength: 1, maxLength: 12 })],
      (p, scenes) => {
        const port = settledPort(p, surroundings(9));
        for (const { windMS, dtS, steps, drawn, energized, terminalPu, rate } of scenes) {
          for (let n = 0; n < steps; n += 1) {
            port.prepare(dtS, surroundings(windMS, { terminalPu, rate }));
            expect(port.availableDcW).to.be.at.least(0);
            port.draw(energized ? drawn * port.availableDcW : 0, energized);
            const detail = port.detail();
            for (const value of [...Object.values(detail), port.reactiveCurrentPu, port.maxStepS]) {
              if (typeof value === 'number' && value !== Infinity) expect(Number.isFinite(value)).to.equal(true);
            }
            // a gust beyond any storm is faster than the blades: 1.52 is the most that 12 long runs have shown
            expect(detail.rotorRpm).to.be.within(0, 1.6 * ratedRpm[p.turbine]!);
            expect(detail.cp).to.be.at.most(0.6);
            expect(detail.cp * detail.mechanicalPowerW).to.be.at.least(0);
            if (detail.rotorRpm === 0) expect([port.availableDcW, detail.dcPowerW]).to.deep.equal([0, 0]);
          }
        }
      },
      { runs: 40 },
    );
  });

  it('energy of the wind is in the DC power, the losses, the chopper and the rotor', () => {
    for (const p of gusty) {
      const port = settledPort(p, surroundings(11));
      const start = port.energy.kineticJ;
      run(port, 600, surroundings(11));
      run(port, 300, surroundings(16), { capW: 0.5 * p.ratedPowerW });
      run(port, 1, surroundings(16, { terminalPu: 0.3 }), { dtS: 0.02 });
      run(port, 300, surroundings(12));
      run(port, 200, surroundings(12), { energized: false });
      run(port, 300, surroundings(9));
      const { aeroJ, shaftJ, brakeJ, drawnJ, chopperJ, kineticJ } = port.energy;
      expect(aeroJ, p.turbine).to.be.closeTo(shaftJ + brakeJ + kineticJ - start, 0.001 * aeroJ);
      const chain = { 'nrel-5mw': 0.944, 'iea-15mw': 0.965, 'farm-100kw': 0.93 }[p.turbine];
      expect(drawnJ + chopperJ).to.be.closeTo((shaftJ * chain) / 0.97, 1e-6 * shaftJ);
    }
  });

  it('the length of sub-steps changes the energy by less than 0.1 %', () => {
    for (const p of gusty) {
      for (const v of [6, 11, 18]) {
        const whole = energyOver(p, v, 0.5, 1, 1);
        expect(energyOver(p, v, 0.5, 1, 0.1) / whole, `${p.turbine} ${v} 0.1`).to.be.closeTo(1, 0.001);
        expect(energyOver(p, v, 0.5, 1, 0.36) / whole, `${p.turbine} ${v} 0.36`).to.be.closeTo(1, 0.001);
      }
    }
  });

  it('the quasi-steady mode gives the energy of the dynamic one within 0.5 %', () => {
    for (const p of gusty) {
      for (const v of [6, 9, 12, 16]) {
        const ratio = energyOver(p, v, 4, 100, 1) / energyOver(p, v, 4, 1, 1);
        expect(ratio, `${p.turbine} ${v}`).to.be.closeTo(1, 0.005);
      }
    }
    expect(settledPort(gusty[0]!, surroundings(9)).detail().quasiSteady).to.equal(false);
    const port = settledPort(gusty[0]!, surroundings(9));
    port.prepare(1, surroundings(9, { rate: 51 }));
    expect(port.detail().quasiSteady).to.equal(true);
  });

  it('a change of mode keeps the energy', () => {
    for (const p of gusty) {
      const port = settledPort(p, surroundings(7));
      let before = port.energy;
      for (let s = 0; s < 1000; s += 1) {
        run(port, 1, surroundings(7, { rate: Math.floor(s / 50) % 2 === 0 ? 1 : 1000 }));
        const now = port.energy;
        const lost =
          now.aeroJ -
          before.aeroJ -
          (now.shaftJ - before.shaftJ) -
          (now.brakeJ - before.brakeJ) -
          (now.kineticJ - before.kineticJ);
        expect(lost, `${p.turbine} at ${s} s`).to.be.closeTo(0, 1e-9 * now.aeroJ + 1e-3);
        before = now;
      }
    }
  });

  it('under curtailment the change of mode causes no overspeed', () => {
    for (const turbine of names) {
      const p = parametersOf({ turbine });
      const port = settledPort(p, surroundings(15));
      const capW = 0.2 * p.ratedPowerW;
      run(port, 600, surroundings(15, { rate: 1000 }), { capW });
      const { pitchDeg } = port.detail();
      for (let s = 0; s < 60; s += 1) {
        run(port, 1, surroundings(15), { capW });
        const now = port.detail();
        expect(now.rotorRpm / ratedRpm[turbine]!, `${turbine} after ${s} s`).to.be.within(0.999, 1.055);
        expect(now.pitchDeg).to.be.closeTo(pitchDeg, 4);
      }
      expect([...port.conditions]).to.deep.equal([]);
    }
  });

  it('the same seed gives the same course, another seed another', () => {
    const trace = (seed: number) => {
      const port = settledPort(gusty[1]!, surroundings(10), seed);
      return Array.from({ length: 500 }, () => {
        run(port, 1, surroundings(10));
        return port.detail().dcPowerW;
      });
    };
    expect(trace(5)).to.deep.equal(trace(5));
    expect(trace(5)).not.to.deep.equal(trace(6));
  });
});

describe('bundled wind series', () => {
  const text = windWeekText();
  const rows = text
    .trim()
    .split('\n')
    .filter((line) => /^\d/.test(line))
    .map((line) => line.split(',').map(Number));

  it('is what scripts/make-wind-week.ts makes', () => {
    const file = join(import.meta.dirname, '..', '..', '..', '..', 'config', 'series', 'wind-week.csv');
    expect(readFileSync(file, 'utf8').replaceAll('\r\n', '\n')).to.equal(text);
  });

  it('is a week of 10-minute means with a storm, a calm night and about 7.8 m/s at 90 m', () => {
    const hub = rows.map((row) => row[1]! * 1.49877);
    expect(rows.length).to.equal(1008);
    expect(rows.map((row) => row[0])).to.deep.equal(Array.from({ length: 1008 }, (_, n) => 600 * n));
    expect(hub.reduce((sum, v) => sum + v, 0) / 1008).to.be.closeTo(7.8, 0.4);
    expect(Math.max(...hub)).to.be.within(29, 32.1);
    expect(hub.slice(432, 460).every((v) => v < 2)).to.equal(true);
    for (const row of rows) expect(row[2]).to.be.within(0, 359);
  });
});
