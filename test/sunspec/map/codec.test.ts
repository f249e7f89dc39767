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
import type { PointType } from '../../../src/sunspec/map/types.ts';
import { holds } from '../../support/property.ts';
import { at, canvas, expectGuards, inner } from './guarded-bytes.ts';
import { bigEndian, floats, numeric, others, point, two53 } from './numeric-types.ts';

function codecOf(type: PointType): NonNullable<ReturnType<typeof numberCodec>> {
  const codec = numberCodec(type);
  expect(codec, type).to.not.equal(undefined);
  return codec!;
}

describe('codec: data types (Device Information Model, data types)', () => {
  for (const [type, registers, min, max, absent] of numeric) {
    it(`${type}: every raw value comes back, big-endian`, () => {
      const codec = codecOf(type);
      expect([codec.min, codec.max]).to.deep.equal([min, max]);
      holds(
        `${type}: raw values`,
        fc.integer({ min, max }),
        (raw) => {
          const { bytes, dv } = canvas(registers);
          codec.set(dv, at, raw);
          expect(codec.get(dv, at)).to.equal(raw);
          expect(inner(bytes, registers)).to.equal(bigEndian(raw, registers));
          expect(codec.absent(dv, at)).to.equal(inner(bytes, registers) === absent);
          expectGuards(bytes, registers);
        },
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
      holds(
        `${type}: finite numbers`,
        numbers,
        (value) => {
          const { bytes, dv } = canvas(registers);
          codec.set(dv, at, value);
          const back = codec.get(dv, at);
          expect(
            Object.is(type === 'float32' ? Math.fround(back) : back, type === 'float32' ? Math.fround(value) : value),
          ).to.equal(true);
          expect(back).to.be.within(codec.min, codec.max);
          expect(codec.absent(dv, at)).to.equal(false);
          expectGuards(bytes, registers);
        },
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
    holds(
      'a scaled value at every exponent',
      [fc.integer({ min: -(2 ** 31), max: 2 ** 32 }), fc.integer({ min: -10, max: 10 })],
      (raw, sf) => {
        expect(removeScale(applyScale(raw, sf), sf)).to.equal(raw);
      },
      { runs: 150 },
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
    holds(
      'halves round away from zero',
      [fc.double({ min: -1e6, max: 1e6, noNaN: true }), fc.integer({ min: -3, max: 3 })],
      (value, sf) => {
        expect(removeScale(-value, sf) + removeScale(value, sf)).to.equal(0);
      },
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
    holds('the longest prefix of a text', characters, (text) => {
      const { bytes, dv } = canvas(registers);
      setText(dv, at, registers, text);
      let fitting = '';
      for (const character of text) {
        if (Buffer.byteLength(fitting + character) > registers * 2) break;
        fitting += character;
      }
      expect(getText(dv, at, registers)).to.equal(fitting);
      expectGuards(bytes, registers);
    });
  });
});
