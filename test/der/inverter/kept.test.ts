import fc from 'fast-check';
import { expectContinuation } from '../../support/continuation.ts';
import { holds } from '../../support/property.ts';
import { InverterRig, kinds, steps } from './kept-rig.ts';

describe('the state of an inverter over a restart', () => {
  for (const kind of kinds) {
    it(`a ${kind} goes on where it was`, () => {
      holds(`inverter of a ${kind}`, [steps, fc.nat(1000)], (all, cut) => {
        const before = cut % all.length;
        expectContinuation({
          make: () => new InverterRig(kind),
          drive: (rig, at) => {
            rig.step(all[at]!);
          },
          observe: (rig) => rig.seen,
          before,
          after: all.length - before,
        });
      });
    });
  }
});
