/** What a release writes beside its packages. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageFile } from '../../src/core/package-files.ts';

interface Statement {
  readonly _type: string;
  readonly subject: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[];
  readonly predicate: { readonly buildDefinition: { readonly resolvedDependencies: readonly unknown[] } };
}

interface Documents {
  readonly sumsOf: (folder: string, names: readonly string[]) => Promise<string>;
  readonly provenanceOf: (folder: string, names: readonly string[], build: unknown) => Promise<Statement>;
  readonly notesOf: (release: unknown) => string;
}

/** SHA-256 of "abc", from FIPS 180-2. */
const digest = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';

describe('The documents of a release', () => {
  let folder = '';
  let documents: Documents;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'derbench-release-'));
    await writeFile(join(folder, 'a.tgz'), 'abc');
    documents = (await import(packageFile('scripts/release/documents.mjs'))) as Documents;
  });
  after(() => rm(folder, { recursive: true }));

  it('have sums that sha256sum takes', async () => {
    await writeFile(join(folder, 'SHA256SUMS'), await documents.sumsOf(folder, ['a.tgz']));
    const shown = execFileSync('sha256sum', ['-c', 'SHA256SUMS'], { cwd: folder, encoding: 'utf8' });
    expect(shown).to.match(/^a\.tgz: /);
  });

  it('state commit and lock file behind each file', async () => {
    const build = { version: '0.4.0', commit: 'c0ffee', lock: digest, startedOn: '', finishedOn: '' };
    const statement = await documents.provenanceOf(folder, ['a.tgz'], build);
    expect(statement._type).to.equal('https://in-toto.io/Statement/v1');
    expect(statement.subject).to.deep.equal([{ name: 'a.tgz', digest: { sha256: digest } }]);
    expect(statement.predicate.buildDefinition.resolvedDependencies).to.deep.equal([
      { uri: 'git+https://github.com/derbench/derbench@refs/tags/v0.4.0', digest: { gitCommit: 'c0ffee' } },
      { name: 'package-lock.json', digest: { sha256: digest } },
    ]);
  });

  it('say that nothing is published or signed, and take the first table of the evidence', () => {
    const evidence = '# Evidence\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n| c |\n';
    const release = { version: '0.4.0', changes: '- One.', apiBefore: '1.13.0', api: '1.14.0', files: ['a.tgz'] };
    const notes = documents.notesOf({ ...release, evidence });
    expect(notes).to.include('API 1.13.0 -> 1.14.0\n\nNot published to any registry. Files of this release: a.tgz.');
    expect(notes).to.include('it is not signed');
    expect(notes).to.match(/\| 1 \| 2 \|\n$/);
  });
});
