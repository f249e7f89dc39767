/** Loaded by each process of mocha before the tests (.mocharc.cjs). */
import { appendFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { config } from 'chai';
import { expectNoViolations } from '../ocpp/central/violations.ts';
import { depth } from './depth.ts';
import { beginTest } from './running-test.ts';
import { runSeed } from './seed.ts';

// The proxy reports misspelt assertions, as the compiler does; without it an assertion takes a tenth less time.
config.useProxy = false;

// Mocha sends SIGTERM to a worker that has not ended after one second. On a busy machine it is still writing its coverage
// data then, and c8 drops an incomplete file. The worker ends by itself after the write.
if (process.env['MOCHA_WORKER_ID'] !== undefined) process.on('SIGTERM', () => undefined);

/** Before everything else, in the process that starts the workers. */
export function mochaGlobalSetup(): void {
  const way = process.execArgv.some((argument) => argument.includes('tsx')) ? 'tsx' : 'native';
  process.stdout.write(`node ${process.versions.node}, ${way}, depth ${depth}, FC_SEED=${runSeed}\n`);
}

let startedCpuUs = 0;

function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Root hooks; in a worker `beforeAll` and `afterAll` run once for each file. */
export const mochaHooks = {
  beforeAll(): void {
    startedCpuUs = cpuUs();
  },
  beforeEach(this: Mocha.Context): void {
    beginTest(this.currentTest);
  },
  afterEach: expectNoViolations,
  afterAll(this: Mocha.Context): void {
    const [folder, worker] = [process.env['TEST_COST'], process.env['MOCHA_WORKER_ID']];
    const file = this.test?.parent?.suites[0]?.file;
    if (folder === undefined || worker === undefined || file === undefined) return;
    const cost = [relative(process.cwd(), file), Math.round((cpuUs() - startedCpuUs) / 1e4) / 100];
    appendFileSync(join(folder, `${worker}.jsonl`), `${JSON.stringify(cost)}\n`);
  },
};
