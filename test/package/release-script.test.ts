/** A release that ends early, in a small repository with programs that do as npm and Node.js do. */
import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { packageFile } from '../../src/core/package-files.ts';

const npm = `#!/bin/sh
case "$1 $3" in
version*) echo '{ "version": "0.4.0" }' > package.json ;;
pack*) echo package > derbench-0.4.0.tgz ;;
esac
`;
/** The smoke test of the package, the first program after a file of the release is there. It ends by a signal alone. */
const hangingNode = `#!/bin/sh
echo "hangs as $$" >&2
exec tail -f /dev/null >/dev/null 2>&1
`;
const failingNode = `#!/bin/sh
exit 1
`;
const identity = ['AUTHOR', 'COMMITTER'].flatMap((who) => [
  [`GIT_${who}_NAME`, 'a'],
  [`GIT_${who}_EMAIL`, 'a@example.org'],
]);

describe('a release that ends early', () => {
  let folder: string;
  let commit: string;
  /** process of the hanging program; 0: it was not started */
  let hangingPid = 0;
  const path = (name: string) => join(folder, name);
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: path('checkout'), encoding: 'utf8', env: environment() }).trim();

  function environment(): NodeJS.ProcessEnv {
    const { PATH = '' } = process.env;
    return { ...process.env, ...Object.fromEntries(identity), PATH: `${path('bin')}:${PATH}`, TMPDIR: path('tmp') };
  }
  function writeProgram(name: string, text: string): void {
    writeFileSync(path(`bin/${name}`), text);
    chmodSync(path(`bin/${name}`), 0o755);
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-release-'));
    for (const name of ['bin', 'tmp', 'checkout/fixtures/openapi']) mkdirSync(path(name), { recursive: true });
    for (const name of ['release.mjs', 'release', 'ci/runtime.mjs', 'nodes.json'])
      cpSync(packageFile(`scripts/${name}`), path(`checkout/scripts/${name}`), { recursive: true });
    writeFileSync(path('checkout/fixtures/openapi/released.json'), '{ "info": { "version": "1.0.0" } }');
    writeFileSync(path('checkout/CHANGELOG.md'), '# Changes\n\n## Unreleased\n\n- One.\n');
    writeFileSync(path('checkout/package.json'), '{ "version": "0.3.0" }\n');
    writeProgram('npm', npm);
    git('init', '--quiet', '--initial-branch=main');
    git('add', '--all');
    git('commit', '--quiet', '--message=First');
    commit = git('rev-parse', 'HEAD');
  });
  afterEach(() => {
    try {
      if (hangingPid !== 0) process.kill(hangingPid, 'SIGKILL');
    } catch {
      // it has ended, as it should
    }
    rmSync(folder, { recursive: true });
  });

  /** A release up to its end, with its exit code. @param onLine takes each line of its messages */
  async function released(onLine: (line: string, release: ChildProcess) => void = () => undefined): Promise<unknown> {
    const args = [path('checkout/scripts/release.mjs'), '0.4.0', '--out', path('new/out')];
    const release = spawn(process.execPath, args, { env: environment(), stdio: ['ignore', 'ignore', 'pipe'] });
    const closed = once(release, 'close');
    try {
      for await (const line of createInterface(release.stderr)) onLine(line, release);
    } finally {
      release.kill();
    }
    return (await closed)[0];
  }

  function expectNothingLeft(): void {
    expect(git('tag')).to.equal('');
    expect(git('rev-parse', 'HEAD')).to.equal(commit);
    expect(git('status', '--porcelain')).to.equal('');
    expect(existsSync(path('new'))).to.equal(false);
    expect(readdirSync(path('tmp'))).to.deep.equal([]);
  }

  it('by a failure takes back commit, tag and files', async () => {
    writeProgram('node', failingNode);
    expect(await released()).to.equal(1);
    expectNothingLeft();
  });

  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    it(`by ${signal} takes them back as well, and ends the program that runs`, async () => {
      writeProgram('node', hangingNode);
      const code = await released((line, release) => {
        if (!line.startsWith('hangs as ')) return;
        hangingPid = Number(line.split(' ').at(-1));
        expect(git('tag')).to.equal('v0.4.0');
        expect(readdirSync(path('new/out'))).to.deep.equal(['derbench-0.4.0.tgz']);
        release.kill(signal);
      });
      expect(code).to.equal(1);
      expect(() => process.kill(hangingPid, 0)).to.throw('ESRCH');
      expectNothingLeft();
    });

  it('keeps a folder for the files that was there before', async () => {
    mkdirSync(path('new/out'), { recursive: true });
    writeProgram('node', failingNode);
    expect(await released()).to.equal(1);
    expect(readdirSync(path('new/out'))).to.deep.equal([]);
  });
});
