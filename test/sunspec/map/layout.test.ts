import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import { buildLayout, noSlot, plainPath } from '../../../src/sunspec/map/layout.ts';
import type { Layout, ModelChoice } from '../../../src/sunspec/map/layout.ts';
import { createMapView, pointName, readPoint } from '../../../src/sunspec/map/view.ts';
import { m1 } from '../../../src/sunspec/models/m001.ts';
import { m160 } from '../../../src/sunspec/models/m160.ts';
import { m203 } from '../../../src/sunspec/models/m203.ts';
import { m702 } from '../../../src/sunspec/models/m702.ts';
import { m705 } from '../../../src/sunspec/models/m705.ts';
import { clearPoint } from '../../../src/sunspec/map/codec.ts';
import { errorOf, leanSizes, mapChoices, mapLayout, roomySizes, slotOf } from '../../support/map.ts';

type Row = readonly [id: number, address: number, length: number];
const head: readonly Row[] = [
  [1, 40002, 66],
  [701, 40070, 153],
  [702, 40225, 50],
  [703, 40277, 17],
  [704, 40296, 65],
];

interface Table {
  readonly rows: readonly Row[];
  readonly end: number;
  readonly size: number;
}
const lean: Table = {
  rows: [
    ...head,
    [705, 40363, 49],
    [706, 40414, 31],
    [707, 40447, 105],
    [708, 40554, 105],
    [709, 40661, 135],
    [710, 40798, 135],
    [711, 40935, 32],
    [712, 40969, 44],
    [713, 41015, 7],
    [714, 41024, 43],
    [715, 41069, 7],
  ],
  end: 41078,
  size: 1080,
};
const roomy: Table = {
  rows: [
    ...head,
    [705, 40363, 103],
    [706, 40468, 88],
    [707, 40558, 289],
    [708, 40849, 289],
    [709, 41140, 379],
    [710, 41521, 379],
    [711, 41902, 42],
    [712, 41946, 84],
    [713, 42032, 7],
    [714, 42041, 68],
    [715, 42111, 7],
  ],
  end: 42120,
  size: 2122,
};

const omitted = [
  '1.Opt',
  '701.TmpAmb',
  '701.MnAlrmInfo',
  '701.TotWhInjL1',
  '702.CtrlModes',
  '702.WChaRteMax',
  '704.WSet',
  '705.Crv.Pri',
  '705.Crv.VRef',
  '707.Crv.MayTrip.ActPt',
  '707.Crv.MayTrip.Pt.V',
  '711.Ctl.PMin',
  '713.Sta',
  '714.Prt.Tmp',
  '714.Prt.IDStr',
  '715.OpCtl',
];

/** Walks the chain as a master does: marker, then ID and L, until ID 0xFFFF. */
function walk(image: Buffer, base: number): { rows: Row[]; end: number } {
  expect(image.toString('latin1', 0, 4)).to.equal('SunS');
  const rows: Row[] = [];
  let address = base + 2;
  for (;;) {
    const at = (address - base) * 2;
    const [id, length] = [image.readUInt16BE(at), image.readUInt16BE(at + 2)];
    if (id === 0xffff) {
      expect(length, 'L of the end model').to.equal(0);
      return { rows, end: address };
    }
    rows.push([id, address, length]);
    address += length + 2;
  }
}

