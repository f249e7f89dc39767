import { expect } from 'chai';
import fc from 'fast-check';
import {
  applyScale,
  clearPoint,
  decimalOf,
  getText,
  isFloat,
  numberCodec,
  removeScale,
  setText,
} from '../../../src/sunspec/map/codec.ts';
import { RegisterBank } from '../../../src/sunspec/map/register-bank.ts';
import { buildLayout } from '../../../src/sunspec/map/layout.ts';
import type { AnyPointValue, ModelDef, PointDef, PointType } from '../../../src/sunspec/map/types.ts';
import { createMapView, pointName } from '../../../src/sunspec/map/view.ts';
import { byRest, codeOf, HandClock, slotOf } from '../../support/map.ts';
import { at, canvas, expectGuards, inner } from './guarded-bytes.ts';

const two53 = Number.MAX_SAFE_INTEGER;

/** Registers, range of real values and "not implemented" bytes of every numeric type, as the data types clause lists them. */
const numeric: readonly (readonly [PointType, number, number, number, string])[] = [
  ['int16', 1, -32767, 32767, '8000'],
  ['uint16', 1, 0, 65534, 'ffff'],
  ['count', 1, 0, 65534, 'ffff'],
  ['acc16', 1, 0, 65535, '0000'],
  ['enum16', 1, 0, 65534, 'ffff'],
  ['bitfield16', 1, 0, 0x7fff, 'ffff'],
  ['int32', 2, -2147483647, 2147483647, '80000000'],
  ['uint32', 2, 0, 4294967294, 'ffffffff'],
  ['acc32', 2, 0, 4294967295, '00000000'],
  ['enum32', 2, 0, 4294967294, 'ffffffff'],
  ['bitfield32', 2, 0, 0x7fffffff, 'ffffffff'],
  ['ipaddr', 2, 0, 4294967295, '00000000'],
  ['int64', 4, -two53, two53, '8000000000000000'],
  ['uint64', 4, 0, two53, 'ffffffffffffffff'],
  ['acc64', 4, 0, two53, '0000000000000000'],
  ['sunssf', 1, -10, 10, '8000'],
];
const floats: readonly (readonly [PointType, number, number, string])[] = [
  ['float32', 2, 3.4028234663852886e38, '7fc00000'],
  ['float64', 4, Number.MAX_VALUE, '7ff8000000000000'],
];
const others: readonly (readonly [PointType, number, string])[] = [
  ['pad', 1, '8000'],
  ['string', 3, '000000000000'],
  ['ipv6addr', 8, '00'.repeat(16)],
  ['eui48', 4, '0000ffffffffffff'],
];

function codecOf(type: PointType): NonNullable<ReturnType<typeof numberCodec>> {
  const codec = numberCodec(type);
  expect(codec, type).to.not.equal(undefined);
  return codec!;
}

function point(name: string, type: PointType, size: number, more: Partial<PointDef> = {}): PointDef {
  return { name, type, size, label: name, access: 'RW', ...more };
}

/** The same number written by the plain two's complement rule. */
function bigEndian(raw: number, registers: number): string {
  return BigInt.asUintN(registers * 16, BigInt(raw))
    .toString(16)
    .padStart(registers * 4, '0');
}

