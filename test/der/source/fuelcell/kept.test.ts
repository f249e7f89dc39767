import { expect } from 'chai';
import fc from 'fast-check';
import type { FuelCellInput } from '../../../../src/config/profile/blocks/fuel-cell.ts';
import { SimError } from '../../../../src/core/errors.ts';
import type { FuelCellPort } from '../../../../src/der/source/fuelcell/fuelcell-port.ts';
import { real } from '../../../support/arbitrary.ts';
import { expectContinuation } from '../../../support/continuation.ts';
import { disturbedSecond } from '../../../support/disturbed.ts';
import { holds } from '../../../support/property.ts';
import { mild, oxideBoth, oxideOnly, pemBoth, plantOf } from './support.ts';

/** A tank that some minutes fill or empty, and ramps that last some seconds. */
const small = { tank_capacity_kg: 0.05, ramp_up_pct_s: 8, ramp_down_pct_s: 5 } as const;
const smallBoth = { ...small, dwell_s: 4 } as const;
const plants = {
  pem: { ...small },
  amphlett: { ...small, stack_model: 'amphlett', start_temperature_c: 10 },
  pemBoth: { ...pemBoth, ...smallBoth },
  coldBoth: { ...pemBoth, ...smallBoth, start_temperature_c: -5 },
  oxideBoth: { ...oxideBoth, ...smallBoth },
  coldOxide: { ...oxideOnly, start_temperature_c: 690 },
} as const satisfies Record<string, FuelCellInput>;
type PlantName = keyof typeof plants;

const stepping = fc.record({
  kind: fc.constant('step' as const),
  dtS: fc.constantFrom<number>(0.1, 1, 3, 30),
  targetW: fc.oneof(real(-6000, 6000), fc.constantFrom(null, 0, 5000, -5000)),
  ambientTemperatureC: fc.constantFrom<number>(20, -10, 41.5),
  energized: fc.constantFrom(true, true, true, true, false),
  count: fc.integer({ min: 1, max: 8 }),
});
/** Draws between two sub-steps. */
const drawing = fc.record({
  kind: fc.constant('draw' as const),
  share: real(-1, 1),
  energized: fc.boolean(),
  count: fc.constant(1),
});
const filling = fc.record({
  kind: fc.constant('fill' as const),
  levelPct: fc.oneof(real(0, 100), fc.constantFrom(10, 90)),
  count: fc.constant(1),
});
const others = fc.record({ kind: fc.constantFrom('settle' as const, 'restart' as const), count: fc.constant(1) });
const converting = fc.record({
  kind: fc.constant('convert' as const),
  watts: real(-5000, 5000),
  count: fc.constant(1),
});
const scene = fc.oneof(
  { weight: 8, arbitrary: stepping },
  { weight: 2, arbitrary: drawing },
  { weight: 2, arbitrary: filling },
  { weight: 1, arbitrary: others },
  { weight: 2, arbitrary: converting },
);
type Scene = typeof scene extends fc.Arbitrary<infer T> ? T : never;

function drive(port: FuelCellPort, action: Scene): void {
  switch (action.kind) {
    case 'step': {
      const { dtS, targetW, ambientTemperatureC, energized } = action;
      port.prepare(Math.min(dtS, port.maxStepS), { ...mild, ambientTemperatureC });
      port.draw(port.answer({ targetW, floorW: -1e6, ceilingW: 1e6 }), energized);
      break;
    }
    case 'draw':
      port.draw(action.share * (action.share < 0 ? port.absorbableDcW : port.availableDcW), action.energized);
      break;
    case 'fill':
      try {
        port.command({ kind: 'fuelcell.tank', levelPct: action.levelPct });
      } catch (error) {
        // a continuous supply has no tank
        if (!(error instanceof SimError)) throw error;
      }
      break;
    case 'settle':
      port.settle(mild);
      break;
    case 'restart':
      port.restart();
      break;
    case 'convert':
      port.stack.dcW(port.stack.stackW(action.watts));
      break;
  }
}

/** Text, since it is compared faster than objects. */
function observe(port: FuelCellPort): string {
  const { availableDcW, absorbableDcW, potentialDcW, potentialAbsorbableDcW, starting, settled, maxStepS } = port;
  const { outputRampDcWS, absorbedRampDcWS } = port;
  return JSON.stringify({
    ...port.detail(),
    availableDcW,
    absorbableDcW,
    potentialDcW,
    potentialAbsorbableDcW,
    starting,
    settled,
    maxStepS,
    outputRampDcWS,
    absorbedRampDcWS,
    conditions: [...port.conditions],
    ports: port.ports.map(({ voltageV, currentA, powerW }) => [voltageV, currentA, powerW]),
    // the solution depends on the one before
    stackW: port.stack.stackW(-2345.678),
  });
}

