import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { clientModelIds, meterModelIds, modelIds } from '../../scripts/generate-models.ts';
import type { GroupDef, ModelDef, PointDef, PointType } from '../../src/sunspec/map/types.ts';
import { definitionOf } from '../../src/sunspec/client/shape.ts';
import { m1 } from '../../src/sunspec/models/m001.ts';
import { m701 } from '../../src/sunspec/models/m701.ts';
import { m702 } from '../../src/sunspec/models/m702.ts';
import { m703 } from '../../src/sunspec/models/m703.ts';
import { m704 } from '../../src/sunspec/models/m704.ts';
import { m705 } from '../../src/sunspec/models/m705.ts';
import { m706 } from '../../src/sunspec/models/m706.ts';
import { m707 } from '../../src/sunspec/models/m707.ts';
import { m708 } from '../../src/sunspec/models/m708.ts';
import { m709 } from '../../src/sunspec/models/m709.ts';
import { m710 } from '../../src/sunspec/models/m710.ts';
import { m711 } from '../../src/sunspec/models/m711.ts';
import { m712 } from '../../src/sunspec/models/m712.ts';
import { m713 } from '../../src/sunspec/models/m713.ts';
import { m714 } from '../../src/sunspec/models/m714.ts';
import { m715 } from '../../src/sunspec/models/m715.ts';
import { m802 } from '../../src/sunspec/models/m802.ts';
import { m64413 } from '../../src/sunspec/models/m64413.ts';
import { m64414 } from '../../src/sunspec/models/m64414.ts';
import { tableTests } from './model-tables.ts';
import { skip } from '../support/skip.ts';

const models: readonly ModelDef[] = [
  m1,
  m701,
  m702,
  m703,
  m704,
  m705,
  m706,
  m707,
  m708,
  m709,
  m710,
  m711,
  m712,
  m713,
  m714,
  m715,
  m802,
  m64413,
  m64414,
];

interface Placed {
  readonly path: string;
  readonly point: PointDef;
  /** points of the same group, then of the model: where a scale factor is looked up */
  readonly scopes: readonly (readonly PointDef[])[];
}

type Body = Pick<ModelDef, 'points' | 'groups'>;

function placedPoints(model: ModelDef): Placed[] {
  const walk = (body: Body, prefix: string): Placed[] => [
    ...body.points.map((point) => ({ path: prefix + point.name, point, scopes: [body.points, model.points] })),
    ...(body.groups ?? []).flatMap((group) => walk(group, `${prefix}${group.name}.`)),
  ];
  return walk(model, '');
}

function groupsOf(body: Body): GroupDef[] {
  return (body.groups ?? []).flatMap((group) => [group, ...groupsOf(group)]);
}

/** Registers of a body when the count points hold `counts`. */
function registers(body: Body, counts: Readonly<Record<string, number>>): number {
  const own = body.points.reduce((sum, point) => sum + point.size, 0);
  return (body.groups ?? []).reduce((sum, group) => {
    const repeat = typeof group.count === 'number' ? group.count : counts[group.count];
    expect(repeat, `count of ${group.name}`).to.be.a('number');
    return sum + repeat! * registers(group, counts);
  }, own);
}

function lengthOf(model: ModelDef, counts: Readonly<Record<string, number>> = {}): number {
  return registers(model, counts) - 2;
}

function writable(model: ModelDef): string[] {
  return placedPoints(model)
    .filter(({ point }) => point.access === 'RW')
    .map(({ path }) => path);
}

function marked(model: ModelDef, mark: (point: PointDef) => string | undefined): Record<string, string> {
  const found = placedPoints(model).map(({ path, point }) => [path, mark(point)] as const);
  return Object.fromEntries(found.filter((entry): entry is readonly [string, string] => entry[1] !== undefined));
}

