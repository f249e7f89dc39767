import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { pick } from '../support/depth.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { runSeed } from '../support/seed.ts';
import { describeWith, python } from './support/peers.ts';

/** It takes positive numbers only. */
const seed = Math.abs(runSeed);
/** Random requests for each operation, beside those at the bounds of every member. */
const examples = pick({ quick: 5, ci: 5, full: 10 });
/** One operation of so many takes part, another one with each seed. */
const share = pick({ quick: 10, ci: 10, full: 1 });
const minCases = 2_000 / share;
const limitMs = pick({ quick: 12, ci: 12, full: 40 }) * 60_000;

const settings = fileURLToPath(new URL('schemathesis.toml', import.meta.url));
const hooks = fileURLToPath(new URL('schemathesis_hooks.py', import.meta.url));

/** The members of the report of schemathesis that this test reads. */
interface Report {
  readonly seed: number;
  readonly complete: boolean;
  readonly exit_code: number;
  readonly operations: {
    readonly total: number;
    readonly selected: number;
    readonly tested: number;
    readonly errored: number;
  };
  readonly phases: Readonly<Record<string, { readonly status: string }>>;
  readonly test_cases: { readonly generated: number; readonly unique_failures: number };
  readonly failures: readonly unknown[];
  readonly errors: readonly unknown[];
}

/** Operations with `enabled = false` in the settings. */
const leftOut = 5;

/** Names of the operations that take part. */
async function chosenOperations(port: number): Promise<readonly string[]> {
  const answer = await fetch(`http://127.0.0.1:${port}/openapi.json`);
  const { paths } = (await answer.json()) as { paths: Record<string, Record<string, { operationId?: string }>> };
  const ids = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ operationId }) => operationId ?? []),
  );
  return ids.filter((_, i) => i % share === seed % share);
}

/**
 * One run against a simulator.
 * @throws Error with its output when it writes no report
 */
async function run(
  port: number,
  folder: string,
  operations: readonly string[],
): Promise<{ readonly report: Report; readonly output: string }> {
  const path = join(folder, 'report.json');
  const child = spawn(
    python,
    [
      '-m',
      'schemathesis.cli',
      '--config-file',
      settings,
      '--no-color',
      'run',
      `http://127.0.0.1:${port}/openapi.json`,
      '--checks',
      'all',
      '--phases',
      'examples,coverage,fuzzing,stateful',
      '--seed',
      String(seed),
      '--max-examples',
      String(examples),
      '--generation-database',
      'none',
      '--continue-on-failure',
      ...(share === 1 ? [] : operations.flatMap((id) => ['--include-operation-id', id])),
      '--report',
      'json',
      '--report-json-path',
      path,
    ],
    {
      cwd: folder,
      env: { ...process.env, SCHEMATHESIS_HOOKS: hooks },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: limitMs,
    },
  );
  let output = '';
  const gather = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on('data', gather);
  child.stderr.on('data', gather);
  await once(child, 'close');
  try {
    return { report: JSON.parse(readFileSync(path, 'utf8')) as Report, output };
  } catch {
    throw new Error(`schemathesis wrote no report\n${output}`);
  }
}

describeWith(['schemathesis'], 'requests made from the description, to a site of all six kinds', function () {
  this.timeout(limitMs + 30_000);
  let simulator: RunningSimulator;
  let folder: string;
  let operations: readonly string[];
  let report: Report;
  let output: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-schemathesis-'));
    simulator = await startSimulator(['--config', 'config/examples/mixed-site.yaml']);
    operations = await chosenOperations(simulator.httpPort);
    ({ report, output } = await run(simulator.httpPort, folder, operations));
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    expect(await simulator.stop()).to.equal(0);
  });

  it('are many, from the seed of the run, in all phases', () => {
    const {
      test_cases: { generated },
      phases,
    } = report;
    process.stdout.write(`      ${generated} cases, seed ${report.seed}\n`);
    expect(report.seed).to.equal(seed);
    expect(report.complete).to.equal(true);
    expect(generated).to.be.at.least(minCases);
    expect(Object.keys(phases)).to.have.members(['examples', 'coverage', 'fuzzing', 'stateful']);
    // a share of the operations may have no two that call on each other
    const accepted = (phase: string) => (phase === 'stateful' && share !== 1 ? ['success', 'skip'] : ['success']);
    for (const [phase, { status }] of Object.entries(phases))
      expect(accepted(phase), `${phase}\n${output}`).to.include(status);
  });

  it('go to every chosen operation but those that the settings leave out', () => {
    const { total, selected, tested, errored } = report.operations;
    expect({ tested, errored }).to.deep.equal({ tested: selected, errored: 0 });
    if (share === 1) expect(selected).to.equal(total - leftOut);
    else expect(selected).to.be.within(operations.length - leftOut, operations.length);
  });

  it('find no 5xx, no undescribed status or media type, no reply or header against its schema, no wrong request taken', () => {
    expect(report.failures, output).to.deep.equal([]);
    expect(report.errors, output).to.deep.equal([]);
    expect(report.exit_code).to.equal(0);
  });

  it('leave the simulator healthy', async () => {
    const answer = await fetch(`http://127.0.0.1:${simulator.httpPort}/api/sim/health`);
    expect([answer.status, ((await answer.json()) as { status: string }).status]).to.deep.equal([200, 'ok']);
  });
});
