import { expect } from 'chai';
import fc from 'fast-check';
import { ActiveFault } from '../../../src/core/faults/active-fault.ts';
import type { FaultKind } from '../../../src/core/faults/kinds.ts';
import {
  bitsFault,
  dynamicScaleFault,
  falsifyFault,
  falsifySwitches,
  freezeFault,
  lagFault,
  noiseFault,
  notImplementedFault,
  scaleFault,
  valueFault,
  shiftFault,
  ignoreWriteFault,
  lateWriteFault,
} from '../../../src/fault-kinds/modbus-map.ts';
import { delayFault } from '../../../src/fault-kinds/modbus-transport.ts';
import { FaultyMaps } from '../../../src/sunspec/faults/faulty-map.ts';
import type { FaultyMap } from '../../../src/sunspec/faults/faulty-map.ts';
import { SimError } from '../../../src/core/errors.ts';
import type { FaultExtras } from '../../support/faults.ts';
import { FaultyMapRig } from '../../support/faulty-map.ts';
import { codeOf, createTestBank, words } from '../../support/map.ts';
import { holds } from '../../support/property.ts';

type Parameters = Readonly<Record<string, unknown>>;
type AnyFault = readonly [FaultKind, Parameters, FaultExtras];

/** Counts how often anything asks a fault for its protocol or its devices. */
function countLooks() {
  let looks = 0;
  const faults = ActiveFault.prototype;
  const [protocol, concerns] = ['protocol', 'concerns'].map((name) => Object.getOwnPropertyDescriptor(faults, name));
  Object.defineProperty(faults, 'protocol', {
    configurable: true,
    get(this: ActiveFault) {
      looks += 1;
      return this.facts.kind.protocol;
    },
  });
  Object.defineProperty(faults, 'concerns', {
    configurable: true,
    value(this: ActiveFault, index: number) {
      looks += 1;
      return this.facts.deviceIndex === null || this.facts.deviceIndex === index;
    },
  });
  return {
    of(act: () => unknown) {
      const before = looks;
      act();
      return looks - before;
    },
    end() {
      Object.defineProperties(faults, { ...(protocol && { protocol }), ...(concerns && { concerns }) });
    },
  };
}

