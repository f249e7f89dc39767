import { expect } from 'chai';
import type { GroupPlace } from '../../../src/sunspec/map/layout.ts';
import type { AnyPointValue } from '../../../src/sunspec/map/types.ts';
import { pointName } from '../../../src/sunspec/map/view.ts';
import { byModbus, byRest, codeOf, createTestBank, words } from '../../support/map.ts';
import type { TestBank } from '../../support/map.ts';

interface CurveModel {
  readonly id: number;
  readonly request: string;
  readonly result: string;
  readonly group: 'Crv' | 'Ctl';
  /** a change of a stored set, by path inside the set, that keeps it consistent */
  readonly edit: Readonly<Record<string, AnyPointValue>>;
  /** changes that leave a stored set unfit */
  readonly faults: Readonly<Record<string, Readonly<Record<string, AnyPointValue>>>>;
}

const curve = { request: 'AdptCrvReq', result: 'AdptCrvRslt', group: 'Crv' } as const;
const points = (x: string, y: string) => ({
  'no points in use': { ActPt: 0 },
  'x of a point not set': { [`Pt[1].${x}`]: null },
  'y of a point not set': { [`Pt[1].${y}`]: null },
  'more points in use than are set': { ActPt: 3 },
  'falling x': { [`Pt[0].${x}`]: 90.1, [`Pt[1].${x}`]: 90 },
});
const trips = (x: string) => ({
  'no must-trip points': { 'MustTrip.ActPt': 0 },
  'a must-trip limit not set': { [`MustTrip.Pt[0].${x}`]: null },
  'a must-trip time not set': { 'MustTrip.Pt[1].Tms': null },
  'a may-trip limit not set': { 'MayTrip.ActPt': 2, [`MayTrip.Pt[1].${x}`]: null },
  'a momentary-cessation time not set': { 'MomCess.ActPt': 1, 'MomCess.Pt[0].Tms': null },
});

const models: readonly CurveModel[] = [
  { id: 705, ...curve, edit: { ActPt: 3, DeptRef: 'VA_MAX_PCT', 'Pt[2].V': 108, 'Pt[2].Var': -30 }, faults: points('V', 'Var') },
  { id: 706, ...curve, edit: { RspTms: 3.25, 'Pt[1].V': 112, 'Pt[1].W': -20 }, faults: points('V', 'W') },
  { id: 707, ...curve, edit: { 'MustTrip.Pt[0].V': 45, 'MayTrip.ActPt': 1, 'MayTrip.Pt[0].V': 70, 'MayTrip.Pt[0].Tms': 1 }, faults: trips('V') },
  { id: 708, ...curve, edit: { 'MustTrip.Pt[0].V': 120, 'MomCess.ActPt': 1, 'MomCess.Pt[0].V': 110 }, faults: trips('V') },
  { id: 709, ...curve, edit: { 'MustTrip.Pt[0].Hz': 56.5, 'MustTrip.Pt[0].Tms': 0.16 }, faults: trips('Hz') },
  { id: 710, ...curve, edit: { 'MustTrip.Pt[1].Hz': 61.2, 'MustTrip.Pt[1].Tms': 300 }, faults: trips('Hz') },
  { id: 711, request: 'AdptCtlReq', result: 'AdptCtlRslt', group: 'Ctl', edit: { DbOf: 0.1, KOf: 0.03, PMin: -10 }, faults: {} },
  { id: 712, ...curve, edit: { Pri: 'REACTIVE', 'Pt[0].W': -50, 'Pt[0].Var': 10 }, faults: points('W', 'Var') },
];

function setPlace(test: TestBank, model: CurveModel, number: number): GroupPlace {
  return test.layout.models.find((place) => place.def.id === model.id)!.groups[model.group]![number - 1]!;
}

/** All registers of a set. */
function setBytes(test: TestBank, model: CurveModel, number: number): Buffer {
  const place = setPlace(test, model, number);
  return test.dump().subarray(place.offset, place.offset + place.registers * 2);
}

