import { expect } from 'chai';
import fc from 'fast-check';
import { currentAt, maximumPowerPoint, parametersAt, pvModules, voc } from '../../../../src/der/source/pv/module.ts';
import type { DiodeParameters } from '../../../../src/der/source/pv/module.ts';
import {
  shadedCurve,
  shadedString,
  stringCurrentAt,
  stringMaxima,
  stringMaximum,
  stringVoltageForPower,
  trackedMaximum,
} from '../../../../src/der/source/pv/shading.ts';
import type { ShadedString } from '../../../../src/der/source/pv/shading.ts';
import { holds } from '../../../support/property.ts';

const module = pvModules['CS5P-220M'];
const series = 13;
const standard = maximumPowerPoint(parametersAt(module, 1000, 25));

function string(shadedShare: number, irradianceShare: number, irradianceWm2 = 1000, cellC = 25): ShadedString {
  return shadedString(module, series, { shadedShare, irradianceShare }, irradianceWm2, cellC);
}

/** Module voltage at a current, bypass diode included, by bisection over the diode voltage. */
function oracleModuleV(p: DiodeParameters, i: number): number {
  if (p.iL === 0) return -0.5;
  let low = -2 - i / p.gSh;
  let high = voc(p) + 1;
  for (let n = 0; n < 200; n++) {
    const vd = (low + high) / 2;
    if (p.iL - p.i0 * Math.expm1(vd / p.a) - p.gSh * vd > i) low = vd;
    else high = vd;
  }
  return Math.max(low - p.rS * i, -0.5);
}

function oracleStringV(
  shadedShare: number,
  irradianceShare: number,
  i: number,
  irradianceWm2 = 1000,
  cellC = 25,
): number {
  const lit = oracleModuleV(parametersAt(module, irradianceWm2, cellC), i);
  const shaded = oracleModuleV(parametersAt(module, irradianceWm2 * irradianceShare, cellC), i);
  return series * ((1 - shadedShare) * lit + shadedShare * shaded);
}

const shades = fc.record({
  share: fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true })),
  light: fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true })),
  g: fc.double({ min: 1, max: 1400, noNaN: true }),
  cell: fc.double({ min: -40, max: 90, noNaN: true }),
});
const part = fc.double({ min: 0, max: 1, noNaN: true });
const runs = 500;

describe('PV shading: curve of one string', () => {
  it('has two maxima: the lit modules alone, and all of them at the current of the shade', () => {
    const [left, right] = stringMaxima(string(0.3, 0.4));
    // 70 % of 13 modules less the drop of 3.9 diodes, near the current of one module in full light
    expect(left!.v).to.be.closeTo(9.1 * standard.v - 1.95, 1);
    expect(left!.i).to.be.closeTo(standard.i, 0.01);
    expect(left!.p).to.be.closeTo(1992.531, 0.01);
    expect(right!.v).to.be.closeTo(679.967, 0.01);
    expect(right!.i).to.be.closeTo(1.9685, 1e-3);
    expect(right!.p).to.be.closeTo(1338.538, 0.01);
  });

  it('the global maximum changes sides with the depth of the shade', () => {
    expect(stringMaximum(string(0.3, 0.4)).v).to.be.below(450);
    expect(stringMaximum(string(0.3, 0.8)).v).to.be.above(600);
  });

  it('without shade is the string of equal modules', () => {
    for (const unshaded of [string(0, 0.5), string(0.4, 1)]) {
      expect(stringMaxima(unshaded)).to.have.length(1);
      const best = stringMaximum(unshaded);
      expect(best.p).to.be.closeTo(series * standard.p, 1e-6);
      expect(best.v).to.be.closeTo(series * standard.v, 1e-2);
      expect(best.voc).to.be.closeTo(series * standard.voc, 1e-9);
      expect(best.isc).to.be.closeTo(standard.isc, 1e-9);
    }
    const dim = maximumPowerPoint(parametersAt(module, 500, 25));
    expect(stringMaximum(string(1, 0.5)).p).to.be.closeTo(series * dim.p, 1e-6);
  });

  it('agrees with the sum of module voltages at any common current', () => {
    holds(
      'module voltages add up',
      [shades, part],
      ({ share, light, g, cell }, at) => {
        const solved = string(share, light, g, cell);
        const i = at * solved.shortA;
        const v = oracleStringV(share, light, i, g, cell);
        if (!(v > 0) || i < 1e-9) return;
        // by current where the curve is steep, by voltage where it is flat: one of both is well conditioned
        const gap = Math.abs(stringCurrentAt(solved, v) - i) / solved.shortA;
        const back = Math.abs(oracleStringV(share, light, stringCurrentAt(solved, v), g, cell) - v) / solved.openV;
        expect(Math.min(gap, back)).to.be.below(1e-6);
      },
      { runs },
    );
  });

  it('falls in current all the way from short to open circuit', () => {
    holds(
      'current falls towards open circuit',
      shades,
      ({ share, light, g, cell }) => {
        const { openV, shortA } = string(share, light, g, cell);
        const solved = string(share, light, g, cell);
        let before = shortA;
        for (let n = 0; n <= 60; n++) {
          const i = stringCurrentAt(solved, (openV * n) / 60);
          expect(i).to.be.within(0, before + 1e-7 * (shortA + 1));
          before = i;
        }
        expect(stringCurrentAt(solved, openV)).to.equal(0);
        expect(stringCurrentAt(solved, -5)).to.equal(stringCurrentAt(solved, 0));
      },
      { runs },
    );
  });
});

