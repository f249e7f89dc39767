import { expect } from 'chai';
import { RegisterBank } from '../../../src/sunspec/map/register-bank.ts';
import { pointName } from '../../../src/sunspec/map/view.ts';
import {
  byModbus,
  byRest,
  codeOf,
  createTestBank,
  errorOf,
  HandClock,
  leanSizes,
  mapLayout,
  words,
} from '../../support/map.ts';
import { startImage } from '../../support/map-start.ts';
import type { TestBank } from '../../support/map.ts';

/** A refused change must leave no trace: registers, provenance, events. */
function expectRefused(test: TestBank, code: string, action: () => void): void {
  const before = test.dump();
  const events = test.changes.length;
  expect(codeOf(action)).to.equal(code);
  expect(test.dump().equals(before), 'registers').to.equal(true);
  expect(test.changes.length, 'change events').to.equal(events);
}

describe('bank: addresses (section 8)', () => {
  const { bank, layout } = createTestBank();
  const end = layout.base + layout.size;
  const beyond: readonly (readonly [number, number])[] = [
    [layout.base - 1, 1],
    [layout.base - 1, 2],
    [end, 1],
    [end - 1, 2],
    [layout.base, layout.size + 1],
    [0, 1],
    [65535, 1],
    [layout.base, 0],
  ];

  for (const [address, count] of beyond) {
    it(`read of ${count} at ${address} is refused`, () => {
      expect(codeOf(() => bank.read(address, count))).to.equal('MAP_ILLEGAL_ADDRESS');
    });

    it(`write of ${count} at ${address} is refused`, () => {
      expectRefused(createTestBank(), 'MAP_ILLEGAL_ADDRESS', () => {
        bank.write(address, Buffer.alloc(count * 2), byModbus);
      });
    });
  }

  it('reads reach from the marker to the L of the end model, across models', () => {
    const all = bank.read(layout.base, layout.size);
    expect(all).to.have.lengthOf(layout.size * 2);
    expect(all.subarray(-4).toString('hex')).to.equal('ffff0000');
    expect(bank.read(40069, 2).toString('hex')).to.equal('800002bd');
  });

  it('a read may start and end inside a point', () => {
    expect(bank.read(40003, 3)).to.have.lengthOf(6);
  });

  it('a read is a view, not a copy', () => {
    const test = createTestBank();
    const seen = test.bank.read(test.slot(701, 'W').address, 1);
    test.bank.measurements.m701.W = 1230;
    expect(seen.readInt16BE()).to.equal(123);
  });

  it('the frame cannot be written', () => {
    const test = createTestBank();
    for (const address of [layout.base, layout.base + 1, end - 2, end - 1]) {
      expectRefused(test, 'MAP_READ_ONLY', () => {
        test.bank.write(address, words(1), byModbus);
      });
    }
  });
});

