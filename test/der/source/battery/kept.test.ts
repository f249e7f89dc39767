import { expect } from 'chai';
import fc from 'fast-check';
import { SimError } from '../../../../src/core/errors.ts';
import { toExactJson } from '../../../../src/core/kept.ts';
import type { SourceCommand } from '../../../../src/contract/device.ts';
import { cellSpecs } from '../../../../src/der/source/battery/cell-spec.ts';
import type { BatteryPort } from '../../../../src/der/source/battery/battery-port.ts';
import { expectContinuation } from '../../../support/continuation.ts';
import { codeOf } from '../../../support/map.ts';
import { holds } from '../../../support/property.ts';
import { battery, run, step, weather, wide } from './rig.ts';

/** Small and fast banks, whose cells differ so much that some are always balanced. */
const bank = fc.record({
  chemistry: fc.constantFrom('nmc', 'lfp'),
  capacityWh: fc.constant(500),
  powerW: fc.constant(5000),
  socPct: fc.constantFrom(12, 50, 88),
  bounds: fc.constantFrom([0, 100], [10, 90]),
  strings: fc.integer({ min: 1, max: 3 }),
  modules: fc.integer({ min: 1, max: 2 }),
  cells: fc.integer({ min: 2, max: 3 }),
  cycleLife: fc.constantFrom(null, 1),
  socDrift: fc.option(fc.constant({ perCyclePct: 2, perDayPct: 50 })),
  thermalTimeConstantS: fc.constantFrom(60, 7200),
});

const spread = { capacityShare: 0.02, resistanceShare: 0.1, socShare: 0.02, temperatureK: 1, moduleGradientK: 2 };

type Bank = typeof bank extends fc.Arbitrary<infer T> ? T : never;

function create({ bounds, ...parameters }: Bank): BatteryPort {
  const [socMinPct = 0, socMaxPct = 100] = bounds;
  return battery(
    { ...parameters, socMinPct, socMaxPct, socReserveMinPct: socMinPct, socReserveMaxPct: socMaxPct },
    { spec: { ...cellSpecs[parameters.chemistry], spread } },
  );
}

const limitW = fc.constantFrom(null, 700);

const act = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('step'),
      dtS: fc.constantFrom(0.5, 1, 3, 10, 40),
      targetW: fc.constantFrom(null, -5000, -1000, 0, 800, 5000),
      ambientTemperatureC: fc.constantFrom(25, 45, -15),
      cellTemperatureC: fc.constantFrom(null, null, null, null, 25, 70),
      frequencySupport: fc.constantFrom(false, false, true),
      energized: fc.constantFrom(true, true, true, false),
    }),
  },
  fc.record(
    {
      kind: fc.constant('battery.control'),
      mode: fc.constantFrom('charge', 'discharge', 'idle', 'auto'),
      powerW: fc.constantFrom(null, 400, 6000),
      durationS: fc.constantFrom(null, 2, 15),
      socPct: fc.constantFrom(0.5, 11, 89, 99.5),
      strings: fc
        .tuple(fc.nat(2), fc.constantFrom('open', 'closed'))
        .map(([index, contactor]) => [{ index, contactor }]),
    },
    { requiredKeys: ['kind'] },
  ),
  fc.record({
    kind: fc.constant('battery.reserve'),
    minPct: fc.constantFrom(10, 20, 50),
    maxPct: fc.constantFrom(50, 80, 90),
  }),
  fc.record({ kind: fc.constant('battery.connect'), connect: fc.boolean() }),
  fc.record({
    kind: fc.constant('flow'),
    floorW: fc.constantFrom(null, -600, 300),
    ceilingW: fc.constantFrom(null, 2000, 400),
    rampS: fc.constantFrom(0, 5, 30),
    fromGrid: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('limit'), dischargeW: limitW, chargeW: limitW }),
  fc.record({ kind: fc.constant('draw'), dcW: fc.constantFrom(-300, 0, 200) }),
  fc.record({ kind: fc.constantFrom('clear', 'clear', 'restart') }),
);

type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

/** A command that conflicts with the state of the battery changes nothing. */
function command(port: BatteryPort, given: SourceCommand): void {
  try {
    port.command(given);
  } catch (error) {
    expect(error).to.be.instanceOf(SimError).with.property('code').that.does.not.equal('INTERNAL');
  }
}

