/**
 * Everything that a change must pass: `.ci/run`. Needs Node.js and fetches the rest.
 *
 * `CI_RUN_ID` names the run, from which its random cases derive; `CI_SEED` repeats those of an earlier one. `CI_BASE` is
 * the commit before the change. The last line is the plain total; before it stand time, seed, tests skipped by reason and
 * missing peers, which `.cache/ci.json` has too.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { mainVersion, nodeOf, withNode } from './runtime.mjs';
import { runStages } from './scheduler.mjs';
import { Summary } from './summary.mjs';
import { changeStages } from './stages.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
process.chdir(root);
/** From here on a run is too slow for those who wait for it. */
const budgetS = 30 * 60;

const git = (...args) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

function gitOr(fallback, ...args) {
  try {
    return git(...args) || fallback;
  } catch {
    return fallback;
  }
}

/** The commit before the change: `CI_BASE`, or where `origin/main` stood; on `main` itself nothing has changed. */
const baseOf = (commit) => process.env.CI_BASE || gitOr(commit, 'merge-base', 'HEAD', 'origin/main');

const commit = gitOr('unknown', 'rev-parse', 'HEAD');
const base = baseOf(commit);
const changed = gitOr('', 'diff', '--name-only', base, 'HEAD')
  .split('\n')
  .filter((path) => path !== '');
const startedAt = new Date();
/** New for each named run, else for each day, so that a second try of the same change is no lottery. */
const occasion = process.env.CI_RUN_ID ?? startedAt.toISOString().slice(0, 10);
const seed = process.env.CI_SEED ?? String(createHash('sha256').update(occasion).digest().readInt32BE());

for (const stale of ['ci', 'v8', 'v8-ui', 'ci.json', 'skipped.jsonl', 'test-cost.json'])
  rmSync(`.cache/${stale}`, { recursive: true, force: true });
const node = nodeOf(mainVersion);
const { NODE_V8_COVERAGE: _, FORCE_COLOR: __, ...inherited } = process.env;
const environment = withNode(node, {
  ...inherited,
  CI: 'true',
  NO_COLOR: '1',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  TEST_DEPTH: 'ci',
  FC_SEED: seed,
  TEST_SKIPPED: `${root}/.cache/skipped.jsonl`,
  CI_BASE: base,
});
process.stdout.write(
  `derbench ${commit.slice(0, 12)}, Node.js ${mainVersion}, FC_SEED=${seed}, changes since ${base.slice(0, 12)}\n`,
);

const summary = new Summary({
  root,
  file: '.cache/ci.json',
  commit,
  node: mainVersion,
  depth: 'ci',
  seed,
  startedAt,
  budgetS,
});
await runStages(changeStages(changed), {
  folder: '.cache/ci',
  cwd: root,
  environment,
  onBegin: (stage) => process.stdout.write(`== ${stage.name}: begins\n`),
  onEnd: (stage, ended) => summary.add(stage, ended),
});
process.exitCode = summary.end() ? 0 : 1;
