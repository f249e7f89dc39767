import { expect } from 'chai';
import { applyScale } from '../../../src/sunspec/map/codec.ts';
import { RegisterBank } from '../../../src/sunspec/map/register-bank.ts';
import { buildLayout } from '../../../src/sunspec/map/layout.ts';
import type { AnyPointValue, ModelDef } from '../../../src/sunspec/map/types.ts';
import { createMapView, pointName } from '../../../src/sunspec/map/view.ts';
import { byRest, codeOf, HandClock, slotOf } from '../../support/map.ts';
import { bigEndian, floats, numeric, point } from './numeric-types.ts';

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