describe('SunSpec model tables', () => {
  it('of the client hold every model that the generator makes, and all that are served', () => {
    for (const id of [...modelIds, ...clientModelIds, ...meterModelIds]) expect(definitionOf(id)?.id).to.equal(id);
    expect(definitionOf(9)).to.equal(undefined);
    for (const [id, length] of [
      [101, 50],
      [103, 50],
      [111, 60],
      [113, 60],
      [120, 26],
      [121, 30],
      [122, 44],
      [123, 24],
      [124, 24],
      [125, 8],
      [201, 105],
      [203, 105],
      [213, 124],
    ] as const) {
      expect(lengthOf(definitionOf(id)!), `${id}`).to.equal(length);
    }
  });

  it('hold the served models in chain order', () => {
    expect(models.map((model) => model.id)).to.deep.equal([...modelIds]);
  });

  describe('length (the L register)', () => {
    const fixed: readonly (readonly [ModelDef, number])[] = [
      [m1, 66],
      [m701, 153],
      [m702, 50],
      [m703, 17],
      [m704, 65],
      [m713, 7],
      [m715, 7],
      [m802, 62],
      [m64414, 86],
    ];
    for (const [model, length] of fixed) {
      it(`model ${model.id}: ${length}`, () => expect(lengthOf(model)).to.equal(length));
    }

    const sets: readonly (readonly [ModelDef, string, number, (points: number) => number])[] = [
      [m705, 'NCrv', 13, (points) => 10 + 2 * points],
      [m706, 'NCrv', 13, (points) => 5 + 2 * points],
      [m707, 'NCrvSet', 7, (points) => 4 + 9 * points],
      [m708, 'NCrvSet', 7, (points) => 4 + 9 * points],
      [m709, 'NCrvSet', 7, (points) => 4 + 12 * points],
      [m710, 'NCrvSet', 7, (points) => 4 + 12 * points],
      [m711, 'NCtl', 12, () => 10],
      [m712, 'NCrv', 12, (points) => 4 + 2 * points],
      [m714, 'NPrt', 18, () => 25],
      [m64413, 'IVLen', 3, () => 6],
    ];
    for (const [model, counter, own, perSet] of sets) {
      it(`model ${model.id}: ${own} and the sets of ${counter}`, () => {
        expect(lengthOf(model, { [counter]: 0, NPt: 10 })).to.equal(own);
        expect(lengthOf(model, { [counter]: 3, NPt: 10 })).to.equal(own + 3 * perSet(10));
        expect(lengthOf(model, { [counter]: 2, NPt: 4 })).to.equal(own + 2 * perSet(4));
      });
    }
  });

  describe('writable points', () => {
    const expected: Readonly<Record<number, number>> = {
      1: 1,
      701: 0,
      702: 19,
      703: 8,
      704: 40,
      705: 13,
      706: 9,
      707: 11,
      708: 11,
      709: 11,
      710: 11,
      711: 10,
      712: 9,
      713: 0,
      714: 0,
      715: 3,
      802: 6,
      64413: 0,
      64414: 8,
    };
    for (const model of models) {
      it(`model ${model.id}: ${String(expected[model.id])}`, () => {
        expect(writable(model)).to.have.lengthOf(expected[model.id]!);
      });
    }
  });

  describe('marks', () => {
    it('request points latch', () => {
      const latches = models.flatMap((model) =>
        Object.keys(marked(model, (point) => point.effect)).map((path) => `${model.id}.${path}`),
      );
      expect(latches).to.deep.equal([
        '705.AdptCrvReq',
        '706.AdptCrvReq',
        '707.AdptCrvReq',
        '708.AdptCrvReq',
        '709.AdptCrvReq',
        '710.AdptCrvReq',
        '711.AdptCtlReq',
        '712.AdptCrvReq',
        '715.AlarmReset',
        '802.AlmRst',
      ]);
    });

    it('the five reversion groups of 704 name their timers', () => {
      expect(marked(m704, (point) => point.reversion)).to.deep.equal({
        PFWInjEna: 'PFWInjRvrtTms',
        'PFWInj.PF': 'PFWInjRvrtTms',
        'PFWInj.Ext': 'PFWInjRvrtTms',
        PFWAbsEna: 'PFWAbsRvrtTms',
        'PFWAbs.PF': 'PFWAbsRvrtTms',
        'PFWAbs.Ext': 'PFWAbsRvrtTms',
        WMaxLimPctEna: 'WMaxLimPctRvrtTms',
        WMaxLimPct: 'WMaxLimPctRvrtTms',
        WSetEna: 'WSetRvrtTms',
        WSet: 'WSetRvrtTms',
        WSetPct: 'WSetRvrtTms',
        VarSetEna: 'VarSetRvrtTms',
        VarSet: 'VarSetRvrtTms',
        VarSetPct: 'VarSetRvrtTms',
      });
    });

    it('every marked point of 704 has a writable partner that holds its reversion value', () => {
      const partners = Object.keys(marked(m704, (point) => point.reversion)).map((path) =>
        path.includes('.') ? path.replace('.', 'Rvrt.') : `${path}Rvrt`,
      );
      expect(writable(m704)).to.include.members(partners);
    });

    it('the enables of 705, 706, 711 and 712 revert, and no other model does', () => {
      const others = models.filter((model) => model.id !== 704);
      const found = others.flatMap((model) =>
        Object.entries(marked(model, (point) => point.reversion)).map(
          ([path, timer]) => `${model.id}.${path} ${timer}`,
        ),
      );
      expect(found).to.deep.equal(['705.Ena RvrtTms', '706.Ena RvrtTms', '711.Ena RvrtTms', '712.Ena RvrtTms']);
    });

    it('every timer is a writable point at the top of its model', () => {
      for (const model of models) {
        for (const timer of Object.values(marked(model, (point) => point.reversion))) {
          expect(model.points.find((point) => point.name === timer)?.access, `${model.id}.${timer}`).to.equal('RW');
        }
      }
    });
  });

  it('the four power-factor groups of 704 are sync groups that occur once', () => {
    expect(groupsOf(m704).map(({ name, type, count }) => [name, type, count])).to.deep.equal([
      ['PFWInj', 'sync', 1],
      ['PFWInjRvrt', 'sync', 1],
      ['PFWAbs', 'sync', 1],
      ['PFWAbsRvrt', 'sync', 1],
    ]);
  });

  for (const model of models) {
    describe(`model ${model.id} ${model.name}`, () => structure(model));
  }
});

