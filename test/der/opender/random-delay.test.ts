import { expect } from 'chai';
import type { SeriesScenario } from '../../../scripts/compact-opender.ts';
import { replaySeries, seriesScenarios, transitionsOf } from '../../support/opender.ts';

describe('IEEE 1547-2018 4.10.3: random part of the enter-service delay', () => {
  it('es-random-A with its part drawn: service begins between the delay and the delay with the longest part', async () => {
    const scenario = seriesScenarios.find(({ id }) => id === 'es-random-A')!;
    const drawn: SeriesScenario = { ...scenario, choices: {} };
    const [delayS, randomS, returnS] = [10, 60, 9];
    expect(drawn.settings['703']).to.include({ ESDlyTms: delayS, ESRndTms: randomS });
    const seen = transitionsOf(await replaySeries({ ...drawn, endS: 100 }, 1.5));
    expect(seen.map(({ what }) => what)).to.deep.equal(['trip', 'enter_service']);
    const waitedS = seen[1]!.t - returnS;
    expect(waitedS)
      .to.be.greaterThan(delayS)
      .and.most(delayS + randomS);
  });
});
