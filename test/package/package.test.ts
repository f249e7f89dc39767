/** What package.json, its lock, CHANGELOG.md and `npm start` promise. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { packageVersion } from '../../src/core/package-files.ts';
import { loadConfig } from '../../src/config/layers/load.ts';
import { apiVersion } from '../../src/api/http/context.ts';
import { packageFile } from '../../src/core/package-files.ts';

interface Locked {
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}

const json = async <T>(path: string) => JSON.parse(await readFile(packageFile(path), 'utf8')) as T;

const version = packageVersion();

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

  it('has the same version in Python, whose client names the version of the HTTP interface', async () => {
    const [project, client] = await Promise.all(
      ['pyproject.toml', 'derbench/__init__.py'].map((name) => readFile(packageFile(`clients/python/${name}`), 'utf8')),
    );
    expect(project).to.include(`\nversion = "${version}"\n`);
    const [major, minor] = apiVersion.split('.');
    expect(client).to.include(`\n_API_VERSION = (${major}, ${minor})\n`);
  });

  it('packs what it exports', async () => {
    const { bin, exports, files, types } = await json<{
      bin: Record<string, string>;
      exports: Record<string, string | Record<string, string>>;
      files: string[];
      types: string;
    }>('package.json');
    const targets = [...Object.values(exports), bin].flatMap((each) =>
      typeof each === 'string' ? each : Object.values(each),
    );
    const packed = (path: string) =>
      ['package.json', ...files].some((each) => path.replace(/^\.\//, '').startsWith(each));
    expect([...targets, types].filter((path) => !packed(path))).to.deep.equal([]);
    const [declared, ...unlisted] = [types, (exports['.'] as Record<string, string>)['types']?.slice(2)];
    expect(unlisted).to.deep.equal([declared]);
    expect(files).to.include.members(['clients/python/derbench/*', 'clients/python/cosim/*.py']);
    expect(await readFile(packageFile('clients/python/derbench/__init__.py'), 'utf8')).to.include('class Simulator');
  });

  it('installs no script of another package but the native part of serialport', async () => {
    const { packages } = await json<{ packages: Record<string, Locked> }>('package-lock.json');
    const scripts = Object.entries(packages).filter(([, { dev, hasInstallScript }]) => !dev && hasInstallScript);
    expect(scripts.map(([path]) => path)).to.deep.equal(['node_modules/@serialport/bindings-cpp']);
  });
});

describe('npm start', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'derbench-start-'));
  });

  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  describe('what is built', () => {
    const sources = ['src/core/a.ts', 'scripts/build.mjs', 'config/profiles/a.yaml'];
    const files = ['package.json', 'package-lock.json', 'tsconfig.json'];
    let isBuilt: (folder: string) => boolean;
    const at = async (path: string, seconds: number) => {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), '');
      await utimes(join(folder, path), seconds, seconds);
    };

    before(async () => {
      // not compiled: it runs before anything is built
      ({ isBuilt } = (await import(packageFile('scripts/built.mjs'))) as { isBuilt: typeof isBuilt });
    });

    beforeEach(async () => {
      for (const path of [...sources, ...files]) await at(path, 1000);
      for (const path of ['src/core', 'src', 'scripts', 'config/profiles', 'config'])
        await utimes(join(folder, path), 1000, 1000);
    });

    it('builds without a build, and after a build that did not end', async () => {
      expect(isBuilt(folder)).to.equal(false);
      await at('dist/main.js', 2000);
      expect(isBuilt(folder)).to.equal(false);
    });

    for (const path of [...sources, ...files]) {
      it(`does not build again while nothing has changed, and does when ${path} has`, async () => {
        await at('dist/THIRD-PARTY-LICENSES.txt', 2000);
        expect(isBuilt(folder)).to.equal(true);
        await utimes(join(folder, path), 2000, 2000);
        expect(isBuilt(folder)).to.equal(false);
        await at('dist/THIRD-PARTY-LICENSES.txt', 3000);
        expect(isBuilt(folder)).to.equal(true);
        await rm(join(folder, path));
        if (sources.includes(path)) expect(isBuilt(folder)).to.equal(false);
      });
    }
  });

  describe('in a fresh copy', () => {
    const start = async () => {
      const script = join(folder, 'link', 'start.mjs');
      const env = { ...process.env, NODE_V8_COVERAGE: '', NODE_OPTIONS: '' };
      const run = promisify(execFile)(process.execPath, [script, '--version'], { cwd: '/', env });
      return (await run).stdout;
    };

    it('builds for two starts at once, from another folder and by a link, and leaves only dist/', async () => {
      for (const path of [
        'src',
        'scripts',
        'config',
        'fixtures/openapi',
        'package.json',
        'package-lock.json',
        'tsconfig.json',
      ])
        await cp(packageFile(path), join(folder, path), { recursive: true });
      await symlink(packageFile('node_modules'), join(folder, 'node_modules'), 'junction');
      await symlink(join(folder, 'scripts'), join(folder, 'link'), 'junction');
      const before = await readdir(folder);
      const shown = `derbench ${version}\n`;
      expect(await Promise.all([start(), start()])).to.deep.equal([shown, shown]);
      expect((await readdir(folder)).sort()).to.deep.equal([...before, 'dist'].sort());
    }).timeout(60_000);
  });
});
