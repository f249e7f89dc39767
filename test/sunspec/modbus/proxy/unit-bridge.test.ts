import { expect } from 'chai';
import fc from 'fast-check';
import { isWritable } from '../../../../src/sunspec/modbus/proxy/check.ts';
import { ProxyUnit } from '../../../../src/sunspec/modbus/proxy/unit-bridge.ts';
import { holds } from '../../../support/property.ts';
import { bundledMap } from '../../../support/proxy.ts';
import { codeOf, createTestBank, errorOf, words } from '../../../support/map.ts';
import { behind, by } from './unit-rig.ts';

describe('Proxy: reading', () => {
  it('scale, offset and sign: value = register x scale + offset', () => {
    const { bank, read } = behind([
      { type: 'int16', point: '701.W', scale: 100 },
      { type: 'int16', point: '701.W', scale: -10 },
      { type: 'uint16', point: '701.Hz', scale: 0.01, offset: 50 },
      { type: 'uint16', point: '701.LNV', scale: 0.1 },
    ]);
    Object.assign(bank.measurements.m701, { W: 1250, Hz: 60.018, LNV: 277.1 });
    // to the nearest step, halves away from zero
    expect(read(100, 4)).to.deep.equal([13, 0x10000 - 125, 1002, 2771]);
  });

  it('beyond its type a value stays at the edge, and that is told once', () => {
    const { bank, read, saturated } = behind([
      { type: 'uint16', point: '701.W' },
      { type: 'int16', point: '702.WMaxRtg' },
      { type: 'uint16', point: '702.WMaxRtg', absent: 'zero' },
    ]);
    bank.measurements.m701.W = -500;
    expect(read(100, 3)).to.deep.equal([0, 0x7fff, 0xffff]);
    read(100, 3);
    expect(saturated).to.deep.equal(['r0', 'r1', 'r2']);
  });

  it('what the device does not have is the reserved value, 0, a number, or exception 2', () => {
    const test = createTestBank({ omit: ['701.TmpCab'] });
    const registers = (['sentinel', 'zero', -500, 'refuse'] as const).map(
      (absent) => ({ type: 'int16', point: '701.TmpCab', absent }) as const,
    );
    const { read, unit } = behind(
      [...registers, { type: 'int16', point: '701.TmpCab' }, { type: 'string', size: 1, point: '1.Opt' }],
      { absent: 'zero' },
      test,
    );
    expect(read(100, 3)).to.deep.equal([0x8000, 0, 0x10000 - 500]);
    expect(codeOf(() => unit.read(103, 1))).to.equal('MAP_NOT_IMPLEMENTED');
    expect(codeOf(() => unit.read(100, 6))).to.equal('MAP_NOT_IMPLEMENTED');
    expect(read(104, 2)).to.deep.equal([0, 0]);
    const text = { type: 'string', size: 1, point: '802.NoSuchText' } as const;
    expect(codeOf(() => behind([text], { absent: 'refuse' }).unit.read(100, 1))).to.equal('MAP_NOT_IMPLEMENTED');
    expect(behind([{ ...text, absent: 'zero' }], { absent: 'refuse' }).read(100)).to.deep.equal([0]);
  });

  it('constants and commands have a value always, so that no number is reserved', () => {
    const { read, write, value, saturated } = behind([
      { type: 'uint16', constant: 0xffff },
      { type: 'int16', constant: -0x8000 },
      { type: 'uint32', constant: 0xffff_ffff },
      { type: 'uint16', commands: { '0xffff': { '704.WSetEna': 'DISABLED' }, 1: { '704.WSetEna': 'ENABLED' } } },
    ]);
    expect(read(100, 5)).to.deep.equal([0xffff, 0x8000, 0xffff, 0xffff, 0xffff]);
    write(104, 1);
    expect(value('704.WSetEna')).to.equal('ENABLED');
    write(104, 0xffff);
    expect([value('704.WSetEna'), ...read(104)]).to.deep.equal(['DISABLED', 0xffff]);
    expect(saturated).to.deep.equal([]);
  });

  it('symbols have their own numbers, and the lowest of several', () => {
    const { bank, read } = behind([
      { type: 'uint16', point: '701.ConnSt', values: { '0xff': 'CONNECTED', 300: 'CONNECTED', 7: 'DISCONNECTED' } },
      { type: 'uint16', point: '701.InvSt', values: { 1: 'RUNNING' }, otherwise: 99 },
      { type: 'uint16', point: '701.InvSt' },
    ]);
    Object.assign(bank.measurements.m701, { ConnSt: 'CONNECTED', InvSt: 'RUNNING' });
    expect(read(100, 3)).to.deep.equal([255, 1, 3]);
    Object.assign(bank.measurements.m701, { ConnSt: 'DISCONNECTED', InvSt: 'FAULT' });
    expect(read(100, 3)).to.deep.equal([7, 99, 6]);
  });

  it('bits are set by any of theirs, also in the upper half', () => {
    const { bank, read } = behind([
      {
        type: 'bitfield32',
        point: '701.Alrm',
        bits: { 0: ['AC_OVER_VOLT', 'AC_UNDER_VOLT'], 5: 'GROUND_FAULT', 31: 'MANUFACTURER_ALRM' },
      },
      { type: 'bitfield32', point: '701.Alrm' },
    ]);
    bank.measurements.m701.Alrm = 0b1_0000_1000_0000_0001;
    expect(read(100, 4)).to.deep.equal([0x8000, 0x0021, 0x0001, 0x0801]);
  });

  it('sums leave out what is not there', () => {
    const { bank, read } = behind(
      [
        { type: 'int32', sum: ['714.Prt[0].DCW', '714.Prt[1].DCW', '714.Prt[7].DCW'] },
        { type: 'int16', sum: ['714.Prt[0].Tmp', '714.Prt[1].Tmp'] },
      ],
      {},
      createTestBank({ omit: ['714.Prt.Tmp'] }),
    );
    bank.measurements.m714.Prt[0]!.DCW = 1000;
    bank.measurements.m714.Prt[1]!.DCW = -400;
    expect(read(100, 3)).to.deep.equal([0, 600, 0x8000]);
  });

  it('constants and text', () => {
    const { unit } = behind([
      { type: 'string', size: 2, constant: 'AbC' },
      { type: 'string', size: 3, point: '1.Md', byte_order: 'little' },
      { type: 'float32', constant: 2 },
    ]);
    expect(unit.read(100, 7).toString('latin1')).to.equal('AbC\0etts\0\0@\0\0\0');
  });

  it('holding and input registers are two spaces', () => {
    const { unit } = behind([
      { address: 5, type: 'uint16', constant: 1 },
      { address: 5, type: 'uint16', constant: 2, table: 'input' },
      { address: 6, type: 'uint16', constant: 3, table: 'both' },
    ]);
    expect([unit.read(5, 2), unit.readInput(5, 2)]).to.deep.equal([words(1, 3), words(2, 3)]);
  });

  it('numbers may be written in another order of registers than they are read', () => {
    const registers = [
      { address: 10, type: 'uint32', keeps: 0 },
      { address: 12, type: 'uint32', keeps: 0, write_word_order: 'little', word_order: 'little' },
      { address: 14, type: 'uint16', keeps: 0 },
      { address: 20, type: 'int32', access: 'rw', point: '704.WSet' },
      { address: 30, type: 'string', size: 2, keeps: 'ab' },
    ] as const;
    const { read, write, bank, unit } = behind(registers, { word_order: 'little', write_word_order: 'big' });
    write(10, 1, 2, 3, 4, 5);
    expect(read(10, 5)).to.deep.equal([2, 1, 3, 4, 5]);
    write(20, 0xffff, 0xff00);
    expect([bank.map.m704.WSet, read(20, 2)]).to.deep.equal([-256, [0xff00, 0xffff]]);
    write(30, 0x4142, 0x4344);
    expect(read(30, 2)).to.deep.equal([0x4142, 0x4344]);
    expect(codeOf(() => write(21, 1))).to.equal('MAP_PARTIAL_POINT');
    const named = (functionCode: number) => unit.names(functionCode, 20, 2)().values(words(0, 7));
    expect([named(16), named(3)]).to.deep.equal([{ r3: 7 }, { r3: 7 * 65_536 }]);
  });

  it('gaps are refused, or read as 0 or as all ones inside the map', () => {
    const registers = [
      { address: 10, type: 'uint16', constant: 1 },
      { address: 13, type: 'uint16', constant: 2 },
    ] as const;
    expect(codeOf(() => behind(registers).unit.read(10, 4))).to.equal('MAP_ILLEGAL_ADDRESS');
    const { read, unit } = behind(registers, { gaps: 'zero' });
    expect(read(10, 4)).to.deep.equal([1, 0, 0, 2]);
    expect(read(11, 2)).to.deep.equal([0, 0]);
    expect(behind(registers, { gaps: 'ones' }).read(10, 4)).to.deep.equal([1, 0xffff, 0xffff, 2]);
    for (const [address, count] of [
      [9, 1],
      [9, 2],
      [13, 2],
      [14, 1],
      [65_535, 1],
    ] as const) {
      expect(
        codeOf(() => unit.read(address, count)),
        `${address}`,
      ).to.equal('MAP_ILLEGAL_ADDRESS');
    }
    expect(codeOf(() => unit.readInput(11, 1))).to.equal('MAP_ILLEGAL_ADDRESS');
    expect(
      codeOf(() => {
        unit.write(11, words(0), by);
      }),
    ).to.equal('MAP_ILLEGAL_ADDRESS');
  });

  it('a part of a value may be read', () => {
    const { unit } = behind([
      { type: 'uint32', constant: 0x12345678 },
      { type: 'uint16', constant: 9 },
    ]);
    expect(unit.read(101, 1)).to.deep.equal(words(0x5678));
    expect(unit.read(101, 2)).to.deep.equal(words(0x5678, 9));
    expect(unit.read(100, 1)).to.deep.equal(words(0x1234));
  });
});

