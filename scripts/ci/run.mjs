/**
 * Everything that a change must pass: `.ci/run`. Needs Node.js and fetches the rest.
 *
 * `CI_RUN_ID` names the run, from which its random cases derive; `CI_SEED` repeats those of an earlier one. `CI_BASE` is
 * the commit before the change. The last line is the plain total; before it stand time, seed, tests skipped by reason and
 * missing peers, which `.cache/ci.json` has too.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mainVersion } from './runtime.mjs';
import { changeStages } from './stages.mjs';
import { root, wholeRun } from './whole-run.mjs';

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
/** New for each run: `CI_RUN_ID` names it, else the commit and the time do. */
const occasion = process.env.CI_RUN_ID ?? `${commit} ${startedAt.toISOString()}`;
const seed = process.env.CI_SEED ?? String(createHash('sha256').update(occasion).digest().readInt32BE());

process.stdout.write(
  `derbench ${commit.slice(0, 12)}, Node.js ${mainVersion}, FC_SEED=${seed}, changes since ${base.slice(0, 12)}\n`,
);
if (base === commit)
  process.stdout.write('notice: no commit before this one is named, so no nightly judge is called\n');
const isGood = await wholeRun({
  stages: changeStages(changed, Number(seed)),
  folder: '.cache/ci',
  file: '.cache/ci.json',
  commit,
  depth: 'ci',
  seed,
  startedAt,
  budgetS,
  environment: { CI_BASE: base },
});
process.exitCode = isGood ? 0 : 1;
