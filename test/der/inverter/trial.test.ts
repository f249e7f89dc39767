import { expect } from 'chai';
import { createRandom } from '../../../src/core/random.ts';
import { simTimeFromMs } from '../../../src/core/time/clock.ts';
import { createTemplate, inverterRatings } from '../../../src/der/device/template.ts';
import { Inverter } from '../../../src/der/inverter/inverter.ts';
import type { InverterRatings } from '../../../src/der/inverter/output.ts';
import type { Settings } from '../../../src/der/inverter/settings.ts';
import { movesWithRamp, passAtOnce, TriedOutput } from '../../../src/der/inverter/trial.ts';
import type { DcSource } from '../../../src/der/source/source.ts';
import type { GridValues } from '../../../src/der/surroundings/environment.ts';
import { configuredDevices } from '../../support/configured.ts';
import { IdealSource } from '../../support/ideal-source.ts';

const { profile } = configuredDevices('--device_type', 'PV-3Phase')[0]!;
const template = createTemplate(profile, 'three', 60, simTimeFromMs(Date.UTC(2026, 5, 21, 12)), 0);
const ratings = inverterRatings(template, null, null);
const gridOf = (pu: number): GridValues => ({ aPu: pu, bPu: pu, cPu: pu, hz: 60, angleDeg: 0, island: false });

const slope = [
  { x: 92, y: 40 },
  { x: 98, y: 0 },
  { x: 102, y: 0 },
  { x: 108, y: -40 },
];
/** Half of the rated power, 10 kVA, volt-var with a response of 5 s. */
const steady: Settings = {
  ...template.settings,
  maxPowerPct: 50,
  wRampPctS: 1,
  vaMaxVa: 10_000,
  voltVar: { ...template.settings.voltVar, enabled: true, points: slope, responseS: 5, reference: 'VA_MAX_PCT' },
};

interface Case {
  /** pu, before and in the trial */
  readonly from?: number;
  readonly to?: number;
  readonly ratings?: Partial<InverterRatings>;
  /** change after the device has settled */
  readonly settings?: Partial<Settings>;
  readonly maxPowerPct?: number;
  readonly source?: Partial<DcSource>;
  readonly dtS?: number;
}

/** @returns whether a settled device passes at once, and reactive power at the end, var */
function passed({ from = 1, to = 1, maxPowerPct = 50, dtS = 5, ...change }: Case): readonly [boolean, number] {
  const source: DcSource = Object.assign(new IdealSource(12_000), change.source);
  const rated = { ...ratings, ...change.ratings };
  const settled = { ...steady, maxPowerPct };
  const inverter = new Inverter(rated, settled, source, createRandom(1, 'trial'));
  inverter.settle(gridOf(from), source);
  inverter.applySettings({ ...settled, ...change.settings });
  const service = { ceilingAt: () => ({ ceilingW: 10_000, decider: 'ramp' as const }), lasts: true };
  const end = new TriedOutput(inverter, source);
  return [passAtOnce(end, { output: inverter, grid: gridOf(to), source, service, dtS }), end.qVar];
}

const isAtOnce = (change: Case) => passed(change)[0];

describe('a trial in one sub-step', () => {
  it('is taken where voltage moves reactive power alone, as far as its response goes', () => {
    expect(passed({})).to.deep.equal([true, 0]);
    const [isPassed, qVar] = passed({ to: 1.05 });
    expect(isPassed).to.equal(true);
    expect(qVar).to.be.closeTo(0.9 * -2000, 1e-6);
    expect(passed({ from: 0.95, to: 1.05, dtS: Infinity })).to.deep.equal([true, -2000]);
  });

  it('is not taken, nor anything moved, where active power may follow the voltage or the loads', () => {
    const { voltVar, voltWatt } = steady;
    expect(passed({ to: 1.05, settings: { voltWatt: { ...voltWatt, enabled: true } } })).to.deep.equal([false, 0]);
    expect(passed({ to: 1.05, settings: { voltVar: { ...voltVar, autoReference: true } } })).to.deep.equal([false, 0]);
    expect(passed({ to: 1.05, source: { planFor: () => undefined } })).to.deep.equal([false, 0]);
  });

  it('is not the whole way where active power ramps', () => {
    expect(isAtOnce({ to: 1.05, settings: { maxPowerPct: 40 } })).to.equal(false);
    expect(isAtOnce({ to: 1.05, settings: { maxPowerPct: 60 } })).to.equal(false);
  });

  it('is not the whole way at low power, whose capability depends on the way', () => {
    const capability = { ...ratings.capability, reducedAtLowPower: true };
    expect(isAtOnce({ to: 1.05, ratings: { capability }, maxPowerPct: 10 })).to.equal(false);
    expect(isAtOnce({ to: 1.05, ratings: { capability }, maxPowerPct: 25 })).to.equal(true);
  });

  it('is not the whole way where apparent power limits its beginning or its end', () => {
    // 5000 W beside 2000 var at 0.95 and 1.05
    expect(isAtOnce({ from: 0.95, to: 1, settings: { vaMaxVa: 5300 }, dtS: Infinity }), 'its beginning').to.equal(
      false,
    );
    expect(isAtOnce({ to: 0.95, settings: { vaMaxVa: 5050 }, dtS: Infinity }), 'its end').to.equal(false);
    expect(isAtOnce({ from: 0.95, to: 1, settings: { vaMaxVa: 5400 }, dtS: Infinity })).to.equal(true);
  });
});

describe('a source that ramps beside a function of reactive power', () => {
  const moves = (toW: number, outputRampDcWS?: number, activeFunction: 'volt_var' | null = 'volt_var') =>
    movesWithRamp(
      { pW: 1000 },
      { pW: toW, ratings: { vaMaxRtgVa: 10_000 }, reactivePower: { activeFunction } },
      outputRampDcWS === undefined ? {} : { outputRampDcWS },
    );

  it('moves its target in both directions, by more than 0.02 % of the rating', () => {
    expect([990, 998.1, 1000, 1001.9, 1010].map((w) => moves(w, 500))).to.deep.equal([true, false, false, false, true]);
  });

  it('does not without a function, nor without a ramp', () => {
    expect(moves(2000, 500, null)).to.equal(false);
    expect(moves(2000)).to.equal(false);
    expect(moves(2000, 500)).to.equal(true);
  });
});
