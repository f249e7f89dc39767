import { expect } from 'chai';
import fc from 'fast-check';
import type { WindCommand } from '../../../../src/contract/kinds/wind.ts';
import { createRandom } from '../../../../src/core/random.ts';
import { HubWind } from '../../../../src/der/source/wind/hub-wind.ts';
import { WindPort } from '../../../../src/der/source/wind/wind-port.ts';
import { real } from '../../../support/arbitrary.ts';
import { expectContinuation } from '../../../support/continuation.ts';
import { disturbedSecond } from '../../../support/disturbed.ts';
import { holds } from '../../../support/property.ts';
import { parametersOf, surroundings } from './support.ts';

const delays = { start_delay_s: 3, storm_delay_s: 4, turbulence_class: 'B', shear_exponent: 0.1 } as const;
/** T3 has a crowbar; the small rotor is quick. */
const machines = {
  nrel: parametersOf({ turbine: 'nrel-5mw', ...delays }),
  farm: parametersOf({ turbine: 'farm-100kw', rated_power_w: 100e3, ...delays }),
  calm: parametersOf({ turbine: 'farm-100kw', rated_power_w: 100e3, ...delays, turbulence_class: 'none' }),
  iea: parametersOf({ turbine: 'iea-15mw', rated_power_w: 15e6, ...delays, turbulence_class: 'A' }),
};
type MachineName = keyof typeof machines;

const stepping = fc.record({
  kind: fc.constant('step' as const),
  windMS: fc.oneof(real(0, 35), fc.constantFrom(2, 8, 14, 24, 33)),
  dtS: fc.constantFrom<number>(0.02, 0.1, 0.37, 1, 1),
  count: fc.integer({ min: 1, max: 30 }),
  terminalPu: fc.constantFrom<number>(1, 1, 1, 1, 0.85, 0.5, 0.2),
  rate: fc.constantFrom<number>(1, 1, 1, 100),
  /** set-point, of the rating; null: none */
  share: fc.option(real(0, 1), { freq: 2 }),
  energized: fc.constantFrom(true, true, true, true, true, false),
});
/** Draws between two sub-steps. */
const drawing = fc.record({
  kind: fc.constant('draw' as const),
  share: real(0, 1),
  energized: fc.boolean(),
  count: fc.constant(1),
});
const settling = fc.record({ kind: fc.constant('settle' as const), windMS: real(0, 35), count: fc.constant(1) });
const command: fc.Arbitrary<WindCommand> = fc.record({
  kind: fc.constant('wind.override' as const),
  speedMS: fc.option(real(-2, 30)),
  height: fc.constantFrom('hub', 'anemometer'),
});
const commanding = fc.record({ kind: fc.constant('command' as const), command, count: fc.constant(1) });
const restarting = fc.record({ kind: fc.constantFrom('restart' as const, 'clear' as const), count: fc.constant(1) });

const scene = fc.oneof(
  { weight: 8, arbitrary: stepping },
  { weight: 2, arbitrary: drawing },
  { weight: 1, arbitrary: settling },
  { weight: 2, arbitrary: commanding },
  { weight: 1, arbitrary: restarting },
);
type Scene = typeof scene extends fc.Arbitrary<infer T> ? T : never;

function drive(port: WindPort, action: Scene, ratedW: number): void {
  switch (action.kind) {
    case 'step': {
      port.prepare(action.dtS, surroundings(action.windMS, { terminalPu: action.terminalPu, rate: action.rate }));
      const targetW = action.share === null ? null : action.share * ratedW;
      const dcW = port.answer({ targetW, floorW: 0, ceilingW: Infinity });
      port.draw(action.energized ? dcW : 0, action.energized);
      break;
    }
    case 'draw':
      port.draw(action.energized ? action.share * port.availableDcW : 0, action.energized);
      break;
    case 'settle':
      port.settle(surroundings(action.windMS));
      break;
    case 'command':
      port.command(action.command);
      break;
    case 'restart':
      port.restart();
      break;
    case 'clear':
      port.clearFaults();
      break;
  }
}

