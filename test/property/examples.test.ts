import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { propertiesOf, whyUnread } from '../support/property-calls.ts';
import { examplesFolder, projectFolder } from '../support/property-cases.ts';
import type { CaseFile } from '../support/property-cases.ts';

const textOf = (file: string) => {
  const path = join(projectFolder, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
};

const testFiles = readdirSync(join(projectFolder, 'test'), { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name.replaceAll('\\', '/')}`)
  .filter((name) => name.endsWith('.test.ts'));

/** Its properties write to folders of their own. */
const testOfHolds = 'test/property/holds.test.ts';

describe('examples of properties', () => {
  it('belong to a property each', () => {
    const names = existsSync(examplesFolder) ? readdirSync(examplesFolder) : [];
    const unread = names.map((name) => {
      const head = JSON.parse(readFileSync(join(examplesFolder, name), 'utf8')) as CaseFile;
      return whyUnread({ ...head, slug: name.replace(/\.json$/, '') }, textOf(head.file));
    });
    expect(unread.filter((reason) => reason !== null)).to.deep.equal([]);
  });

  it('are missed when their file or property has gone', () => {
    const source = "it('x', () => { holds('one', a, f); await holdsAsync(`${kind}: it\\`s two`, b, g); });";
    const reason = (slug: string, property: string, text: string | undefined = source) =>
      whyUnread({ slug, file: 'test/a/b.test.ts', property }, text);
    expect(reason('a-b--one', 'one')).to.equal(null);
    expect(reason('a-b--pv-it-s-two', 'pv: it`s two')).to.equal(null);
    expect(reason('a-b--three', 'three')).to.equal("a-b--three: test/a/b.test.ts has no property 'three'");
    expect(reason('a-c--one', 'one')).to.equal('a-c--one: its name is not a-b--one');
    expect(whyUnread({ slug: 'a-b--one', file: 'test/a/b.test.ts', property: 'one' }, undefined)).to.equal(
      'a-b--one: there is no test/a/b.test.ts',
    );
  });

  it('are told apart: each property has a name of its own in its file', () => {
    const unclear = testFiles
      .filter((file) => file !== testOfHolds)
      .flatMap((file) => {
        const source = textOf(file) ?? '';
        const names = /from '.*\/support\/property\.ts'/.test(source) ? propertiesOf(source) : [];
        const double = names.filter((name, index) => name === null || names.indexOf(name) !== index);
        return double.map((name) => `${file}: ${name ?? 'a name that is no text'}`);
      });
    expect(unclear).to.deep.equal([]);
  });

  it('of failures that wait for repair are skipped tests, five at most, each with its issue', () => {
    const skipped = testFiles
      .filter((file) => !file.startsWith('test/lint/'))
      .flatMap((file) => (textOf(file) ?? '').match(/\bit\.skip\([^\n]*/g) ?? []);
    expect(skipped).to.have.length.at.most(5);
    for (const line of skipped) expect(line).to.match(/#\d+/);
  });
});
