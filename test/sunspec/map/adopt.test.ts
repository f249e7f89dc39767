import { expect } from 'chai';
import type { AnyPointValue } from '../../../src/sunspec/map/types.ts';
import { pointName } from '../../../src/sunspec/map/view.ts';
import { inSet, models, readOnly, request, result, setBytes, setPlace, setValues } from '../../support/curves.ts';
import { byModbus, byRest, codeOf, createTestBank, errorOf, words } from '../../support/map.ts';
import type { TestBank } from '../../support/map.ts';

describe('adopt: set 1 and settings in one commit', () => {
  const before = (test: TestBank) => [test.dump(), test.changes.length] as const;

  it('changes set 1 in place, with Ena, and leaves the stored sets alone', () => {
    const test = createTestBank();
    const model = models[0]!;
    test.set({ '705.Crv[1].Pt[0].V': 91.5, '705.Crv[1].ActPt': 1 }, byModbus);
    const stored = [2, 3].map((number) => Buffer.from(setBytes(test, model, number)));
    const at = test.clock.advance(5);
    test.bank.adopt(byRest, (tx) => {
      tx.m705.Ena = 'ENABLED';
      tx.m705.Crv[0]!.Pt[0]!.V = 92;
      tx.m705.Crv[0]!.Pt[0]!.Var = 30;
    });
    expect(setValues(test, model, 1)).to.include({
      'Pt[0].V': 92,
      'Pt[0].Var': 30,
      'Pt[1].V': 105,
      ActPt: 2,
      RspTms: 5,
    });
    expect([test.value('705.Ena'), test.value('705.AdptCrvReq'), result(test, model)]).to.deep.equal([
      'ENABLED',
      1,
      'COMPLETED',
    ]);
    expect([2, 3].every((number, i) => setBytes(test, model, number).equals(stored[i]!))).to.equal(true);
    expect(readOnly(test, model)).to.deep.equal(['R', 'RW', 'RW']);
    const writers = ['Ena', 'AdptCrvReq', 'AdptCrvRslt', 'Crv[0].Pt[0].V', 'Crv[0].Pt[0].Var'].map((path) =>
      test.bank.provenance(test.slot(705, path)),
    );
    for (const writer of writers) expect(writer).to.deep.include({ ...byRest, at });
    expect(test.bank.provenance(test.slot(705, 'Crv[0].Pt[1].V'))).to.equal(undefined);
    expect(test.bank.provenance(test.slot(705, 'Crv[1].Pt[0].V'))).to.include(byModbus);
  });

  it('one change event lists all that it wrote', () => {
    const test = createTestBank();
    test.bank.adopt(byRest, (tx, set) => {
      set(test.slot(711, 'Ctl[0].KOf'), 0.04);
      set(test.slot(704, 'WRmp'), 7);
      tx.m706.Crv[0]!.RspTms = 3;
    });
    expect(test.changes).to.have.lengthOf(1);
    expect(test.changes[0]?.points.map(pointName)).to.deep.equal([
      '711.Ctl[0].KOf',
      '704.WRmp',
      '706.Crv[0].RspTms',
      '711.AdptCtlReq',
      '711.AdptCtlRslt',
      '706.AdptCrvReq',
      '706.AdptCrvRslt',
    ]);
    expect(test.value('711.Ctl[0].KOf')).to.equal(0.04);
  });

  it('the result of a failed adoption is put right', () => {
    const test = createTestBank();
    test.set({ '705.Crv[1].ActPt': 0, '705.AdptCrvReq': 2 });
    test.bank.adopt(byRest, (tx) => {
      tx.m705.Crv[0]!.RspTms = 4;
    });
    expect([test.value('705.AdptCrvReq'), test.value('705.AdptCrvRslt')]).to.deep.equal([1, 'COMPLETED']);
  });

  it('without set 1 it is an ordinary transaction', () => {
    const test = createTestBank();
    test.bank.adopt(byRest, (tx) => {
      tx.m705.Ena = 'ENABLED';
    });
    expect(test.changes[0]?.points.map(pointName)).to.deep.equal(['705.Ena']);
    test.bank.adopt(byRest, () => undefined);
    expect(test.changes).to.have.lengthOf(1);
  });

  it('one faulty model refuses all of it, with the reason', () => {
    const test = createTestBank();
    const [bytes, events] = before(test);
    const error = errorOf(() => {
      test.bank.adopt(byRest, (tx) => {
        tx.m704.WRmp = 7;
        tx.m706.Crv[0]!.RspTms = 3;
        tx.m705.Crv[0]!.Pt[0]!.V = 106;
      });
    });
    expect(error.code).to.equal('MAP_BAD_VALUE');
    expect(error.issues).to.deep.equal([
      { name: '705.Crv[0].Pt[1].V', detail: '105 is below the value of the previous point, 106' },
    ]);
    expect(test.dump().equals(bytes)).to.equal(true);
    expect(test.changes).to.have.lengthOf(events);
    expect(test.bank.provenance(test.slot(704, 'WRmp'))).to.equal(undefined);
  });

  const refused: [string, string, AnyPointValue, string][] = [
    ['the flag of set 1', '705.Crv[0].ReadOnly', 'RW', 'MAP_READ_ONLY'],
    ['a measured point of set 1', '705.Crv[0].VRefAuto', 100, 'MAP_READ_ONLY'],
    ['a measurement', '701.W', 1, 'MAP_READ_ONLY'],
    ['a request', '705.AdptCrvReq', 2, 'MAP_BAD_VALUE'],
    ['a result', '705.AdptCrvRslt', 1, 'MAP_READ_ONLY'],
    ['a value out of range', '705.Crv[0].VRef', 79, 'MAP_BAD_VALUE'],
    ['an absent value', '711.Ctl[0].PMin', null, 'MAP_BAD_VALUE'],
    ['more points than there are', '707.Crv[0].MustTrip.ActPt', 11, 'MAP_BAD_VALUE'],
    ['a point that the device lacks', '705.Crv[0].Pri', 'ACTIVE', 'MAP_NOT_IMPLEMENTED'],
  ];
  for (const [what, name, value, code] of refused) {
    it(`${what} is refused`, () => {
      const test = createTestBank(code === 'MAP_NOT_IMPLEMENTED' ? { omit: ['705.Crv.Pri'] } : {});
      const [bytes] = before(test);
      const [modelId, path] = [Number(name.slice(0, 3)), name.slice(4)];
      expect(
        codeOf(() => {
          test.bank.adopt(byRest, (_, set) => {
            set(test.slot(modelId, path), value);
          });
        }),
      ).to.equal(code);
      expect(test.dump().equals(bytes)).to.equal(true);
      expect(test.changes).to.have.lengthOf(0);
    });
  }

  it('set 1 stays read only on every other road', () => {
    const test = createTestBank();
    expect(
      codeOf(() => {
        test.set({ '705.Crv[0].RspTms': 4 });
      }),
    ).to.equal('MAP_READ_ONLY');
    expect(
      codeOf(() => {
        test.bank.transact(byRest, (tx) => {
          tx.m705.Crv[0]!.RspTms = 4;
        });
      }),
    ).to.equal('MAP_READ_ONLY');
    expect(
      codeOf(() => {
        test.bank.write(test.slot(705, 'Crv[0].RspTms').address, words(0, 4), byModbus);
      }),
    ).to.equal('MAP_READ_ONLY');
  });

  it('restarts the reversion timer as an adoption does', () => {
    const test = createTestBank();
    test.set({ '705.Ena': 'ENABLED', '705.RvrtTms': 20, '705.RvrtCrv': 3 });
    test.pass(15);
    test.bank.adopt(byRest, (tx) => {
      tx.m705.Crv[0]!.RspTms = 4;
    });
    test.pass(10);
    expect([test.value('705.RvrtRem'), test.value('705.Crv[0].RspTms')]).to.deep.equal([10, 4]);
    test.pass(10);
    expect([test.value('705.RvrtRem'), test.value('705.Crv[0].RspTms')]).to.deep.equal([0, 5]);
    expect(test.bank.provenance(test.slot(705, 'Crv[0].RspTms'))?.source).to.equal('reversion');
  });
});

