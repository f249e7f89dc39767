import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { folderAt, openFolder, writtenAtMs } from '../../src/state/files.ts';
import { sourceFlags } from '../support/process.ts';
import { skip } from '../support/skip.ts';

const codeOfSystem = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => (error as NodeJS.ErrnoException).code,
  );

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

  it('reads regular files alone, and waits for no named pipe', async function () {
    const folder = folderAt(root);
    mkdirSync(join(root, 'folder'));
    expect(() => folder.read('folder')).to.throw(`${join(root, 'folder')} is no regular file`);
    expect(folder.read('none')).to.equal(null);
    if (process.platform === 'win32') skip(this, 'Windows has no named pipes of this kind');
    spawnSync('mkfifo', [join(root, 'pipe')]);
    expect(() => folder.read('pipe')).to.throw(`${join(root, 'pipe')} is no regular file`);
    expect(await folder.names()).to.deep.equal([]);
  });

  it('that is a file in truth has no files, and takes none', async () => {
    writeFileSync(join(root, 'file'), '');
    const folder = folderAt(join(root, 'file'));
    expect([await folder.names(), await folder.folders(), folder.read('x')]).to.deep.equal([[], [], null]);
    expect(writtenAtMs(join(root, 'file', 'x'))).to.equal(null);
    expect(await codeOfSystem(folder.append('x'))).to.equal('EEXIST');
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