/** Text, since it is compared faster than objects. */
function observe(port: WindPort): string {
  // all turbines of one machine share the curve
  const { availableDcW, starting, settled, maxStepS, reactiveCurrentPu, energy } = port;
  return JSON.stringify({
    ...port.detail(),
    powerCurve: null,
    availableDcW,
    starting,
    settled,
    maxStepS,
    reactiveCurrentPu,
    energy,
    conditions: [...port.conditions],
    ports: port.ports.map(({ voltageV, currentA, powerW }) => [voltageV, currentA, powerW]),
  });
}

function disturb(port: WindPort): void {
  port.settle(surroundings(20));
  for (const [windMS, terminalPu] of [
    [22, 1],
    [21, 0.2],
    [12, 0.5],
  ] as const) {
    port.prepare(1, surroundings(windMS, { terminalPu }));
    port.draw(port.answer({ targetW: 4e4, floorW: 0, ceilingW: Infinity }), true);
  }
}

const held: Extract<Scene, { kind: 'step' }> = {
  kind: 'step',
  windMS: 14,
  dtS: 0.1,
  count: 1,
  terminalPu: 1,
  rate: 1,
  share: null,
  energized: true,
};
const over = (count: number, values: Partial<typeof held>): Scene => ({ ...held, ...values, count });
const between = (share: number): Scene => ({ kind: 'draw', share, energized: true, count: 1 });

/** Courses in which each member of the state matters; the state is taken before each step, or each `every` steps. */
const courses: readonly {
  readonly what: string;
  readonly machine: MachineName;
  /** of the turbulence */
  readonly seed?: number;
  readonly every?: number;
  readonly scenes: readonly Scene[];
}[] = [
  {
    what: 'dips with a crowbar, one of them within a recovery',
    machine: 'nrel',
    scenes: [
      over(2, {}),
      over(7, { terminalPu: 0.2, dtS: 0.02 }),
      over(4, {}),
      over(2, { terminalPu: 0.5, share: 0.3 }),
      over(7, {}),
    ],
  },
  {
    what: 'a dip with draws between the sub-steps, and a trip within it',
    machine: 'iea',
    scenes: [
      over(2, { share: 0.5 }),
      over(2, { terminalPu: 0.4, dtS: 0.05 }),
      between(0.5),
      over(2, { terminalPu: 0.4 }),
      between(0.1),
      over(2, { terminalPu: 0.4, energized: false }),
      over(2, { terminalPu: 0.5 }),
      over(6, {}),
    ],
  },
  {
    what: 'a dip that empties the chopper and ends in overspeed',
    machine: 'iea',
    every: 4,
    scenes: [over(2, {}), over(25, { terminalPu: 0.2, dtS: 0.5 }), over(25, { dtS: 1 })],
  },
  {
    what: 'a calm',
    machine: 'calm',
    every: 9,
    scenes: [over(3, { windMS: 8, dtS: 1 }), over(65, { windMS: 1.5, dtS: 1 })],
  },
  { what: 'a gust above cut-out', machine: 'iea', seed: 7, scenes: [over(22, { windMS: 24, dtS: 1 })] },
  {
    what: 'outages, of which the longer one ends the run',
    machine: 'farm',
    scenes: [
      over(2, { windMS: 10 }),
      over(3, { windMS: 10, energized: false, dtS: 0.5 }),
      over(3, { windMS: 10 }),
      over(6, { windMS: 10, energized: false, dtS: 0.5 }),
      over(30, { windMS: 10, dtS: 1 }),
    ],
  },
  {
    what: 'a curtailment, its release, and a storm',
    machine: 'farm',
    every: 2,
    scenes: [
      over(14, { windMS: 12, dtS: 1, share: 0.4 }),
      over(6, { windMS: 12, dtS: 1 }),
      over(4, { windMS: 33, dtS: 1 }),
    ],
  },
  {
    what: 'a storm while a slow rotor gives its rating',
    machine: 'nrel',
    seed: 6,
    every: 4,
    scenes: [over(28, { windMS: 13, dtS: 1 }), over(6, { windMS: 33 })],
  },
  { what: 'light wind', machine: 'iea', scenes: [over(12, { windMS: 4, dtS: 1 })] },
  {
    what: 'the start under a limit',
    machine: 'nrel',
    scenes: [{ kind: 'settle', windMS: 13, count: 1 }, between(0.3), over(5, {})],
  },
];

