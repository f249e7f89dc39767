import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { sourceCommand, sourceOf } from '../../scripts/evidence/source.ts';

const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.org'];

describe('the identity of the files that decide verdicts', () => {
  let root: string;
  const git = (...args: readonly string[]) => execFileSync('git', [...identity, ...args], { cwd: root });
  function write(name: string, text: string): void {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  function committed(name: string, text: string): string | null {
    write(name, text);
    git('add', '--all');
    git('commit', '--quiet', '--message', name);
    return sourceOf(root);
  }

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'derbench-source-'));
    git('init', '--quiet');
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  it('changes with any file but documents', () => {
    const first = committed('src/a.ts', '1');
    expect(first).to.match(/^[0-9a-f]{40}$/);
    expect([committed('docs/a/b.md', '1'), committed('README.md', '1')]).to.deep.equal([first, first]);
    const names = ['src/a.ts', 'package-lock.json', 'test/interop/a.ts', 'clients/README.md', 'new-folder/docs/a'];
    const all = [first, ...names.map((name) => committed(name, '2'))];
    expect(new Set(all).size).to.equal(names.length + 1);
  });

  it('is that which the page tells how to print', () => {
    const source = committed('src/a.ts', '1');
    committed('docs/a.md', '1');
    expect(execFileSync('sh', ['-c', sourceCommand], { cwd: root, encoding: 'utf8' }).trim()).to.equal(source);
  });

  it('is missing while such a file differs from its commit or has none', () => {
    const first = committed('package.json', '1');
    write('docs/draft.md', '1');
    expect(sourceOf(root)).to.equal(first);
    write('package.json', '2');
    expect(sourceOf(root)).to.equal(null);
    git('checkout', '--quiet', 'package.json');
    write('test/draft.test.ts', '1');
    expect(sourceOf(root)).to.equal(null);
  });
});
