/**
 * Packs the project, judges the package, installs it into an empty project, and runs it there:
 *
 *   node --import=tsx scripts/pack-smoke.ts [--tarball FILE] [--all-nodes] [--renew]
 *
 * --tarball judges a package that is packed already; --all-nodes starts it on every version of scripts/nodes.json;
 * --renew writes the kinds of its files to test/package/packed.txt.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { filesOfPage } from '../test/support/page-files.ts';
import { startSimulator } from '../test/support/process.ts';
import { checkContents, judgeBill } from './packed.ts';
import type { Packed } from './packed.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };

async function run(cwd: string, program: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { cwd });
  return stdout.trim();
}

function expectEqual(what: string, got: unknown, wanted: unknown): void {
  if (got !== wanted) throw new Error(`${what}: ${String(got)} instead of ${String(wanted)}`);
  process.stdout.write(`${what}: ${String(got)}\n`);
}

const { values: options } = parseArgs({
  options: { tarball: { type: 'string' }, 'all-nodes': { type: 'boolean' }, renew: { type: 'boolean' } },
});

/** Packs the project, or lists a package that is packed; its path. */
async function pack(folder: string): Promise<string> {
  const { tarball } = options;
  const what = tarball === undefined ? ['--pack-destination', folder] : ['--dry-run', tarball];
  const [packed] = JSON.parse(await run(root, 'npm', 'pack', '--silent', '--json', ...what)) as [Packed];
  process.stdout.write(`packed ${packed.filename}\n`);
  await checkContents(packed, options.renew === true);
  return tarball ?? join(folder, packed.filename);
}

/** An empty project with the packed package as its only dependency. */
async function install(folder: string, tarball: string): Promise<string> {
  const project = join(folder, 'project');
  await mkdir(project);
  await writeFile(join(project, 'package.json'), '{ "private": true }\n');
  await run(project, 'npm', 'install', '--silent', '--no-audit', '--no-fund', '--prefer-offline', tarball);
  return project;
}

/** Paths that the installed program answers, with the media types: pages, and what is loaded late. */
const served: Readonly<Record<string, string>> = {
  '/': 'text/html',
  '/openapi.json': 'application/json',
  '/docs/': 'text/html',
  '/docs/swagger-ui-init.js': 'application/javascript',
  '/docs/swagger-ui-bundle.js': 'text/javascript',
  '/docs/swagger-ui-standalone-preset.js': 'text/javascript',
  '/redoc.standalone.js': 'text/javascript',
  '/api/sim/metrics': 'text/plain',
  '/api/sim/evse/profiles': 'application/json',
};

const mediaTypeOf = (path: string) => (path.endsWith('.css') ? 'text/css' : 'text/javascript');

async function checkServed(port: number): Promise<void> {
  const text = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  const assets = [...(await filesOfPage(text))].map((path) => [path, mediaTypeOf(path)] as const);
  expectEqual('style sheets of the dashboard', assets.filter(([, type]) => type === 'text/css').length, 1);
  for (const [path, type] of [...Object.entries(served), ...assets]) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    const length = (await answer.arrayBuffer()).byteLength;
    const got = answer.headers.get('content-type')?.split(';')[0];
    expectEqual(`GET ${path}`, `${answer.status} ${got} ${length > 0}`, `200 ${type} true`);
  }
}

