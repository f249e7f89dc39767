/**
 * Rehearses a release: makes the next one by a dry run in a clone of this checkout, checks its files, and runs the portable
 * archive. It takes minutes, since the package is built twice from clean checkouts.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openSection } from '../release/changelog.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'derbench-rehearsal-'));
const [clone, out] = [join(folder, 'clone'), join(folder, 'out')];
const identity = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'rehearsal'],
    [`GIT_${who}_EMAIL`, 'rehearsal@example.org'],
  ]),
);

function run(cwd, program, ...args) {
  execFileSync(program, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ...identity } });
}
const git = (...args) => execFileSync('git', args, { cwd: clone, encoding: 'utf8' }).trim();

function expectEqual(fact, value, expected) {
  if (value !== expected) throw new Error(`${fact}: ${value} instead of ${expected}`);
}

/** A clone on the branch of releases, with the packages of this checkout and something to release. */
function cloneCheckout() {
  run(root, 'git', 'clone', '--quiet', root, clone);
  git('checkout', '--quiet', '-B', 'main');
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  appendFileSync(join(clone, '.git/info/exclude'), 'node_modules\n');
  const changes = join(clone, 'CHANGELOG.md');
  const text = readFileSync(changes, 'utf8');
  if (openSection(text)) return;
  writeFileSync(changes, text.replace(/^## /m, '## Unreleased\n\n- A rehearsal.\n\n## '));
  run(clone, 'git', 'commit', '--quiet', '--all', '--message', 'Changes to release');
}

function nextVersion() {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [major, minor] = version.split('.').map(Number);
  return `${major}.${minor + 1}.0`;
}

function checkFiles() {
  run(out, 'sha256sum', '--check', 'SHA256SUMS');
  const { subject } = JSON.parse(readFileSync(join(out, 'provenance.intoto.json'), 'utf8'));
  for (const { name, digest } of subject) {
    const sum = createHash('sha256')
      .update(readFileSync(join(out, name)))
      .digest('hex');
    expectEqual(`digest of ${name} in the provenance`, digest.sha256, sum);
  }
}

try {
  cloneCheckout();
  const before = git('rev-parse', 'HEAD');
  const version = nextVersion();
  run(clone, process.execPath, 'scripts/release.mjs', version, '--dry-run', '--out', out);
  expectEqual('commit after the dry run', git('rev-parse', 'HEAD'), before);
  expectEqual('tags after the dry run', git('tag', '--list', `v${version}`), '');
  checkFiles();
  const archive = readdirSync(out).find((name) => name.endsWith('.tar.xz'));
  run(root, process.execPath, '--import=tsx', 'scripts/portable-smoke.ts', join(out, archive));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