describe('codec: data types (Device Information Model, data types)', () => {
  for (const [type, registers, min, max, absent] of numeric) {
    it(`${type}: every raw value comes back, big-endian`, () => {
      const codec = codecOf(type);
      expect([codec.min, codec.max]).to.deep.equal([min, max]);
      fc.assert(
        fc.property(fc.integer({ min, max }), (raw) => {
          const { bytes, dv } = canvas(registers);
          codec.set(dv, at, raw);
          expect(codec.get(dv, at)).to.equal(raw);
          expect(inner(bytes, registers)).to.equal(bigEndian(raw, registers));
          expect(codec.absent(dv, at)).to.equal(inner(bytes, registers) === absent);
          expectGuards(bytes, registers);
        }),
        { examples: [[min], [max]] },
      );
    });

    it(`${type}: "not implemented" is ${absent} and no real value`, () => {
      const codec = codecOf(type);
      const { bytes, dv } = canvas(registers);
      codec.clear(dv, at);
      expect(inner(bytes, registers)).to.equal(absent);
      expect(codec.absent(dv, at)).to.equal(true);
      for (const raw of [min, max, 1]) {
        if (raw === 0 && absent.startsWith('00')) continue;
        codec.set(dv, at, raw);
        expect(codec.absent(dv, at), String(raw)).to.equal(false);
      }
    });
  }

  for (const [type, registers, max, absent] of floats) {
    it(`${type}: every finite number comes back`, () => {
      const codec = codecOf(type);
      expect(isFloat(type)).to.equal(true);
      expect([codec.min, codec.max]).to.deep.equal([-max, max]);
      const numbers =
        type === 'float32'
          ? fc.float({ noNaN: true, noDefaultInfinity: true })
          : fc.double({ noNaN: true, noDefaultInfinity: true });
      fc.assert(
        fc.property(numbers, (value) => {
          const { bytes, dv } = canvas(registers);
          codec.set(dv, at, value);
          const back = codec.get(dv, at);
          expect(
            Object.is(type === 'float32' ? Math.fround(back) : back, type === 'float32' ? Math.fround(value) : value),
          ).to.equal(true);
          expect(back).to.be.within(codec.min, codec.max);
          expect(codec.absent(dv, at)).to.equal(false);
          expectGuards(bytes, registers);
        }),
        { examples: [[max], [-max], [0]] },
      );
      const { bytes, dv } = canvas(registers);
      codec.clear(dv, at);
      expect(inner(bytes, registers)).to.equal(absent);
      expect(codec.absent(dv, at)).to.equal(true);
    });
  }

  it('float32: shown as the shortest decimal that stands for it', () => {
    for (const value of [0, 1, 0.88, -40.25, 59.95, 1499.9, 60.0001, 1.05, 1e-7, 2, 0.123456])
      expect(decimalOf(Math.fround(value))).to.equal(value);
    expect(decimalOf(Math.fround(1 / 3))).to.equal(0.33333334);
    expect(decimalOf(Math.fround(Math.PI))).to.equal(3.1415927);
    for (const odd of [Infinity, -Infinity, NaN, -0])
      expect(decimalOf(odd)).to.satisfy((shown: number) => Object.is(shown, odd));
  });

  it('clearPoint writes the reserved value of every type and nothing beside it', () => {
    const all = [
      ...numeric.map(([type, registers, , , absent]) => [type, registers, absent] as const),
      ...floats.map(([type, registers, , absent]) => [type, registers, absent] as const),
      ...others,
    ];
    for (const [type, registers, absent] of all) {
      const { bytes, dv } = canvas(registers);
      clearPoint(dv, at, point('X', type, registers));
      expect(inner(bytes, registers), type).to.equal(absent);
      expectGuards(bytes, registers);
    }
  });

  it('64-bit counters are exact to 2^53', () => {
    for (const type of ['uint64', 'acc64', 'int64'] as const) {
      const { bytes, dv } = canvas(4);
      for (const raw of [2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, two53 - 1, two53]) {
        codecOf(type).set(dv, at, raw);
        expect(bytes.readBigUInt64BE(at)).to.equal(BigInt(raw));
        expect(codecOf(type).get(dv, at)).to.equal(raw);
      }
    }
    const { bytes, dv } = canvas(4);
    for (const raw of [-1, -(2 ** 32), -(2 ** 32) - 1, -two53]) {
      codecOf('int64').set(dv, at, raw);
      expect(bytes.readBigInt64BE(at)).to.equal(BigInt(raw));
      expect(codecOf('int64').get(dv, at)).to.equal(raw);
    }
  });
});