describe('a register map behind faults', () => {
  const rig = new FaultyMapRig();
  const { layout } = rig.map;
  beforeEach(() => {
    rig.bench.registry.clear();
  });
  after(() => {
    rig.end();
  });

  const numbers = layout.slots
    .filter(({ def, implemented }) => implemented && def.sf !== undefined)
    .map(({ modelId, path }) => `${modelId}.${path}`);
  const number = fc.constantFrom(...numbers);
  const target = fc.oneof(
    number.map((name): FaultExtras => ({ target: { points: [name] } })),
    fc.constantFrom('701', '702', '714', '705.Crv[1]').map((name): FaultExtras => ({ target: { points: [name] } })),
    fc
      .tuple(fc.integer({ min: 40_070, max: 41_000 }), fc.integer({ min: 20, max: 60 }))
      .map(([address, count]): FaultExtras => ({ target: { registers: { address, count } } })),
  );
  const value = fc.oneof(
    fc.double({ min: -1e12, max: 1e12, noNaN: true }).map((each) => ({ value: each })),
    fc.constantFrom('min', 'max', 'zero').map((extreme) => ({ extreme })),
  );
  const anyFault = fc.oneof<fc.Arbitrary<AnyFault>[]>(
    target.map((at) => [freezeFault, {}, at] as const),
    target.map((at) => [notImplementedFault, {}, at] as const),
    fc
      .tuple(number, value)
      .map(([name, parameters]) => [valueFault, parameters, { target: { points: [name] } }] as const),
    fc
      .tuple(number, fc.double({ min: -1e6, max: 1e6, noNaN: true }))
      .map(([name, factor]) => [scaleFault, { factor }, { target: { points: [name] } }] as const),
    fc
      .tuple(number, fc.double({ min: 0, max: 1e15, noNaN: true }))
      .map(([name, amplitude]) => [noiseFault, { amplitude }, { target: { points: [name] } }] as const),
    target.map((at) => [lagFault, { delay_s: 2 }, at] as const),
    fc
      .integer({ min: 0, max: 30 })
      .map((bit) => [bitsFault, { set: [bit] }, { target: { points: ['701.Alrm'] } }] as const),
    fc
      .tuple(fc.constantFrom('701.W_SF', '701.V_SF', '701.TotWh_SF', '714.DCW_SF'), fc.integer({ min: -10, max: 10 }))
      .map(([scale, shift]) => [dynamicScaleFault, { scale_factor: scale, steps: [{ shift }] }, {}] as const),
    fc.constantFrom(...falsifySwitches).map((name) => [falsifyFault, { switch: name }, {}] as const),
  );
  const someFaults = fc.array(anyFault, { minLength: 1, maxLength: 6 });

  function inject(faults: readonly AnyFault[]): void {
    rig.bench.registry.clear();
    for (const [kind, parameters, extras] of faults) rig.inject(kind, parameters, extras);
  }

  it('never changes the registers themselves', () => {
    const before = rig.map.dump();
    holds(
      'registers stay as they are',
      someFaults,
      (faults) => {
        inject(faults);
        rig.all();
        rig.read(layout.base + 80, 100);
        expect(rig.map.dump().equals(before)).to.equal(true);
        rig.bench.registry.clear();
        expect(rig.all().equals(before)).to.equal(true);
      },
      { runs: 150 },
    );
  });

  it('shows whole points: a read of a part has the octets of a read of all', () => {
    const long = layout.slots.filter(({ def, implemented }) => implemented && def.size > 1);
    holds(
      'reads show whole points',
      [someFaults, fc.constantFrom(...long), fc.nat(), fc.nat()],
      (faults, slot, from, more) => {
        inject(faults);
        const {
          address,
          def: { size },
        } = slot;
        const skipped = from % size;
        const count = 1 + (more % (size - skipped));
        const whole = rig.read(address, size);
        expect(rig.read(address + skipped, count).equals(whole.subarray(2 * skipped, 2 * (skipped + count)))).to.equal(
          true,
        );
      },
      { runs: 150 },
    );
  });

  it('shows changed points only, whatever the span', () => {
    holds(
      'only chosen points change',
      [fc.integer({ min: 0, max: layout.size - 126 }), fc.integer({ min: 1, max: 125 })],
      (skipped, count) => {
        inject([[scaleFault, { factor: 2 }, { target: { points: ['701.W', '701.TotWhInj', '714.DCW'] } }]]);
        const part = rig.read(layout.base + skipped, count);
        expect(part.equals(rig.all().subarray(2 * skipped, 2 * (skipped + count)))).to.equal(true);
      },
      { runs: 100 },
    );
  });

  it('is the same for the same seed and the same requests', () => {
    holds(
      'the same for the same seed',
      someFaults,
      (faults) => {
        const seen = [new FaultyMapRig(), new FaultyMapRig()].map((each) => {
          for (const [kind, parameters, extras] of faults)
            each.inject(kind, parameters, { ...extras, probability: 0.7 });
          const series: string[] = [];
          while (series.length < 4) {
            each.tick(1, ({ m701 }) => {
              m701.W = 12_340;
            });
            series.push(each.all().toString('hex'));
          }
          each.end();
          return series;
        });
        expect(seen[0]).to.deep.equal(seen[1]);
      },
      { runs: 20 },
    );
  });

  it('takes writes past the faults of acceptance', () => {
    rig.inject(ignoreWriteFault, {}, { target: { points: ['704.WMaxLimPct'] } });
    rig.map.set({ '704.WMaxLimPct': 100 });
    const { address } = rig.slot('704.WMaxLimPct');
    rig.write(address, words(400));
    expect(rig.map.value('704.WMaxLimPct')).to.equal(100);
    rig.bench.registry.clear();
    rig.inject(lateWriteFault, { delay_s: 5 });
    rig.write(address, words(300));
    expect(rig.map.value('704.WMaxLimPct')).to.equal(100);
    rig.tick(5);
    expect(rig.map.value('704.WMaxLimPct')).to.equal(30);
  });

  it('remembers what has not landed when all faults are over', () => {
    rig.map.set({ '704.WMaxLimPct': 100 });
    rig.inject(lateWriteFault, { delay_s: 5 }, { count: 1 });
    rig.write(rig.slot('704.WMaxLimPct').address, words(200));
    expect(rig.access).to.equal(null);
    rig.tick(5);
    expect(rig.map.value('704.WMaxLimPct')).to.equal(20);
  });

  it('stays out of the way for faults of the wire and of other devices', () => {
    rig.inject(delayFault, { delay_ms: 5 });
    expect(rig.access).to.equal(null);
  });

  it('asks for rights by the addresses of the map, before anything else', () => {
    rig.inject(shiftFault, { model: 701, registers: 7 });
    const asked: (readonly [number, number])[] = [];
    const permit = (address: number, count: number) => {
      asked.push([address, count]);
    };
    const { address } = rig.slot('701.W');
    rig.access?.read(address + 7, 2, permit);
    rig.access?.read(rig.slot('701.ID').address - 1, 10, permit);
    rig.access?.write(rig.slot('704.WMaxLimPct').address + 7, words(500), { source: 'modbus' }, permit);
    const frame = rig.slot('701.ID').address;
    expect(asked).to.deep.equal([
      [address, 2],
      [frame - 1, 1],
      [frame, 2],
      [rig.slot('704.WMaxLimPct').address, 1],
    ]);
    const refuse = () => {
      throw new SimError('ACCESS_DENIED', 'no');
    };
    const before = rig.map.dump();
    expect(codeOf(() => rig.access?.read(address, 1, refuse))).to.equal('ACCESS_DENIED');
    expect(
      codeOf(() => rig.access?.write(rig.slot('704.WMaxLimPct').address + 7, words(1), { source: 'modbus' }, refuse)),
    ).to.equal('ACCESS_DENIED');
    expect(rig.map.dump().equals(before)).to.equal(true);
    // what is not there is no secret to be had without rights
    for (const at of [0, 39_999, 60_000]) {
      expect(codeOf(() => rig.access?.read(at, 1, refuse))).to.equal('ACCESS_DENIED');
      expect(codeOf(() => rig.access?.write(at, words(1), { source: 'modbus' }, refuse))).to.equal('ACCESS_DENIED');
    }
    expect(codeOf(() => rig.access?.write(60_000, words(1), { source: 'modbus' }, permit))).to.equal(
      'MAP_ILLEGAL_ADDRESS',
    );
  });

  it('is one for all who serve a device, and gone with the last of them', () => {
    const maps = new FaultyMaps(rig.faults);
    const seen: (FaultyMap | null)[] = [null, null];
    const device = { index: 0, bank: createTestBank().bank };
    const [endFirst, endSecond] = [
      maps.follow(device, (map) => {
        seen[0] = map;
      }),
      maps.follow(device, (map) => {
        seen[1] = map;
      }),
    ];
    rig.inject(freezeFault, {}, { target: { points: ['701'] } });
    expect(seen[0]).to.equal(seen[1]).and.to.be.an('object');
    endFirst();
    rig.bench.registry.clear();
    expect([seen[0] === null, seen[1]]).to.deep.equal([false, null]);
    endSecond();
    rig.inject(freezeFault, {}, { target: { points: ['701'] } });
    expect(seen[1]).to.equal(null);
    expect(rig.listening).to.equal(1);
  });

  it('keeps what each fault knows while others come and go', () => {
    const shown = () => rig.access?.read(rig.slot('701.W').address, 1).readInt16BE() ?? null;
    const [first, second, third] = [1, 2, 3].map((kilowatts) => {
      rig.tick(1, (map) => {
        map.m701.W = 1000 * kilowatts;
      });
      const fault = rig.inject(freezeFault);
      return {
        ends: () => rig.bench.registry.clear({ id: fault.facts.id }),
        shows: rig.map.bank.read(rig.slot('701.W').address, 1).readInt16BE(),
      };
    });
    rig.tick(1, (map) => {
      map.m701.W = 4000;
    });
    expect(new Set([first?.shows, second?.shows, third?.shows]).size).to.equal(3);
    expect(shown()).to.equal(third?.shows);
    second?.ends();
    expect(shown()).to.equal(third?.shows);
    third?.ends();
    expect(shown()).to.equal(first?.shows);
  });

  it('costs a change no look at the faults that it does not name', () => {
    const maps = new FaultyMaps(rig.faults);
    const { bank } = createTestBank();
    const ends = Array.from({ length: 3 }, (_, index) => maps.follow({ index, bank }, () => undefined));
    const looks = countLooks();
    const inject = () => rig.inject(freezeFault, {}, { target: { points: ['701.W'] } });
    const costs = Array.from({ length: 50 }, () => looks.of(inject));
    expect(costs[0]).to.be.greaterThan(0);
    expect(new Set(costs.slice(1)), 'the same however many there are').to.deep.equal(new Set([costs[1]]));
    const [oldest] = rig.bench.registry.active;
    const one = looks.of(() => rig.bench.registry.clear({ id: oldest?.facts.id ?? 0 }));
    const others = rig.bench.registry.active.length;
    expect([one > 0, others]).to.deep.equal([true, costs.length - 1]);
    expect(looks.of(() => rig.bench.registry.clear())).to.be.at.most(others * one);
    looks.end();
    for (const end of ends) end();
  });

  it('is there at once for a device that joins under faults', () => {
    rig.inject(notImplementedFault, {}, { target: { points: ['701.W'] } });
    let seen: FaultyMap | null = null;
    const { bank } = createTestBank();
    const end = new FaultyMaps(rig.faults).follow({ index: 3, bank }, (map) => {
      seen = map;
    });
    expect((seen as FaultyMap | null)?.read(rig.slot('701.W').address, 1).toString('hex')).to.equal('8000');
    end();
  });
});

