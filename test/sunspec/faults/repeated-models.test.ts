/** Reading faults in a map with several places of a model: a name means one of them. */
import { expect } from 'chai';
import type { FaultKind } from '../../../src/core/faults/kinds.ts';
import { dynamicScaleFault, freezeFault, scaleFault } from '../../../src/fault-kinds/modbus-map.ts';
import { readingEffect } from '../../../src/sunspec/faults/reading.ts';
import { checkReading } from '../../../src/sunspec/faults/reading-check.ts';
import { checkTarget, slotsNamed } from '../../../src/sunspec/faults/targets.ts';
import { pointName } from '../../../src/sunspec/map/view.ts';
import { FaultBench } from '../../support/faults.ts';
import { errorOf } from '../../support/map.ts';
import { testPlant } from '../../support/plant.ts';

describe('reading faults where a map has a model several times', () => {
  const meter = { meter: 203, of: 'site' } as const;
  const plant = testPlant({ map: { chain: [{ model: 701 }, meter, { ...meter, of: 'load' }] } });
  const { bank } = plant.devices[0]!;
  const { layout } = bank;

  /** Names of the points that a fault changes. */
  function changed(
    kind: FaultKind,
    parameters: Readonly<Record<string, unknown>>,
    points?: readonly string[],
  ): string[] {
    const bench = new FaultBench([0], 1);
    const fault = bench.inject(kind, parameters, points && { target: { points } });
    const effect = readingEffect(fault, { deviceIndex: 0, bank, now: () => plant.now });
    return (effect?.slots ?? []).map(pointName);
  }

  it('a point, a group and a model by name are of one place', () => {
    expect(changed(scaleFault, { factor: -1 }, ['203:2.W'])).to.deep.equal(['203:2.W']);
    expect(changed(scaleFault, { factor: -1 }, ['203.W'])).to.deep.equal(['203.W']);
    for (const place of ['203', '203:2', '1:3']) {
      const { slots } = layout.models.find(({ name }) => name === place)!;
      expect(slotsNamed(layout, place), place).to.deep.equal(slots);
    }
    expect(slotsNamed(layout, '714.Prt[0]').map(pointName)).to.include('714.Prt[0].DCW');
  });

  it('the model of a name may stay out of a freeze', () => {
    const frozen = changed(freezeFault, { except: ['203:2'] });
    expect(frozen).to.include('203.W');
    expect(frozen.filter((name) => name.startsWith('203:2.'))).to.deep.equal([]);
  });

  it('a scale factor moves the points of its own place', () => {
    expect(changed(dynamicScaleFault, { scale_factor: '203:2.W_SF', steps: [{ shift: 1 }] })).to.deep.equal([
      '203:2.W_SF',
      '203:2.W',
      '203:2.WphA',
      '203:2.WphB',
      '203:2.WphC',
    ]);
  });

  it('a place that is not there is refused', () => {
    const { issues } = errorOf(() => {
      checkTarget(layout, { points: ['203:3.W'] });
    });
    expect(issues[0]?.detail).to.match(/^the device has no point, group or model 203:3\.W/);
    const wrong = errorOf(() => {
      checkReading(
        {
          kind: dynamicScaleFault,
          parameters: { scale_factor: '203:3.W_SF', steps: [] },
          request: { protocol: 'modbus', kind: 'dynamic_scale' },
        },
        layout,
      );
    });
    expect(wrong.issues[0]?.allowed).to.include.members(['203.W_SF', '203:2.W_SF']);
  });
});
