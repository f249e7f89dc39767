import { expect } from 'chai';
import type { Layout, PointSlot } from '../../../src/sunspec/map/layout.ts';
import type { AnyPointValue } from '../../../src/sunspec/map/types.ts';
import { createMapView, pointName, readPoint } from '../../../src/sunspec/map/view.ts';
import type { MapView } from '../../../src/sunspec/map/view.ts';
import { createTestBank, errorOf, byRest, mapLayout } from '../../support/map.ts';
import { startImage } from '../../support/map-start.ts';

const options = {
  omit: ['701.TmpAmb', '701.MnAlrmInfo', '704.WSetPct', '705.Crv.Pri', '714.Prt.Tmp', '714.Prt.IDStr', '715.OpCtl'],
};
const layout = mapLayout(options);

/** The object that holds a point in the typed view, and the point's name there. */
function holderOf(map: MapView, slot: PointSlot): { holder: Record<string, AnyPointValue>; name: string } {
  const steps = slot.path.split(/[.[\]]+/);
  const name = steps.pop() ?? '';
  let holder: unknown = (map as unknown as Record<string, unknown>)[`m${slot.modelId}`];
  for (const step of steps) holder = (holder as Record<string, unknown>)[step];
  return { holder: holder as Record<string, AnyPointValue>, name };
}

function typed(map: MapView, slot: PointSlot): AnyPointValue {
  const { holder, name } = holderOf(map, slot);
  return holder[name] ?? null;
}

/** A second decoder, written from the data type table alone. */
function decode(bytes: Buffer, slot: PointSlot): AnyPointValue {
  if (!slot.implemented) return null;
  const { type, symbols } = slot.def;
  if (type === 'string') return bytes.toString('utf8').split('\0')[0] ?? '';
  const unsigned = Number(`0x${bytes.toString('hex')}`);
  const signed = /^(int|sunssf)/.test(type);
  const half = 2 ** (bytes.length * 8 - 1);
  const absent = signed ? half : half * 2 - 1;
  const wide = bytes.length === 8 ? bytes.readBigUInt64BE() === 0xffff_ffff_ffff_ffffn : unsigned === absent;
  // a mandatory enumeration has no "not implemented" value to hold
  if (wide && !(type.startsWith('enum') && slot.def.mandatory)) return null;
  const raw = signed && unsigned >= half ? unsigned - 2 * half : unsigned;
  if (symbols && type.startsWith('enum')) return Object.keys(symbols).find((symbol) => symbols[symbol] === raw) ?? raw;
  return slot.sf < 0 ? raw / 10 ** -slot.sf : raw * 10 ** slot.sf;
}

/** Fills all but headers and scale factors with numbers that repeat from run to run. */
function scramble(image: Buffer, shape: Layout, seed: number): void {
  let state = seed;
  for (const slot of shape.slots) {
    if (!slot.implemented || slot.def.type === 'sunssf' || slot.path === 'ID' || slot.path === 'L') continue;
    for (let i = 0; i < slot.def.size * 2; i += 1) {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      image[(slot.address - shape.base) * 2 + i] = slot.def.type === 'string' ? 97 + ((state >> 16) % 26) : state >> 16;
    }
  }
}

/** A value that the point can hold and that is not its start value. */
function sample(slot: PointSlot): AnyPointValue {
  if (slot.def.type === 'string') return 'ab';
  const symbols = Object.keys(slot.def.symbols ?? {});
  if (slot.def.type.startsWith('enum')) return symbols.at(-1) ?? 3;
  if (slot.def.type === 'sunssf') return 4;
  return 37 * (slot.sf < 0 ? 1 / 10 ** -slot.sf : 10 ** slot.sf);
}

