import { expect } from 'chai';
import type { ErrorCode } from '../../../src/core/errors.ts';
import type { FaultKind } from '../../../src/core/faults/kinds.ts';
import {
  bitsFault,
  dynamicScaleFault,
  freezeFault,
  noiseFault,
  scaleFault,
  strictPointsFault,
  valueFault,
} from '../../../src/fault-kinds/modbus-map.ts';
import type { FaultExtras } from '../../support/faults.ts';
import { FaultyMapRig } from '../../support/faulty-map.ts';
import { errorOf } from '../../support/map.ts';

const at = (...points: string[]): FaultExtras => ({ target: { points } });

describe('faults in what a read shows', () => {
  let rig: FaultyMapRig;

  beforeEach(() => {
    rig = new FaultyMapRig();
  });

  afterEach(() => {
    rig.end();
  });

  describe('refusals of requests', () => {
    const rows: readonly (readonly [FaultKind, Readonly<Record<string, unknown>>, FaultExtras, string])[] = [
      [freezeFault, { except: ['701.Nothing'] }, {}, '/0/parameters/except/0'],
      [freezeFault, { except: ['701'] }, at('701'), '/0/parameters/except'],
      [valueFault, { value: 1 }, {}, '/0/target/points'],
      [valueFault, { value: 1 }, at('701.W', '1.Md'), '/0/target/points/1'],
      [valueFault, { value: 'RUNNING' }, at('701.W'), '/0/target/points/0'],
      [valueFault, { value: 'DANCING' }, at('701.InvSt'), '/0/target/points/0'],
      [valueFault, { value: 'constructor' }, at('701.InvSt'), '/0/target/points/0'],
      [valueFault, { value: 'x'.repeat(17) }, at('1.Vr'), '/0/target/points/0'],
      [valueFault, { raw: [1] }, at('701.Hz'), '/0/target/points/0'],
      [valueFault, { value: 1, raw: [1] }, at('701.W'), '/0/parameters'],
      [valueFault, {}, at('701.W'), '/0/parameters'],
      [scaleFault, { factor: 2 }, at('701.InvSt'), '/0/target/points/0'],
      [noiseFault, { amplitude: 2 }, at('701.Alrm'), '/0/target/points/0'],
      [noiseFault, { amplitude: -2 }, at('701.W'), '/0/parameters/amplitude'],
      [bitsFault, { set: [1] }, at('701.W'), '/0/target/points/0'],
      [bitsFault, { set: ['NOTHING'] }, at('701.Alrm'), '/0/parameters/set/0'],
      [bitsFault, { set: [0], clear: [1, 'constructor'] }, at('701.Alrm'), '/0/parameters/clear/1'],
      [bitsFault, { set: [20] }, at('702.IntIslandCatRtg'), '/0/parameters/set/0'],
      [
        dynamicScaleFault,
        { scale_factor: '704.WMaxLimPct_SF', steps: [{ shift: 1 }] },
        {},
        '/0/parameters/scale_factor',
      ],
      [dynamicScaleFault, { scale_factor: '701.W', steps: [{ shift: 1 }] }, {}, '/0/parameters/scale_factor'],
      [strictPointsFault, {}, at('701.W'), '/0/target'],
    ];
    for (const [kind, parameters, extras, name] of rows) {
      it(`${kind.kind} ${JSON.stringify({ ...parameters, ...extras.target }).slice(0, 60)} at ${name}`, () => {
        const error = errorOf(() => rig.inject(kind, parameters, extras));
        expect([error.code, error.issues.map((issue) => issue.name)]).to.deep.equal([
          'COMMAND_BAD_VALUE' satisfies ErrorCode,
          [name],
        ]);
        expect(rig.bench.registry.active).to.have.length(0);
      });
    }
  });
});