describe('PV shading: maxima', () => {
  it('no point of the curve lies above the global maximum, and each is higher than its surroundings', () => {
    holds(
      'the global maximum',
      shades,
      ({ share, light, g, cell }) => {
        const solved = string(share, light, g, cell);
        const best = stringMaximum(solved);
        for (let n = 0; n <= 100; n++) {
          const v = (solved.openV * n) / 100;
          expect(v * stringCurrentAt(solved, v)).to.be.at.most(best.p * (1 + 1e-7) + 1e-9);
        }
        for (const { v, p } of stringMaxima(solved)) {
          expect(p).to.be.closeTo(v * stringCurrentAt(solved, v), 1e-6 * p + 1e-9);
          for (const aside of [0.999, 1.001])
            expect(v * aside * stringCurrentAt(solved, v * aside)).to.be.at.most(p * (1 + 1e-9) + 1e-9);
        }
      },
      { runs },
    );
  });

  it('rises in voltage', () => {
    for (let share = 0.1; share < 1; share += 0.1) {
      for (let light = 0.05; light < 1; light += 0.1) {
        const volts = stringMaxima(string(share, light)).map((peak) => peak.v);
        expect(volts)
          .to.have.length.within(1, 2)
          .and.to.deep.equal([...volts].sort((a, b) => a - b));
      }
    }
  });

  it('deeper shade, or on more modules, never gives more', () => {
    for (let n = 0; n < 10; n++) {
      expect(stringMaximum(string(0.4, n / 10)).p).to.be.at.most(stringMaximum(string(0.4, (n + 1) / 10)).p + 1e-6);
      expect(stringMaximum(string((n + 1) / 10, 0.4)).p).to.be.at.most(stringMaximum(string(n / 10, 0.4)).p + 1e-6);
    }
  });

  it('a shade in full darkness leaves the lit modules and the drop of the diodes', () => {
    const solved = string(0.5, 0);
    const [peak, ...more] = stringMaxima(solved);
    expect(more).to.deep.equal([]);
    expect(peak!.p).to.be.closeTo(6.5 * standard.p - 6.5 * 0.5 * standard.i, 2);
    expect(solved.openV).to.be.closeTo(6.5 * standard.voc - 3.25, 1e-9);
    // almost no light gives almost the same
    expect(stringMaximum(string(0.5, 1e-7)).p).to.be.closeTo(peak!.p, 1e-2);
  });

  it('is all zero in darkness', () => {
    for (const solved of [string(0.3, 0.5, 0), string(1, 0), string(0.9999, 0)]) {
      expect(stringMaxima(solved)).to.deep.equal([]);
      expect(stringMaximum(solved)).to.deep.equal({ v: 0, i: 0, p: 0, voc: 0, isc: 0 });
      expect(trackedMaximum(solved, 'global', 100)).to.include({ p: 0, i: 0 });
      expect([stringCurrentAt(solved, 0), stringVoltageForPower(solved, 10, stringMaximum(solved))]).to.deep.equal([
        0, 0,
      ]);
      expect(shadedCurve(solved, 50)).to.deep.equal([{ v: 0, i: 0, p: 0 }]);
    }
  });

  it('shows nothing but finite numbers at the ends of every range', () => {
    for (const g of [1e-7, 1e-3, 1500]) {
      for (const cell of [-200, 25, 300]) {
        for (const share of [0, 1e-12, 0.5, 1 - 1e-12, 1]) {
          for (const light of [0, 1e-12, 1e-6, 1 - 1e-12, 1]) {
            const solved = string(share, light, g, cell);
            const { v, i, p, voc: openV, isc } = stringMaximum(solved);
            const values = [
              v,
              i,
              p,
              openV,
              isc,
              stringVoltageForPower(solved, p / 2, stringMaximum(solved)),
              ...shadedCurve(solved, 9).flatMap((s) => [s.v, s.i, s.p]),
            ];
            expect(values, `${g} ${cell} ${share} ${light}`).to.satisfy((all: readonly number[]) =>
              all.every(Number.isFinite),
            );
          }
        }
      }
    }
  });
});