describe('codec: scale factors', () => {
  it('a scaled value comes back as the same register at every exponent', () => {
    fc.assert(
      fc.property(fc.integer({ min: -(2 ** 31), max: 2 ** 32 }), fc.integer({ min: -10, max: 10 }), (raw, sf) => {
        expect(removeScale(applyScale(raw, sf), sf)).to.equal(raw);
      }),
    );
  });

  it('decimals are the nearest double, not a product of 0.1', () => {
    expect(applyScale(1234, -1)).to.equal(123.4);
    expect(applyScale(59_999, -3)).to.equal(59.999);
    expect(applyScale(3, 2)).to.equal(300);
    expect(removeScale(123.4, -1)).to.equal(1234);
  });

  it('halves round away from zero on both sides', () => {
    expect(removeScale(0.5, 0)).to.equal(1);
    expect(removeScale(-0.5, 0)).to.equal(-1);
    expect(removeScale(-25, 1)).to.equal(-3);
    fc.assert(
      fc.property(fc.double({ min: -1e6, max: 1e6, noNaN: true }), fc.integer({ min: -3, max: 3 }), (value, sf) => {
        expect(removeScale(-value, sf) + removeScale(value, sf)).to.equal(0);
      }),
      {
        examples: [
          [0.5, 0],
          [1.5, 0],
          [2.5, 0],
        ],
      },
    );
  });
});

describe('codec: text', () => {
  const registers = 4;

  it('comes back when it fits', () => {
    const { bytes, dv } = canvas(registers);
    setText(dv, at, registers, 'Größe');
    expect(getText(dv, at, registers)).to.equal('Größe');
    expect(inner(bytes, registers)).to.equal('4772c3b6c39f6500');
    setText(dv, at, registers, 'kürzer');
    setText(dv, at, registers, 'ab');
    expect(inner(bytes, registers)).to.equal('6162000000000000');
    expectGuards(bytes, registers);
  });

  it('fills its registers to the last byte', () => {
    const { dv } = canvas(registers);
    setText(dv, at, registers, '12345678');
    expect(getText(dv, at, registers)).to.equal('12345678');
  });

  it('is cut at a whole character', () => {
    const { bytes, dv } = canvas(registers);
    setText(dv, at, registers, '1234567ß');
    expect(getText(dv, at, registers)).to.equal('1234567');
    expect(inner(bytes, registers)).to.equal('3132333435363700');
    setText(dv, at, registers, '12345€€');
    expect(getText(dv, at, registers)).to.equal('12345€');
    setText(dv, at, registers, '12345🔋');
    expect(getText(dv, at, registers)).to.equal('12345');
  });

  it('any text comes back as its longest prefix of whole characters', () => {
    const characters = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => !text.includes('\0'));
    fc.assert(
      fc.property(characters, (text) => {
        const { bytes, dv } = canvas(registers);
        setText(dv, at, registers, text);
        let fitting = '';
        for (const character of text) {
          if (Buffer.byteLength(fitting + character) > registers * 2) break;
          fitting += character;
        }
        expect(getText(dv, at, registers)).to.equal(fitting);
        expectGuards(bytes, registers);
      }),
    );
  });
});

const everyType: ModelDef = {
  id: 64000,
  name: 'every_type',
  label: 'One point of each type',
  points: [
    point('ID', 'uint16', 1),
    point('L', 'uint16', 1),
    point('T_SF', 'sunssf', 1),
    ...numeric.filter(([type]) => type !== 'sunssf').map(([type, size]) => point(type, type, size)),
    ...floats.map(([type, size]) => point(type, type, size)),
    ...numeric
      .filter(([type]) => /^u?int/.test(type))
      .map(([type, size]) => point(`scaled_${type}`, type, size, { sf: 'T_SF' })),
    point('text', 'string', 3),
  ],
};

interface Made {
  readonly bank: RegisterBank;
  readonly view: Record<string, AnyPointValue>;
  readonly write: (name: string, value: AnyPointValue) => void;
  readonly raw: (name: string) => string;
  readonly image: Buffer;
}

function make(sf: number): Made {
  const layout = buildLayout([{ def: everyType, scale: { T_SF: sf } }]);
  const image = layout.blank();
  const bank = new RegisterBank(layout, image, new HandClock());
  const views = (map: unknown) => (map as Record<string, Record<string, AnyPointValue>>)['m64000']!;
  return {
    bank,
    image,
    view: views(createMapView(layout, image)),
    write: (name, value) => {
      bank.transact(byRest, (tx) => {
        views(tx)[name] = value;
      });
    },
    raw: (name) =>
      Buffer.from(bank.read(slotOf(layout, 64000, name).address, slotOf(layout, 64000, name).def.size)).toString('hex'),
  };
}