function drive(port: BatteryPort, each: Act): void {
  switch (each.kind) {
    case 'step': {
      const { dtS, targetW, energized, ambientTemperatureC, cellTemperatureC, frequencySupport } = each;
      port.prepare(Math.min(dtS, port.maxStepS), {
        ...weather,
        ambientTemperatureC,
        cellTemperatureC,
        frequencySupport,
      });
      port.draw(port.answer({ targetW, ...wide }), energized);
      break;
    }
    case 'flow':
      port.boundFlow({ ...each, floorW: each.floorW ?? -Infinity, ceilingW: each.ceilingW ?? Infinity });
      break;
    case 'limit':
      port.dischargeLimitDcW = each.dischargeW ?? Infinity;
      port.chargeLimitDcW = each.chargeW ?? Infinity;
      break;
    case 'draw':
      port.draw(each.dcW, true);
      break;
    case 'clear':
      port.clearFaults();
      break;
    case 'restart':
      port.restart();
      break;
    default:
      command(port, each);
  }
}

/** As one text: a comparison of objects takes longer than the simulation. */
function observe(port: BatteryPort): string {
  const { availableDcW, absorbableDcW, dischargeLimited, settled, starting, maxStepS, lossWh, ports } = port;
  return JSON.stringify(
    toExactJson({
      // before `detail`, which assesses the cells anew
      powers: { availableDcW, absorbableDcW, dischargeLimited },
      steps: { settled, starting, maxStepS, lossWh },
      answers: [-900, 900].map((targetW) => port.answer({ targetW, ...wide })),
      ports: ports.map(({ voltageV, currentA, powerW }) => [voltageV, currentA, powerW]),
      conditions: [...port.conditions],
      detail: port.detail(),
      tree: port.tree(),
      curve: port.curve(0, 3),
    }),
  );
}

describe('state of a battery that a restart keeps', () => {
  it('goes on as without the restart', () => {
    holds(
      'a battery after a restart',
      [bank, fc.array(act, { minLength: 2, maxLength: 25, size: 'max' }), fc.nat()],
      (parameters, way, cut) => {
        const before = cut % (way.length + 1);
        expectContinuation({
          make: () => create(parameters),
          drive: (port, at) => {
            drive(port, way[at]!);
          },
          observe,
          before,
          after: way.length - before,
        });
      },
      { runs: 60 },
    );
  });

  it('blocks the discharge at a reserve until the hysteresis is over', () => {
    expectContinuation({
      make: () => battery({ socPct: 31, socReserveMinPct: 15, modules: 1, cells: 3 }),
      drive: (port, at) => {
        if (at === 0) port.command({ kind: 'battery.reserve', minPct: 30, maxPct: 90 });
        if (at === 1) run(port, 200, 1, 9000);
        else step(port, 1, at % 20 < 16 ? -9000 : 500);
      },
      observe,
      before: 5,
      after: 120,
    });
  });

  it('closes a string at the end of its pre-charge, or reports that its voltage never fits', () => {
    for (const chargedW of [0, 9000])
      for (const before of [1, 3, 4, 8, 37])
        expectContinuation({
          make: () => battery({ modules: 1, cells: 3 }),
          drive: (port, at) => {
            const contactor = at < 2 ? 'open' : 'closed';
            port.command({ kind: 'battery.control', strings: [{ index: 1, contactor }] });
            // a charge without the open string
            if (at === 1) run(port, 1200, 10, -chargedW);
            else step(port, 0.9, 500);
          },
          observe,
          before,
          after: 10,
        });
  });

  it('is limited by the cells that balancing has left at the top', () => {
    const changes = { capacityWh: 500, powerW: 5000, socMinPct: 0, socReserveMinPct: 0, strings: 1, modules: 1 };
    for (const seed of [1, 2, 3, 4, 5])
      expectContinuation({
        make: () => battery({ socPct: 88, cells: 8, ...changes }, { spec: { ...cellSpecs.nmc, spread } }, seed),
        drive: (port, at) => {
          if (at === 0) run(port, 36_000, 60, 0);
          else step(port, 1, at % 4 < 2 ? -5000 : 5000);
        },
        observe,
        before: 1,
        after: 15,
      });
  });

  it('has no standby at the floor', () => {
    expectContinuation({
      make: () => battery({ socPct: 10.1, modules: 1, cells: 3 }),
      drive: (port, at) => {
        if (at === 0) run(port, 7200, 10, 0);
        else port.draw(0, true);
      },
      observe,
      before: 1,
      after: 1,
    });
  });

  it('has as many cells as the bank', () => {
    const saved = battery({ cells: 15 }).kept().save();
    expect(
      codeOf(() => {
        battery().kept().restore(saved);
      }),
    ).to.equal('INTERNAL');
  });
});
