/** Numbers in docs that count what the interface lists. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { assetTypes } from '../src/contract/kinds/table.ts';
import { bundledFaultProfileNames, bundledScenarioNames } from '../src/config/profile/bundled.ts';
import { Rest } from './support/rest.ts';

const coverage = 'docs/reference/coverage.md';
const text = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const numbers = ['none', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

/** The number before a word of a document. */
function numberIn(path: string, pattern: RegExp): number {
  const [, number = ''] = pattern.exec(text(path)) ?? [];
  return numbers.includes(number) ? numbers.indexOf(number) : Number(number);
}

describe('numbers in documents', () => {
  let rest: Rest;
  before(async () => {
    rest = await Rest.open();
  });
  after(() => rest.api.stop());

  it('the table of what is done has as many kinds of faults as faults/kinds lists, and the sets of the package', async () => {
    expect(numberIn(coverage, /Faults: (\d+) kinds/)).to.equal((await rest.get('/faults/kinds')).count);
    expect(numberIn(coverage, /(\d+) bundled sets/)).to.equal(bundledFaultProfileNames.length);
  });

  it('the table of what is done has as many bundled scenarios as the package', () => {
    expect(numberIn(coverage, /\[(\d+) bundled\]/)).to.equal(bundledScenarioNames.length);
  });

  it('docs/devices/index.md has as many kinds of devices as there are', () => {
    expect(numberIn('docs/devices/index.md', /^All (\w+) kinds/m)).to.equal(assetTypes.length);
  });
});