describe('bank: a write is whole (section 8)', () => {
  it('puts registers as they came and can be read back at once', () => {
    const test = createTestBank();
    const { address } = test.slot(704, 'WMaxLimPctEna');
    test.bank.write(address, words(1, 755), byModbus);
    expect(test.bank.read(address, 2).toString('hex')).to.equal('000102f3');
    expect([test.value('704.WMaxLimPctEna'), test.value('704.WMaxLimPct')]).to.deep.equal(['ENABLED', 75.5]);
  });

  it('a point of several registers must be written whole', () => {
    const test = createTestBank();
    const { address } = test.slot(704, 'WSet');
    for (const [start, count] of [
      [address, 1],
      [address + 1, 1],
      [address - 1, 2],
      [address + 1, 2],
      [address + 1, 3],
    ] as const) {
      expectRefused(test, 'MAP_PARTIAL_POINT', () => {
        test.bank.write(start, Buffer.alloc(count * 2), byModbus);
      });
    }
    test.bank.write(address, words(0, 5000), byModbus);
    expect(test.value('704.WSet')).to.equal(5000);
  });

  it('half a register is no write', () => {
    const test = createTestBank();
    const { address } = test.slot(704, 'WMaxLimPctEna');
    for (const length of [1, 3]) {
      const before = test.dump();
      expect(
        codeOf(() => {
          test.bank.write(address, Buffer.alloc(length), byModbus);
        }),
        `${length} bytes`,
      ).to.not.equal(null);
      expect(test.dump().equals(before)).to.equal(true);
    }
  });

  it('a part of a read-only point is refused as read only', () => {
    const test = createTestBank();
    expectRefused(test, 'MAP_READ_ONLY', () => {
      test.bank.write(test.slot(704, 'WSetRvrtRem').address, words(1), byModbus);
    });
  });

  it('one read-only point in the span refuses all of it', () => {
    const test = createTestBank();
    const first = test.slot(704, 'PFWInjRvrtTms').address;
    expectRefused(test, 'MAP_READ_ONLY', () => {
      test.bank.write(first, words(0, 30, 0, 0, 1), byModbus);
    });
  });

  it('a span over a model boundary contains ID and L', () => {
    const test = createTestBank();
    const { address } = test.slot(703, 'ESRmpTms');
    const length = test.layout.models[4]!.address + 3 - address;
    expectRefused(test, 'MAP_READ_ONLY', () => {
      test.bank.write(address, Buffer.from(test.bank.read(address, length)), byModbus);
    });
  });

  it('one point that the device lacks refuses all of it', () => {
    const test = createTestBank({ omit: ['704.WSetPct'] });
    const { address } = test.slot(704, 'WSetRvrt');
    expectRefused(test, 'MAP_NOT_IMPLEMENTED', () => {
      test.bank.write(address, words(0, 5, 5), byModbus);
    });
    expectRefused(test, 'MAP_NOT_IMPLEMENTED', () => {
      test.set({ '704.WSetRvrt': 5, '704.WSetPct': 5 });
    });
    expectRefused(test, 'MAP_NOT_IMPLEMENTED', () => {
      test.bank.transact(byRest, (tx) => {
        tx.m704.WSetRvrt = 5;
        tx.m704.WSetPct = 5;
      });
    });
  });

  it('one bad value in the span refuses all of it, wherever it stands', () => {
    const test = createTestBank();
    const { address } = test.slot(704, 'WMaxLimPctEna');
    const good = [1, 500, 500, 1, 0, 30];
    const bad = [2, 1001, 1001, 7];
    bad.forEach((word, i) => {
      expectRefused(test, 'MAP_BAD_VALUE', () => {
        test.bank.write(address, words(...good.with(i, word)), byModbus);
      });
    });
    expectRefused(test, 'MAP_BAD_VALUE', () => {
      test.bank.write(address, words(1, 500, 500, 1, 0xffff, 0xffff), byModbus);
    });
    test.bank.write(address, words(...good), byModbus);
    expect(test.value('704.WMaxLimPctRvrtTms')).to.equal(30);
  });

  it('the longest write, a whole trip set, goes through as one', () => {
    const test = createTestBank();
    const { address } = test.slot(709, 'Crv[1].MustTrip.ActPt');
    test.bank.write(address, Buffer.from(test.bank.read(address, 123)), byModbus);
    expect(test.changes).to.have.lengthOf(1);
    expect(test.changes[0]?.points).to.have.lengthOf(63);
    expectRefused(test, 'MAP_READ_ONLY', () => {
      test.bank.write(address - 1, Buffer.from(test.bank.read(address - 1, 124)), byModbus);
    });
  });

  it('set 1 of a curve model is read only by every road', () => {
    const test = createTestBank();
    for (const name of [
      '705.Crv[0].ActPt',
      '706.Crv[0].Pt[0].V',
      '709.Crv[0].MustTrip.Pt[0].Hz',
      '711.Ctl[0].DbOf',
      '712.Crv[0].Pri',
    ]) {
      const slot = test.layout.slots.find((each) => pointName(each) === name)!;
      expectRefused(test, 'MAP_READ_ONLY', () => {
        test.bank.write(slot.address, Buffer.from(test.bank.read(slot.address, slot.def.size)), byModbus);
      });
      expectRefused(test, 'MAP_READ_ONLY', () => {
        test.set({ [name]: 1 });
      });
    }
    expectRefused(test, 'MAP_READ_ONLY', () => {
      test.bank.transact(byRest, (tx) => {
        tx.m705.Crv[0]!.ActPt = 1;
      });
    });
    expectRefused(test, 'MAP_READ_ONLY', () => {
      test.bank.transact(byRest, (tx) => {
        tx.m705.Crv[1]!.ReadOnly = 'R';
      });
    });
  });
});

