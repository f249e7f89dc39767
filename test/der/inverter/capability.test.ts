import { expect } from 'chai';
import fc from 'fast-check';
import { clampVar, lowPowerShare, settle, varBase } from '../../../src/der/inverter/capability.ts';
import type { Capability } from '../../../src/der/inverter/capability.ts';
import { slowedToVoltage } from '../../../src/der/inverter/voltage-loop.ts';
import { readSettings } from '../../../src/der/inverter/settings.ts';
import { real } from '../../support/arbitrary.ts';
import { holds } from '../../support/property.ts';
import { Rig } from '../../support/rig.ts';

const categoryA: Capability = { wMaxRtgW: 10_000, minInjectVar: 4400, minAbsorbVar: 2500, reducedAtLowPower: true };
const nothingGuaranteed: Capability = { ...categoryA, minInjectVar: 0, minAbsorbVar: 0 };

describe('Reactive capability (IEEE 1547-2018 5.2, Table 7)', () => {
  it('is whole from 20 % of rated power, in proportion below, and none below 5 %', () => {
    const rows: readonly (readonly [number, number])[] = [
      [10_000, 1],
      [2000, 1],
      [1999, 0.9995],
      [1000, 0.5],
      [500, 0.25],
      [499, 0],
      [0, 0],
      [-1000, 0.5],
      [-500, 0.25],
      [-5000, 1],
    ];
    for (const [watts, share] of rows) expect(lowPowerShare(categoryA, watts), `${watts}`).to.be.closeTo(share, 1e-12);
  });

  it('is whole at any power where the device says so', () => {
    expect(
      [0, 100, -100].map((watts) => lowPowerShare({ ...categoryA, reducedAtLowPower: false }, watts)),
    ).to.deep.equal([1, 1, 1]);
  });

  const settings = {
    ...readSettings(new Rig().map, 'stay'),
    wMaxW: 9000,
    vaMaxVa: 10_000,
    varMaxInjVar: 4400,
    varMaxAbsVar: 2500,
  };

  it('behind a feeder volt-var is as slow for the base of absorption as for that of injection', () => {
    const feeder = { rPu: 0.05, xPu: 0.3 };
    for (const reference of ['VAR_MAX_PCT', 'VAR_AVAIL_PCT'] as const) {
      const voltVar = {
        ...settings.voltVar,
        reference,
        responseS: 0.1,
        points: [
          { x: 98, y: 100 },
          { x: 102, y: -100 },
        ],
      };
      const responseS = (varMaxInjVar: number, varMaxAbsVar: number) =>
        slowedToVoltage({ ...settings, voltVar, varMaxInjVar, varMaxAbsVar }, feeder, 10_000, 0.1).voltVar.responseS;
      expect(responseS(4400, 4400), reference).to.be.greaterThan(responseS(2200, 2200));
      expect(responseS(0, 4400), reference).to.equal(responseS(4400, 4400));
      expect(responseS(4400, 0), reference).to.equal(responseS(4400, 4400));
    }
  });

  it('percentages refer to WMax, VarMax by direction, what is left on the circle, or VAMax', () => {
    for (const [pct, limit] of [
      [50, 4400],
      [-50, 2500],
    ] as const) {
      expect(varBase(settings, 'W_MAX_PCT', pct, 0)).to.equal(9000);
      expect(varBase(settings, 'VAR_MAX_PCT', pct, 0)).to.equal(limit);
      expect(varBase(settings, 'VA_MAX_PCT', pct, 0)).to.equal(10_000);
      expect(varBase(settings, 'VAR_AVAIL_PCT', pct, 1000)).to.equal(limit);
      expect(varBase(settings, 'VAR_AVAIL_PCT', pct, 9900)).to.be.closeTo(Math.sqrt(10_000 ** 2 - 9900 ** 2), 1e-9);
      expect(varBase(settings, 'VAR_AVAIL_PCT', pct, -9900)).to.be.closeTo(Math.sqrt(10_000 ** 2 - 9900 ** 2), 1e-9);
      expect(varBase(settings, 'VAR_AVAIL_PCT', pct, 12_000)).to.equal(0);
    }
  });

  it('the settings of 702 clamp each direction by its own', () => {
    expect([-9999, -2500, 0, 4400, 9999].map((vars) => clampVar(settings, vars))).to.deep.equal([
      -2500, -2500, 0, 4400, 4400,
    ]);
  });
});

