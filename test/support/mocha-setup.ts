/** Loaded by each process of mocha before the tests (.mocharc.cjs). */
import { appendFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { config } from 'chai';
import Mocha from 'mocha';
import { takeViolations } from '../ocpp/central/violations.ts';
import { depth } from './depth.ts';
import { openResources, settled } from './handles.ts';
import { refuseRejections } from './rejections.ts';
import { beginTest } from './running-test.ts';
import { runSeed } from './seed.ts';

const minCiLimitMs = 120_000;

// The proxy reports misspelt assertions, as the compiler does; without it an assertion takes a tenth less time.
config.useProxy = false;

if (process.env['CI'] !== undefined) raiseLimits();

// Mocha sends SIGTERM to a worker that has not ended after one second. On a busy machine it is still writing its coverage
// data then, and c8 drops an incomplete file. The worker ends by itself after the write.
if (process.env['MOCHA_WORKER_ID'] !== undefined) process.on('SIGTERM', () => undefined);

aroundTests();

/** What hooks would do before and after each test: two of them take as long as the shorter half of the tests. */
function aroundTests(): void {
  const run = Reflect.get(Mocha.Test.prototype, 'run') as (this: Mocha.Test, done: Mocha.Done) => void;
  Mocha.Test.prototype.run = function (this: Mocha.Test, done: Mocha.Done) {
    beginTest(this);
    run.call(this, (error) => {
      const violations = takeViolations();
      done(error ?? violations);
    });
  } as typeof Mocha.Test.prototype.run;
}

/** Limits of single tests are for a machine with nothing else to do: in CI a test has a minute at least, or no limit. */
function raiseLimits(): void {
  const timeout = Reflect.get(Mocha.Runnable.prototype, 'timeout') as (
    this: Mocha.Runnable,
    ms?: string | number,
  ) => unknown;
  Mocha.Runnable.prototype.timeout = function (this: Mocha.Runnable, ms?: string | number) {
    if (ms === undefined) return timeout.call(this) as never;
    return timeout.call(this, typeof ms === 'number' && ms > 0 ? Math.max(ms, minCiLimitMs) : ms) as never;
  };
}

/** Before everything else, in the process that starts the workers. */
export function mochaGlobalSetup(): void {
  const way = process.execArgv.some((argument) => argument.includes('tsx')) ? 'tsx' : 'native';
  process.stdout.write(`node ${process.versions.node}, ${way}, depth ${depth}, FC_SEED=${runSeed}\n`);
}

let startedCpuUs = 0;
/** Before the first file is loaded, then after each file: one that is opened while a file loads counts as its own. */
let startedResources: ReadonlyMap<string, number> = duringHook(openResources());
const maxRounds = 50;

function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** With the timer that limits a hook, which runs wherever resources are compared. */
function duringHook(resources: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  return new Map(resources).set('Timeout', (resources.get('Timeout') ?? 0) + 1);
}

function fileOf({ test }: Mocha.Context): string {
  const root = test?.parent;
  return relative(process.cwd(), root?.suites[0]?.file ?? root?.tests[0]?.file ?? '');
}

function keepCost(file: string, folder: string, worker: string): void {
  const cost = [file, Math.round((cpuUs() - startedCpuUs) / 1e4) / 100];
  appendFileSync(join(folder, `${worker}.jsonl`), `${JSON.stringify(cost)}\n`);
}

/** Fails the file that leaves a timer, a server or a socket open: it could disturb those that follow in this worker. */
async function expectNoLeaks(file: string): Promise<void> {
  const leaks = () =>
    [...openResources()]
      .map(([name, count]) => [name, count - (startedResources.get(name) ?? 0)] as const)
      .filter(([, count]) => count > 0);
  for (let round = 0; round < maxRounds && leaks().length > 0; round += 1) await settled();
  const names = leaks().map(([name, count]) => `${count} ${name}`);
  if (names.length > 0) throw new Error(`${file} leaves open: ${names.join(', ')}`);
}

/** For frames that came after the last test. */
function expectNoViolations(): void {
  const violations = takeViolations();
  if (violations) throw violations;
}

async function afterFile(this: Mocha.Context): Promise<void> {
  const [folder, worker] = [process.env['TEST_COST'], process.env['MOCHA_WORKER_ID']];
  const file = fileOf(this);
  if (worker === undefined || file === '') return;
  if (folder !== undefined) keepCost(file, folder, worker);
  await settled();
  try {
    await expectNoLeaks(file);
  } finally {
    // the next file is not blamed for them
    startedResources = openResources();
  }
}

/** Root hooks; in a worker `beforeAll` and `afterAll` run once for each file. */
export const mochaHooks = {
  beforeAll(): void {
    startedCpuUs = cpuUs();
    refuseRejections();
  },
  afterAll: [afterFile, expectNoViolations],
};
