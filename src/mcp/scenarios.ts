/** `run_scenario`, and how many of its runs go on at once. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { DerbenchError } from '../library/error.ts';
import { outwardMember, outwardRefusal } from './outward.ts';
import { acts, textOrNull, tool } from './tool.ts';
import type { RunScenario } from './tool.ts';

/** Each run has a simulator of its own in this process, and halts the others while it computes ticks. */
const maxRuns = 2;

/** Refuses a run while `maxRuns` go on; a cancelled one counts until it has ended. */
export function withRunLimit(run: RunScenario): RunScenario {
  let count = 0;
  return async (order, signal) => {
    if (count >= maxRuns)
      throw new DerbenchError({
        code: 'conflict',
        detail: `${maxRuns} scenarios run already; wait for the answer of one, or cancel it`,
      });
    count += 1;
    try {
      return await run(order, signal);
    } finally {
      count -= 1;
    }
  };
}

/** Bundled scenarios take up to 15 s of a fast machine. */
const runLimitMs = 300_000;

const keptReports = 10;

export const scenarioTool = tool({
  name: 'run_scenario',
  description:
    'Runs a scenario on a simulator of its own. bundled: a name such as volt-watt; text: YAML (see ' +
    'derbench://scenario-schema). Its report is derbench://reports/ID.',
  input: {
    bundled: z.string().optional(),
    text: z.string().max(200_000).optional(),
    params: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).default({}),
  },
  output: {
    name: z.string(),
    state: z.string().describe('passed, failed, error or stopped'),
    failures: z.array(z.string()),
    error: textOrNull,
    report: z.string(),
  },
  annotations: acts,
  limitMs: runLimitMs,
  async run({ bundled, text, params }, { runScenario: run, reports, signal, outwardSettings }) {
    if ((bundled === undefined) === (text === undefined))
      throw new DerbenchError({ code: 'validation', detail: 'give either bundled or text' });
    const member = outwardSettings === null ? null : outwardMember(text, outwardSettings, '/text');
    if (member !== null) throw outwardRefusal(member);
    const order = { bundled: bundled ?? null, text: text ?? '', parameters: params };
    const { name, state, failures, error, summary, report } = await run(order, signal);
    const id = randomUUID().slice(0, 8);
    reports.set(id, report);
    const [oldest] = reports.keys();
    if (reports.size > keptReports && oldest !== undefined) reports.delete(oldest);
    return {
      sentence: [summary, ...failures, ...(error === null ? [] : [error])].join('. ').slice(0, 2000),
      data: { name, state, failures: [...failures], error, report: id },
      narrower: 'the resource derbench://reports/ID',
    };
  },
});