function disturb(port: FuelCellPort): void {
  for (const [targetW, energized] of [
    [1234, true],
    [-2500, true],
    [3000, false],
    [4000, true],
  ] as const)
    drive(port, { kind: 'step', dtS: 3, targetW, ambientTemperatureC: -10, energized, count: 1 });
  port.stack.stackW(-777);
}

const held: Extract<Scene, { kind: 'step' }> = {
  kind: 'step',
  dtS: 1,
  targetW: 5000,
  ambientTemperatureC: 20,
  energized: true,
  count: 1,
};
const over = (count: number, values: Partial<typeof held>): Scene => ({ ...held, ...values, count });
const between = (share: number): Scene => ({ kind: 'draw', share, energized: true, count: 1 });

/** Courses in which each member of the state matters; the state is taken before each step. */
const courses: readonly { readonly what: string; readonly plant: PlantName; readonly scenes: readonly Scene[] }[] = [
  {
    what: 'ramps, and the rest between both directions',
    plant: 'pemBoth',
    scenes: [
      over(3, {}),
      between(1),
      over(7, { targetW: -5000 }),
      between(-1),
      over(3, { targetW: -5000 }),
      over(3, { targetW: 0 }),
      over(4, {}),
    ],
  },
  {
    what: 'heat on a hot day',
    plant: 'pem',
    scenes: [over(20, { dtS: 3 }), over(4, { ambientTemperatureC: 75 })],
  },
  {
    what: 'the start of a cold stack, and its cooling',
    plant: 'coldBoth',
    scenes: [over(4, { dtS: 0.1 }), over(3, { energized: false, dtS: 30 }), over(3, { ambientTemperatureC: -10 })],
  },
  {
    what: 'a tank that is nearly empty',
    plant: 'pem',
    scenes: [
      over(16, { targetW: 3000 }),
      { kind: 'fill', levelPct: 10.1, count: 1 },
      over(6, { targetW: 3000, dtS: 3 }),
      { kind: 'fill', levelPct: 30, count: 1 },
      over(3, { targetW: 3000 }),
    ],
  },
];

interface Course {
  readonly plant: PlantName;
  readonly steps: readonly Scene[];
  readonly before: number;
  /** called with each plant that is looked at */
  readonly look?: (port: FuelCellPort) => void;
}

function expectSame({ plant, steps, before, look }: Course): void {
  const make = disturbedSecond(() => plantOf(plants[plant]), disturb);
  expectContinuation({
    make,
    drive: (port, step) => {
      drive(port, steps[step]!);
    },
    observe: (port) => {
      look?.(port);
      return observe(port);
    },
    before,
    after: steps.length - before,
  });
}

const stepsOf = (scenes: readonly Scene[]) => scenes.flatMap((action) => Array<Scene>(action.count).fill(action));

/** A step of the scenes, next to the begin of one of them or anywhere. */
const cut = fc.record({ scene: fc.nat(9), offset: fc.constantFrom(0, 0, 1, 2, 5) });

describe('fuel cell: a restart', () => {
  for (const { what, plant, scenes } of courses)
    it(`changes nothing of ${what}`, () => {
      const steps = stepsOf(scenes);
      for (let before = 0; before < steps.length; before += 1) expectSame({ plant, steps, before });
    });

  it('changes nothing of what follows, whatever was under way', () => {
    const states = new Set<string>();
    const count = holds(
      'a fuel cell goes on after a restart',
      [
        fc.constantFrom(...(Object.keys(plants) as PlantName[])),
        fc.array(scene, { minLength: 3, maxLength: 12, size: 'max' }),
        cut,
      ],
      (plant, scenes, place) => {
        const steps = stepsOf(scenes);
        const begin = stepsOf(scenes.slice(0, place.scene % scenes.length)).length;
        expectSame({
          plant,
          steps,
          before: Math.min(steps.length, begin + place.offset),
          look: (port) => states.add(port.detail().state),
        });
      },
      { runs: 100 },
    );
    // few cases may miss one of them
    if (count < 500) return;
    for (const state of ['off', 'heatup', 'standby', 'fc', 'el', 'transition', 'idle', 'tank_empty', 'tank_full'])
      expect([...states]).to.include(state);
  });
});