interface Course {
  readonly machine: MachineName;
  readonly seed: number;
  readonly steps: readonly Scene[];
  readonly before: number;
  readonly after: number;
  /** called with each turbine that is looked at */
  readonly look?: (port: WindPort) => void;
}

function expectSame({ machine, seed, steps, before, after, look }: Course): void {
  const parameters = machines[machine];
  const make = disturbedSecond(() => new WindPort(parameters, createRandom(seed, 'wind')), disturb);
  expectContinuation({
    make,
    drive: (port, step) => {
      drive(port, steps[step]!, parameters.ratedPowerW);
    },
    observe: (port) => {
      look?.(port);
      return observe(port);
    },
    before,
    after,
  });
}

const stepsOf = (scenes: readonly Scene[]) => scenes.flatMap((action) => Array<Scene>(action.count).fill(action));

/** A step of the scenes, next to the begin of one of them or anywhere. */
const cut = fc.record({ scene: fc.nat(9), offset: fc.constantFrom(0, 0, 1, 2, 5, 11) });

describe('wind turbine: a restart', () => {
  for (const { what, machine, seed = 4, every = 1, scenes } of courses)
    it(`changes nothing of ${what}`, () => {
      const steps = stepsOf(scenes);
      for (let before = 0; before < steps.length; before += every)
        expectSame({ machine, seed, steps, before, after: Math.min(steps.length - before, 4 * every + 16) });
    });

  it('changes nothing of what follows, whatever was under way', () => {
    const states = new Set<string>();
    const count = holds(
      'a turbine goes on after a restart',
      [
        fc.constantFrom<MachineName>('nrel', 'farm', 'farm', 'calm', 'iea'),
        fc.nat(1000),
        fc.array(scene, { minLength: 3, maxLength: 9, size: 'max' }),
        cut,
      ],
      (machine, seed, scenes, place) => {
        const steps = stepsOf(scenes);
        const begin = stepsOf(scenes.slice(0, place.scene % scenes.length)).length;
        const before = Math.min(steps.length, begin + place.offset);
        expectSame({
          machine,
          seed,
          steps,
          before,
          after: steps.length - before,
          look: (port) => {
            const { state, lvrtState } = port.detail();
            states.add(state).add(lvrtState);
          },
        });
      },
      { runs: 60 },
    );
    // few cases may miss one of them
    if (count < 500) return;
    for (const state of ['stopped', 'starting', 'run_mppt', 'run_rated', 'high_wind_stop'] as const)
      expect([...states]).to.include(state);
    for (const state of ['active', 'recovering', 'tripped'] as const) expect([...states]).to.include(state);
  });

  it('continues the turbulence within a second and behind an override', () => {
    const gusty = parametersOf({ turbine: 'nrel-5mw', turbulence_class: 'A' });
    const settled = () => {
      const wind = new HubWind(gusty, createRandom(5, 'wind'));
      wind.settle(9);
      return wind;
    };
    for (const before of [0, 1, 3, 4, 7, 12]) {
      const make = disturbedSecond(settled, (wind) => {
        wind.begin(1, 12);
        wind.advance(0.7);
      });
      expectContinuation({
        make,
        drive: (wind, step) => {
          if (step === 6) wind.override = { speedMS: 7, height: 'hub' };
          if (step === 11) wind.override = null;
          wind.begin(0.3, 9 + step / 10);
          wind.advance(0.2);
          wind.advance(0.1);
        },
        observe: ({ hubMS, meanMS, rotorMS, measuredMS, override: command }) => [
          hubMS,
          meanMS,
          rotorMS,
          measuredMS,
          command,
        ],
        before,
        after: 12,
      });
    }
  });
});
