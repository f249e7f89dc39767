import { dealt } from '../../support/choice.ts';
import { cutRuns, cuts, expectContinuation } from '../../support/continuation.ts';
import { pick } from '../../support/depth.ts';
import { holds } from '../../support/property.ts';
import { InverterRig, kinds, scenarios, steps } from './kept-rig.ts';

describe('the state of an inverter over a restart', () => {
  const courses = cutRuns(scenarios);
  kinds.forEach((kind, hand) => {
    it(`a ${kind} goes on where it was`, () => {
      holds(
        `inverter of a ${kind}`,
        [steps, cuts],
        (all, cut) => {
          const before = Math.round(cut * all.length);
          expectContinuation({
            make: () => new InverterRig(kind),
            drive: (rig, at) => {
              rig.step(all[at]!);
            },
            observe: (rig) => rig.seen,
            before,
            after: all.length - before,
          });
        },
        { examples: pick({ quick: dealt(courses, 4, hand), ci: courses }) },
      );
    });
  });
});
