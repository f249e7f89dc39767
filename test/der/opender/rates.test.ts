import { expect } from 'chai';
import { differences, failuresOf, replaySeries, seriesScenarios } from '../../support/opender.ts';

/** Simulated seconds of a tick of 1.5 s. */
const ticks = { 0.87: 1.303, 10: 15, 100: 150, 1000: 1500 } as const;

describe('scenarios do not depend on the rate', () => {
  for (const scenario of seriesScenarios.filter(({ basis }) => basis === 'standard')) {
    it(scenario.id, async () => {
      const reference = await replaySeries(scenario, 1.5);
      for (const [rate, tickS] of Object.entries(ticks)) {
        const findings = differences(await replaySeries(scenario, tickS), reference);
        expect(findings.length, 'ticks in common').to.be.greaterThan(scenario.events.length);
        const failures = failuresOf(findings).map(({ what }) => `rate ${rate}: ${what}`);
        expect(failures, failures.join('\n')).to.be.empty;
      }
    });
  }
});