describe('Proxy: writing', () => {
  const limit = {
    type: 'uint16',
    access: 'rw',
    point: '704.WMaxLimPct',
    scale: 0.1,
    also: { '704.WMaxLimPctEna': 'ENABLED' },
  } as const;
  const enable = {
    type: 'uint16',
    access: 'rw',
    point: '704.WMaxLimPctEna',
    values: { 0: 'DISABLED', 9: 'ENABLED' },
  } as const;
  const setPoint = { type: 'float32', access: 'rw', word_order: 'little', point: '704.WSet', scale: -1 } as const;

  it('a write is one commit by the peer, with what goes along', () => {
    const { write, value, changes } = behind([limit]);
    write(100, 425);
    expect([value('704.WMaxLimPct'), value('704.WMaxLimPctEna')]).to.deep.equal([42.5, 'ENABLED']);
    expect(changes).to.have.length(1);
    expect(changes[0]!.by).to.deep.equal({ source: 'modbus', peer: by.peer });
    expect(changes[0]!.points.map(({ path }) => path)).to.have.members(['WMaxLimPct', 'WMaxLimPctEna']);
  });

  it('what the same write says itself stands over what goes along, in either order', () => {
    for (const registers of [
      [limit, enable],
      [enable, limit],
    ]) {
      const { write, value } = behind(registers);
      const values = registers[0] === limit ? [425, 0] : [0, 425];
      write(100, ...values);
      expect([value('704.WMaxLimPct'), value('704.WMaxLimPctEna')]).to.deep.equal([42.5, 'DISABLED']);
    }
  });

  it('the read after the write gives what was written', () => {
    const { write, read } = behind([limit, enable, setPoint]);
    write(100, 425, 9, 0x4000, 0xc5ab);
    expect(read(100, 4)).to.deep.equal([425, 9, 0x4000, 0xc5ab]);
  });

  it('numbers that the map does not know, or that stand for no value, are refused with exception 3', () => {
    const { write, dump } = behind([limit, enable, setPoint]);
    const before = dump();
    for (const values of [
      [1001],
      [0xffff],
      [500, 1],
      [500, 9, 0, 0x7fc0],
      [500, 9, 0, 0x7f80],
      [500, 9, 0x2400, 0x4974],
    ]) {
      expect(
        codeOf(() => {
          write(100, ...values);
        }),
        values.join(' '),
      ).to.equal('MAP_BAD_VALUE');
      expect(dump().equals(before)).to.equal(true);
    }
  });

  it('limits of the map come before those of the device', () => {
    const { write, value } = behind([{ ...limit, min: 20, max: 80 }]);
    for (const refused of [199, 801])
      expect(
        errorOf(() => {
          write(100, refused);
        }).message,
      ).to.contain('is outside 20..80');
    write(100, 200);
    expect(value('704.WMaxLimPct')).to.equal(20);
    write(100, 800);
    expect(value('704.WMaxLimPct')).to.equal(80);
  });

  it('part of a value is refused with exception 3, what cannot be written with exception 2', () => {
    const { write, dump } = behind([
      setPoint,
      { type: 'uint32', constant: 5 },
      limit,
      { type: 'uint16', point: '704.WMaxLimPct' },
    ]);
    const before = dump();
    expect(
      codeOf(() => {
        write(100, 0);
      }),
    ).to.equal('MAP_PARTIAL_POINT');
    expect(
      codeOf(() => {
        write(101, 0);
      }),
    ).to.equal('MAP_PARTIAL_POINT');
    expect(
      codeOf(() => {
        write(102, 0, 5);
      }),
    ).to.equal('MAP_READ_ONLY');
    expect(
      codeOf(() => {
        write(103, 0);
      }),
    ).to.equal('MAP_READ_ONLY');
    expect(
      codeOf(() => {
        write(104, 500, 500);
      }),
    ).to.equal('MAP_READ_ONLY');
    expect(
      codeOf(() => {
        write(104, 500, 500, 500);
      }),
    ).to.equal('MAP_READ_ONLY');
    expect(dump().equals(before)).to.equal(true);
  });

  it('what this device does not have is refused with exception 2', () => {
    const test = createTestBank({ omit: ['704.WSet'] });
    const { write } = behind(
      [setPoint, { type: 'uint16', access: 'rw', point: '802.SetOp', values: { 1: 'CONNECT', 2: 'DISCONNECT' } }],
      {},
      test,
    );
    expect(
      codeOf(() => {
        write(100, 0, 0);
      }),
    ).to.equal('MAP_NOT_IMPLEMENTED');
    expect(
      codeOf(() => {
        write(102, 1);
      }),
    ).to.equal('MAP_NOT_IMPLEMENTED');
  });

  it('commands set all their points at once, and read as the one that stands', () => {
    const mode = {
      type: 'uint16',
      otherwise: 77,
      commands: {
        0: { '704.WSetEna': 'DISABLED' },
        1: { '704.WSetEna': 'ENABLED', '704.WSetMod': 'WATTS', '704.WSet': 2000 },
        2: { '704.WSetEna': 'ENABLED', '704.WSetMod': 'W_MAX_PCT' },
      },
    } as const;
    const { write, read, value, set, changes } = behind([mode]);
    expect(read(100)).to.deep.equal([0]);
    write(100, 1);
    expect(['WSetEna', 'WSetMod', 'WSet'].map((name) => value(`704.${name}`))).to.deep.equal([
      'ENABLED',
      'WATTS',
      2000,
    ]);
    expect(changes).to.have.length(1);
    expect(read(100)).to.deep.equal([1]);
    set({ '704.WSet': 100 });
    expect(read(100)).to.deep.equal([77]);
    write(100, 2);
    expect(read(100)).to.deep.equal([2]);
    expect(
      codeOf(() => {
        write(100, 3);
      }),
    ).to.equal('MAP_BAD_VALUE');
  });

  it('the curve in force is open, checked as a whole', () => {
    const point = (i: number) =>
      [
        { type: 'uint16', access: 'rw', point: `705.Crv[0].Pt[${i}].V`, scale: 0.1 },
        { type: 'int16', access: 'rw', point: `705.Crv[0].Pt[${i}].Var`, scale: 0.1 },
      ] as const;
    const { write, read, value } = behind([
      { type: 'uint16', access: 'rw', point: '705.Crv[0].ActPt' },
      ...point(0),
      ...point(1),
    ]);
    write(100, 2, 930, 300, 1060, 0x10000 - 300);
    expect([0, 1].map((i) => value(`705.Crv[0].Pt[${i}].V`))).to.deep.equal([93, 106]);
    expect(value('705.AdptCrvRslt')).to.equal('COMPLETED');
    // a curve that runs backwards
    expect(
      codeOf(() => {
        write(100, 2, 1060, 300, 930, 0);
      }),
    ).to.equal('MAP_BAD_VALUE');
    expect(read(101)).to.deep.equal([930]);
  });
});

