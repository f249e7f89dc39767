/**
 * Makes a release: `node scripts/release.mjs VERSION [--out DIR] [--dry-run]`.
 *
 * It commits and tags the version, builds it twice from a clean checkout and writes the files of the release to DIR. It
 * uploads nothing. A step that fails ends it, as a signal does: commit, tag and files are taken back, as commit and tag are
 * after a dry run. A dry run only names missing evidence and a missing Python package.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { nodeVersions } from './ci/runtime.mjs';
import { closed, isNewer, openSection } from './release/changelog.mjs';
import { notesOf, provenanceOf, sha256, sumsOf } from './release/documents.mjs';
import { interruption, listen, run } from './release/programs.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { out: { type: 'string', default: '.cache/release' }, 'dry-run': { type: 'boolean', default: false } },
});
const [version = ''] = positionals;
const isDry = values['dry-run'];
const out = resolve(values.out);
const startedOn = new Date().toISOString();

const pathOf = (name) => join(root, name);
const textOf = (name) => readFileSync(pathOf(name), 'utf8');
const say = (text) => process.stdout.write(`${text}\n`);

/** Git works in no time and also after a signal, to take back what was made. */
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

function refuse(reason) {
  throw new Error(reason);
}

/** Refuses in a release and only says so in a dry run. */
function demand(condition, reason) {
  if (condition) return;
  if (!isDry) refuse(reason);
  say(`a release would be refused: ${reason}`);
}

function lastTag() {
  return git('tag', '--list', 'v*', '--sort=-version:refname').split('\n')[0];
}

/** @returns the first folder of OUT that was missing and is made; undefined: OUT was there */
function checkState() {
  const made = mkdirSync(out, { recursive: true });
  if (readdirSync(out).length > 0) refuse(`${out} is not empty`);
  if (!/^\d+\.\d+\.\d+$/.test(version)) refuse(`"${version}" is not a version such as 0.4.0`);
  if (git('status', '--porcelain') !== '') refuse('the work tree has changes');
  if (git('branch', '--show-current') !== 'main') refuse('the branch is not main');
  const tag = lastTag();
  if (tag !== '' && !isNewer(version, tag)) refuse(`${version} is not newer than ${tag}`);
  if (!openSection(textOf('CHANGELOG.md'))) refuse('CHANGELOG.md has no filled section of what is unreleased');
  return made;
}

async function hasEvidence() {
  try {
    await run(root, 'npm', ['run', '--silent', 'evidence', '--', '--check', '--release', version]);
    return true;
  } catch {
    interruption.throwIfAborted();
    return false;
  }
}

const releasedApi = () => JSON.parse(textOf('fixtures/openapi/released.json')).info.version;

async function writeVersion(date) {
  await run(root, 'npm', ['version', version, '--no-git-tag-version', '--allow-same-version', '--silent']);
  const python = 'clients/python/pyproject.toml';
  if (existsSync(pathOf(python)))
    writeFileSync(pathOf(python), textOf(python).replace(/^version = ".*"$/m, `version = "${version}"`));
  writeFileSync(pathOf('CHANGELOG.md'), closed(textOf('CHANGELOG.md'), version, date));
  await run(root, 'npm', ['run', '--silent', 'generate:install']);
  git('add', '--all');
  git('commit', '--quiet', '--message', `Release ${version}`);
  git('tag', '--annotate', `v${version}`, '--message', `derbench ${version}`);
}

/** A clean checkout of the tag with its modules, and the package that it makes. */
async function packOnce(folder, environment) {
  await run(root, 'git', ['clone', '--quiet', '--depth=1', `--branch=v${version}`, `file://${root}`, folder]);
  await run(folder, 'npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline', '--silent'], environment);
  await run(folder, 'npm', ['pack', '--silent'], environment);
  return join(folder, `derbench-${version}.tgz`);
}