describe('adoption time', () => {
  for (const model of models) {
    it(`model ${model.id}: in progress first, then in force, with one more change event`, () => {
      const test = createTestBank({ adoptionS: 3 });
      test.set(inSet(model, 2, model.edit), byModbus);
      const inForce = Buffer.from(setBytes(test, model, 1));
      test.set(request(model, 2), byModbus);
      expect([result(test, model), test.value(`${model.id}.${model.request}`)]).to.deep.equal(['IN_PROGRESS', 2]);
      test.pass(2.9);
      expect(result(test, model)).to.equal('IN_PROGRESS');
      expect(setBytes(test, model, 1).equals(inForce)).to.equal(true);
      const events = test.changes.length;
      test.pass(0.1);
      expect(result(test, model)).to.equal('COMPLETED');
      expect(setValues(test, model, 1)).to.include(model.edit);
      expect(test.changes.slice(events).map(({ by }) => by)).to.deep.equal([byModbus]);
      expect(test.changes.at(-1)?.points.map(pointName)).to.include.members([
        `${model.id}.${model.result}`,
        `${model.id}.${model.group}[0].${Object.keys(model.edit)[0]!}`,
      ]);
      const writer = test.bank.provenance(test.slot(model.id, `${model.group}[0].${Object.keys(model.edit)[0]!}`));
      expect(writer).to.deep.include({ ...byModbus, at: test.clock.sim() });
      expect(readOnly(test, model)).to.deep.equal(['R', 'RW', 'RW']);
    });
  }

  it('the set is taken and checked as it is at the end', () => {
    const test = createTestBank({ adoptionS: 3 });
    test.set({ '705.AdptCrvReq': 2 });
    test.set({ '705.Crv[1].RspTms': 9 });
    test.pass(3);
    expect([test.value('705.AdptCrvRslt'), test.value('705.Crv[0].RspTms')]).to.deep.equal(['COMPLETED', 9]);
    test.set({ '705.AdptCrvReq': 2 });
    test.set({ '705.Crv[1].ActPt': 0 });
    const before = test.dump();
    test.pass(3);
    expect(test.value('705.AdptCrvRslt')).to.equal('FAILED');
    expect(
      setBytes(test, models[0]!, 1).equals(
        before.subarray(setPlace(test, models[0]!, 1).offset).subarray(0, setPlace(test, models[0]!, 1).registers * 2),
      ),
    ).to.equal(true);
  });

  it('another request takes the place of the first, which never comes into force', () => {
    const test = createTestBank({ adoptionS: 3 });
    test.set({ '705.Crv[1].RspTms': 8, '705.Crv[2].RspTms': 9, '705.AdptCrvReq': 2 });
    test.pass(2);
    test.set({ '705.AdptCrvReq': 3 });
    test.pass(2);
    expect([test.value('705.AdptCrvRslt'), test.value('705.Crv[0].RspTms')]).to.deep.equal(['IN_PROGRESS', 5]);
    test.pass(1);
    expect([test.value('705.AdptCrvRslt'), test.value('705.Crv[0].RspTms')]).to.deep.equal(['COMPLETED', 9]);
  });

  it('models adopt side by side', () => {
    const test = createTestBank({ adoptionS: 3 });
    test.set({ '705.AdptCrvReq': 2 });
    test.pass(1);
    test.set({ '711.AdptCtlReq': 2 });
    test.pass(2);
    expect([test.value('705.AdptCrvRslt'), test.value('711.AdptCtlRslt')]).to.deep.equal(['COMPLETED', 'IN_PROGRESS']);
    test.pass(1);
    expect(test.value('711.AdptCtlRslt')).to.equal('COMPLETED');
  });

  it('an adoption in place ends the one under way', () => {
    const test = createTestBank({ adoptionS: 3 });
    test.set({ '705.Crv[1].RspTms': 8, '705.AdptCrvReq': 2 });
    test.bank.adopt(byRest, (tx) => {
      tx.m705.Crv[0]!.RspTms = 6;
    });
    expect(test.value('705.AdptCrvRslt')).to.equal('COMPLETED');
    const events = test.changes.length;
    test.pass(5);
    expect([test.value('705.Crv[0].RspTms'), test.changes.length]).to.deep.equal([6, events]);
  });

  it('a reversion takes no time, and ends the one under way', () => {
    const test = createTestBank({ adoptionS: 30 });
    test.set({
      '705.Crv[1].RspTms': 8,
      '705.Crv[2].RspTms': 9,
      '705.Ena': 'ENABLED',
      '705.RvrtTms': 10,
      '705.RvrtCrv': 3,
    });
    test.set({ '705.AdptCrvReq': 2 });
    test.pass(10);
    expect([test.value('705.AdptCrvRslt'), test.value('705.Crv[0].RspTms')]).to.deep.equal(['COMPLETED', 9]);
    test.pass(30);
    expect(test.value('705.Crv[0].RspTms')).to.equal(9);
  });

  it('a reset ends the one under way', () => {
    const test = createTestBank({ adoptionS: 3 });
    const start = test.dump();
    test.set({ '705.Crv[1].RspTms': 8, '705.AdptCrvReq': 2 });
    test.bank.reload(start, byRest);
    test.pass(3);
    expect([test.value('705.AdptCrvRslt'), test.value('705.Crv[0].RspTms')]).to.deep.equal(['COMPLETED', 5]);
  });
});