const sizes: Partial<Record<PointType, number>> = {
  int16: 1,
  uint16: 1,
  count: 1,
  acc16: 1,
  enum16: 1,
  bitfield16: 1,
  sunssf: 1,
  pad: 1,
  int32: 2,
  uint32: 2,
  acc32: 2,
  enum32: 2,
  bitfield32: 2,
  ipaddr: 2,
  float32: 2,
  int64: 4,
  uint64: 4,
  acc64: 4,
  float64: 4,
  eui48: 4,
  ipv6addr: 8,
};

const highestSymbol: Partial<Record<PointType, number>> = {
  enum16: 65534,
  bitfield16: 14,
  bitfield32: 30,
};

function structure(model: ModelDef): void {
  const placed = placedPoints(model);

  it('starts with ID and L', () => {
    expect(model.points.slice(0, 2).map((point) => point.name)).to.deep.equal(['ID', 'L']);
  });

  it('has unique paths', () => {
    const paths = placed.map(({ path }) => path);
    expect(new Set(paths).size).to.equal(paths.length);
  });

  it('gives each point the size of its type', () => {
    for (const { path, point } of placed) {
      if (point.type === 'string') expect(point.size, path).to.be.greaterThan(0);
      else expect(point.size, path).to.equal(sizes[point.type]);
    }
  });

  it('resolves each scale factor in the same group or at the top', () => {
    for (const { path, point, scopes } of placed) {
      if (typeof point.sf !== 'string') continue;
      const found = scopes.flat().find((candidate) => candidate.name === point.sf);
      expect(found?.type, `${path} -> ${point.sf}`).to.equal('sunssf');
    }
  });

  it('resolves each group count at the top', () => {
    for (const group of groupsOf(model)) {
      if (typeof group.count === 'number') expect(group.count, group.name).to.equal(1);
      else
        expect(
          model.points.map((point) => point.name),
          group.name,
        ).to.include(group.count);
    }
  });

  it('keeps symbol values distinct and inside the type', () => {
    for (const { path, point } of placed) {
      if (point.symbols === undefined) continue;
      const values = Object.values(point.symbols);
      expect(values, path).not.to.be.empty;
      expect(new Set(values).size, path).to.equal(values.length);
      expect(Math.min(...values), path).to.be.at.least(0);
      expect(Math.max(...values), path).to.be.at.most(highestSymbol[point.type] ?? -1);
    }
  });

  it('labels model, groups and points', () => {
    const labels = [
      model.label,
      ...groupsOf(model).map((group) => group.label),
      ...placed.map(({ point }) => point.label),
    ];
    for (const label of labels) expect(label).to.match(/^\S.*[^\s.]$/);
  });
}

describe('model tables against the official definitions', () => {
  const beside = fileURLToPath(new URL('../../../shared/data/sunspec/json', import.meta.url));
  const named = process.env['SUNSPEC_MODELS_DIR'];
  const folder = named !== undefined && named !== '' ? named : beside;

  before(function () {
    if (folder === named || existsSync(folder)) return;
    skip(this, 'the official definitions are missing (SUNSPEC_MODELS_DIR names a folder of model_*.json files)');
  });

  // a collection need not have the models that only the client knows; the interop tests take those of pysunspec2
  const folders = [folder, join(folder, '..', 'json-classic')];
  const there = [...clientModelIds, ...meterModelIds].filter((id) =>
    folders.some((each) => existsSync(join(each, `model_${id}.json`))),
  );
  tableTests([...modelIds, ...there], () => folder);
});