describe('The circle of apparent power (IEEE 1547-2018 5.2, 4.7)', () => {
  const power = real(-20_000, 20_000);
  const radius = real(0, 15_000);
  const priorities = fc.constantFrom('reactive', 'active', 'both');

  it('is never left, and neither side grows or changes sign', () => {
    holds(
      'P and Q within the circle',
      [power, power, radius, priorities, fc.constantFrom(categoryA, nothingGuaranteed)],
      (p, q, s, priority, capability) => {
        const [pW, qVar] = settle(p, q, s, priority, capability);
        expect(Math.hypot(pW, qVar)).to.be.at.most(s * (1 + 1e-9) + 1e-9);
        expect(Math.abs(pW)).to.be.at.most(Math.abs(p) + 1e-9);
        expect(Math.abs(qVar)).to.be.at.most(Math.abs(q) + 1e-9);
        expect(pW * p).to.be.at.least(0);
        expect(qVar * q).to.be.at.least(0);
        if (Math.hypot(p, q) <= s) expect([pW, qVar]).to.deep.equal([p, q]);
        if (priority === 'both') return expect(pW * q).to.be.closeTo(qVar * p, 1e-6 * Math.max(1, Math.abs(p * q)));
        // Table 7: each direction has its own guaranteed part
        const guaranteedVar = q >= 0 ? capability.minInjectVar : capability.minAbsorbVar;
        const keptVar = Math.min(s, Math.abs(q), priority === 'reactive' ? Infinity : guaranteedVar);
        expect(Math.abs(qVar)).to.be.at.least(keptVar - 1e-6);
        return expect(Math.abs(pW)).to.be.at.least(Math.min(Math.abs(p), Math.sqrt(s * s - keptVar * keptVar)) - 1e-6);
      },
      { runs: 300 },
    );
  });

  it('gives way on one side alone: what is cut is cut to the circle', () => {
    holds('one side gives way', [power, power, radius, priorities], (p, q, s, priority) => {
      fc.pre(Math.hypot(p, q) > s);
      expect(Math.hypot(...settle(p, q, s, priority, categoryA))).to.be.closeTo(s, 1e-6);
    });
  });

  it('reactive priority keeps Q, constant power factor keeps the ratio', () => {
    expect(settle(10, 6, 10, 'reactive', nothingGuaranteed)).to.deep.equal([8, 6]);
    expect(settle(-10, -6, 10, 'reactive', nothingGuaranteed)).to.deep.equal([-8, -6]);
    expect(settle(30, 40, 5, 'both', nothingGuaranteed)).to.deep.equal([3, 4]);
    expect(settle(30, 40, 0, 'both', nothingGuaranteed)).to.deep.equal([0, 0]);
    const [none, all] = settle(8, -60, 10, 'reactive', nothingGuaranteed);
    expect([Math.abs(none), all]).to.deep.equal([0, -10]);
  });

  it('active priority keeps P beyond the reactive power that Table 7 guarantees, each direction by its own', () => {
    const [p1, q1] = settle(8, 10, 10, 'active', nothingGuaranteed);
    expect(p1).to.equal(8);
    expect(q1).to.be.closeTo(6, 1e-12);
    const [p2, q2] = settle(10_000, 6000, 10_000, 'active', categoryA);
    expect(p2).to.be.closeTo(Math.sqrt(1e8 - 4400 ** 2), 1e-6);
    expect(q2).to.be.closeTo(4400, 1e-6);
    const [p3, q3] = settle(10_000, -6000, 10_000, 'active', categoryA);
    expect(p3).to.be.closeTo(Math.sqrt(1e8 - 2500 ** 2), 1e-6);
    expect(q3).to.be.closeTo(-2500, 1e-6);
    // less than guaranteed: as with reactive priority
    expect(settle(10_000, 3000, 10_000, 'active', categoryA)).to.deep.equal(
      settle(10_000, 3000, 10_000, 'reactive', categoryA),
    );
  });
});
