import { expect } from 'chai';
import fc from 'fast-check';
import { SimError } from '../../../src/core/errors.ts';
import { keptParts, keptRecord } from '../../../src/core/kept.ts';
import type { Kept } from '../../../src/core/kept.ts';
import type { FaultKind } from '../../../src/core/faults/kinds.ts';
import {
  alterWriteFault,
  dynamicScaleFault,
  freezeFault,
  lagFault,
  lateWriteFault,
  noiseFault,
  partialWriteFault,
  scaleFault,
  writeLockFault,
} from '../../../src/fault-kinds/modbus-map.ts';
import { cuts, expectContinuation, throughFile } from '../../support/continuation.ts';
import type { FaultExtras } from '../../support/faults.ts';
import { FaultyMapRig } from '../../support/faulty-map.ts';
import { holds } from '../../support/property.ts';

type Act =
  | {
      readonly kind: 'inject';
      readonly fault: readonly [FaultKind, Readonly<Record<string, unknown>>];
      readonly extras: FaultExtras;
    }
  | { readonly kind: 'clear'; readonly fault: FaultKind }
  | { readonly kind: 'tick'; readonly powerW: number }
  | { readonly kind: 'read' }
  | { readonly kind: 'write'; readonly pct: number };

/** The map of a device as a master sees it over a restart. */
class KeptMap extends FaultyMapRig {
  #read = '';
  #refusals = 0;

  kept(): Kept {
    const { map, bench, maps } = this;
    return keptParts({
      rig: keptRecord(
        () => ({ read: this.#read, refusals: this.#refusals, lines: this.lines }),
        ({ read, refusals, lines }) => {
          this.#read = read;
          this.#refusals = refusals;
          this.lines.splice(0, this.lines.length, ...lines);
        },
      ),
      clocks: keptRecord(
        () => ({ map: map.clock.sim(), bench: bench.sim, wallMs: bench.wall.ms }),
        (saved) => {
          map.pass((saved.map - map.clock.sim()) / 1e6);
          bench.sim = saved.bench;
          bench.wall.ms = saved.wallMs;
        },
      ),
      scheduler: map.scheduler.kept(),
      bank: map.bank.kept(),
      registry: bench.registry.kept(),
      maps: maps.kept(),
    });
  }

  do(act: Act): void {
    switch (act.kind) {
      case 'inject':
        this.inject(act.fault[0], act.fault[1], act.extras);
        break;
      case 'clear':
        this.bench.registry.clear({ kind: act.fault.kind });
        break;
      case 'tick':
        this.tick(1, ({ m701 }) => {
          m701.W = act.powerW;
        });
        break;
      case 'read':
        this.#read = this.all().toString('hex');
        break;
      case 'write': {
        const { address } = this.slot('704.WMaxLimPct');
        const words = Buffer.alloc(2);
        words.writeUInt16BE(act.pct * 10);
        try {
          this.write(address, words);
        } catch (error) {
          if (!(error instanceof SimError)) throw error;
          this.#refusals += 1;
        }
        break;
      }
    }
  }

  get seen(): unknown {
    return [this.#read, this.#refusals, this.lines, this.map.bank.image().toString('hex')];
  }
}

const faults: readonly (readonly [FaultKind, Readonly<Record<string, unknown>>])[] = [
  [freezeFault, {}],
  [noiseFault, { amplitude: 500 }],
  [scaleFault, { factor: 1.1 }],
  [dynamicScaleFault, { scale_factor: '701.W_SF', steps: [{ above_pct: 30, shift: 1 }] }],
  [lateWriteFault, { delay_s: 3.5 }],
  [alterWriteFault, { factor: 0.5 }],
  [partialWriteFault, { landing_points: 0 }],
  [writeLockFault, {}],
];

const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('inject' as const),
      fault: fc.constantFrom(...faults),
      extras: fc.constantFrom<FaultExtras>({}, { probability: 0.5 }, { every: 2 }, { count: 2 }, { durationS: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('clear' as const),
      fault: fc.constantFrom(...faults.map(([row]) => row)),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('tick' as const), powerW: fc.nat({ max: 90_000 }) }) },
  { weight: 3, arbitrary: fc.constant<Act>({ kind: 'read' }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('write' as const), pct: fc.nat({ max: 100 }) }) },
);

describe('faults of the map over a restart', () => {
  it('remember frozen values and delayed writes, with what masters see', () => {
    holds('faulty maps go on', [fc.array(acts, { minLength: 8, maxLength: 30 }), cuts], (course, cut) => {
      const before = Math.round(cut * course.length);
      expectContinuation({
        make: () => new KeptMap(),
        drive: (rig, at) => {
          rig.do(course[at]!);
        },
        observe: (rig) => rig.seen,
        before,
        after: course.length - before,
      });
    });
  });

  it('a lag shows its last value until its delay has passed again', () => {
    const first = new KeptMap();
    const power = (rig: KeptMap, powerW: number, ticks: number) => {
      for (let i = 0; i < ticks; i += 1) rig.do({ kind: 'tick', powerW });
    };
    first.inject(lagFault, { delay_s: 5 });
    power(first, 10_000, 8);
    power(first, 20_000, 2);
    expect(first.shown('701.W')).to.equal(10_000);
    const second = new KeptMap();
    second.kept().restore(throughFile(first.kept().save()));
    const values: (number | null)[] = [];
    for (let i = 0; i < 8; i += 1) {
      power(second, 30_000, 1);
      values.push(second.shown('701.W'));
    }
    expect(values).to.deep.equal([10_000, 10_000, 10_000, 10_000, 10_000, 30_000, 30_000, 30_000]);
  });

  it('a delayed write lands although its fault is over', () => {
    const first = new KeptMap();
    first.inject(lateWriteFault, { delay_s: 10 }, { count: 1 });
    first.do({ kind: 'write', pct: 42 });
    const second = new KeptMap();
    second.kept().restore(throughFile(first.kept().save()));
    const limit = () => second.map.bank.value(second.slot('704.WMaxLimPct'));
    const before = limit();
    second.do({ kind: 'tick', powerW: 0 });
    expect(limit()).to.equal(before);
    second.tick(10);
    expect([before === 42, limit()]).to.deep.equal([false, 42]);
  });
});