/** What the package holds beside the program, and what nobody wants with it. */
async function checkFiles(project: string): Promise<void> {
  const installed = (await readdir(join(project, 'node_modules'), { recursive: true })).map((path) =>
    path.replaceAll('\\', '/'),
  );
  const own = new Set(installed.filter((path) => path.startsWith('derbench/')));
  for (const path of [
    'CHANGELOG.md',
    'NOTICE',
    'docs/reference/http.md',
    'dist/pages/swagger-ui-bundle.js.LICENSE.txt',
    'dist/pages/redoc.standalone.js.LICENSE.txt',
    'config/examples/fleet.yaml',
    'config/schema/config.schema.json',
    'config/schema/scenario.schema.json',
    'clients/python/cosim/opendss_loop.py',
    'clients/python/cosim/street_voltages.yaml',
    'clients/python/derbench/__init__.py',
    'clients/python/derbench/pytest_plugin.py',
    'clients/python/svp/svp_host.py',
    'dist/types/index.d.ts',
  ])
    expectEqual(path, own.has(`derbench/${path}`), true);
  expectEqual('source maps', [...own].filter((path) => path.endsWith('.map')).length, 0);
  const readable = [...own].filter((path) => /\/dist\/.*\.(css|c?js)$/.test(path));
  const texts = await Promise.all(readable.map((path) => readFile(join(project, 'node_modules', path), 'utf8')));
  const named = readable.filter((_path, i) => /\/[/*]# sourceMappingURL=[^'"`]*$/.test(texts[i] ?? ''));
  expectEqual('files that name a source map', named.join(), '');
  const scripted: string[] = [];
  for (const path of installed.filter((name) => /^(@[^/]+\/)?[^/]+\/package\.json$/.test(name))) {
    const { scripts = {} } = JSON.parse(await readFile(join(project, 'node_modules', path), 'utf8')) as {
      scripts?: Record<string, string>;
    };
    if (['preinstall', 'install', 'postinstall'].some((name) => name in scripts)) scripted.push(path);
  }
  expectEqual('packages with an install script', scripted.join(), '@serialport/bindings-cpp/package.json');
}

/** A script that imports the package and ends by itself; it prints the power of its device. */
const script = `
import { createSimulator } from 'derbench';
const sim = await createSimulator({ proxy: 'string-inverter-basic', dnp3_enable: true });
const { client } = sim;
await client.environment({ irradiance_w_m2: 1000 });
await client.write(704, { WMaxLimPct: 50, WMaxLimPctEna: 'ENABLED' });
process.stdout.write(String(await client.until('701.W', (watts) => watts <= 5000)));
await sim.stop();
`;

async function check(project: string): Promise<void> {
  await checkFiles(project);
  await writeFile(join(project, 'script.mjs'), script);
  expectEqual('power in a script', await run(project, process.execPath, 'script.mjs'), '5000');
  expectEqual(
    'npx derbench --version',
    await run(project, 'npx', '--no-install', 'derbench', '--version'),
    `derbench ${version}`,
  );
}

/** Starts the installed program and reads what it serves. */
async function checkStart(project: string, node: string): Promise<void> {
  const installed = join(project, 'node_modules/derbench');
  const simulator = await startSimulator(['--config', 'mixed-site'], [node, join(installed, 'dist/main.js')], project);
  const get = async (path: string) => (await fetch(`http://127.0.0.1:${simulator.httpPort}/api/sim/${path}`)).json();
  try {
    expectEqual('status', ((await get('health')) as { status: unknown }).status, 'ok');
    const commit = readFile(join(installed, 'dist/build-id.txt'), 'utf8').then((line) => line.trim());
    const buildId = await commit.catch(() => `npm-${version}`);
    expectEqual('build_id', ((await get('server-info')) as { build_id: unknown }).build_id, buildId);
    await checkServed(simulator.httpPort);
  } finally {
    expectEqual('exit code after SIGTERM', await simulator.stop(), 0);
  }
}

interface Runtime {
  readonly nodeVersions: readonly string[];
  readonly nodeOf: (version: string, options: { readonly exact: boolean }) => string;
}

async function programs(): Promise<readonly (readonly [version: string, program: string])[]> {
  if (options['all-nodes'] !== true) return [[process.versions.node, process.execPath]];
  const { nodeOf, nodeVersions } = (await import(join(root, 'scripts/ci/runtime.mjs'))) as Runtime;
  return nodeVersions.map((each) => [each, nodeOf(each, { exact: true })] as const);
}

const folder = await mkdtemp(join(tmpdir(), 'derbench-pack-'));
try {
  const tarball = await pack(folder);
  const project = await install(folder, tarball);
  await judgeBill(join(project, 'node_modules/derbench/dist'));
  await check(project);
  for (const [each, program] of await programs()) {
    process.stdout.write(`Node.js ${each}\n`);
    await checkStart(project, program);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
