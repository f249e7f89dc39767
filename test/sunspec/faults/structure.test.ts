import { expect } from 'chai';
import fc from 'fast-check';
import type { FaultKind } from '../../../src/core/faults/kinds.ts';
import {
  baseFault,
  chainEndFault,
  commonLength65Fault,
  hideModelFault,
  modelIdFault,
  modelLengthFault,
  shiftFault,
  exceptionCodeFault,
  scaleFault,
  strictPointsFault,
} from '../../../src/fault-kinds/modbus-map.ts';
import { bytesOf, shapeOf, isReal, room } from '../../../src/sunspec/faults/structure.ts';
import { buildLayout } from '../../../src/sunspec/map/layout.ts';
import type { ModelChoice } from '../../../src/sunspec/map/layout.ts';
import { m1 } from '../../../src/sunspec/models/m001.ts';
import { m213 } from '../../../src/sunspec/models/m213.ts';
import { m715 } from '../../../src/sunspec/models/m715.ts';
import { exceptionOf } from '../../../src/sunspec/modbus/server/unit.ts';
import { FaultBench } from '../../support/faults.ts';
import { FaultyMapRig } from '../../support/faulty-map.ts';
import { codeOf, errorOf, mapLayout, named, words } from '../../support/map.ts';
import { holds } from '../../support/property.ts';

type Parameters = Readonly<Record<string, unknown>>;

/** A walk along the chain, as any master does it: model ids, and what ends it. */
function walk(rig: FaultyMapRig, base = rig.map.layout.base): string {
  const word = (address: number) => rig.read(address, 1).readUInt16BE(0);
  const met: string[] = [];
  try {
    if (rig.read(base, 2).toString('latin1') !== 'SunS') return 'no marker';
    for (let at = base + 2; met.length < 40; ) {
      const id = word(at);
      if (id === 0xffff) return [...met, 'end'].join(' ');
      const length = word(at + 1);
      if (id === 0 && length === 0) return [...met, 'zeros'].join(' ');
      met.push(length === lengths.get(id) ? String(id) : `${id}:${length}`);
      at += 2 + length;
    }
    return [...met, '...'].join(' ');
  } catch (error) {
    return [...met, `exception ${exceptionOf(error) ?? 'none'}`].join(' ');
  }
}

const lengths = new Map(mapLayout().models.map(({ def, length }) => [def.id, length]));
const chain = '1 701 702 703 704 705 706 707 708 709 710 711 712 713 714 715 end';

