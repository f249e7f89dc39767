import { expect } from 'chai';
import fc from 'fast-check';
import type { RegisterType } from '../../../../src/sunspec/modbus/proxy/schema.ts';
import { limitsOf, registersOf, wireFormOf } from '../../../../src/sunspec/modbus/proxy/wire-form.ts';
import type { NumberForm, TextForm } from '../../../../src/sunspec/modbus/proxy/wire-form.ts';
import { holds } from '../../../support/property.ts';

type Order = 'big' | 'little';
const orders: readonly Order[] = ['big', 'little'];

function numberForm(
  type: RegisterType,
  byteOrder: Order = 'big',
  wordOrder: Order = 'big',
  absent: 'sentinel' | 'zero' | 'refuse' | number = 'zero',
): NumberForm {
  const form = wireFormOf({ address: 0, name: 'x', type, absent }, { byte_order: byteOrder, word_order: wordOrder });
  if (form.kind !== 'number') throw new Error('expected a number');
  return form;
}

function textForm(size: number, byteOrder: Order = 'big'): TextForm {
  const form = wireFormOf({ address: 0, name: 'x', type: 'string', size, byte_order: byteOrder }, {});
  if (form.kind !== 'text') throw new Error('expected text');
  return form;
}

function hexOf(form: NumberForm, value: number | null): string {
  const out = Buffer.alloc(2 * form.registers);
  return form.write(value, out, 0) ? out.toString('hex') : 'refused';
}

