/** The Python package: built without a network, judged by the tools of its index, and used as pytest finds it. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import { packageFile } from '../../src/core/package-files.ts';
import { startSimulator, programCommand } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { blocksOf } from './support/documents.ts';
import { describeWith, python } from './support/peers.ts';

interface Ended {
  readonly code: number;
  /** of standard output */
  readonly text: string;
  readonly complaints: string;
}

/** Runs a program to its end. */
function ended(
  [program = '', ...args]: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { cwd, env }, (_error, text, complaints) =>
      resolve({ code: child.exitCode ?? -1, text, complaints }),
    );
  });
}

/** @throws AssertionError with what the program said unless it ended with 0 */
async function succeeds(line: readonly string[], cwd: string): Promise<void> {
  const end = await ended(line, cwd);
  expect([end.code, end.code === 0 ? '' : end.text + end.complaints], line.join(' ')).to.deep.equal([0, '']);
}

const source = packageFile('clients/python');

/** A program for Python: the folder of the packages of its interpreter. */
const packagesFolder = 'import sysconfig; print(sysconfig.get_path("purelib"))';

/** A test of a user that fails, beside those of the page. */
const failing = `
def test_that_fails(derbench):
    derbench.step(ticks=2)
    assert derbench.point("701.W", device=0) < 0
`;

const tools = ['hatchling', 'twine', 'check_wheel_contents', 'mypy', 'pyright', 'pytest'] as const;

describeWith(tools, 'the Python package', function () {
  this.timeout(300_000);
  let folder: string;
  let files: string[];
  let environment: NodeJS.ProcessEnv;
  const run = (...line: readonly string[]) => ended([python, ...line], folder, environment);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'derbench-wheel-'));
    await cp(source, join(folder, 'source'), {
      recursive: true,
      filter: (path) => !/__pycache__|^(cosim|svp)(\/|$)/.test(relative(source, path)),
    });
    const command = programCommand.map((word) => JSON.stringify(word)).join(' ');
    environment = {
      ...process.env,
      PYTHONPATH: '',
      PYTHONDONTWRITEBYTECODE: '1',
      PYRIGHT_PYTHON_IGNORE_WARNINGS: '1',
      DERBENCH_COMMAND: command,
    };
    await succeeds([python, '-m', 'build', '--no-isolation', '--outdir', 'dist', 'source'], folder);
    files = (await readdir(join(folder, 'dist'))).sort();
  });
  after(() => rm(folder, { recursive: true }));

  it('is a wheel and a source archive of the version of the simulator, with its licence', async () => {
    const { version } = JSON.parse(await readFile(packageFile('package.json'), 'utf8')) as { version: string };
    expect(files).to.deep.equal([`derbench_client-${version}-py3-none-any.whl`, `derbench_client-${version}.tar.gz`]);
    expect(await readFile(join(source, 'LICENSE'), 'utf8')).to.equal(await readFile(packageFile('LICENSE'), 'utf8'));
  });

  it('passes twine and check-wheel-contents', async () => {
    const paths = files.map((name) => join(folder, 'dist', name));
    expect(await run('-m', 'twine', 'check', '--strict', ...paths)).to.include({ code: 0 });
    expect(await run('-m', 'check_wheel_contents', paths[0] ?? '')).to.include({ code: 0 });
  });

  it('passes mypy --strict', async () => {
    const { code, text } = await run(
      '-m',
      'mypy',
      '--strict',
      '--cache-dir',
      join(folder, 'mypy'),
      join(source, 'derbench'),
    );
    expect([code, text]).to.deep.equal([0, 'Success: no issues found in 2 source files\n']);
  });

  it('passes pyright, for the oldest Python', async () => {
    const options = { pythonVersion: '3.9', include: ['source/derbench'] };
    await writeFile(join(folder, 'pyrightconfig.json'), JSON.stringify(options));
    const { code, text } = await run('-m', 'pyright', '--pythonpath', python);
    expect([code, text]).to.deep.equal([0, '0 errors, 0 warnings, 0 informations\n']);
  });

  it('needs no installation where its folder is on the path', async () => {
    await writeFile(
      join(folder, 'test_path.py'),
      'def test(derbench):\n    assert derbench.step()["time"]["tick"] == 1\n',
    );
    const env = { ...environment, PYTHONPATH: source };
    const line = ['-m', 'pytest', '-p', 'no:cacheprovider', '-p', 'derbench.pytest_plugin', '-q'];
    const { code, text } = await ended([python, ...line, join(folder, 'test_path.py')], packageFile('.'), env);
    expect([code, text.match(/1 passed/)?.[0]]).to.deep.equal([0, '1 passed']);
  });

  describe('installed', () => {
    let interpreter: string;
    let simulator: RunningSimulator;
    const pytest = (name: string, ...line: readonly string[]) =>
      ended(
        [interpreter, '-m', 'pytest', '-p', 'no:cacheprovider', '-q', ...line, join(folder, name)],
        packageFile('.'),
        environment,
      );

    before(async () => {
      const site = join(folder, 'site');
      interpreter = join(site, 'bin/python');
      await succeeds([python, '-m', 'venv', '--without-pip', site], folder);
      const wheel = join(folder, 'dist', files[0] ?? '');
      await succeeds(
        [python, '-m', 'pip', '--python', interpreter, 'install', '--quiet', '--no-index', '--no-deps', wheel],
        folder,
      );
      // pytest itself is that of the peers
      const libraries = await run('-c', packagesFolder);
      const own = await ended([interpreter, '-c', packagesFolder], folder, environment);
      await writeFile(join(own.text.trim(), 'peers.pth'), libraries.text);
      const page = blocksOf('docs/how-to/pytest.md').find(({ language }) => language === 'python');
      await writeFile(join(folder, 'test_site.py'), `${page?.text}${failing}`);
      simulator = await startSimulator(['-d', 'PV-3Phase', '--start_paused', 'yes']);
    });
    after(() => simulator.stop());

    it('gives each test a simulator of its own, and says at a failure why, with the log', async () => {
      const { code, text } = await pytest('test_site.py');
      expect(code).to.equal(1);
      expect(text).to.match(/1 failed, 2 passed/);
      expect(text).to.match(/derbench: why\W+device 0: [\d.]+ kW, all that the sun gives/);
      expect(text).to.match(/derbench: log\W+\S/);
    });

    it('uses a running simulator with --derbench-url, and skips what needs one of its own', async () => {
      const url = `http://127.0.0.1:${simulator.httpPort}`;
      const { text } = await pytest('test_site.py', '-rs', '--derbench-url', url);
      expect(text).to.contain('1 failed, 1 passed, 1 skipped');
      expect(text).to.contain('the test needs a simulator with N, device_type');
      expect(text).to.match(/derbench: log\W+\d{4}-\S+ \w+ \w+: \S/);
    });
  });
});
