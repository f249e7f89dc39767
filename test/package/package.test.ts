/** What package.json, its lock, CHANGELOG.md and `npm start` promise. */
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { version } from '../../src/app.ts';
import { loadConfig } from '../../src/config/layers/load.ts';
import { packageFile } from '../../src/core/package-files.ts';

interface Locked {
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}

const json = async <T>(path: string) => JSON.parse(await readFile(packageFile(path), 'utf8')) as T;

describe('The package', () => {
  it('has one version: package.json, its lock, --version, and the newest entry of CHANGELOG.md', async () => {
    const lock = await json<{ version: string; packages: Record<string, { version?: string }> }>('package-lock.json');
    const newest = /^## (\S+)/m.exec(await readFile(packageFile('CHANGELOG.md'), 'utf8'))?.[1];
    const shown = loadConfig(['--version'], {});
    expect([
      (await json<{ version: string }>('package.json')).version,
      lock.version,
      lock.packages['']?.version,
      newest,
      shown.kind === 'version' && shown.text,
    ]).to.deep.equal([version, version, version, version, `derbench ${version}`]);
  });

  it('installs no script of another package but the native part of serialport', async () => {
    const { packages } = await json<{ packages: Record<string, Locked> }>('package-lock.json');
    const scripts = Object.entries(packages).filter(([, { dev, hasInstallScript }]) => !dev && hasInstallScript);
    expect(scripts.map(([path]) => path)).to.deep.equal(['node_modules/@serialport/bindings-cpp']);
  });
});

describe('npm start', () => {
  let folder: string;
  let isBuilt: (folder: string) => boolean;
  const at = async (path: string, seconds: number) => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), '');
    await utimes(join(folder, path), seconds, seconds);
  };

  before(async () => {
    // not compiled: it runs before anything is built
    ({ isBuilt } = (await import(packageFile('scripts/start.mjs'))) as { isBuilt: typeof isBuilt });
  });

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'derbench-start-'));
    for (const path of ['src/core/a.ts', 'scripts/build.mjs', 'package.json', 'package-lock.json'])
      await at(path, 1000);
    for (const path of ['src/core', 'src', 'scripts']) await utimes(join(folder, path), 1000, 1000);
  });

  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  it('builds without a build, and after a build that did not end', async () => {
    expect(isBuilt(folder)).to.equal(false);
    await at('dist/main.js', 2000);
    expect(isBuilt(folder)).to.equal(false);
  });

  it('does not build again while nothing has changed, and does for a changed, new or removed source', async () => {
    await at('dist/THIRD-PARTY-LICENSES.txt', 2000);
    expect(isBuilt(folder)).to.equal(true);
    await utimes(join(folder, 'src/core/a.ts'), 3000, 3000);
    expect(isBuilt(folder)).to.equal(false);
    await at('dist/THIRD-PARTY-LICENSES.txt', 4000);
    expect(isBuilt(folder)).to.equal(true);
    await rm(join(folder, 'src/core/a.ts'));
    expect(isBuilt(folder)).to.equal(false);
  });
});