describe('Proxy: values in registers', () => {
  const vectors: readonly [RegisterType, number, Order, Order, string][] = [
    ['uint16', 0x1234, 'big', 'little', '1234'],
    ['uint16', 0x1234, 'little', 'big', '3412'],
    ['int16', -2, 'big', 'big', 'fffe'],
    ['uint32', 0x12345678, 'big', 'big', '12345678'],
    ['uint32', 0x12345678, 'big', 'little', '56781234'],
    ['uint32', 0x12345678, 'little', 'big', '34127856'],
    ['uint32', 0x12345678, 'little', 'little', '78563412'],
    ['int32', -2, 'big', 'little', 'fffeffff'],
    ['uint64', 0x0001_0203_0405_06, 'big', 'big', '0000010203040506'],
    ['uint64', 0x0001_0203_0405_06, 'big', 'little', '0506030401020000'],
    ['uint64', 0x0001_0203_0405_06, 'little', 'little', '0605040302010000'],
    ['int64', -2, 'big', 'little', 'fffeffffffffffff'],
    ['float32', 1.5, 'big', 'big', '3fc00000'],
    ['float32', 1.5, 'big', 'little', '00003fc0'],
    ['float64', -0.1, 'big', 'big', 'bfb999999999999a'],
    ['float64', -0.1, 'big', 'little', '999a99999999bfb9'],
    ['bitfield32', 0x8000_0001, 'big', 'little', '00018000'],
  ];
  for (const [type, value, byteOrder, wordOrder, hex] of vectors) {
    it(`${type} ${value}, octets ${byteOrder} end first, registers ${wordOrder} end first: ${hex}`, () => {
      const form = numberForm(type, byteOrder, wordOrder);
      expect(hexOf(form, value)).to.equal(hex);
      expect(form.read(Buffer.from(hex, 'hex'), 0)).to.equal(value);
    });
  }

  const types = [
    'uint16',
    'int16',
    'uint32',
    'int32',
    'uint64',
    'int64',
    'float32',
    'float64',
    'bitfield16',
    'bitfield32',
  ] as const;
  for (const type of types) {
    it(`${type} comes back as it went, in every order and at any place`, () => {
      const { min, max } = limitsOf(type)!;
      const values =
        type === 'float32'
          ? fc.float({ noNaN: true, noDefaultInfinity: true })
          : type === 'float64'
            ? fc.double({ noNaN: true, noDefaultInfinity: true })
            : fc
                .maxSafeInteger()
                .filter((value) => value >= min && value <= max)
                .map((value) => value + 0);
      const near = type.startsWith('float')
        ? values
        : fc.oneof(
            fc.integer({ min: Math.max(min, -(2 ** 31)), max: Math.min(max, 2 ** 31 - 1) }),
            fc.constantFrom(min, max),
            values,
          );
      holds(
        `${type}: every order and place`,
        [near, fc.constantFrom(...orders), fc.constantFrom(...orders), fc.nat(7)],
        (value, byteOrder, wordOrder, at) => {
          const form = numberForm(type, byteOrder, wordOrder);
          const bytes = Buffer.alloc(at + 2 * form.registers, 0xa5);
          form.write(value, bytes, at);
          expect(form.read(bytes, at)).to.equal(value);
          expect(bytes.subarray(0, at)).to.deep.equal(Buffer.alloc(at, 0xa5));
        },
      );
    });
  }

  it('text comes back as it went, in both orders of the octets, and is cut at a whole character', () => {
    holds(
      'text in every order',
      [
        fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => !/[\0\ufffd]/.test(text)),
        fc.constantFrom(...orders),
      ],
      (text, order) => {
        const form = textForm(8, order);
        const bytes = Buffer.alloc(16, 0xff);
        form.write(text, bytes, 0);
        const back = form.read(bytes, 0);
        expect(text.startsWith(back)).to.equal(true);
        if (Buffer.byteLength(text) <= 16) expect(back).to.equal(text);
        expect(back).to.not.contain('�');
      },
    );
    const out = Buffer.alloc(4);
    textForm(2, 'little').write('ABC', out, 0);
    expect(out.toString('latin1')).to.equal('BA\0C');
  });

  it('a reserved value stands for what is not there, and is no value then', () => {
    const reserved: readonly [RegisterType, string, number, number][] = [
      ['uint16', 'ffff', 0, 0xfffe],
      ['int16', '8000', -0x7fff, 0x7fff],
      ['uint32', 'ffffffff', 0, 0xffff_fffe],
      ['int32', '80000000', -0x7fff_ffff, 0x7fff_ffff],
      ['uint64', 'ffffffffffffffff', 0, Number.MAX_SAFE_INTEGER],
      ['int64', '8000000000000000', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
      ['bitfield16', 'ffff', 0, 0xfffe],
    ];
    for (const [type, hex, min, max] of reserved) {
      const form = numberForm(type, 'big', 'big', 'sentinel');
      expect(hexOf(form, null), type).to.equal(hex);
      expect([form.min, form.max], type).to.deep.equal([min, max]);
      const read = form.read(Buffer.from(hex, 'hex'), 0);
      expect(read === null || read < min || read > max, type).to.equal(true);
    }
    for (const type of ['float32', 'float64'] as const) {
      const form = numberForm(type, 'big', 'little', 'sentinel');
      const bytes = Buffer.from(hexOf(form, null), 'hex');
      expect(form.read(bytes, 0)).to.equal(null);
    }
  });

  it('what is not there may also read as 0, as a number of its own, or not at all', () => {
    expect(hexOf(numberForm('uint16', 'big', 'big', 'zero'), null)).to.equal('0000');
    expect(numberForm('uint16', 'big', 'big', 'zero').max).to.equal(0xffff);
    expect(hexOf(numberForm('int32', 'big', 'little', -1), null)).to.equal('ffffffff');
    expect(hexOf(numberForm('int32', 'big', 'little', 9999), null)).to.equal('270f0000');
    expect(hexOf(numberForm('float32', 'big', 'big', 'refuse'), null)).to.equal('refused');
  });

  it('sizes are those of the types', () => {
    expect(types.map((type) => registersOf({ type }))).to.deep.equal([1, 1, 2, 2, 4, 4, 2, 4, 1, 2]);
    expect(registersOf({ type: 'string', size: 16 })).to.equal(16);
  });
});
