import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { compactAll, differingFixtures } from '../../../scripts/compact-opender.ts';
import { fixtureFolder, scenarios, seriesScenarios, steadyScenarios } from '../../support/opender.ts';
import { skip } from '../../support/skip.ts';

const folder =
  process.env.OPENDER_DATA_DIR ?? join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'data', 'opender');

describe('fixtures/opender', () => {
  it('has 34 steady and 58 series scenarios of distinct names', () => {
    expect(steadyScenarios).to.have.lengthOf(34);
    expect(seriesScenarios).to.have.lengthOf(58);
    expect(new Set(scenarios.map(({ id }) => id)).size).to.equal(92);
  });

  it('has something to check in every scenario', () => {
    for (const { id, rows } of scenarios) expect(rows.length, id).to.be.at.least(3);
    for (const { id, plateaus } of seriesScenarios) expect(plateaus, id).not.to.be.empty;
  });

  it('is what the generator makes of the scenarios (golden data: OPENDER_DATA_DIR)', function () {
    if (!existsSync(folder)) skip(this, 'golden data are missing (OPENDER_DATA_DIR names their folder)');
    expect(differingFixtures(compactAll(folder), fixtureFolder)).to.deep.equal([]);
  });
});