/** Packs twice, from two checkouts. @returns the first checkout @throws Error when the packages differ */
async function pack(workshop, environment) {
  const checkout = join(workshop, 'first');
  const tarball = await packOnce(checkout, environment);
  const again = await packOnce(join(workshop, 'second'), environment);
  const [first, second] = await Promise.all([tarball, again].map(sha256));
  if (first !== second) refuse(`two builds differ: ${first} and ${second}`);
  say(`two builds are equal: ${first}`);
  cpSync(tarball, join(out, `derbench-${version}.tgz`));
  return checkout;
}

/** Wheel and sources of the Python client. */
async function packPython(checkout, workshop, environment) {
  const source = join(checkout, 'clients/python');
  const isThere = existsSync(join(source, 'pyproject.toml'));
  demand(isThere, 'clients/python/pyproject.toml is missing');
  if (!isThere) return;
  const venv = join(workshop, 'venv');
  await run(workshop, 'python3', ['-m', 'venv', venv]);
  const python = join(venv, 'bin/python');
  await run(workshop, python, ['-m', 'pip', '--disable-pip-version-check', 'install', '-q', 'build==1.3.0']);
  await run(source, python, ['-m', 'build', '--outdir', out], environment);
}

async function build(workshop, notes) {
  const commit = git('rev-parse', 'HEAD');
  const environment = { SOURCE_DATE_EPOCH: git('log', '-1', '--format=%ct') };
  const checkout = await pack(workshop, environment);
  const tarball = join(out, `derbench-${version}.tgz`);
  say(`starts on Node.js ${nodeVersions.join(', ')}`);
  await run(checkout, 'node', ['--import=tsx', 'scripts/pack-smoke.ts', '--tarball', tarball, '--all-nodes']);
  await packPython(checkout, workshop, environment);
  await run(checkout, 'node', ['scripts/portable.mjs', 'linux-x64', '--tarball', tarball, '--out', out], environment);
  cpSync(join(checkout, 'dist/sbom.cdx.json'), join(out, 'sbom.cdx.json'));
  const lock = await sha256(join(checkout, 'package-lock.json'));
  const times = { startedOn, finishedOn: new Date().toISOString() };
  const statement = await provenanceOf(out, readdirSync(out), { version, commit, lock, ...times });
  writeFileSync(join(out, 'provenance.intoto.json'), `${JSON.stringify(statement, null, 2)}\n`);
  writeFileSync(join(out, 'RELEASE_NOTES.md'), notesOf({ ...notes, version, files: readdirSync(out) }));
  writeFileSync(join(out, 'SHA256SUMS'), await sumsOf(out, readdirSync(out)));
}

function takeBack(before) {
  if (git('tag', '--list', `v${version}`) !== '') git('tag', '--delete', `v${version}`);
  git('reset', '--quiet', '--hard', before);
}

/** Removes the files of a release that failed; OUT was empty. @param made as `checkState` returns it */
function removeFiles(made) {
  for (const name of readdirSync(out)) rmSync(join(out, name), { recursive: true });
  if (made !== undefined) rmSync(made, { recursive: true });
}

async function release() {
  const changes = openSection(textOf('CHANGELOG.md'));
  const apiBefore = releasedApi();
  demand(await hasEvidence(), `npm run evidence -- --check --release ${version} refuses`);
  await run(root, 'npm', ['run', '--silent', 'release:openapi']);
  await writeVersion(startedOn.slice(0, 10));
  const page = `docs/evidence/${version}.md`;
  const evidence = existsSync(pathOf(page)) ? textOf(page) : '';
  const workshop = mkdtempSync(join(tmpdir(), 'derbench-release-'));
  try {
    await build(workshop, { changes, apiBefore, api: releasedApi(), evidence });
  } finally {
    rmSync(workshop, { recursive: true, force: true });
  }
}

const publishing = () => `The release lies in ${out}. A person publishes it by:
  git push origin main v${version}
  npm publish ${join(out, `derbench-${version}.tgz`)}
  python3 -m twine upload ${join(out, 'derbench_client-*')}`;

const made = checkState();
const before = git('rev-parse', 'HEAD');
listen();
try {
  await release();
  interruption.throwIfAborted();
} catch (error) {
  takeBack(before);
  removeFiles(made);
  throw error;
}
if (isDry) takeBack(before);
say(isDry ? `dry run: the files lie in ${out}, the tag is removed` : publishing());
