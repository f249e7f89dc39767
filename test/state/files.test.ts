import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { openFolder } from '../../src/state/files.ts';
import { sourceFlags } from '../support/process.ts';
import { skip } from '../support/skip.ts';

describe('folder of a state', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'derbench-files-'));
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  it('is made with those above it, for its owner alone; one that exists keeps its mode', () => {
    openFolder(join(root, 'a', 'b', 'c'));
    const modes = ['a', 'a/b', 'a/b/c'].map((path) => statSync(join(root, path)).mode & 0o777);
    if (process.platform !== 'win32') expect(modes).to.deep.equal([0o700, 0o700, 0o700]);
    const { mode } = statSync(root);
    openFolder(root);
    expect(statSync(root).mode).to.equal(mode);
  });

  it('that cannot be made is refused with its name', () => {
    writeFileSync(join(root, 'file'), '');
    expect(() => openFolder(join(root, 'file'))).to.throw(`EEXIST: file already exists, mkdir '${join(root, 'file')}'`);
    expect(() => openFolder(join(root, 'file', 'a'))).to.throw('ENOTDIR');
  });

  it('is refused where the system denies it as if the folder above were missing', function () {
    if (process.platform !== 'linux') skip(this, 'only Linux has /proc');
    // in a process of its own: the recursion of Node does not end there
    const script = "import('./src/state/files.ts').then(({ openFolder }) => openFolder('/proc/x/y'))";
    const { status, stderr } = spawnSync(process.execPath, [...sourceFlags, '-e', script], {
      encoding: 'utf8',
      timeout: 5_000,
    });
    expect(status).to.equal(1);
    expect(stderr).to.include("ENOENT: no such file or directory, mkdir '/proc/x'");
  }).timeout(20_000);
});