describe('view', () => {
  it('shows for every point what the registers hold', () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const image = startImage(layout);
      scramble(image, layout, seed);
      const map = createMapView(layout, image);
      for (const slot of layout.slots) {
        const at = (slot.address - layout.base) * 2;
        const expected = decode(image.subarray(at, at + slot.def.size * 2), slot);
        expect(typed(map, slot), pointName(slot)).to.equal(expected);
        expect(readPoint(layout, image, slot), pointName(slot)).to.equal(expected);
      }
    }
  });

  it('bank.value, the typed view and read() agree for every point', () => {
    const { bank } = createTestBank(options);
    for (const slot of bank.layout.slots) {
      expect(bank.value(slot), pointName(slot)).to.equal(typed(bank.map, slot));
      expect(bank.value(slot), pointName(slot)).to.equal(decode(bank.read(slot.address, slot.def.size), slot));
      const hex = bank
        .raw(slot)
        .map((word) => word.toString(16).padStart(4, '0'))
        .join('');
      expect(hex).to.equal(bank.read(slot.address, slot.def.size).toString('hex'));
    }
  });

  it('an assignment to a point changes the registers of that point and no others', () => {
    const image = startImage(layout);
    const map = createMapView(layout, image);
    for (const slot of layout.slots.filter((each) => each.implemented)) {
      const before = Buffer.from(image);
      const { holder, name } = holderOf(map, slot);
      holder[name] = sample(slot);
      expect(holder[name], pointName(slot)).to.equal(sample(slot));
      const [start, end] = [(slot.address - layout.base) * 2, (slot.address - layout.base + slot.def.size) * 2];
      expect(image.subarray(0, start).equals(before.subarray(0, start)), pointName(slot)).to.equal(true);
      expect(image.subarray(end).equals(before.subarray(end)), pointName(slot)).to.equal(true);
    }
  });

  it('a point that the device does not have keeps its registers and reads null', () => {
    const image = startImage(layout);
    const before = Buffer.from(image);
    const map = createMapView(layout, image);
    const missing = layout.slots.filter((slot) => !slot.implemented);
    expect(missing.length).to.be.greaterThan(5);
    for (const slot of missing) {
      const { holder, name } = holderOf(map, slot);
      holder[name] = slot.def.type === 'string' ? 'text' : 1;
      expect(holder[name], pointName(slot)).to.equal(null);
    }
    expect(image.equals(before)).to.equal(true);
  });

  it('lists repeated groups, nests single ones', () => {
    const { map } = createTestBank(options).bank;
    expect([map.m705.Crv.length, map.m705.Crv[0]?.Pt.length, map.m711.Ctl.length, map.m714.Prt.length]).to.deep.equal([
      3, 10, 3, 2,
    ]);
    expect(map.m707.Crv[2]?.MomCess.Pt).to.have.lengthOf(10);
    expect(map.m704.PFWInj.PF).to.equal(1);
    expect(map.m705.Crv).to.equal(map.m705.Crv);
  });

  it('is live: it shows what was written through the registers', () => {
    const { bank, slot } = createTestBank();
    const set = bank.map.m705.Crv[1];
    bank.assign(byRest, [{ slot: slot(705, 'Crv[1].Pt[1].V'), value: 103.5 }]);
    expect(set?.Pt[1]?.V).to.equal(103.5);
  });

  it('banks of one shape share accessors but not registers', () => {
    const [a, b] = [createTestBank(), createTestBank()];
    expect(a.layout).to.equal(b.layout);
    a.bank.measurements.m701.W = 5000;
    expect(b.bank.map.m701.W).to.equal(0);
    expect(Object.getPrototypeOf(a.bank.map.m701)).to.equal(Object.getPrototypeOf(b.bank.map.m701));
  });

  it('works on a buffer that is a part of a larger one', () => {
    const pool = Buffer.alloc(layout.size * 2 + 100, 0xee);
    const image = pool.subarray(50, 50 + layout.size * 2);
    startImage(layout).copy(image);
    const map = createMapView(layout, image);
    map.m701.Hz = 59.98;
    expect(map.m701.Hz).to.equal(59.98);
    expect(map.m1.Mn).to.equal('derbench');
    expect([...pool.subarray(0, 50), ...pool.subarray(50 + layout.size * 2)].every((byte) => byte === 0xee)).to.equal(
      true,
    );
  });

  describe('symbols', () => {
    it('an unknown number in the registers reads as that number', () => {
      const {
        bank,
        slot,
        layout: { base },
      } = createTestBank();
      bank.read(base, bank.layout.size).writeUInt16BE(99, (slot(701, 'InvSt').address - base) * 2);
      expect(bank.map.m701.InvSt).to.equal(99);
    });

    it('names and numbers are accepted, others are refused with what is allowed', () => {
      const { bank, slot } = createTestBank();
      const point = slot(704, 'VarSetMod');
      bank.assign(byRest, [{ slot: point, value: 'VARS' }]);
      expect(bank.raw(point)).to.deep.equal([4]);
      bank.assign(byRest, [{ slot: point, value: 1 }]);
      expect(bank.value(point)).to.equal('VAR_MAX_PCT');
      for (const value of ['vars', '4', 'constructor', '__proto__', 'toString', '', 5, -1, 1.5, NaN]) {
        const error = errorOf(() => {
          bank.assign(byRest, [{ slot: point, value }]);
        });
        expect(error.code, String(value)).to.equal('MAP_BAD_VALUE');
        expect(error.issues[0]).to.include({ name: '704.VarSetMod' });
        expect(error.issues[0]?.allowed).to.deep.equal([
          'W_MAX_PCT',
          'VAR_MAX_PCT',
          'VAR_AVAIL_PCT',
          'VA_MAX_PCT',
          'VARS',
        ]);
      }
      expect(bank.value(point)).to.equal('VAR_MAX_PCT');
    });
  });

  it('an error names the repetition that it is about', () => {
    const { bank } = createTestBank();
    const error = errorOf(() => {
      bank.transact(byRest, (tx) => {
        tx.m705.Crv[2]!.Pt[7]!.V = 1e9;
      });
    });
    expect(error.message).to.match(/^705\.Crv\[2\]\.Pt\[7\]\.V: /);
    expect(error.issues[0]?.name).to.equal('705.Crv[2].Pt[7].V');
    const symbol = errorOf(() => {
      bank.transact(byRest, (tx) => {
        Object.assign(tx.m712.Crv[1]!, { Pri: 'BOTH' });
      });
    });
    expect(symbol.issues[0]?.name).to.equal('712.Crv[1].Pri');
  });
});