describe('codec: values that do not fit', () => {
  const limited = numeric.filter(([type]) => type !== 'sunssf');

  for (const [type, registers, min, max] of limited) {
    it(`${type}: the device's own values saturate, a caller's are refused`, () => {
      const { view, write, raw, image } = make(0);
      for (const [value, edge] of [
        [min - 1, min],
        [max + 1, max],
        [-1e300, min],
        [1e300, max],
      ] as const) {
        view[type] = value;
        expect(raw(type), `${value}`).to.equal(bigEndian(edge, registers));
      }
      view[type] = 7;
      const before = Buffer.from(image);
      for (const value of [min - 1, max + 2, -1e300, 1e300]) {
        expect(
          codeOf(() => {
            write(type, value);
          }),
          `${value}`,
        ).to.equal('MAP_BAD_VALUE');
      }
      expect(image.equals(before)).to.equal(true);
      write(type, max);
      expect(view[type]).to.equal(max);
    });
  }

  for (const type of ['int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64'] as const) {
    it(`${type} with a scale factor: the nearest register, saturated`, () => {
      const [, , min, max] = numeric.find(([name]) => name === type)!;
      for (const sf of [-2, -1, 2]) {
        const { view, write } = make(sf);
        const name = `scaled_${type}`;
        for (const value of [300, 300 + 0.4 * 10 ** sf, 300 - 0.4 * 10 ** sf]) {
          view[name] = value;
          expect(view[name]).to.equal(300);
        }
        view[name] = 1e300;
        expect(view[name]).to.equal(applyScale(max, sf));
        view[name] = -1e300;
        expect(view[name]).to.equal(applyScale(min, sf));
        expect(
          codeOf(() => {
            write(name, applyScale(max, sf) * 1.01);
          }),
        ).to.equal('MAP_BAD_VALUE');
      }
    });
  }

  it('a number that is none is refused everywhere, and leaves the register as it was', () => {
    const { view, write, image } = make(-1);
    view['scaled_int16'] = 1.5;
    const before = Buffer.from(image);
    for (const value of [NaN, Infinity, -Infinity, '12']) {
      for (const name of ['scaled_int16', 'int16', 'uint64', 'float32', 'float64']) {
        expect(
          codeOf(() => {
            view[name] = value;
          }),
          `${name} ${value}`,
        ).to.equal('MAP_BAD_VALUE');
        expect(
          codeOf(() => {
            write(name, value);
          }),
          `${name} ${value}`,
        ).to.equal('MAP_BAD_VALUE');
      }
    }
    expect(image.equals(before)).to.equal(true);
  });

  it('null clears a point of the device itself and is refused from a caller', () => {
    const { view, write, image } = make(-1);
    const names = everyType.points.map(({ name }) => name).filter((name) => !['ID', 'L', 'T_SF'].includes(name));
    for (const name of names.filter((each) => each !== 'text')) {
      view[name] = 1;
      expect(view[name], name).to.equal(1);
      view[name] = null;
      expect(view[name], name).to.equal(null);
    }
    view['text'] = 'abc';
    view['text'] = null;
    expect(view['text']).to.equal('');
    const before = Buffer.from(image);
    for (const name of names)
      expect(
        codeOf(() => {
          write(name, null);
        }),
        name,
      ).to.equal('MAP_BAD_VALUE');
    expect(image.equals(before)).to.equal(true);
  });

  it("text of the device itself is cut, a caller's is refused when too long", () => {
    const { bank, view, write } = make(0);
    view['text'] = '12345ß';
    expect(view['text']).to.equal('12345');
    expect(
      codeOf(() => {
        write('text', '12345ß');
      }),
    ).to.equal('MAP_BAD_VALUE');
    expect(
      codeOf(() => {
        write('text', 5);
      }),
    ).to.equal('MAP_BAD_VALUE');
    write('text', '1234ß');
    expect(view['text']).to.equal('1234ß');
    expect(bank.layout.slots.map(pointName)).to.include('64000.text');
  });
});
