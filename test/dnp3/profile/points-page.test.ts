import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { misplaced, pointsPage, pointsPageText } from '../../../scripts/generate-dnp3-points.ts';
import { readDnp3Points } from '../../../src/contract/dnp3-points.ts';

describe('docs/reference/dnp3-points.md', () => {
  const page = readFileSync(pointsPage, 'utf8');

  it('is up to date (npm run generate:dnp3)', () => {
    expect(page).to.equal(pointsPageText());
  });

  it('has every point once', () => {
    expect(misplaced()).to.deep.equal([]);
  });

  it('shows a point map that is accepted', () => {
    const [, json = ''] = /```json\n(.*?)```/s.exec(page) ?? [];
    expect(readDnp3Points(json)).to.be.an('array').with.lengthOf(5);
  });
});
