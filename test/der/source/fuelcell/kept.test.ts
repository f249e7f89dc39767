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
  dtS: fc.constantFrom(0.1, 1, 3, 30),
  targetW: fc.oneof(real(-6000, 6000), fc.constantFrom(null, 0, 5000, -5000)),
  ambientTemperatureC: fc.constantFrom(20, -10, 41.5),
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

function observe(port: FuelCellPort): unknown {
  const { availableDcW, absorbableDcW, potentialDcW, potentialAbsorbableDcW, starting, settled, maxStepS } = port;
  const { outputRampDcWS, absorbedRampDcWS } = port;
  return {
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
  };
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

/** A step of the scenes, next to the begin of one of them or anywhere. */
const cut = fc.record({ scene: fc.nat(9), offset: fc.constantFrom(0, 0, 1, 2, 5) });

describe('fuel cell: a restart', () => {
  it('changes nothing of what follows, whatever was under way', () => {
    const states = new Set<string>();
    const count = holds(
      'a fuel cell goes on after a restart',
      [
        fc.constantFrom(...(Object.keys(plants) as PlantName[])),
        fc.array(scene, { minLength: 3, maxLength: 12, size: 'max' }),
        cut,
      ],
      (name, scenes, place) => {
        const at = place.scene % scenes.length;
        const steps = scenes.flatMap((action) => Array<Scene>(action.count).fill(action));
        const begin = scenes.slice(0, at).reduce((sum, action) => sum + action.count, 0);
        const before = Math.min(steps.length, begin + place.offset);
        const make = disturbedSecond(() => plantOf(plants[name]), disturb);
        expectContinuation({
          make,
          drive: (port, step) => {
            drive(port, steps[step]!);
          },
          observe: (port) => {
            states.add(port.detail().state);
            return observe(port);
          },
          before,
          after: steps.length - before,
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