describe('FaultyMap.peek', () => {
  const shown: readonly AnyFault[] = [
    [scaleFault, { factor: 2 }, { target: { points: ['701.W'] } }],
    [scaleFault, { factor: 3 }, { target: { points: ['701.W'] }, every: 3 }],
    [noiseFault, { amplitude: 500 }, { target: { points: ['701.W'] }, probability: 0.5 }],
    [notImplementedFault, {}, { target: { points: ['701.W'] }, count: 4, every: 5 }],
    [shiftFault, { model: 702, registers: 3 }, { every: 4 }],
  ];

  it('shows what the next read shows, and neither counts an occasion nor changes later reads', () => {
    const [rig, other] = [new FaultyMapRig(), new FaultyMapRig()];
    for (const [kind, parameters, extras] of shown)
      for (const each of [rig, other]) each.inject(kind, parameters, { ...extras, seed: 5 });
    const { address } = rig.slot('701.W');
    const seen = new Set<string>();
    for (let read = 0; read < 40; read += 1) {
      const peeked = [0, 1].map(() => rig.access?.peek(address, 1).toString('hex'));
      const next = rig.hex('701.W');
      expect(peeked).to.deep.equal([next, next]);
      expect(other.hex('701.W')).to.equal(next);
      seen.add(next);
      if (read % 10 === 9) for (const each of [rig, other]) each.tick();
    }
    expect(seen.size).to.be.greaterThan(4);
    const counts = ({ bench: { registry } }: FaultyMapRig) => registry.active.map(({ occasions }) => occasions);
    expect(counts(rig)).to.deep.equal(counts(other));
  });

  it('is refused as the read would be', () => {
    const rig = new FaultyMapRig();
    rig.inject(shiftFault, { model: 702, registers: 3 });
    expect(codeOf(() => rig.access?.peek(20, 1))).to.equal('MAP_ILLEGAL_ADDRESS');
  });
});
