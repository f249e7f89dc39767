/** Scenarios at the rate of the clock, by the command line and over REST, all of them at once. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { bundledScenarioPath } from '../../src/config/profile/bundled.ts';
import { runScenarios } from '../../src/app/scenarios/command-run.ts';
import { scenarioCommand } from '../../src/scenario/command.ts';
import { ask } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { programCommand } from '../support/process.ts';
import { startApp } from '../support/running-app.ts';

const execute = promisify(execFile);
const [program, ...words] = programCommand;

/** Scenarios whose assertions hold at ticks of any length, with simulated seconds per real second. */
const rates = {
  'unit-id-change': 10,
  'freq-droop': 20,
  'volt-watt': 60,
  'charging-site': 90,
  'ride-through-cat-3': 200,
};
const names = Object.keys(rates) as (keyof typeof rates)[];

const limit = (pct: number) => ({ registers: { 704: { WMaxLimPct: pct, WMaxLimPctEna: 'ENABLED' } } });
/** Ten seconds whose steps begin between the ticks. */
const short = {
  name: 'ten-seconds',
  steps: [
    { at: 1.25, ...limit(40), expect: { point: '701.W', at_most: 4000, tolerance: 1, within: 4 } },
    { after: 0.1, grid: { voltage_pu: 1.02 }, expect: { point: '701.LLV', above: 485, within: 2 } },
    { at: 4.321, expect: { point: '701.W', equals: 4000, tolerance: 20, after: 1.5, for: 3.25 } },
    { at: 10, expect: { point: '701.ConnSt', equals: 'CONNECTED' } },
  ],
  finally: [{ ...limit(100), grid: { voltage_pu: 1 } }],
};
const shortInstants = [1.25, 1.35, 4.321, 10, 10];

/** Names and states of all assertions of a result file. */
const verdictsOf = ({ assertions }: Json): string[] =>
  assertions.map(({ place, name, state }: Json) => `${place}: ${name}: ${state}`);

describe('scenarios at the rate of the clock', function () {
  this.timeout(120_000);
  let folder: string;
  const results = new Map<string, Json>();

  const resultFile = (name: string) => join(folder, `${name}.json`);
  const read = async (name: string): Promise<Json> => JSON.parse(await readFile(resultFile(name), 'utf8'));

  async function runByCommand(name: string, file: string, flags: readonly string[]): Promise<void> {
    try {
      const argv = ['run', file, '--quiet', '--pace', 'real', '--json', resultFile(name), ...flags];
      await execute(program, [...words, ...argv]);
    } catch (error) {
      // an assertion has failed, which the result tells
      if ((error as { readonly code?: number }).code !== 4) throw error;
    }
    results.set(name, await read(name));
  }

  async function runOverRest(): Promise<void> {
    const { app, port } = await startApp(['PV-3Phase'], ['--tick', '0.5']);
    const call = async (method: string, path: string, body?: object): Promise<Json> =>
      (await ask(port, `/api/sim/scenarios${path}`, { method, ...(body && { body }) })).json;
    try {
      const { id } = await call('POST', '', { scenario: short });
      await call('POST', `/${id}/start`, { pace: 'real' });
      const ended = new Promise<void>((resolve) => {
        // the run ends with a tick or soon after it
        const end = app.plant.onTick(() => {
          void call('GET', `/${id}`).then(({ run }) => {
            if (run.state === 'running') return;
            end();
            resolve();
          });
        });
      });
      await ended;
      results.set('rest', await call('GET', `/${id}/report`));
    } finally {
      await app.stop();
    }
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scenarios-real-'));
    const file = join(folder, 'short.yaml');
    await writeFile(file, JSON.stringify(short));
    await Promise.all([
      ...names.map((name) =>
        runByCommand(name, bundledScenarioPath(name) ?? '', ['--tick', '0.1', '--time_rate', String(rates[name])]),
      ),
      runByCommand('short', file, ['-d', 'PV-3Phase', '--tick', '0.5']),
      runOverRest(),
    ]);
  });
  after(() => rm(folder, { recursive: true }));

  for (const name of names)
    it(`${name} passes at ${rates[name]} times real time, with the assertions of a fast run`, async () => {
      const real = results.get(name);
      expect(real.simulated.pace).to.equal('real');
      expect(real.state, real.failures.join('\n')).to.equal('passed');
      const argv = [bundledScenarioPath(name) ?? '', '--quiet', '--json', resultFile(name)];
      const output = { print: () => undefined, show: null, env: {}, onInterrupt: () => () => undefined };
      await runScenarios(scenarioCommand(argv), output);
      const fast = await read(name);
      expect(fast.simulated.pace).to.equal('fast');
      expect(verdictsOf(real)).to.deep.equal(verdictsOf(fast));
      const expectedS = real.simulated.duration_s / rates[name];
      // a busy machine may be late, never early
      expect(real.real.duration_s).to.be.within(expectedS - 0.5, expectedS + 5);
    });

  for (const [name, way] of [
    ['short', 'by the command line'],
    ['rest', 'over REST'],
  ] as const)
    it(`steps begin at their very instants in real seconds, ${way}`, () => {
      const result = results.get(name);
      expect(result.state, result.failures.join('\n')).to.equal('passed');
      expect(result.steps.map(({ at_s: at }: Json) => at)).to.deep.equal(shortInstants);
      expect(result.simulated.duration_s).to.be.within(10, 12);
      expect(result.real.duration_s).to.be.closeTo(result.simulated.duration_s, 2);
    });
});
