import { expect } from 'chai';
import {
  activePowerFunctions,
  ctrlModeMask,
  functionModels,
  functionNames,
  functionTable,
  reactivePowerFunctions,
  remainingPoint,
  supportedModes,
  throttleMask,
  tracedFunctions,
} from '../../../../src/sunspec/map/grid-support/functions.ts';
import type { FunctionRow } from '../../../../src/sunspec/map/grid-support/functions.ts';
import { mapLayout, slotOf } from '../../../support/map.ts';

const layout = mapLayout();

describe('table of the grid-support functions', () => {
  for (const name of functionNames) {
    const { model, enable, timer, sets, axes, actsOn } = functionTable[name];

    it(`${name}: its points are those of model ${model}`, () => {
      const { symbols, access } = slotOf(layout, model, enable).def;
      expect(access).to.equal('RW');
      if (name !== 'ramp') expect(symbols).to.have.all.keys('DISABLED', 'ENABLED');
      if (timer !== undefined) {
        expect(slotOf(layout, model, timer).def).to.include({ access: 'RW', units: 'Secs' });
        expect(slotOf(layout, model, remainingPoint(timer)).def)
          .to.include({ units: 'Secs' })
          .and.not.have.property('access');
      }
      if (sets !== undefined) expect(slotOf(layout, model, `${sets}[0].ReadOnly`).implemented).to.equal(true);
      const curve = actsOn === 'trip' ? 'Crv[0].MustTrip' : 'Crv[0]';
      for (const axis of axes ?? []) expect(slotOf(layout, model, `${curve}.Pt[0].${axis}`).def.access).to.equal('RW');
    });

    it(`${name}: it has the timer that its enable point is marked with`, () => {
      expect(slotOf(layout, model, enable).def.reversion).to.equal(timer);
    });
  }

  it('has a mode for every function but enter service, anti-islanding and the ramp limits', () => {
    expect(functionNames.filter((name) => functionTable[name].mode === undefined)).to.deep.equal([
      'enter_service',
      'anti_islanding',
      'ramp',
    ]);
  });

  it('lists every function that decides on power once', () => {
    const acting = (kind: FunctionRow['actsOn']) => functionNames.filter((name) => functionTable[name].actsOn === kind);
    expect(activePowerFunctions).to.have.members(acting('active'));
    expect(reactivePowerFunctions).to.deep.equal(acting('reactive'));
    expect(tracedFunctions).to.have.members([...activePowerFunctions, ...reactivePowerFunctions, 'enter_service']);
  });

  it('gives the settings of one model to one group of writers', () => {
    for (const model of functionModels) {
      const rows = Object.values(functionTable).filter((row) => row.model === model);
      expect(new Set(rows.map(({ writers }) => writers)).size, String(model)).to.equal(1);
    }
  });

  it('knows modes and sources by the bits of their models', () => {
    expect(supportedModes.map(ctrlModeMask).reduce((sum, mask) => sum + mask, 0)).to.equal(0b11_0111_1011_1111);
    expect([throttleMask('MAX_W'), throttleMask('LVRT'), throttleMask('DERATED')]).to.deep.equal([1, 1 << 7, 1 << 14]);
  });

  it('does not compile with a point, a mode or an axis that the model does not have', () => {
    const good = { label: '', model: 712, enable: 'Ena', actsOn: 'reactive', writers: 'grid_service' } as const;
    const plain: FunctionRow = good;
    // @ts-expect-error 712 has one enable point, and it has another name
    const enable: FunctionRow = { ...good, enable: 'WSetEna' };
    // @ts-expect-error there is no such bit in 702.CtrlModes
    const mode: FunctionRow = { ...good, mode: 'WATT_VARS' };
    // @ts-expect-error 712 knows no voltage
    const axes: FunctionRow = { ...good, axes: ['V', 'Var'] };
    // @ts-expect-error 712 has curves, not controls
    const sets: FunctionRow = { ...good, sets: 'Ctl' };
    expect([plain, enable, mode, axes, sets]).to.have.lengthOf(5);
  });
});
