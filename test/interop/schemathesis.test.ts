import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { describeWith, python } from './support/peers.ts';

const seed = 20260621;
/** Random requests for each operation, beside those at the bounds of every member. */
const examples = 10;
const limitMs = 12 * 60_000;
const fewestCases = 2_000;

const settings = fileURLToPath(new URL('schemathesis.toml', import.meta.url));

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

/**
 * One run against a simulator.
 * @throws Error with its output when it writes no report
 */
async function run(port: number, folder: string): Promise<{ readonly report: Report; readonly output: string }> {
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
      '--report',
      'json',
      '--report-json-path',
      path,
    ],
    { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], timeout: limitMs },
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
  let report: Report;
  let output: string;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-schemathesis-'));
    simulator = await startSimulator(['--config', 'config/examples/mixed-site.yaml']);
    ({ report, output } = await run(simulator.httpPort, folder));
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    expect(await simulator.stop()).to.equal(0);
  });

  it('are many, from a fixed seed, in all phases', function () {
    const {
      test_cases: { generated },
      phases,
    } = report;
    this.test!.title += ` (${generated} cases, seed ${report.seed})`;
    expect(report.seed).to.equal(seed);
    expect(report.complete).to.equal(true);
    expect(generated).to.be.at.least(fewestCases);
    expect(Object.keys(phases)).to.have.members(['examples', 'coverage', 'fuzzing', 'stateful']);
    for (const [phase, { status }] of Object.entries(phases)) expect(status, `${phase}\n${output}`).to.equal('success');
  });

  it('go to every operation but stop, and the one that calls on others', () => {
    const { total, selected, tested, errored } = report.operations;
    expect({ selected, tested, errored }).to.deep.equal({ selected: total - 2, tested: total - 2, errored: 0 });
  });

  it('find no 5xx, no status or media type that is not described, no reply or header that breaks its schema, no wrong request taken', () => {
    expect(report.failures, output).to.deep.equal([]);
    expect(report.errors, output).to.deep.equal([]);
    expect(report.exit_code).to.equal(0);
  });

  it('leave the simulator healthy', async () => {
    const answer = await fetch(`http://127.0.0.1:${simulator.httpPort}/api/sim/health`);
    expect([answer.status, ((await answer.json()) as { status: string }).status]).to.deep.equal([200, 'ok']);
  });
});
