import { readFileSync, readdirSync } from 'node:fs';
import { expect } from 'chai';
import { installPages, installText, withInstallText } from '../../scripts/generate-install.ts';

const root = new URL('../../', import.meta.url);
const text = (path: string) => readFileSync(new URL(path, root), 'utf8');

describe('install text', () => {
  it('is up to date in README and in the pages that have it (npm run generate:install)', () => {
    const pages = installPages();
    expect([...pages.keys()]).to.include.members(['README.md', 'docs/install.md', 'docs/how-to/ci.md']);
    for (const [path, page] of pages) expect(text(path), path).to.equal(page);
  });

  it('names the file of the version, and a registry only once it is published there', () => {
    const unpublished = installText({ version: '9.8.7', derbench: { published: false } });
    expect(unpublished).to.contain('\nnpm install --save-dev ./derbench-9.8.7.tgz\n').and.contain('npm pack');
    const published = installText({ version: '9.8.7', derbench: { published: true } });
    expect(published).to.contain('\nnpm install --save-dev derbench\n').and.not.contain('tgz');
  });

  it('replaces what stands between the marks, and nothing else', () => {
    const page = 'a\n<!-- install -->\nold\n<!-- /install -->\nb\n<!-- install -->\n<!-- /install -->\n';
    const place = '<!-- install -->\n\nnew\n\n<!-- /install -->\n';
    expect(withInstallText(page, 'new\n')).to.equal(`a\n${place}b\n${place}`);
  });

  it('no document asks a registry for derbench: npx runs what is installed', () => {
    const pages = readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name}`);
    const isAsking = (path: string) => /^[^`]*npx derbench/m.test(text(path));
    expect(['README.md', ...pages].filter(isAsking)).to.deep.equal([]);
  });
});

describe('README', () => {
  it('is short: at most 1,180 words and 140 lines', () => {
    const words = text('README.md').split(/\s+/).filter(Boolean);
    expect(words.length).to.be.below(1181);
    expect(text('README.md').split('\n').length).to.be.below(142);
  });

  it('has the two commands, and doors of at most 60 lines', () => {
    const readme = text('README.md');
    expect(readme).to.contain('```sh\nnpm ci && npm start\n```').and.contain('```sh\nnpm ci && npm test\n```');
    for (const name of readdirSync(new URL('docs/doors/', root))) {
      expect(readme, name).to.contain(`(docs/doors/${name})`);
      expect(text('docs/index.md'), name).to.contain(`(doors/${name})`);
      expect(text(`docs/doors/${name}`).trimEnd().split('\n').length, name).to.be.below(61);
    }
  });
});
