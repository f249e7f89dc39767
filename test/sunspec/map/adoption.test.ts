import { expect } from 'chai';
import { adoptionIssue } from '../../../src/sunspec/map/adoption.ts';
import { createMapView, pointName } from '../../../src/sunspec/map/view.ts';
import type { WritableMapView } from '../../../src/sunspec/map/view.ts';
import { inSet, models, readOnly, request, result, setBytes, setPlace, setValues } from '../../support/curves.ts';
import { byModbus, byRest, codeOf, createTestBank, mapLayout, words } from '../../support/map.ts';
import { startImage } from '../../support/map-start.ts';

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
          expect(
            codeOf(() => {
              test.set(request(model, number));
            }),
            String(number),
          ).to.equal('MAP_BAD_VALUE');
          expect(
            codeOf(() => {
              test.bank.write(test.slot(model.id, model.request).address, words(number), byModbus);
            }),
          ).to.equal('MAP_BAD_VALUE');
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
    test.set({
      '712.Crv[1].ActPt': 3,
      ...Object.fromEntries(
        [0, 1, 2].flatMap((i) => [
          [`712.Crv[1].Pt[${i}].W`, 0],
          [`712.Crv[1].Pt[${i}].Var`, 0],
        ]),
      ),
    });
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
    const order = {
      '705.Ena': 'ENABLED',
      '705.AdptCrvReq': 2,
      '705.Crv[1].Pt[0].V': 90,
      '705.Crv[1].Pt[0].Var': 30,
    } as const;
    test.set(order);
    expect([test.value('705.Ena'), test.value('705.Crv[0].Pt[0].V'), test.value('705.Crv[0].Pt[0].Var')]).to.deep.equal(
      ['ENABLED', 90, 30],
    );
    expect(test.changes).to.have.lengthOf(1);
    expect(test.changes[0]?.points.map(pointName)).to.deep.equal(Object.keys(order));
  });

  it('a refused write adopts nothing', () => {
    const test = createTestBank();
    const before = test.dump();
    expect(
      codeOf(() => {
        test.set({ '705.Crv[1].Pt[0].V': 90, '705.AdptCrvReq': 2, '704.WRmp': 0 });
      }),
    ).to.equal('MAP_BAD_VALUE');
    expect(test.dump().equals(before)).to.equal(true);
  });

  it('a master adopts with Ena and AdptCrvReq in one span', () => {
    const test = createTestBank();
    test.set({ '705.Crv[1].Pt[0].V': 91 });
    test.bank.write(test.slot(705, 'Ena').address, words(1, 2), byModbus);
    expect([test.value('705.Ena'), test.value('705.AdptCrvRslt'), test.value('705.Crv[0].Pt[0].V')]).to.deep.equal([
      'ENABLED',
      'COMPLETED',
      91,
    ]);
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
    const test = createTestBank({
      omit: ['707.Crv.MayTrip.ActPt', '707.Crv.MomCess.ActPt', '707.Crv.MayTrip.Pt.V', '707.Crv.MayTrip.Pt.Tms'],
    });
    test.set({ '707.AdptCrvReq': 2 });
    expect(test.value('707.AdptCrvRslt')).to.equal('COMPLETED');
  });
});

/** Faults that no write can bring about: start values, and bounds that have moved since. */
describe('adoption: what a set in force must hold', () => {
  function fault(modelId: number, change: (map: WritableMapView) => void, number = 2) {
    const layout = mapLayout();
    const image = startImage(layout);
    change(createMapView(layout, image));
    return adoptionIssue(layout, image, modelId, number);
  }

  it('a droop control has all of its settings, each in its range', () => {
    expect(fault(711, () => undefined)).to.equal(null);
    expect(
      fault(711, (map) => {
        Object.assign(map.m711.Ctl[1]!, { RspTms: null });
      }),
    ).to.deep.equal({ path: 'Ctl[1].RspTms', detail: 'is not set' });
    expect(
      fault(711, (map) => {
        map.m711.Ctl[1]!.PMin = null;
      }),
    ).to.deep.equal({ path: 'Ctl[1].PMin', detail: 'is not set' });
    expect(
      fault(711, (map) => {
        map.m711.Ctl[1]!.KUf = 0;
      }),
    ).to.deep.equal({ path: 'Ctl[1].KUf', detail: '0 is outside 0.001..1' });
    expect(
      fault(711, (map) => {
        map.m711.Ctl[1]!.DbOf = 5.001;
      }),
    ).to.deep.equal({ path: 'Ctl[1].DbOf', detail: '5.001 is outside 0..5' });
    // the others are not asked
    expect(
      fault(711, (map) => {
        map.m711.Ctl[2]!.KUf = 0;
      }),
    ).to.equal(null);
  });

  it('the settings of a curve count too', () => {
    expect(
      fault(705, (map) => {
        map.m705.Crv[1]!.VRef = 70;
      }),
    ).to.deep.equal({ path: 'Crv[1].VRef', detail: '70 is neither in 80..120 nor 0' });
    // 0: the curve has no reference
    expect(
      fault(705, (map) => {
        map.m705.Crv[1]!.VRef = 0;
      }),
    ).to.equal(null);
    expect(
      fault(705, (map) => {
        map.m705.Crv[1]!.Pri = null;
      })?.path,
    ).to.equal('Crv[1].Pri');
    expect(
      fault(706, (map) => {
        map.m706.Crv[1]!.Pt[0]!.V = 201;
      }),
    ).to.deep.equal({ path: 'Crv[1].Pt[0].V', detail: '201 is outside 0..200' });
  });

  it('a reason names its point', () => {
    expect(
      fault(705, (map) => {
        map.m705.Crv[1]!.Pt[1]!.V = 90;
      }),
    ).to.deep.equal({
      path: 'Crv[1].Pt[1].V',
      detail: '90 is below the value of the previous point, 95',
      isInconsistent: true,
    });
    expect(
      fault(707, (map) => {
        map.m707.Crv[1]!.MustTrip.Pt[0]!.Tms = null;
      }),
    ).to.deep.equal({ path: 'Crv[1].MustTrip.Pt[0].Tms', detail: 'is not set' });
    expect(
      fault(709, (map) => {
        map.m709.Crv[1]!.MustTrip.Pt[1]!.Hz = 39;
      })?.detail,
    ).to.equal('39 is outside 40..70');
    expect(
      fault(712, (map) => {
        map.m712.Crv[1]!.ActPt = 0;
      }),
    ).to.deep.equal({ path: 'Crv[1].ActPt', detail: 'no points are in use', isInconsistent: true });
    expect(
      fault(712, (map) => {
        map.m712.Crv[1]!.ActPt = 11;
      })?.path,
    ).to.equal('Crv[1].ActPt');
    expect(fault(712, () => undefined, 4)?.detail).to.equal('there is no set 4');
  });
});
