import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import { RegisterBank } from '../../../src/sunspec/map/register-bank.ts';
import type { AdoptChange } from '../../../src/sunspec/map/bank.ts';
import type { Commit } from '../../../src/sunspec/map/commit.ts';
import { byModbus, byRest, codeOf, createTestBank, errorOf, HandClock, mapLayout, named } from '../../support/map.ts';
import { startImage } from '../../support/map-start.ts';

describe('adopt: former values', () => {
  it('restore brings value and writer back, whatever the range is by now', () => {
    const test = createTestBank();
    test.set({ '704.WSet': -60_000 }, byModbus);
    const slot = test.slot(704, 'WSet');
    const [former, writer] = [test.bank.former(slot), test.bank.provenance(slot)];
    test.set({ '704.WSet': 0 });
    test.set({ '702.WChaRteMax': 30_000 });
    test.clock.advance(10);
    test.bank.adopt(byRest, (_, set, restore) => {
      restore(slot, former);
      set(test.slot(704, 'WRmp'), 7);
    });
    expect([test.bank.value(slot), test.value('704.WRmp')]).to.deep.equal([-60_000, 7]);
    expect(test.bank.provenance(slot)).to.equal(writer);
    expect(test.bank.provenance(test.slot(704, 'WRmp'))?.source).to.equal('rest');
    expect(test.changes.at(-1)?.by).to.equal(byRest);
  });

  it('a value from the start has no writer again; a writer from the profile is the same', () => {
    const layout = mapLayout();
    const slot = named(layout, '704.WRmp');
    const profile = { source: 'profile', at: new HandClock().sim(), wallMs: 0 } as const;
    for (const startWriters of [new Map(), new Map([[slot, profile]])]) {
      const bank = new RegisterBank(layout, startImage(layout), new HandClock(), { startWriters });
      const former = bank.former(slot);
      bank.assign(byRest, [{ slot, value: 7 }]);
      bank.adopt(byRest, (_, _set, restore) => {
        restore(slot, former);
      });
      expect(bank.value(slot)).to.equal(100);
      expect(bank.provenance(slot)).to.equal(startWriters.get(slot));
    }
  });

  it('a set 1 that it completes must still be one that can be in force', () => {
    const test = createTestBank();
    const slot = test.slot(705, 'Crv[0].Pt[1].V');
    const former = test.bank.former(slot);
    test.bank.adopt(byRest, (tx) => {
      Object.assign(tx.m705.Crv[0]!.Pt[0]!, { V: 106 });
      Object.assign(tx.m705.Crv[0]!.Pt[1]!, { V: 107 });
    });
    const bytes = test.dump();
    const error = errorOf(() => {
      test.bank.adopt(byRest, (_, _set, restore) => {
        restore(slot, former);
      });
    });
    expect(error.issues[0]?.name).to.equal('705.Crv[0].Pt[1].V');
    expect(test.dump().equals(bytes)).to.equal(true);
  });

  it('a participant sees what is restored, with the rank that it remembered', () => {
    const layout = mapLayout();
    const slot = named(layout, '705.Ena');
    const bank = new RegisterBank(layout, startImage(layout), new HandClock());
    const seen: Commit['restored'][] = [];
    let rank = 3;
    bank.join([
      {},
      {
        rankOf: (each) => (each === slot ? rank : undefined),
        prepare({ restored }) {
          seen.push(restored);
          return null;
        },
      },
    ]);
    const former = bank.former(slot);
    expect(former.rank).to.equal(3);
    expect(bank.former(named(layout, '704.WRmp')).rank).to.equal(undefined);
    rank = 8;
    bank.assign(byRest, [{ slot, value: 'ENABLED' }]);
    bank.adopt(byRest, (_, _set, restore) => {
      restore(slot, former);
    });
    expect(seen.map((each) => [...each])).to.deep.equal([[], [[slot, former]]]);
  });

  it('its follow-up comes before listeners, also when there is nothing to write', () => {
    const test = createTestBank();
    const calls: string[] = [];
    test.bank.onChange(() => calls.push('listener'));
    const committed = () => calls.push(`committed ${String(test.value('704.WRmp'))}`);
    test.bank.adopt(
      byRest,
      (tx) => {
        tx.m704.WRmp = 7;
      },
      committed,
    );
    test.bank.adopt(byRest, () => undefined, committed);
    expect(
      codeOf(() => {
        test.bank.adopt(
          byRest,
          (tx) => {
            tx.m704.WRmp = 0;
          },
          committed,
        );
      }),
    ).to.equal('MAP_BAD_VALUE');
    expect(calls).to.deep.equal(['committed 7', 'listener', 'committed 7']);
  });
});

describe('checkAdopt', () => {
  it('refuses what adopt refuses, and writes nothing', () => {
    const changes: readonly AdoptChange[] = [
      (tx) => {
        tx.m704.WMaxLimPct = 40;
      },
      (tx) => {
        tx.m704.WMaxLimPct = 101;
      },
      (tx) => {
        tx.m705.Crv[0]!.Pt[0]!.V = 106;
      },
      (tx) => {
        tx.m705.Crv[0]!.RspTms = 3;
        tx.m705.Ena = 'ENABLED';
      },
      (tx) => {
        tx.m705.AdptCrvReq = 2;
      },
      () => undefined,
    ];
    for (const change of changes) {
      const test = createTestBank();
      const before = test.dump();
      const checked = codeOf(() => {
        test.bank.checkAdopt(byModbus, change);
      });
      expect(test.dump().equals(before)).to.equal(true);
      expect(test.changes).to.have.lengthOf(0);
      const written = codeOf(() => {
        test.bank.adopt(byModbus, change);
      });
      expect(checked).to.equal(written);
    }
  });

  it('asks whether the writer may write now, and prepares nothing', () => {
    const layout = mapLayout();
    const bank = new RegisterBank(layout, startImage(layout), new HandClock());
    let prepared = 0;
    bank.join([
      {
        admit(by) {
          if (by.source === 'modbus') throw new SimError('MAP_LOCAL_CONTROL', 'local');
        },
        prepare() {
          prepared += 1;
          return null;
        },
      },
    ]);
    const change: AdoptChange = (tx) => {
      tx.m704.WRmp = 7;
    };
    expect(
      codeOf(() => {
        bank.checkAdopt(byModbus, change);
      }),
    ).to.equal('MAP_LOCAL_CONTROL');
    bank.checkAdopt(byRest, change);
    expect(prepared).to.equal(0);
  });
});

describe('onReload', () => {
  it('is called when the start values are back, before listeners of changes', () => {
    const test = createTestBank();
    const calls: string[] = [];
    test.set({ '704.WRmp': 7 });
    const stop = test.bank.onReload(({ source }) => calls.push(`reload ${source} ${String(test.value('704.WRmp'))}`));
    test.bank.onChange(() => calls.push('change'));
    test.bank.reload(startImage(test.layout), byRest);
    stop();
    test.bank.reload(startImage(test.layout), byRest);
    expect(calls).to.deep.equal(['reload rest 100', 'change', 'change']);
  });
});