describe('layout: addresses and lengths (sections 1 and 4 of the map)', () => {
  const tables: readonly (readonly [string, Table, Layout])[] = [
    ['roomy', roomy, mapLayout({ sizes: roomySizes })],
    ['lean', lean, mapLayout({ sizes: leanSizes })],
  ];
  for (const [name, table, layout] of tables) {
    it(`${name}: models where the table puts them`, () => {
      expect(layout.models.map((model) => [model.def.id, model.address, model.length])).to.deep.equal(table.rows);
      expect(layout.base).to.equal(40000);
      expect(layout.size).to.equal(table.size);
    });

    it(`${name}: the registers say the same to a master that walks the chain`, () => {
      const { rows, end } = walk(layout.blank(), layout.base);
      expect(rows).to.deep.equal(table.rows);
      expect(end).to.equal(table.end);
      expect(end + 2).to.equal(layout.base + layout.size);
    });
  }

  it('one port less shortens the map by 25 registers', () => {
    expect(mapLayout({ sizes: { ...roomySizes, ports: 1 } }).size).to.equal(2122 - 25);
  });

  it('the base moves every address', () => {
    for (const base of [0, 50_000]) {
      const layout = buildLayout(mapChoices(), base);
      expect(walk(layout.blank(), base).rows).to.deep.equal(
        roomy.rows.map(([id, address, length]) => [id, address - 40_000 + base, length]),
      );
      expect(slotOf(layout, 701, 'W').address).to.equal(base + 80);
    }
  });

  it('equal shapes share one layout; another scale factor, count, point or base makes another', () => {
    const choice = { def: m705, scale: { V_SF: -2, DeptRef_SF: -2, RspTms_SF: -2 }, counts: { NCrv: 2, NPt: 4 } };
    const same = { ...choice, scale: { RspTms_SF: -2, V_SF: -2, DeptRef_SF: -2 }, omit: new Set<string>() };
    const layout = buildLayout([choice]);
    expect(buildLayout([same])).to.equal(layout);
    const others = [
      buildLayout([{ ...choice, scale: { ...choice.scale, V_SF: -1 } }]),
      buildLayout([{ ...choice, counts: { NCrv: 3, NPt: 4 } }]),
      buildLayout([{ ...choice, omit: new Set(['RspTms']) }]),
      buildLayout([{ ...choice, def: { ...m705 } }]),
      buildLayout([choice], 0),
    ];
    expect(new Set([layout, ...others])).to.have.property('size', 6);
  });

  it('points lie at the offsets of their tables', () => {
    const layout = mapLayout();
    const expected: readonly (readonly [number, string, number])[] = [
      [1, 'SN', 50],
      [1, 'DA', 66],
      [701, 'W', 10],
      [701, 'Hz', 17],
      [701, 'TotWhInj', 19],
      [701, 'MnAlrmInfo', 123],
      [702, 'CtrlModes', 23],
      [702, 'WMax', 26],
      [704, 'WMaxLimPct', 15],
      [704, 'PFWInj.PF', 59],
      [704, 'PFWAbsRvrt.Ext', 66],
      [705, 'Crv[0].ActPt', 15],
      [705, 'Crv[0].Pt[0].V', 25],
      [705, 'Crv[1].ActPt', 45],
      [705, 'Crv[2].Pt[9].Var', 104],
      [709, 'Crv[0].ReadOnly', 9],
      [709, 'Crv[0].MustTrip.Pt[0].Tms', 13],
      [709, 'Crv[1].MayTrip.ActPt', 9 + 124 + 42],
      [711, 'Ctl[2].ReadOnly', 43],
      [714, 'Prt[1].DCV', 56],
    ];
    for (const [id, path, offset] of expected) {
      const model = layout.models.find((place) => place.def.id === id);
      expect(slotOf(layout, id, path).address - model!.address, `${id}.${path}`).to.equal(offset);
    }
  });

  it('a whole 709 set without ReadOnly is the longest write that Modbus knows', () => {
    const layout = mapLayout();
    const first = slotOf(layout, 709, 'Crv[1].MustTrip.ActPt').address;
    const last = slotOf(layout, 709, 'Crv[1].MomCess.Pt[9].Tms');
    expect(last.address + last.def.size - first).to.equal(123);
  });
});

