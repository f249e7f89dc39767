/** What a run for a change and a nightly run have in common: environment, signals, summary. */
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { mainVersion, nodeOf, withNode } from './runtime.mjs';
import { runStages } from './scheduler.mjs';
import { measuredSlowdown, withSlowdown } from './speed.mjs';
import { Summary } from './summary.mjs';

export const root = fileURLToPath(new URL('../..', import.meta.url));

const stale = ['ci', 'nightly', 'v8', 'v8-ui', 'ci.json', 'skipped.jsonl', 'test-cost.json'];

/** Ends the stages at a signal, so that the summary is printed all the same. */
function interruption() {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(name, () => {
      process.stdout.write(`${name}: the run ends\n`);
      controller.abort();
    });
  return controller.signal;
}

async function stagesRun({ stages, folder, environment, ...run }) {
  for (const name of stale) rmSync(`.cache/${name}`, { recursive: true, force: true });
  const { NODE_V8_COVERAGE: _, FORCE_COLOR: __, ...inherited } = process.env;
  const slowdown = measuredSlowdown();
  const budgetS = Math.round(run.budgetS * slowdown);
  const summary = new Summary({ root, node: mainVersion, ...run, slowdown, budgetS });
  await runStages(withSlowdown(stages, slowdown), {
    folder,
    cwd: root,
    environment: withNode(nodeOf(mainVersion), {
      ...inherited,
      CI: 'true',
      NO_COLOR: '1',
      PIP_DISABLE_PIP_VERSION_CHECK: '1',
      TEST_DEPTH: run.depth,
      FC_SEED: run.seed,
      TEST_SLOWDOWN: String(slowdown),
      TEST_SKIPPED: `${root}/.cache/skipped.jsonl`,
      ...environment,
    }),
    signal: interruption(),
    onBegin: (stage) => process.stdout.write(`== ${stage.name}: begins\n`),
    onEnd: (stage, ended) => summary.add(stage, ended),
  });
  return summary.end();
}

/**
 * Runs stages, prints their summary and writes it to a file. The last line printed is the total, whatever happens.
 *
 * @param options `stages`; `folder` of their logs; `file` of the result; `commit`, `depth`, `seed`, `startedAt`, `budgetS`;
 *   `environment` beside the usual one
 * @returns whether all of it is good
 */
export async function wholeRun(options) {
  try {
    return await stagesRun(options);
  } catch (error) {
    process.stdout.write(`${error.stack}\n0 passed, 1 failed\n`);
    return false;
  }
}
