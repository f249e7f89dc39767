import { expect } from 'chai';
import { fileURLToPath } from 'node:url';
import { mutantIssues, mutated, readMutants } from '../../scripts/mutation/mutants.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const mutants = readMutants(root);

describe('hand mutations', () => {
  it('fit the sources: each text occurs once, and the tests are there', () => {
    const issues = mutants.flatMap((mutant) => mutantIssues(root, mutant).map((issue) => `${mutant.id}: ${issue}`));
    expect(issues).to.deep.equal([]);
  });

  it('have ids of their own, and each changes another place or in another way', () => {
    const ids = mutants.map(({ id }) => id);
    expect([...ids].sort()).to.deep.equal([...new Set(ids)].sort());
    const changes = mutants.map(({ file, find, replace }) => `${file}: ${find} -> ${replace}`);
    expect(new Set(changes).size).to.equal(mutants.length);
  });

  it('are refused where the text is missing, occurs twice or stays', () => {
    const mutant = { ...mutants[0]!, file: 'src/x.ts', find: 'a > b', replace: 'a >= b' };
    expect(mutated('if (a > b) $1', { ...mutant, replace: '$&' })).to.equal('if ($&) $1');
    expect(mutated('if (a > b)', mutant)).to.equal('if (a >= b)');
    for (const source of ['', 'a > b; a > b']) expect(() => mutated(source, mutant)).to.throw('not once');
    expect(() => mutated('a > b', { ...mutant, replace: 'a > b' })).to.throw('the same');
    const missing = { ...mutant, file: 'src/no-such-file.ts', spec: ['test/no-such.test.ts'] };
    expect(mutantIssues(root, missing)).to.deep.equal([
      'src/no-such-file.ts does not exist',
      'test/no-such.test.ts does not exist',
    ]);
  });
});