describe('bank: transactions', () => {
  it('all assignments or none', () => {
    const test = createTestBank();
    expectRefused(test, 'MAP_BAD_VALUE', () => {
      test.bank.transact(byRest, (tx) => {
        tx.m704.WMaxLimPct = 50;
        tx.m703.ESDlyTms = 10;
        tx.m704.WRmp = 1001;
      });
    });
    expectRefused(test, 'MAP_READ_ONLY', () => {
      test.bank.transact(byRest, (tx) => {
        tx.m704.WMaxLimPct = 50;
        tx.m701.W = 1;
      });
    });
    test.bank.transact(byRest, (tx) => {
      tx.m704.WMaxLimPct = 50;
      tx.m703.ESDlyTms = 10;
      tx.m704.WRmp = 1000;
    });
    expect([test.value('704.WMaxLimPct'), test.value('703.ESDlyTms'), test.value('704.WRmp')]).to.deep.equal([
      50, 10, 1000,
    ]);
  });

  it('sees its own assignments, others see them after the commit', () => {
    const test = createTestBank();
    test.bank.transact(byRest, (tx) => {
      tx.m704.WMaxLimPct = 50;
      expect([tx.m704.WMaxLimPct, test.value('704.WMaxLimPct'), tx.m702.WMax]).to.deep.equal([50, 100, 100_000]);
    });
    expect(test.value('704.WMaxLimPct')).to.equal(50);
  });

  it('the last assignment counts, and the checks see the final state', () => {
    const test = createTestBank();
    test.bank.transact(byRest, (tx) => {
      tx.m704.WMaxLimPct = 1000;
      tx.m704.WMaxLimPct = 40;
    });
    expect(test.value('704.WMaxLimPct')).to.equal(40);
    // 702.VMin may not lie above VNom: in one transaction both may rise
    expectRefused(test, 'MAP_BAD_VALUE', () => {
      test.set({ '702.VMin': 500 });
    });
    test.set({ '702.VMin': 500, '702.VNom': 510 });
    expect([test.value('702.VMin'), test.value('702.VNom')]).to.deep.equal([500, 510]);
    expect(test.changes[0]?.points).to.have.lengthOf(1);
  });

  it('an exception inside changes nothing, passes through, and leaves the bank usable', () => {
    const test = createTestBank();
    const before = test.dump();
    const thrown = new RangeError('of the caller');
    expect(() => {
      test.bank.transact(byRest, (tx) => {
        tx.m704.WMaxLimPct = 1;
        throw thrown;
      });
    }).to.throw(thrown);
    expect(test.dump().equals(before)).to.equal(true);
    expect(test.changes).to.have.lengthOf(0);
    test.bank.transact(byRest, (tx) => {
      tx.m704.WRmp = 7;
    });
    expect([test.value('704.WMaxLimPct'), test.value('704.WRmp')]).to.deep.equal([100, 7]);
  });

  it('a transaction inside another is refused, on any bank of the shape', () => {
    const [a, b] = [createTestBank(), createTestBank()];
    const roads: readonly (() => void)[] = [
      () => {
        a.bank.transact(byRest, (tx) => {
          tx.m704.WRmp = 3;
        });
      },
      () => {
        b.bank.transact(byRest, (tx) => {
          tx.m704.WRmp = 3;
        });
      },
      () => {
        a.set({ '704.WRmp': 3 });
      },
      () => {
        b.bank.write(b.slot(704, 'WRmp').address, words(3), byModbus);
      },
    ];
    for (const inner of roads) {
      expectRefused(a, 'INTERNAL', () => {
        a.bank.transact(byRest, (tx) => {
          tx.m704.WRmp = 2;
          inner();
        });
      });
      expect(b.value('704.WRmp')).to.equal(100);
    }
    a.set({ '704.WRmp': 5 });
    b.set({ '704.WRmp': 6 });
    expect([a.value('704.WRmp'), b.value('704.WRmp')]).to.deep.equal([5, 6]);
  });

  it('a bank of another shape may be written meanwhile', () => {
    const [a, b] = [createTestBank(), createTestBank({ sizes: leanSizes })];
    a.bank.transact(byRest, (tx) => {
      tx.m704.WRmp = 2;
      b.set({ '704.WRmp': 3 });
    });
    expect([a.value('704.WRmp'), b.value('704.WRmp')]).to.deep.equal([2, 3]);
  });

  it('without an assignment it is no commit', () => {
    const test = createTestBank();
    test.bank.transact(byRest, () => undefined);
    test.bank.assign(byRest, []);
    expect(test.changes).to.have.lengthOf(0);
  });

  it('a participant that throws commits nothing', () => {
    const layout = mapLayout();
    const bank = new RegisterBank(layout, startImage(layout), new HandClock());
    bank.join([
      {
        prepare: () => {
          throw new RangeError('effect');
        },
      },
    ]);
    const before = Buffer.from(bank.read(layout.base, layout.size));
    expect(() => {
      bank.transact(byRest, (tx) => {
        tx.m704.WRmp = 2;
      });
    }).to.throw('effect');
    expect(bank.read(layout.base, layout.size).equals(before)).to.equal(true);
    expect(
      codeOf(() => {
        createTestBank().set({ '704.WRmp': 2 });
      }),
    ).to.equal(null);
  });
});

describe('bank: messages', () => {
  it('name the point and say what is wrong', () => {
    const test = createTestBank({ omit: ['704.AntiIslEna'] });
    const messages = (values: Record<string, number | string | null>) =>
      errorOf(() => {
        test.set(values);
      });
    expect(messages({ '704.WMaxLimPct': 110 }).message).to.equal('704.WMaxLimPct: 110 is outside 0..100');
    expect(messages({ '704.WSet': -80_001 }).message).to.equal('704.WSet: -80001 is outside -80000..100000');
    expect(messages({ '701.W': 1 }).message).to.equal('701.W is read only');
    expect(messages({ '704.AntiIslEna': 1 }).message).to.equal('704.AntiIslEna is not implemented in this device');
    expect(messages({ '704.WMaxLimPct': null }).message).to.equal(
      '704.WMaxLimPct: the "not implemented" value cannot be written',
    );
    expect(messages({ '704.WMaxLimPct': 'half' }).issues).to.deep.equal([
      { name: '704.WMaxLimPct', detail: 'must be a finite number; given "half"' },
    ]);
    const raw = errorOf(() => {
      test.bank.write(test.slot(704, 'WMaxLimPctEna').address, words(2), byModbus);
    });
    expect(raw.issues).to.deep.equal([
      { name: '704.WMaxLimPctEna', detail: '2 is not one of its values', allowed: ['DISABLED', 'ENABLED'] },
    ]);
  });
});
