import { expect } from 'chai';
import { dealt } from '../../support/choice.ts';
import { pick } from '../../support/depth.ts';
import { differences, failuresOf, replaySeries, seriesScenarios } from '../../support/opender.ts';

/** Ticks, in simulated seconds, whose results agree with those of the first of them. */
const ticks = pick<(scenario: number) => readonly number[]>({
  // short ticks are dear: one in four scenarios has them
  quick: (scenario) => (scenario % 4 === 0 ? [1.5, 1.303] : [15, ...dealt([150, 1500], 2, scenario)]),
  ci: () => [1.5, 1.303, 15, 150, 1500],
});

describe('scenarios do not depend on the rate', () => {
  for (const [i, scenario] of seriesScenarios.filter(({ basis }) => basis === 'standard').entries()) {
    it(scenario.id, async () => {
      const [first = 0, ...others] = ticks(i);
      const reference = await replaySeries(scenario, first);
      for (const tickS of others) {
        const findings = differences(await replaySeries(scenario, tickS), reference);
        expect(findings.length, 'ticks in common').to.be.greaterThan(scenario.events.length);
        const failures = failuresOf(findings).map(({ what }) => `ticks of ${tickS} s: ${what}`);
        expect(failures, failures.join('\n')).to.be.empty;
      }
    });
  }
});
