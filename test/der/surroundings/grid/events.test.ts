import { expect } from 'chai';
import { addSeconds, simTimeFromMs } from '../../../../src/core/time/clock.ts';
import type { SimTime } from '../../../../src/core/time/clock.ts';
import { gridEventNames } from '../../../../src/contract/environment.ts';
import { SimError } from '../../../../src/core/errors.ts';
import { Environment } from '../../../../src/der/surroundings/environment.ts';
import type { GridValues } from '../../../../src/der/surroundings/environment.ts';

const start = simTimeFromMs(Date.UTC(2026, 5, 21, 12));
const at = (seconds: number): SimTime => addSeconds(start, seconds);

function environment(nominalHz = 60): Environment {
  const weather = { source: 'csv' as const, at: () => undefined, dataset: () => null };
  return new Environment(
    {
      nominalHz,
      gridProfile: null,
      weather: { csv: () => weather, clear_sky: () => ({ irradianceAt: () => 0, airTemperatureAt: () => 20 }) },
      weatherSource: 'csv',
      seriesTime: (t) => (t - start) / 1e6,
    },
    start,
  );
}

/** Every instant from `t` on at which something begins, bends or ends, as seconds after the start. */
function instants(env: Environment, t: SimTime = start): number[] {
  const seen: number[] = [];
  for (let next = env.nextEvent(0, t); Number.isFinite(next); next = env.nextEvent(0, next as SimTime))
    seen.push((next - start) / 1e6);
  return seen;
}

/** Levels of phase A with the seconds for which each lasts. */
function levels(env: Environment): [number, number][] {
  let from = 0;
  return instants(env).map((until) => {
    const level = env.gridAt(0, at(from)).aPu;
    const span = Math.round((until - from) * 1e6) / 1e6;
    from = until;
    return [level, span];
  });
}

const volts = ({ aPu, bPu, cPu }: GridValues) => [aPu, bPu, cPu];
const running = (env: Environment, seconds: number, device?: number) => env.grid(at(seconds), device).event;

