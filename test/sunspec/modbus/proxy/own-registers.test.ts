import { expect } from 'chai';
import { SimError } from '../../../../src/core/errors.ts';
import { ProxyUnit } from '../../../../src/sunspec/modbus/proxy/unit-bridge.ts';
import { codeOf, createTestBank, words } from '../../../support/map.ts';
import { behind, by } from './unit-rig.ts';

describe('Proxy: registers that stand for no point', () => {
  const kept = { type: 'uint16', keeps: 7, min: 5, max: 9 } as const;
  const limit = { type: 'uint16', access: 'rw', point: '704.WMaxLimPct', scale: 0.1 } as const;
  const ignoring = { type: 'uint16', constant: 3, access: 'rw' } as const;

  it('keep what is written, octet by octet, until the device is reset', () => {
    const { unit, read, write, bank, changes } = behind(
      [kept, { type: 'string', size: 2, keeps: 'ab', table: 'both' }, { type: 'float32', keeps: 0.5 }],
      { word_order: 'little' },
    );
    const start = [7, 0x6162, 0, 0, 0x3f00];
    expect(read(100, 5)).to.deep.equal(start);
    write(100, 9, 0xff41, 0x4200, 0, 0xc000);
    expect(read(100, 5)).to.deep.equal([9, 0xff41, 0x4200, 0, 0xc000]);
    expect(unit.readInput(101, 2)).to.deep.equal(words(0xff41, 0x4200));
    expect(changes).to.deep.equal([]);
    bank.reload(Buffer.from(bank.read(bank.layout.base, bank.layout.size)), { source: 'rest' });
    expect(read(100, 5)).to.deep.equal(start);
  });

  it('keep the value of each device apart', () => {
    const map = { name: 'm', registers: [{ address: 0, name: 'r', ...kept }] };
    const [one, other] = [0, 1].map(
      (index) => new ProxyUnit(map, { index, bank: createTestBank().bank }, () => undefined),
    );
    one!.write(0, words(5), by);
    expect([one!.read(0, 1), other!.read(0, 1)]).to.deep.equal([words(5), words(7)]);
  });

  it('keep nothing of a write that is refused, by the map or by the device', () => {
    const { read, write, value } = behind([
      kept,
      limit,
      { type: 'uint16', keeps: 1, values: { 1: 'one', '0x10': 'sixteen' } },
      { type: 'float32', keeps: 0 },
    ]);
    const refused: readonly (readonly [number, readonly number[], string])[] = [
      [100, [4], 'MAP_BAD_VALUE'],
      [100, [10], 'MAP_BAD_VALUE'],
      [100, [8, 1001], 'MAP_BAD_VALUE'],
      [100, [8, 500, 2], 'MAP_BAD_VALUE'],
      [100, [8, 500, 16, 0x7fc0, 0], 'MAP_BAD_VALUE'],
      [100, [8, 500, 16, 0], 'MAP_PARTIAL_POINT'],
      [100, [8, 500, 16, 0, 0, 1], 'MAP_ILLEGAL_ADDRESS'],
    ];
    for (const [address, given, code] of refused) {
      expect(
        codeOf(() => {
          write(address, ...given);
        }),
        given.join(),
      ).to.equal(code);
    }
    expect([read(100), read(102, 3), value('704.WMaxLimPct')]).to.deep.equal([[7], [1, 0, 0], 100]);
    write(100, 8, 500, 16, 0x3f80, 0);
    expect([read(100, 5), value('704.WMaxLimPct')]).to.deep.equal([[8, 500, 16, 0x3f80, 0], 50]);
  });

  it('a constant that may be written stays, and is named in the wire log', () => {
    const { unit, read, write, changes } = behind([ignoring, kept, { type: 'uint16', constant: 4 }]);
    write(100, 77);
    write(100, 77, 6);
    expect([read(100, 3), changes]).to.deep.equal([[3, 6, 4], []]);
    expect(
      codeOf(() => {
        write(100, 77, 8, 4);
      }),
    ).to.equal('MAP_READ_ONLY');
    expect(read(101)).to.deep.equal([6]);
    const names = unit.names(16, 100, 2)();
    expect([names.points, names.ignored, names.values(words(77, 6))]).to.deep.equal([
      ['r0', 'r1'],
      ['r0'],
      { r0: 77, r1: 6 },
    ]);
  });

  it('refuse writes of a device under local control, as points do', () => {
    const { bank, read, write } = behind([kept, ignoring]);
    bank.join([
      {
        admit: () => {
          throw new SimError('MAP_LOCAL_CONTROL', 'under local control');
        },
      },
    ]);
    for (const address of [100, 101]) {
      expect(
        codeOf(() => {
          write(address, 8);
        }),
      ).to.equal('MAP_LOCAL_CONTROL');
    }
    expect(read(100)).to.deep.equal([7]);
  });
});
