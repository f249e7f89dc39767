import { expect } from 'chai';
import fc from 'fast-check';
import { SimError } from '../../../../src/core/errors.ts';
import { toExactJson } from '../../../../src/core/kept.ts';
import { createRandom } from '../../../../src/core/random.ts';
import type { SourceCommand } from '../../../../src/contract/device.ts';
import { hybridPolicies } from '../../../../src/contract/kinds/hybrid.ts';
import { BatteryPort } from '../../../../src/der/source/battery/battery-port.ts';
import { HybridSource } from '../../../../src/der/source/hybrid.ts';
import { pvModules } from '../../../../src/der/source/pv/module.ts';
import { PvPort } from '../../../../src/der/source/pv/port.ts';
import { expectContinuation } from '../../../support/continuation.ts';
import { holds } from '../../../support/property.ts';
import { defaults, weather } from '../battery/rig.ts';

function hybrid(): HybridSource {
  const source = new HybridSource({
    pv: new PvPort({
      module: pvModules['DATASHEET-270'],
      seriesCount: 20,
      parallelCount: 1,
      minDcVoltageV: 300,
      maxDcVoltageV: 1000,
    }),
    battery: new BatteryPort(
      { ...defaults, capacityWh: 2000, powerW: 4000, modules: 1, cells: 4 },
      createRandom(1, 'battery'),
      { takesCellTemperature: false },
    ),
    busVoltageV: 800,
    policy: 'self_consumption',
    chargeFromGrid: true,
    dcOfAcW: (acW) => 1.04 * acW,
  });
  source.settle({ ...weather, irradianceWm2: 700 });
  return source;
}

const act = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('step'),
      dtS: fc.constantFrom(0.5, 1, 5, 30),
      irradianceWm2: fc.constantFrom(0, 300, 1000),
      loadW: fc.constantFrom(0, 1500, 6000),
      targetW: fc.constantFrom(null, null, -3000, 0, 2500, 7000),
      ceilingW: fc.constantFrom(1000, 8000),
      energized: fc.constantFrom(true, true, true, false),
    }),
  },
  fc.record({ kind: fc.constant('jump'), irradianceWm2: fc.constantFrom(0, 300, 1000) }),
  fc.record({ kind: fc.constant('draw'), dcW: fc.constantFrom(-2000, 0, 500, 4000) }),
  fc.record({ kind: fc.constant('follow') }),
  fc.record({ kind: fc.constant('hybrid.policy'), policy: fc.constantFrom(...hybridPolicies, 'manual' as const) }),
  fc.record({ kind: fc.constant('hybrid.battery'), powerW: fc.constantFrom(null, -1500, 1500) }),
  fc.record({
    kind: fc.constant('battery.control'),
    mode: fc.constantFrom('charge', 'auto'),
    socPct: fc.constantFrom(11, 89),
  }),
  fc.record({
    kind: fc.constant('pv.shading'),
    shading: fc.constantFrom(null, { shadedShare: 0.5, irradianceShare: 0.2 }),
  }),
  fc.record({
    kind: fc.constant('flow'),
    floorW: fc.constantFrom(null, -800),
    ceilingW: fc.constantFrom(null, 800),
    rampS: fc.constantFrom(0, 20),
    fromGrid: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('limit'), dischargeW: fc.constantFrom(null, 700) }),
  fc.record({ kind: fc.constantFrom('clear', 'restart') }),
);

type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

/** A command that conflicts with the state changes nothing. */
function command(source: HybridSource, given: SourceCommand): void {
  try {
    source.command(given);
  } catch (error) {
    expect(error).to.be.instanceOf(SimError).with.property('code', 'COMMAND_CONFLICT');
  }
}

function drive(source: HybridSource, each: Act): void {
  switch (each.kind) {
    case 'step': {
      const { dtS, irradianceWm2, loadW, targetW, ceilingW, energized } = each;
      source.prepare(Math.min(dtS, source.maxStepS), { ...weather, irradianceWm2, loadW });
      source.draw(source.answer({ targetW, floorW: -6000, ceilingW }), energized);
      break;
    }
    case 'jump':
      source.weatherJumps({ ...weather, irradianceWm2: each.irradianceWm2 });
      break;
    case 'draw':
      source.draw(Math.max(-source.absorbableDcW, Math.min(source.availableDcW, each.dcW)), true);
      break;
    case 'follow':
      // no time passes: the load is that of the last sub-step
      source.draw(source.answer({ targetW: null, floorW: -6000, ceilingW: 8000 }), true);
      break;
    case 'flow':
      source.boundFlow({ ...each, floorW: each.floorW ?? -Infinity, ceilingW: each.ceilingW ?? Infinity });
      break;
    case 'limit':
      source.dischargeLimitDcW = each.dischargeW ?? Infinity;
      break;
    case 'clear':
      source.clearFaults();
      break;
    case 'restart':
      source.restart();
      break;
    default:
      command(source, each);
  }
}

/** As one text: a comparison of objects takes longer than the simulation. */
function observe(source: HybridSource): string {
  const { availableDcW, absorbableDcW, dischargeLimitDcW, dischargeLimited, policy } = source;
  const { starting, settled, maxStepS, ports } = source;
  return JSON.stringify(
    toExactJson({
      powers: { availableDcW, absorbableDcW, dischargeLimitDcW, dischargeLimited, policy },
      steps: { starting, settled, maxStepS },
      ports: ports.map(({ voltageV, currentA, powerW }) => [voltageV, currentA, powerW]),
      conditions: [...source.conditions],
      detail: source.detail(),
      tree: source.tree(),
      curve: source.curve(0, 4),
    }),
  );
}

describe('state of a DC-coupled hybrid that a restart keeps', () => {
  it('goes on as without the restart', () => {
    holds(
      'a hybrid after a restart',
      [fc.array(act, { minLength: 2, maxLength: 20, size: 'max' }), fc.nat()],
      (way, cut) => {
        const before = cut % (way.length + 1);
        expectContinuation({
          make: hybrid,
          drive: (source, at) => {
            drive(source, way[at]!);
          },
          observe,
          before,
          after: way.length - before,
        });
      },
      { runs: 60 },
    );
  });
});