describe('faults in the chain of models', () => {
  let rig: FaultyMapRig;
  beforeEach(() => {
    rig = new FaultyMapRig();
  });
  afterEach(() => {
    rig.end();
  });

  it('is whole without any', () => {
    expect(walk(rig)).to.equal(chain);
  });

  const rows: readonly (readonly [string, readonly (readonly [FaultKind, Parameters])[], string, number?])[] = [
    ['the map at 0', [[baseFault, { address: 0 }]], chain, 0],
    ['the map at 50000', [[baseFault, { address: 50_000 }]], chain, 50_000],
    ['nothing where the map was', [[baseFault, { address: 0 }]], 'exception 2', 40_000],
    [
      'the later of two bases',
      [
        [baseFault, { address: 0 }],
        [baseFault, { address: 50_000 }],
      ],
      chain,
      50_000,
    ],
    ['model 1 without its pad', [[commonLength65Fault, {}]], chain.replace('1 ', '1:65 ')],
    // 703 registers further on stands a point that is not implemented: it looks like the end
    ['a length of 65 that is none', [[modelLengthFault, { model: 1, length: 65 }]], '1:65 32768:701 end'],
    [
      'a model that says it reaches beyond the map',
      [[modelLengthFault, { model: 713, length: 1000 }]],
      chain.replace('713 714 715 end', '713:1000 exception 2'),
    ],
    ['registers of nobody before a model', [[shiftFault, { model: 701, registers: 1 }]], '1 32768:701 end'],
    [
      'registers of nobody with a length of their own',
      [[shiftFault, { model: 702, registers: 3, fill: 9999 }]],
      '1 701 9999:9999 exception 2',
    ],
    ['registers of nobody that end the chain', [[shiftFault, { model: 701, registers: 2, fill: 0xffff }]], '1 end'],
    [
      'a model over the end of the one before',
      [[shiftFault, { model: 702, registers: -1 }]],
      '1 701 50:10000 exception 2',
    ],
    ['an end of zeros', [[chainEndFault, { variant: 'zeros' }]], chain.replace('end', 'zeros')],
    ['an end that is refused', [[chainEndFault, { variant: 'exception' }]], chain.replace('end', 'exception 2')],
    ['an end without a length', [[chainEndFault, { variant: 'absent_length' }]], chain],
    ['a model that is not there', [[hideModelFault, { model: 704 }]], chain.replace('704 ', '')],
    ['no common model', [[hideModelFault, { model: 1 }]], chain.replace('1 ', '')],
    [
      'several that are not there',
      [
        [hideModelFault, { model: 704 }],
        [hideModelFault, { model: 715 }],
      ],
      chain.replace('704 ', '').replace('715 ', ''),
    ],
    ['a model under another number', [[modelIdFault, { model: 701, id: 64_001 }]], chain.replace('701', '64001:153')],
    [
      'both at once',
      [
        [modelIdFault, { model: 701, id: 64_001 }],
        [modelLengthFault, { model: 701, length: 153 }],
        [baseFault, { address: 0 }],
      ],
      chain.replace('701', '64001:153'),
      0,
    ],
  ];
  for (const [title, faults, expected, base] of rows) {
    it(`shows ${title}`, () => {
      for (const [kind, parameters] of faults) rig.inject(kind, parameters);
      expect(walk(rig, base)).to.equal(expected);
      rig.bench.registry.clear();
      expect(walk(rig)).to.equal(chain);
      expect(rig.access).to.equal(null);
    });
  }

  it('stops right behind an end without a length', () => {
    rig.inject(chainEndFault, { variant: 'absent_length' });
    const { base, size } = rig.map.layout;
    expect(rig.read(base + size - 2, 1).toString('hex')).to.equal('ffff');
    expect(codeOf(() => rig.read(base + size - 2, 2))).to.equal('MAP_ILLEGAL_ADDRESS');
    expect(codeOf(() => rig.read(base + size - 1, 1))).to.equal('MAP_ILLEGAL_ADDRESS');
  });

  it('shows registers that belong to nobody, and the model behind them', () => {
    rig.inject(shiftFault, { model: 701, registers: 3, fill: 7 });
    const { address } = rig.slot('701.ID');
    expect(rig.read(address - 1, 6).toString('hex')).to.equal('8000' + '000700070007' + '02bd' + '0099');
  });

  it('reaches the right points with writes, wherever they are', () => {
    const { address } = rig.slot('704.WMaxLimPct');
    const rows: readonly (readonly [FaultKind, Parameters, number])[] = [
      [baseFault, { address: 100 }, -39_900],
      [commonLength65Fault, {}, -1],
      [shiftFault, { model: 702, registers: 5 }, 5],
      [shiftFault, { model: 702, registers: -5 }, -5],
      [hideModelFault, { model: 702 }, -52],
    ];
    rows.forEach(([kind, parameters, moved], i) => {
      rig.inject(kind, parameters);
      rig.write(address + moved, words(900 + i));
      expect(rig.map.value('704.WMaxLimPct'), kind.kind).to.equal(90 + i / 10);
      expect(rig.read(address + moved, 1).readUInt16BE(0)).to.equal(900 + i);
      rig.bench.registry.clear();
    });
  });

  it('refuses writes to what belongs to nobody, to headers, and to what is not there', () => {
    rig.inject(shiftFault, { model: 704, registers: 4 });
    rig.inject(modelIdFault, { model: 704, id: 5 });
    const before = rig.map.dump();
    const { address } = rig.slot('704.ID');
    const codes = [
      [address, 1],
      [address + 3, 1],
      [address + 4, 1],
      [address + 5, 1],
      [address - 1, 2],
      [address + 4, 4],
    ].map(([at = 0, count = 0]) =>
      codeOf(() => {
        rig.write(at, Buffer.alloc(2 * count));
      }),
    );
    expect(codes).to.deep.equal(Array.from({ length: 6 }, () => 'MAP_READ_ONLY'));
    expect(
      codeOf(() => {
        rig.write(39_999, words(1));
      }),
    ).to.equal('MAP_ILLEGAL_ADDRESS');
    expect(rig.map.dump().equals(before)).to.equal(true);
  });

  it('refuses with the code that exception_code wants', () => {
    rig.inject(baseFault, { address: 0 });
    rig.inject(exceptionCodeFault, { rule: 'illegal_address', code: 4 });
    expect(exceptionOf(errorOf(() => rig.read(40_000, 2)))).to.equal(4);
    expect(
      exceptionOf(
        errorOf(() => {
          rig.write(40_000, words(1));
        }),
      ),
    ).to.equal(4);
    rig.bench.registry.clear();
    rig.inject(strictPointsFault);
    rig.inject(exceptionCodeFault, { rule: 'partial_point', code: 2 }, { target: { points: ['701'] } });
    expect(exceptionOf(errorOf(() => rig.read(rig.slot('701.Hz').address, 1)))).to.equal(2);
    expect(exceptionOf(errorOf(() => rig.read(rig.slot('1.Md').address, 1)))).to.equal(3);
    rig.inject(baseFault, { address: 0 });
    expect(exceptionOf(errorOf(() => rig.read(rig.slot('701.Hz').address - 40_000, 1)))).to.equal(2);
  });

  it('goes together with reading faults, by the points and not by their addresses', () => {
    const { address } = rig.slot('701.W');
    rig.inject(scaleFault, { factor: 2 }, { target: { registers: { address, count: 1 } } });
    rig.inject(baseFault, { address: 0 });
    expect(rig.read(address - 40_000, 1).readInt16BE(0)).to.equal(9600);
  });

  it('comes and goes with its condition', () => {
    rig.inject(hideModelFault, { model: 714 }, { when: { point: '701.W', below: 100 } });
    expect(walk(rig)).to.equal(chain);
    rig.map.bank.measurements.m701.W = 0;
    expect(walk(rig)).to.equal(chain.replace('714 ', ''));
    rig.map.bank.measurements.m701.W = 5000;
    expect(walk(rig)).to.equal(chain);
  });

  it('strikes requests, reads and writes alike', () => {
    const fault = rig.inject(baseFault, { address: 0 }, { count: 3 });
    expect(rig.read(0, 2).toString('latin1')).to.equal('SunS');
    expect(codeOf(() => rig.read(40_000, 2))).to.equal('MAP_ILLEGAL_ADDRESS');
    expect(
      codeOf(() => {
        rig.write(40_000, words(1));
      }),
    ).to.equal('MAP_ILLEGAL_ADDRESS');
    expect(rig.read(40_000, 2).toString('latin1')).to.equal('SunS');
    expect(fault.strikeCount).to.equal(3);
  });

  describe('refusals of requests', () => {
    const refused: readonly (readonly [FaultKind, Parameters, string])[] = [
      [baseFault, { address: 65_000 }, '/0/parameters/address'],
      [baseFault, { address: -1 }, '/0/parameters/address'],
      [hideModelFault, { model: 999 }, '/0/parameters/model'],
      [modelIdFault, { model: 802, id: 5 }, '/0/parameters/model'],
      [modelLengthFault, { model: 1, length: 65_536 }, '/0/parameters/length'],
      [shiftFault, { model: 701, registers: 0 }, '/0/parameters/registers'],
      [shiftFault, { model: 1, registers: -1 }, '/0/parameters/registers'],
      [shiftFault, { model: 714, registers: -8 }, '/0/parameters/registers'],
      [chainEndFault, { variant: 'never' }, '/0/parameters/variant'],
    ];
    for (const [kind, parameters, name] of refused) {
      it(`${kind.kind} ${JSON.stringify(parameters)} at ${name}`, () => {
        expect(errorOf(() => rig.inject(kind, parameters)).issues.map((issue) => issue.name)).to.deep.equal([name]);
      });
    }

    it('names what can be asked for', () => {
      expect(errorOf(() => rig.inject(hideModelFault, { model: 999 })).issues[0]?.allowed).to.include(701);
      expect(errorOf(() => rig.inject(baseFault, { address: 65_000 })).issues[0]?.detail).to.contain(
        String(65_536 - rig.map.layout.size),
      );
    });
  });

  const modelId = fc.constantFrom(...lengths.keys());
  const anyFault = fc.oneof<fc.Arbitrary<readonly [FaultKind, Parameters]>[]>(
    fc.integer({ min: 0, max: 60_000 }).map((address) => [baseFault, { address }] as const),
    fc.constant([commonLength65Fault, {}] as const),
    fc
      .tuple(modelId, fc.integer({ min: 1, max: 100 }))
      .map(([model, registers]) => [shiftFault, { model, registers }] as const),
    modelId.filter((model) => model !== 1).map((model) => [shiftFault, { model, registers: -3 }] as const),
    modelId.map((model) => [hideModelFault, { model }] as const),
    fc.tuple(modelId, fc.integer({ min: 1, max: 60_000 })).map(([model, id]) => [modelIdFault, { model, id }] as const),
    fc
      .tuple(modelId, fc.integer({ min: 0, max: 60_000 }))
      .map(([model, length]) => [modelLengthFault, { model, length }] as const),
    fc.constantFrom('zeros', 'exception', 'absent_length').map((variant) => [chainEndFault, { variant }] as const),
  );

  it('serves no register twice, in one piece and whole, whatever the faults', () => {
    const layout = mapLayout();
    holds(
      'no register twice',
      fc.array(anyFault, { maxLength: 8 }),
      (faults) => {
        rig.bench.registry.clear();
        for (const [kind, parameters] of faults) rig.inject(kind, parameters);
        const shape = shapeOf(layout, rig.bench.registry.active);
        const spans = shape.spans(shape.base, shape.size);
        expect(spans.reduce((sum, { count }) => sum + count, 0)).to.equal(shape.size);
        expect(
          spans.every(
            ({ address }, i) => i === 0 || address === (spans[i - 1]?.address ?? 0) + (spans[i - 1]?.count ?? 0),
          ),
        ).to.equal(true);
        const real = spans
          .filter(isReal)
          .flatMap(({ from, count }) => Array.from({ length: count }, (_, i) => from + i));
        expect(new Set(real).size).to.equal(real.length);
        expect(real.every((address) => address >= layout.base && address < layout.base + layout.size)).to.equal(true);
        expect(codeOf(() => shape.spans(shape.base - 1, 2))).to.equal('MAP_ILLEGAL_ADDRESS');
        expect(codeOf(() => shape.spans(shape.base + shape.size - 1, 2))).to.equal('MAP_ILLEGAL_ADDRESS');
      },
      { runs: 200 },
    );
  });

  it('reads the same alone and together, whatever the faults', () => {
    holds(
      'alone and together',
      [fc.array(anyFault, { maxLength: 4 }), fc.nat(200), fc.integer({ min: 1, max: 125 })],
      (faults, skipped, count) => {
        rig.bench.registry.clear();
        for (const [kind, parameters] of faults) rig.inject(kind, parameters);
        const { base } = shapeOf(rig.map.layout, rig.bench.registry.active);
        const together = rig.read(base + skipped, count);
        const alone = Buffer.concat(Array.from({ length: count }, (_, i) => rig.read(base + skipped + i, 1)));
        expect(together.equals(alone)).to.equal(true);
      },
      { runs: 50 },
    );
  });

  it('lets a point be written where it is served, and that alone, whatever the faults', () => {
    const slot = named(rig.map.layout, '704.WMaxLimPct');
    holds(
      'written where it is served',
      [fc.array(anyFault, { maxLength: 6 }), fc.integer({ min: 0, max: 1000 })],
      (faults, raw) => {
        rig.bench.registry.clear();
        for (const [kind, parameters] of faults) rig.inject(kind, parameters);
        const shape = shapeOf(rig.map.layout, rig.bench.registry.active);
        const span = shape
          .spans(shape.base, shape.size)
          .filter(isReal)
          .find(({ from, count }) => from <= slot.address && from + count > slot.address);
        const hidden = faults.some(([kind, parameters]) => kind === hideModelFault && parameters['model'] === 704);
        expect(span === undefined).to.equal(hidden);
        if (span === undefined) return;
        rig.map.set({ '704.WMaxLimPct': 50 });
        const expected = rig.map.dump();
        expected.writeUInt16BE(raw, 2 * (slot.address - rig.map.layout.base));
        rig.write(span.address + slot.address - span.from, words(raw));
        expect(rig.map.dump().equals(expected)).to.equal(true);
      },
      { runs: 100 },
    );
  });
});