function faultsOf(act: () => unknown): SimError['issues'] {
  try {
    act();
  } catch (error) {
    if (error instanceof SimError && error.code === 'COMMAND_BAD_VALUE') return error.issues;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('Library of grid events', () => {
  for (const nominalHz of [50, 60]) {
    for (const name of gridEventNames.filter((each) => each !== 'phase_jump')) {
      it(`${name} at ${nominalHz} Hz: begins at once, ends exactly, with what stood before`, () => {
        const env = environment(nominalHz);
        const before = env.gridAt(0, at(0));
        env.startGridEvent(name, {}, at(1));
        const event = running(env, 1);
        expect(event).to.deep.include({ name, elapsedS: 0 });
        const end = 1 + event!.remainingS;
        expect(instants(env).at(-1)).to.be.closeTo(end, 1e-6);
        expect(env.gridAt(0, at(end))).to.deep.equal(before);
        expect(running(env, end)).to.equal(null);
        // a part of the stretch that no whole number of swings fills
        const middle = instants(env).map((s, i, all) => env.gridAt(0, at(0.37 * s + 0.63 * (all[i - 1] ?? 1))));
        expect(
          middle.some((values) => volts(values).join() !== '1,1,1' || values.hz !== nominalHz || values.island),
        ).to.equal(true);
        for (const values of middle)
          for (const value of [...volts(values), values.hz]) expect(value).to.be.finite.and.at.least(0);
      });
    }
  }

  it('defaults and ranges agree with one another, and a frequency follows the nominal one', () => {
    for (const nominalHz of [50, 60]) {
      for (const { name, parameters } of environment(nominalHz).gridEvents) {
        for (const { name: parameter, default: preset, minimum, maximum, allowed } of parameters) {
          const what = `${name} ${parameter}`;
          if (allowed) expect(allowed, what).to.include(preset);
          else expect(preset, what).to.be.within(minimum!, maximum!);
        }
      }
    }
    const toHz = (nominalHz: number) =>
      environment(nominalHz).gridEvents.find(({ name }) => name === 'lfrt')!.parameters[0];
    expect(toHz(60)).to.deep.include({ default: 57.9, minimum: 57, maximum: 58.8 });
    expect(toHz(50)).to.deep.include({ default: 47.9, minimum: 47, maximum: 48.8 });
  });

  const patterns: readonly (readonly [string, Record<string, number>, readonly (readonly [number, number])[]])[] = [
    [
      'lvrt_cat_2',
      {},
      [
        [0.94, 10],
        [0.28, 0.16],
        [0.43, 0.16],
        [0.65, 2.68],
        [0.88, 2],
        [0.94, 120],
      ],
    ],
    [
      'lvrt_cat_3',
      { level_1_pu: 0, level_3_pu: 0.7 },
      [
        [0.94, 5],
        [0, 1],
        [0.25, 9],
        [0.7, 10],
        [0.94, 120],
      ],
    ],
    [
      'hvrt_cat_2',
      {},
      [
        [1, 10],
        [1.18, 0.2],
        [1.175, 0.3],
        [1.15, 0.5],
        [1, 120],
      ],
    ],
    [
      'hvrt_cat_3',
      {},
      [
        [1.05, 5],
        [1.18, 12],
        [1.05, 120],
      ],
    ],
  ];
  for (const [name, parameters, pattern] of patterns) {
    it(`${name} has the levels and times of IEEE 1547.1`, () => {
      const env = environment();
      env.startGridEvent(name, parameters, at(0));
      expect(levels(env)).to.deep.equal(pattern);
      expect(env.gridMotion(0, at(11))).to.equal('still');
    });
  }

  for (const [phases, changed] of [
    ['A', [0.3, 1, 1]],
    ['B', [1, 0.3, 1]],
    ['C', [1, 1, 0.3]],
    ['AB', [0.3, 0.3, 1]],
    ['BC', [1, 0.3, 0.3]],
    ['CA', [0.3, 1, 0.3]],
    ['ABC', [0.3, 0.3, 0.3]],
  ] as const) {
    it(`a sag of ${phases} concerns those phases`, () => {
      const env = environment();
      env.startGridEvent('sag', { residual_pu: 0.3, duration_s: 1, phases }, at(0));
      expect([volts(env.gridAt(0, at(0.5))), volts(env.gridAt(0, at(1)))]).to.deep.equal([changed, [1, 1, 1]]);
    });
  }

  it('edges lie within the duration', () => {
    const env = environment();
    env.startGridEvent('swell', { level_pu: 1.2, duration_s: 1, edge_s: 0.1 }, at(0));
    expect(instants(env)).to.deep.equal([0.1, 0.9, 1]);
    expect([0.05, 0.5, 0.95].map((s) => Math.round(env.gridAt(0, at(s)).aPu * 1e9) / 1e9)).to.deep.equal([
      1.1, 1.2, 1.1,
    ]);
    expect([0.05, 0.5, 0.95].map((s) => env.gridMotion(0, at(s)))).to.deep.equal(['fast', 'still', 'fast']);
  });

  it('a voltage ramp goes from the present value of each phase', () => {
    const env = environment();
    env.setGrid({ voltageAPu: 1.1 }, at(0));
    env.startGridEvent('voltage_ramp', { to_pu: 0.9, rate_pu_s: 0.1, hold_s: 3 }, at(0));
    expect(volts(env.gridAt(0, at(1))).map((v) => Math.round(v * 1e9) / 1e9)).to.deep.equal([1, 0.9, 0.9]);
    expect(running(env, 0)!.remainingS).to.be.closeTo(7, 1e-6);
    expect(volts(env.gridAt(0, at(7)))).to.deep.equal([1.1, 1, 1]);
  });

  it('a frequency ramp holds and comes back at its rate', () => {
    const env = environment();
    env.startGridEvent('frequency_ramp', { to_hz: 58, rate_hz_s: 0.5, hold_s: 2 }, at(0));
    expect([2, 4, 5, 8, 10].map((s) => env.gridAt(0, at(s)).hz)).to.deep.equal([59, 58, 58, 59, 60]);
  });

  for (const [category, rate] of [
    ['CAT_1', 0.5],
    ['CAT_2', 2],
    ['CAT_3', 3],
  ] as const) {
    it(`frequency ride-through of ${category}: 299 s beyond continuous operation, at ${rate} Hz/s`, () => {
      const env = environment();
      env.startGridEvent('hfrt', { to_hz: 61.8, category }, at(0));
      const [top = 0, down = 0, end = 0] = instants(env);
      expect(top).to.be.closeTo(1.8 / rate, 1e-6);
      expect(down - top + (2 * 0.6) / rate).to.be.closeTo(299, 1e-5);
      expect(end - down).to.be.closeTo(1.8 / rate, 2e-6);
    });

    it(`rocof_${category.toLowerCase()} moves at ${rate} Hz/s`, () => {
      const env = environment();
      env.startGridEvent(`rocof_${category.toLowerCase()}`, {}, at(0));
      expect(env.gridAt(0, at(0.2)).hz).to.be.closeTo(60 - 0.2 * rate, 1e-5);
    });
  }

  it('an oscillation swings about the present value of voltage or frequency', () => {
    const env = environment();
    env.startGridEvent(
      'oscillation',
      { quantity: 'frequency', amplitude: 0.2, frequency_hz: 0.25, duration_s: 8 },
      at(0),
    );
    expect([1, 3].map((s) => Math.round(env.gridAt(0, at(s)).hz * 1e9) / 1e9)).to.deep.equal([60.2, 59.8]);
    expect([volts(env.gridAt(0, at(1))), env.gridMotion(0, at(1))]).to.deep.equal([[1, 1, 1], 'fast']);
    expect(env.gridAt(0, at(1))).to.equal(env.gridAt(0, at(1)));
  });

  it('a phase jump stays, adds up within half a turn, and is no event under way', () => {
    const env = environment();
    env.startGridEvent('phase_jump', { deg: 100 }, at(0));
    env.startGridEvent('phase_jump', { deg: 100 }, at(1));
    expect([env.gridAt(0, at(0.5)).angleDeg, env.gridAt(0, at(99)).angleDeg, running(env, 2)]).to.deep.equal([
      100,
      -160,
      null,
    ]);
  });
});

describe('A grid event under way', () => {
  it('is replaced by the next one, from what stood before it', () => {
    const env = environment();
    env.startGridEvent('sag', { residual_pu: 0.2, duration_s: 10 }, at(0));
    env.startGridEvent('frequency_step', { to_hz: 59, duration_s: 10 }, at(4));
    expect(env.gridAt(0, at(5))).to.deep.include({ aPu: 1, hz: 59 });
    expect(running(env, 6)).to.deep.equal({ name: 'frequency_step', elapsedS: 2, remainingS: 8 });
  });

  it('gives way to a lasting change of the same quantity, not of another', () => {
    const env = environment();
    env.startGridEvent('sag', { residual_pu: 0.2, duration_s: 10 }, at(0));
    env.setGrid({ frequencyHz: 59.9 }, at(1));
    expect(env.gridAt(0, at(2))).to.deep.include({ aPu: 0.2, hz: 59.9 });
    env.setGrid({ voltageAPu: 0.97 }, at(2));
    expect([volts(env.gridAt(0, at(3))), running(env, 3)?.name]).to.deep.equal([[0.97, 0.2, 0.2], 'sag']);
    env.setGrid({ voltagePu: 1 }, at(4));
    expect([volts(env.gridAt(0, at(5))), running(env, 5)]).to.deep.equal([[1, 1, 1], null]);
  });

  it('lies over timed changes and is covered by later ones', () => {
    const env = environment();
    env.setGrid({ voltagePu: 0.95, durationS: 20 }, at(0));
    env.startGridEvent('sag', { residual_pu: 0.2, duration_s: 10 }, at(1));
    env.setGrid({ voltagePu: 0.9, durationS: 2 }, at(3));
    expect([0.5, 2, 4, 6, 11, 20].map((s) => env.gridAt(0, at(s)).aPu)).to.deep.equal([0.95, 0.2, 0.9, 0.2, 0.95, 1]);
    expect([env.grid(at(4)).durationRemainingS, running(env, 4)?.name]).to.deep.equal([1, 'sag']);
  });

  it('stops on demand, and stopping none is no fault', () => {
    const env = environment();
    env.startGridEvent('sag', { duration_s: 10 }, at(0));
    env.stopGridEvent(at(4));
    expect([3.9, 4].map((s) => env.gridAt(0, at(s)).aPu)).to.deep.equal([0.5, 1]);
    env.stopGridEvent(at(5));
    expect([running(env, 5), env.nextEvent(0, at(5))]).to.deep.equal([null, Infinity]);
  });

  it('is common or local; the common one ends local deviations', () => {
    const env = environment();
    env.startGridEvent('sag', { duration_s: 10 }, at(0), 1);
    expect([0, 1].map((device) => env.gridAt(device, at(1)).aPu)).to.deep.equal([1, 0.5]);
    expect([running(env, 1), running(env, 1, 1)?.name]).to.deep.equal([null, 'sag']);
    env.startGridEvent('swell', { level_pu: 1.1, duration_s: 10 }, at(2));
    expect([0, 1].map((device) => env.gridAt(device, at(3)).aPu)).to.deep.equal([1.1, 1.1]);
    env.stopGridEvent(at(4), 1);
    expect([0, 1].map((device) => env.gridAt(device, at(5)).aPu)).to.deep.equal([1.1, 1]);
    env.stopGridEvent(at(6));
    expect([0, 1].map((device) => env.gridAt(device, at(7)).aPu)).to.deep.equal([1, 1]);
  });

  it('does not count among the changes that may be pending', () => {
    const env = environment();
    for (let i = 0; i < 32; i += 1) env.setGrid({ voltagePu: 0.9, durationS: 1000 - i }, at(0));
    env.startGridEvent('sag', {}, at(1));
    expect(running(env, 1)?.name).to.equal('sag');
  });
});

describe('Arguments of grid events', () => {
  const start = (name: string, args: Record<string, number | string>) =>
    faultsOf(() => {
      environment().startGridEvent(name, args, at(0));
    });

  it('an unknown name lists the library', () => {
    for (const name of ['brownout', '', 'constructor', '__proto__']) {
      expect(start(name, {})).to.deep.equal([
        {
          name: '/event',
          detail: `must be one of ${gridEventNames.join(', ')}; given ${JSON.stringify(name)}`,
          allowed: gridEventNames,
        },
      ]);
    }
  });

  it('an unknown parameter lists those of the event', () => {
    const [issue] = start('outage', { depth: 1 });
    expect(issue).to.deep.equal({
      name: '/parameters/depth',
      detail: 'is not a parameter of outage; it has duration_s, phases',
      allowed: ['duration_s', 'phases'],
    });
  });

  it('every value outside its range is named, and nothing changes', () => {
    const env = environment();
    const issues = faultsOf(() => {
      env.startGridEvent('sag', { residual_pu: 1.1, duration_s: 'x', phases: 'AC' }, at(0));
    });
    expect(issues.map(({ name, detail }) => [name, detail])).to.deep.equal([
      ['/parameters/residual_pu', 'must be a number from 0 to 1; given 1.1'],
      ['/parameters/duration_s', 'must be a number from 0.001 to 86400; given "x"'],
      ['/parameters/phases', 'must be one of A, B, C, AB, BC, CA, ABC; given "AC"'],
    ]);
    expect([running(env, 0), env.nextEvent(0, at(0))]).to.deep.equal([null, Infinity]);
    for (const value of [NaN, Infinity, -Infinity]) expect(start('sag', { residual_pu: value })).to.have.length(1);
    expect(start('lfrt', { to_hz: 59 })[0]?.detail).to.equal('must be a number from 57 to 58.8; given 59');
  });

  it('values must go with one another', () => {
    expect(start('sag', { duration_s: 0.5, edge_s: 0.3 })[0]).to.deep.equal({
      name: '/parameters/edge_s',
      detail: 'must be at most half of duration_s, 0.25 s',
    });
    expect(start('oscillation', { amplitude: 1.5 })[0]?.name).to.equal('/parameters/amplitude');
  });
});