describe('PV shading: tracker and curtailment', () => {
  it('a scanning tracker is on the global maximum, a simple one on the first from open circuit', () => {
    const solved = string(0.3, 0.4);
    const [left, right] = stringMaxima(solved);
    expect(trackedMaximum(solved, 'global', 100)).to.include({
      v: left!.v,
      p: left!.p,
      voc: solved.openV,
      isc: solved.shortA,
    });
    expect(trackedMaximum(solved, 'local', 100)).to.include({ v: right!.v, p: right!.p });
    expect(trackedMaximum(string(0.5, 0), 'local', 100).p).to.equal(stringMaximum(string(0.5, 0)).p);
  });

  it('works inside the window of its input', () => {
    const solved = string(0.3, 0.4);
    const [left, right] = stringMaxima(solved);
    const edgeW = (v: number) => v * stringCurrentAt(solved, v);
    // a little above the left maximum the edge is still better than the right maximum, further up it is not
    expect(trackedMaximum(solved, 'global', left!.v + 10)).to.include({ v: left!.v + 10, p: edgeW(left!.v + 10) });
    expect(trackedMaximum(solved, 'global', 500)).to.include({ v: right!.v, p: right!.p });
    for (const tracker of ['global', 'local'] as const) {
      expect(trackedMaximum(solved, tracker, right!.v + 20)).to.include({ p: edgeW(right!.v + 20) });
      expect(trackedMaximum(solved, tracker, 2000)).to.include({ i: 0, p: 0 });
    }
  });

  it('curtails upwards in voltage, past the second maximum once power is below the valley', () => {
    const solved = string(0.3, 0.4);
    const tracked = trackedMaximum(solved, 'global', 100);
    const voltageFor = (powerW: number) => stringVoltageForPower(solved, powerW, tracked);
    expect([voltageFor(0), voltageFor(tracked.p), voltageFor(9999)]).to.deep.equal([
      solved.openV,
      tracked.v,
      tracked.v,
    ]);
    expect(voltageFor(1800)).to.be.within(tracked.v, solved.kneeV);
    expect(voltageFor(solved.kneeW - 1)).to.be.above(solved.right!.v);
    let before = tracked.v;
    for (let powerW = 1990; powerW > 0; powerW -= 10) {
      const v = voltageFor(powerW);
      expect(v * stringCurrentAt(solved, v)).to.be.closeTo(powerW, 1e-4);
      expect(v).to.be.above(before);
      before = v;
    }
  });

  it('finds the power from any tracker, window and shade', () => {
    holds(
      'power from any tracker',
      [shades, part, part, fc.constantFrom('global', 'local')],
      ({ share, light, g, cell }, edge, wanted, tracker) => {
        const solved = string(share, light, g, cell);
        const tracked = trackedMaximum(solved, tracker, 0.9 * edge * solved.openV);
        const powerW = wanted * tracked.p;
        if (!(powerW > 1e-6)) return;
        const v = stringVoltageForPower(solved, powerW, tracked);
        expect(v).to.be.within(tracked.v, solved.openV);
        expect(v * stringCurrentAt(solved, v)).to.be.closeTo(powerW, 1e-6 * tracked.p + 1e-9);
      },
      { runs },
    );
  });
});

describe('PV shading: samples of the curve', () => {
  it('always holds the global maximum, rises from 0 to open circuit', () => {
    holds(
      'samples of a shaded curve',
      [shades, fc.integer({ min: -1, max: 300 })],
      ({ share, light, g, cell }, points) => {
        const solved = string(share, light, g, cell);
        const best = stringMaximum(solved);
        if (!(best.p > 0)) return;
        const curve = shadedCurve(solved, points);
        expect(curve).to.have.length(Math.max(points, 3));
        expect(Math.max(...curve.map((sample) => sample.p))).to.be.at.most(best.p * (1 + 1e-7));
        expect(curve.some((sample) => sample.v === best.v && sample.p === best.p)).to.equal(true);
        expect([curve[0]!.v, curve.at(-1)!.v, curve.at(-1)!.i]).to.deep.equal([0, best.voc, 0]);
        for (let n = 1; n < curve.length; n++) expect(curve[n]!.v).to.be.above(curve[n - 1]!.v);
      },
      { runs },
    );
  });

  it('holds the second maximum too', () => {
    const solved = string(0.3, 0.4);
    const curve = shadedCurve(solved, 128);
    for (const { v, p } of stringMaxima(solved))
      expect(curve.some((sample) => sample.v === v && sample.p === p)).to.equal(true);
    expect(curve[0]!.i).to.be.closeTo(currentAt(solved.lit, (3.9 * 0.5) / 9.1), 1e-9);
  });
});