/** Values of all points of a set but its ReadOnly flag. */
function setValues(test: TestBank, model: CurveModel, number: number): Record<string, AnyPointValue> {
  const prefix = `${model.group}[${number - 1}].`;
  const slots = test.layout.slots.filter(({ modelId, path }) => modelId === model.id && path.startsWith(prefix) && path !== `${prefix}ReadOnly`);
  return Object.fromEntries(slots.map((slot) => [slot.path.slice(prefix.length), test.bank.value(slot)]));
}

const inSet = (model: CurveModel, number: number, changes: Readonly<Record<string, AnyPointValue>>) =>
  Object.fromEntries(Object.entries(changes).map(([path, value]) => [`${model.id}.${model.group}[${number - 1}].${path}`, value]));
const request = (model: CurveModel, number: number) => ({ [`${model.id}.${model.request}`]: number });
const result = (test: TestBank, model: CurveModel) => test.value(`${model.id}.${model.result}`);
const readOnly = (test: TestBank, model: CurveModel) => [1, 2, 3].map((number) => test.value(`${model.id}.${model.group}[${number - 1}].ReadOnly`));

describe('adoption (section 6)', () => {
  for (const model of models) {
    describe(`model ${model.id}`, () => {
      it('a stored set comes into force as a whole and keeps its contents', () => {
        const test = createTestBank();
        test.set(inSet(model, 2, model.edit));
        const stored = setBytes(test, model, 2);
        expect(setValues(test, model, 1)).to.not.deep.equal(setValues(test, model, 2));
        test.set(request(model, 2));
        expect(result(test, model)).to.equal('COMPLETED');
        expect(test.value(`${model.id}.${model.request}`)).to.equal(2);
        expect(setValues(test, model, 1)).to.deep.equal(setValues(test, model, 2));
        expect(setValues(test, model, 1)).to.include(model.edit);
        expect(setBytes(test, model, 2).equals(stored)).to.equal(true);
        expect(readOnly(test, model)).to.deep.equal(['R', 'RW', 'RW']);
      });

      it('changes nothing but set 1, the request and its result', () => {
        const test = createTestBank();
        test.set(inSet(model, 3, model.edit));
        const before = test.dump();
        test.set(request(model, 3));
        const after = test.dump();
        const place = setPlace(test, model, 1);
        const changed = test.layout.slots.filter((slot) => {
          const at = (slot.address - test.layout.base) * 2;
          return !after.subarray(at, at + slot.def.size * 2).equals(before.subarray(at, at + slot.def.size * 2));
        });
        const outside = changed.filter(({ address }) => {
          const at = (address - test.layout.base) * 2;
          return at < place.offset || at >= place.offset + place.registers * 2;
        });
        expect(outside.map(pointName)).to.deep.equal([`${model.id}.${model.request}`]);
        expect(setValues(test, model, 1)).to.include(model.edit);
      });

      it('a later edit of the stored set is not in force until adopted again', () => {
        const test = createTestBank();
        test.set(request(model, 2));
        const inForce = setBytes(test, model, 1);
        test.set(inSet(model, 2, model.edit));
        expect(setBytes(test, model, 1).equals(inForce)).to.equal(true);
        test.set(request(model, 2));
        expect(setValues(test, model, 1)).to.include(model.edit);
      });

      it('the set in force can be requested and stays', () => {
        const test = createTestBank();
        const inForce = setBytes(test, model, 1);
        test.set(request(model, 1));
        expect(result(test, model)).to.equal('COMPLETED');
        expect(setBytes(test, model, 1).equals(inForce)).to.equal(true);
      });

      it('a set that does not exist is refused', () => {
        const test = createTestBank();
        const before = test.dump();
        for (const number of [0, 4, 65_534]) {
          expect(codeOf(() => { test.set(request(model, number)); }), String(number)).to.equal('MAP_BAD_VALUE');
          expect(codeOf(() => { test.bank.write(test.slot(model.id, model.request).address, words(number), byModbus); })).to.equal('MAP_BAD_VALUE');
        }
        expect(test.dump().equals(before)).to.equal(true);
        expect(test.changes).to.have.lengthOf(0);
      });

      for (const [reason, changes] of Object.entries(model.faults)) {
        it(`${reason}: can be staged, fails when requested, set 1 untouched`, () => {
          const test = createTestBank();
          test.set(inSet(model, 2, changes));
          const inForce = setBytes(test, model, 1);
          test.set(request(model, 2));
          expect(result(test, model)).to.equal('FAILED');
          expect(setBytes(test, model, 1).equals(inForce)).to.equal(true);
          expect(readOnly(test, model)).to.deep.equal(['R', 'RW', 'RW']);
          // a request that succeeds clears the result
          test.set(request(model, 3));
          expect(result(test, model)).to.equal('COMPLETED');
        });
      }
    });
  }

  it('equal x values are allowed: watt-var takes 0 for all of its load points', () => {
    const test = createTestBank();
    test.set({ '712.Crv[1].ActPt': 3, ...Object.fromEntries([0, 1, 2].flatMap((i) => [[`712.Crv[1].Pt[${i}].W`, 0], [`712.Crv[1].Pt[${i}].Var`, 0]])) });
    test.set({ '712.AdptCrvReq': 2 });
    expect(test.value('712.AdptCrvRslt')).to.equal('COMPLETED');
  });

  it('trip thresholds may be listed in any order', () => {
    const test = createTestBank();
    test.set({ '707.Crv[1].MustTrip.Pt[0].V': 88, '707.Crv[1].MustTrip.Pt[1].V': 50, '707.AdptCrvReq': 2 });
    expect(test.value('707.AdptCrvRslt')).to.equal('COMPLETED');
    expect(test.value('707.Crv[0].MustTrip.Pt[1].V')).to.equal(50);
  });

  it('points that are not in use may hold anything', () => {
    const test = createTestBank();
    test.set({ '705.Crv[1].Pt[2].V': 1, '705.Crv[1].Pt[2].Var': null, '705.AdptCrvReq': 2 });
    expect(test.value('705.AdptCrvRslt')).to.equal('COMPLETED');
  });

  it('one write may stage, adopt and enable: the final state counts', () => {
    const test = createTestBank();
    const order = { '705.Ena': 'ENABLED', '705.AdptCrvReq': 2, '705.Crv[1].Pt[0].V': 90, '705.Crv[1].Pt[0].Var': 30 } as const;
    test.set(order);
    expect([test.value('705.Ena'), test.value('705.Crv[0].Pt[0].V'), test.value('705.Crv[0].Pt[0].Var')]).to.deep.equal(['ENABLED', 90, 30]);
    expect(test.changes).to.have.lengthOf(1);
    expect(test.changes[0]?.points.map(pointName)).to.deep.equal(Object.keys(order));
  });

  it('a refused write adopts nothing', () => {
    const test = createTestBank();
    const before = test.dump();
    expect(codeOf(() => { test.set({ '705.Crv[1].Pt[0].V': 90, '705.AdptCrvReq': 2, '704.WRmp': 0 }); })).to.equal('MAP_BAD_VALUE');
    expect(test.dump().equals(before)).to.equal(true);
  });

  it('a master adopts with Ena and AdptCrvReq in one span', () => {
    const test = createTestBank();
    test.set({ '705.Crv[1].Pt[0].V': 91 });
    test.bank.write(test.slot(705, 'Ena').address, words(1, 2), byModbus);
    expect([test.value('705.Ena'), test.value('705.AdptCrvRslt'), test.value('705.Crv[0].Pt[0].V')]).to.deep.equal(['ENABLED', 'COMPLETED', 91]);
  });

  it('a typed transaction adopts too', () => {
    const test = createTestBank();
    test.bank.transact(byRest, (tx) => {
      tx.m706.Crv[1]!.Pt[0]!.V = 105;
      tx.m706.AdptCrvReq = 2;
    });
    expect(test.bank.map.m706.Crv[0]?.Pt[0]?.V).to.equal(105);
  });

  it('optional coordinates that the device lacks are not asked for', () => {
    const test = createTestBank({ omit: ['707.Crv.MayTrip.ActPt', '707.Crv.MomCess.ActPt', '707.Crv.MayTrip.Pt.V', '707.Crv.MayTrip.Pt.Tms'] });
    test.set({ '707.AdptCrvReq': 2 });
    expect(test.value('707.AdptCrvRslt')).to.equal('COMPLETED');
  });
});