describe('faults in a chain with several places of a model', () => {
  const common: ModelChoice = { def: m1, omit: new Set(['DA']) };
  const meter: ModelChoice = { def: m213 };
  const layout = buildLayout([{ def: m1 }, { def: m715 }, common, meter, common, meter]);
  const image = layout.blank();

  /** ID and L of the models as a master walks them. */
  function walked(kind: FaultKind, parameters: Parameters): string {
    const bench = new FaultBench([0], 1);
    bench.inject(kind, parameters);
    const shape = shapeOf(layout, bench.registry.active);
    const word = (address: number) => bytesOf(shape.spans(address, 1), image, layout.base).readUInt16BE();
    const met: string[] = [];
    for (let at = layout.base + 2; word(at) !== 0xffff; at += 2 + word(at + 1)) met.push(`${word(at)}:${word(at + 1)}`);
    return met.join(' ');
  }

  it('act on each place of the model', () => {
    expect(walked(commonLength65Fault, {})).to.equal('1:65 715:7 1:65 213:124 1:65 213:124');
    expect(walked(hideModelFault, { model: 213 })).to.equal('1:66 715:7 1:66 1:66');
    expect(walked(modelIdFault, { model: 213, id: 64_001 })).to.equal('1:66 715:7 1:66 64001:124 1:66 64001:124');
    expect(walked(shiftFault, { model: 213, registers: 2, fill: 0 })).to.equal(
      '1:66 715:7 1:66 0:0 213:124 1:66 0:0 213:124',
    );
  });

  it('leave each place before a shifted one its header', () => {
    // 715 has 9 registers, a meter 126
    expect(room(layout, 1)).to.equal(0);
    expect(room(layout, 213)).to.equal(66);
    expect(room(buildLayout([meter, common, { def: m715 }, common]), 1)).to.equal(7);
  });
});
