import { expect } from 'chai';
import { llmsText } from '../../site/llms.ts';
import { pages } from '../../site/pages.ts';
import { pathsBelow } from '../support/repository.ts';

/** Pages of docs/ by their paths in it; evidence/index.md leads to those of each version. */
const documents = pathsBelow('docs')
  .filter((path) => path.endsWith('.md') && !/evidence\/\d/.test(path))
  .map((path) => path.slice('docs/'.length));

describe('table of the pages of the site', () => {
  it('has each page of docs/ once: site/pages.ts', () => {
    const files = pages.map(({ file }) => file);
    expect(new Set(files).size).to.equal(files.length);
    expect(documents.filter((file) => !files.includes(file))).to.deep.equal([]);
    expect(files.filter((file) => !documents.includes(file))).to.deep.equal([]);
  });

  it('llms.txt has a line for each page, and is short', () => {
    const text = llmsText();
    for (const { file, title } of pages) expect(text).to.include(`\n- [${title}](/${file})\n`);
    expect(text.length).to.be.below(8000);
  });
});
