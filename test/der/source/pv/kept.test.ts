import { expect } from 'chai';
import fc from 'fast-check';
import { toExactJson } from '../../../../src/core/kept.ts';
import { PvInputs, PvPort } from '../../../../src/der/source/pv/port.ts';
import { pvModules } from '../../../../src/der/source/pv/module.ts';
import type { PvConfig } from '../../../../src/der/source/pv/array.ts';
import type { DcSource, SourceInput } from '../../../../src/der/source/source.ts';
import { real } from '../../../support/arbitrary.ts';
import { expectContinuation, throughFile } from '../../../support/continuation.ts';
import { codeOf } from '../../../support/map.ts';
import { holds } from '../../../support/property.ts';

const config: PvConfig = {
  module: pvModules['DATASHEET-270'],
  seriesCount: 20,
  parallelCount: 18.5,
  minDcVoltageV: 300,
  maxDcVoltageV: 750,
};

const configs = {
  usual: config,
  strong: { ...config, startPowerW: 40_000, startSeconds: 5 },
  // the maximum power point lies below the window
  edge: { ...config, minDcVoltageV: 620 },
  local: { ...config, tracker: 'local', shading: { shadedShare: 0.3, irradianceShare: 0.4 } },
} as const satisfies Record<string, PvConfig>;

interface Weather {
  readonly irradianceWm2: number;
  readonly ambientTemperatureC: number;
  readonly cellTemperatureC: number | null;
}

const inputOf = ({ irradianceWm2, ambientTemperatureC, cellTemperatureC }: Weather): SourceInput => ({
  irradianceWm2,
  ambientTemperatureC,
  cellTemperatureC,
  windSpeedMS: 2,
  planesWm2: [irradianceWm2, irradianceWm2 / 3],
  terminalPu: 1,
  phaseLnV: [230, 230, 230],
  loadW: 0,
  frequencySupport: false,
  rate: 1,
});

const weather: fc.Arbitrary<Weather> = fc.record({
  irradianceWm2: fc.oneof(fc.constantFrom(0, 400, 1000), fc.constantFrom(0, 1000), real(0, 1100)),
  ambientTemperatureC: fc.constantFrom(-10, 25),
  cellTemperatureC: fc.constantFrom(null, 40),
});

const act = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('step'),
      dtS: fc.constantFrom(0.1, 1, 1, 4, 60),
      share: fc.constantFrom(0, 0.4, 1),
      energized: fc.constantFrom(true, true, false),
      weather,
    }),
  },
  fc.record({ kind: fc.constant('jump'), weather }),
  fc.record({
    kind: fc.constant('shade'),
    input: fc.constantFrom(null, 0, 1),
    shading: fc.option(fc.record({ shadedShare: fc.constantFrom(0.2, 0.5), irradianceShare: fc.constantFrom(0, 0.3) })),
  }),
  fc.record({ kind: fc.constant('draw'), share: fc.constantFrom(0, 0.4, 1) }),
  fc.record({ kind: fc.constant('settle'), weather }),
  fc.record({ kind: fc.constant('restart') }),
);

type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

/** Changes of the weather are rare, so that a tracker also follows a constant goal. */
const acts = fc
  .tuple(fc.array(fc.tuple(act, fc.nat(3)), { minLength: 2, maxLength: 20, size: 'max' }), weather)
  .map(([list, first]): Act[] => {
    let steady = first;
    return list.map(([each, change]) => {
      if (each.kind !== 'step') return each;
      if (change === 0) steady = each.weather;
      return { ...each, weather: steady };
    });
  });

function drive(source: DcSource, each: Act, inputs: number): void {
  switch (each.kind) {
    case 'step':
      source.prepare(each.dtS, inputOf(each.weather));
      source.draw(each.share * source.availableDcW, each.energized);
      break;
    case 'jump':
      source.weatherJumps?.(inputOf(each.weather));
      break;
    case 'shade': {
      const { shading, input } = each;
      source.command({ kind: 'pv.shading', shading, ...(input !== null && input < inputs && { input }) });
      break;
    }
    case 'draw':
      source.draw(each.share * source.availableDcW, true);
      break;
    case 'settle':
      source.settle(inputOf(each.weather));
      break;
    case 'restart':
      source.restart();
  }
}

/** As one text: a comparison of objects takes longer than the simulation. */
function observe(source: DcSource): string {
  const { availableDcW, settled, starting, ports } = source;
  return JSON.stringify(
    toExactJson({
      detail: source.detail(),
      curves: ports.map((_, i) => source.curve(i, 5)),
      availableDcW,
      settled,
      starting,
      ports: ports.map(({ voltageV, currentA, powerW, conditions }) => [voltageV, currentA, powerW, [...conditions!]]),
    }),
  );
}

/** @param start weather in which the array settles first; null: it does not */
function continues(create: () => DcSource, start: Weather | null, way: readonly Act[], cut: number): void {
  const before = cut % (way.length + 1);
  expectContinuation({
    make: () => {
      const source = create();
      if (start) source.settle(inputOf(start));
      return source;
    },
    drive: (source, step) => {
      drive(source, way[step]!, source.ports.length);
    },
    observe,
    before,
    after: way.length - before,
  });
}

const inputs = Object.entries(configs).map(([name, array]) => ({ name, ratedW: 1000, array }));

describe('state of a PV array that a restart keeps', () => {
  it('goes on as without the restart', () => {
    holds(
      'an array after a restart',
      [fc.constantFrom(...(Object.keys(configs) as (keyof typeof configs)[])), fc.option(weather), acts, fc.nat()],
      (name, start, way, cut) => {
        continues(() => new PvPort(configs[name]), start, way, cut);
      },
      { runs: 300 },
    );
  });

  it('goes on with several inputs, each in its own plane', () => {
    holds('inputs after a restart', [fc.option(weather), acts, fc.nat()], (start, way, cut) => {
      continues(() => new PvInputs(inputs.slice(0, 2)), start, way, cut);
    });
  });

  it('of an array that has never had light is restored into one that has', () => {
    const create = () => new PvPort({ ...config, startSeconds: 0 });
    const [first, second] = [create(), create()];
    second.settle(inputOf({ irradianceWm2: 1000, ambientTemperatureC: 25, cellTemperatureC: 50 }));
    second.kept().restore(throughFile(first.kept().save()));
    expect(observe(second)).to.deep.equal(observe(first));
    for (const source of [first, second])
      source.prepare(1, inputOf({ irradianceWm2: 800, ambientTemperatureC: 20, cellTemperatureC: null }));
    expect(observe(second)).to.deep.equal(observe(first));
  });

  it('has as many inputs as the array', () => {
    const saved = new PvInputs(inputs).kept().save();
    expect(
      codeOf(() => {
        new PvInputs(inputs.slice(1)).kept().restore(saved);
      }),
    ).to.equal('INTERNAL');
  });
});