describe('Proxy: whatever is asked', () => {
  for (const [name, low, high] of [
    ['string-inverter-basic', 0, 115],
    ['hybrid-little-word-order', 995, 1315],
  ] as const) {
    it(`${name} answers or refuses, and a refused write changes nothing`, () => {
      const test = createTestBank({ storage: true });
      const map = bundledMap(name);
      const unit = new ProxyUnit(map, { index: 0, bank: test.bank }, () => undefined);
      const address = fc.integer({ min: low, max: high });
      holds(`${name}: reads`, [address, fc.integer({ min: 1, max: 125 })], (at, count) => {
        for (const read of [() => unit.read(at, count), () => unit.readInput(at, count)]) {
          expect(
            codeOf(() => {
              expect(read()).to.have.length(2 * count);
            }),
          ).to.be.oneOf([null, 'MAP_ILLEGAL_ADDRESS', 'MAP_NOT_IMPLEMENTED']);
        }
      });
      const word = fc.oneof(fc.constantFrom(0, 1, 2, 0xffff, 0x8000, 0x7fc0, 500), fc.nat(0xffff));
      // one or two small words are what a register takes most often
      const values = fc.oneof(
        fc.array(fc.nat(100), { minLength: 1, maxLength: 2 }),
        fc.array(word, { minLength: 1, maxLength: 20 }),
      );
      const writable = map.registers.filter(isWritable).map((register) => register.address);
      let taken = 0;
      holds(
        `${name}: writes`,
        [fc.oneof(address, fc.constantFrom(...writable)), values],
        (at, registers) => {
          const before = test.dump();
          const code = codeOf(() => {
            unit.write(at, words(...registers), by);
          });
          if (code === null) {
            taken += 1;
            return;
          }
          expect(code).to.match(
            /^MAP_(ILLEGAL_ADDRESS|READ_ONLY|PARTIAL_POINT|BAD_VALUE|NOT_IMPLEMENTED|NOT_SUPPORTED)$/,
          );
          expect(test.dump().equals(before)).to.equal(true);
        },
        { runs: 3000 },
      );
      expect(taken).to.be.above(0);
    });
  }
});