describe('layout: slots', () => {
  const layout = mapLayout({ omit: omitted });

  it('cover every register between marker and end model once', () => {
    let address = layout.base + 2;
    layout.slots.forEach((slot, index) => {
      expect(slot.index).to.equal(index);
      expect(slot.address, slot.path).to.equal(address);
      for (let i = 0; i < slot.def.size; i += 1) expect(layout.slotAt[address + i - layout.base]).to.equal(index);
      address += slot.def.size;
    });
    expect([0, 1, layout.size - 2, layout.size - 1].map((offset) => layout.slotAt[offset])).to.deep.equal(
      Array(4).fill(noSlot),
    );
    expect(address).to.equal(layout.base + layout.size - 2);
  });

  it('are found by model and path', () => {
    for (const slot of layout.slots) expect(layout.slot(slot.modelId, slot.path)).to.equal(slot);
    expect(layout.slot(705, 'Crv[3].ActPt')).to.equal(undefined);
    expect(layout.slot(705, 'constructor')).to.equal(undefined);
    expect(layout.slot(64, 'W')).to.equal(undefined);
    expect(plainPath('Crv[0].MustTrip.Pt[3].V')).to.equal('Crv.MustTrip.Pt.V');
  });

  it('set 1 of a curve or control model is not writable, the others are', () => {
    const inSets = layout.slots.filter(
      ({ path, def, implemented }) => /^(Crv|Ctl)\[/.test(path) && def.access === 'RW' && implemented,
    );
    expect(inSets.length).to.be.greaterThan(500);
    for (const slot of inSets)
      expect(slot.writable, `${slot.modelId}.${slot.path}`).to.equal(!/^(Crv|Ctl)\[0\]/.test(slot.path));
  });

  it('nothing else that may be written is missing, and nothing read only is writable', () => {
    for (const slot of layout.slots.filter(({ path }) => !/^(Crv|Ctl)\[/.test(path))) {
      expect(slot.writable, `${slot.modelId}.${slot.path}`).to.equal(slot.def.access === 'RW' && slot.implemented);
    }
  });

  it('take their exponent from the scale-factor point or the definition', () => {
    expect(slotOf(layout, 701, 'W').sf).to.equal(1);
    expect(slotOf(layout, 714, 'Prt[1].DCV').sf).to.equal(-1);
    expect(slotOf(layout, 705, 'Crv[2].Pt[9].Var').sf).to.equal(-2);
    expect(slotOf(layout, 704, 'WMaxLimPctRvrtTms').sf).to.equal(0);
  });
});

describe('layout: the blank image', () => {
  const layout = mapLayout({ omit: omitted });
  const image = layout.blank();
  const registersOf = (bytes: Buffer, index: number) => {
    const slot = layout.slots[index]!;
    return bytes.toString('hex', (slot.address - layout.base) * 2, (slot.address - layout.base + slot.def.size) * 2);
  };
  const sentinels = Buffer.alloc(layout.size * 2);
  const dv = new DataView(sentinels.buffer, sentinels.byteOffset, sentinels.length);
  for (const slot of layout.slots) clearPoint(dv, (slot.address - layout.base) * 2, slot.def);

  it('an omitted point holds the reserved value of its type and reads null', () => {
    const missing = layout.slots.filter((slot) => !slot.implemented);
    expect(new Set(missing.map((slot) => `${slot.modelId}.${plainPath(slot.path)}`))).to.deep.equal(
      new Set([...omitted, '1.Pad']),
    );
    for (const slot of missing) {
      expect(registersOf(image, slot.index), `${slot.modelId}.${slot.path}`).to.equal(
        registersOf(sentinels, slot.index),
      );
      expect(readPoint(layout, image, slot)).to.equal(null);
      expect(slot.writable).to.equal(false);
    }
  });

  it('an implemented point does not', () => {
    for (const slot of layout.slots.filter((each) => each.implemented)) {
      const name = `${slot.modelId}.${slot.path}`;
      // text without characters and "not implemented" are the same bytes
      if (slot.def.type !== 'string')
        expect(registersOf(image, slot.index), name).to.not.equal(registersOf(sentinels, slot.index));
      expect(readPoint(layout, image, slot), name).to.not.equal(null);
    }
  });

  it('headers, counts, scale factors and ReadOnly flags are filled in', () => {
    const value = (id: number, path: string) => readPoint(layout, image, slotOf(layout, id, path));
    expect([value(705, 'ID'), value(705, 'L'), value(705, 'NPt'), value(705, 'NCrv')]).to.deep.equal([705, 103, 10, 3]);
    expect([value(709, 'NPt'), value(709, 'NCrvSet'), value(711, 'NCtl'), value(714, 'NPrt')]).to.deep.equal([
      10, 3, 3, 2,
    ]);
    expect([value(701, 'W_SF'), value(701, 'Hz_SF'), value(712, 'DeptRef_SF')]).to.deep.equal([1, -3, -2]);
    for (const id of [705, 706, 707, 708, 709, 710, 712]) {
      expect(
        [0, 1, 2].map((i) => value(id, `Crv[${i}].ReadOnly`)),
        String(id),
      ).to.deep.equal(['R', 'RW', 'RW']);
    }
    expect([0, 1, 2].map((i) => value(711, `Ctl[${i}].ReadOnly`))).to.deep.equal(['R', 'RW', 'RW']);
    expect([value(714, 'Prt[0].ID'), value(701, 'W'), value(1, 'Mn')]).to.deep.equal([0, 0, '']);
  });

  it('each device gets its own', () => {
    const [a, b] = [layout.blank(), layout.blank()];
    a.fill(0xee);
    expect(b.equals(image)).to.equal(true);
  });
});

describe('layout: choices that make no map', () => {
  it('an implemented point without its scale factor', () => {
    const error = errorOf(() => buildLayout([{ def: m702, scale: { W_SF: 0 } }]));
    expect(error).to.be.instanceOf(SimError);
    expect(error.code).to.equal('INTERNAL');
    expect(error.message).to.match(/^702\.WOvrExtRtgPF is implemented but its scale factor is not/);
  });

  it('a scale factor may be missing when no point needs it', () => {
    const layout = mapLayout({ omit: ['702.ReactSusceptRtg', '702.S_SF'] });
    expect(readPoint(layout, layout.blank(), slotOf(layout, 702, 'S_SF'))).to.equal(null);
  });

  it('repeated groups without their number', () => {
    const choice = { def: m705, scale: { V_SF: -2, DeptRef_SF: -2, RspTms_SF: -2 } };
    expect(errorOf(() => buildLayout([choice])).message).to.equal('model 705: no value for count NCrv');
    expect(errorOf(() => buildLayout([{ ...choice, counts: { NCrv: 2 } }])).message).to.equal(
      'model 705: no value for count NPt',
    );
  });
});

describe('layout of a chain with several places of a model', () => {
  const common: ModelChoice = { def: m1, omit: new Set(['DA']) };
  const scale = {
    A_SF: -2,
    V_SF: -1,
    Hz_SF: -2,
    VA_SF: 0,
    VAR_SF: 0,
    PF_SF: -2,
    TotWh_SF: 0,
    TotVAh_SF: 0,
    TotVArh_SF: 0,
  };
  const meter = (W_SF: number): ModelChoice => ({ def: m203, scale: { ...scale, W_SF } });
  const layout = buildLayout([{ def: m1 }, common, meter(0), common, meter(1)]);

  it('numbers the places from the second one on', () => {
    expect(layout.models.map(({ name, address }) => [name, address])).to.deep.equal([
      ['1', 40_002],
      ['1:2', 40_070],
      ['203', 40_138],
      ['1:3', 40_245],
      ['203:2', 40_313],
    ]);
  });

  it('finds points by name in each place, and by number in the first', () => {
    expect(['203.W', '203:2.W', '1:3.Mn'].map((name) => layout.named(name)?.modelName)).to.deep.equal([
      '203',
      '203:2',
      '1:3',
    ]);
    expect(layout.slot(203, 'W')).to.equal(layout.named('203.W'));
    expect(layout.slot(1, 'Mn')?.address).to.equal(40_004);
    for (const name of ['203:1.W', '203:3.W', '0203.W', '203', '203:2'])
      expect(layout.named(name), name).to.equal(undefined);
    expect(layout.slots.map(pointName)).to.have.lengthOf(new Set(layout.slots.map(pointName)).size);
  });

  it('gives each place the headers, counts and points of its own choice', () => {
    const inputs = (N: number): ModelChoice => ({
      def: m160,
      counts: { N, module: N },
      scale: { DCA_SF: 0, DCV_SF: 0, DCW_SF: 0, DCWH_SF: 0 },
    });
    const twice = buildLayout([{ def: m1 }, inputs(1), inputs(3)]);
    const shownOf = (of: Layout, name: string) => readPoint(of, of.blank(), of.named(name)!);
    expect(['160.N', '160.L', '160:2.N', '160:2.L'].map((name) => shownOf(twice, name))).to.deep.equal([1, 28, 3, 68]);
    expect(['1:2.ID', '1:2.L', '203.W_SF', '203:2.W_SF'].map((name) => shownOf(layout, name))).to.deep.equal([
      1, 66, 0, 1,
    ]);
    expect([layout.named('203.W')?.sf, layout.named('203:2.W')?.sf]).to.deep.equal([0, 1]);
    expect(['1.DA', '1:2.DA', '1:3.DA'].map((name) => layout.named(name)?.implemented)).to.deep.equal([
      true,
      false,
      false,
    ]);
  });

  it('has a view of the first place by number, and of each by name', () => {
    const image = layout.blank();
    const views = createMapView(layout, image) as unknown as Record<string, Record<string, unknown>>;
    views['m203']!['W'] = 5;
    views['m203:2']!['W'] = 70;
    views['m1']!['Mn'] = 'one';
    views['m1:3']!['Mn'] = 'three';
    const shown = (name: string) => readPoint(layout, image, layout.named(name)!);
    expect(['203.W', '203:2.W', '1.Mn', '1:2.Mn', '1:3.Mn'].map(shown)).to.deep.equal([5, 70, 'one', '', 'three']);
  });

  it('is another layout than that of another order', () => {
    expect(buildLayout([{ def: m1 }, common, meter(0), common, meter(1)])).to.equal(layout);
    expect(buildLayout([{ def: m1 }, common, meter(1), common, meter(0)])).to.not.equal(layout);
  });
});
