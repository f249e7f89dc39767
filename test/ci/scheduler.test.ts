import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageFile } from '../../src/core/package-files.ts';

interface Stage {
  readonly name: string;
  readonly command: readonly string[];
  readonly needs?: readonly string[];
  readonly cores?: number;
  readonly budgetS: number;
}

interface Ended {
  readonly name: string;
  readonly outcome: string;
  readonly log: string;
  readonly s: number;
  readonly reason?: string;
}

interface Options {
  readonly folder: string;
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal;
  readonly onBegin: (stage: Stage) => void;
  readonly onEnd: (stage: Stage, ended: Ended) => void;
}

type RunStages = (stages: readonly Stage[], options: Options) => Promise<readonly Ended[]>;

const passing = ['node', '-e', ''];
const failing = ['node', '-e', 'console.log("broken"); process.exit(3)'];

describe('stages of CI', () => {
  let runStages: RunStages;
  let folder: string;
  let events: string[];

  before(async () => {
    ({ runStages } = (await import(packageFile('scripts/ci/scheduler.mjs'))) as { runStages: RunStages });
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-ci-'));
    events = [];
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (...stages: readonly Stage[]) =>
    runStages(stages, {
      folder,
      cwd: folder,
      environment: process.env,
      onBegin: ({ name }) => events.push(`${name} begins`),
      onEnd: ({ name }, { outcome }) => events.push(`${name} ${outcome}`),
    });

  it('begin when those that they need have ended', async () => {
    await run(
      { name: 'second', command: passing, needs: ['first'], budgetS: 60 },
      { name: 'first', command: passing, budgetS: 60 },
    );
    expect(events).to.deep.equal(['first begins', 'first passed', 'second begins', 'second passed']);
  });

  it('are left out after a failure of one that they need, and so are those after them', async () => {
    const ended = await run(
      { name: 'broken', command: failing, budgetS: 60 },
      { name: 'void', command: passing, needs: ['broken'], budgetS: 60 },
      { name: 'void as well', command: passing, needs: ['void'], budgetS: 60 },
      { name: 'anyway', command: passing, needs: ['broken?'], budgetS: 60 },
    );
    expect(ended.map(({ name, outcome }) => `${name} ${outcome}`)).to.deep.equal([
      'broken failed',
      'void skipped',
      'void as well skipped',
      'anyway passed',
    ]);
    expect(readFileSync(ended[0]!.log, 'utf8')).to.equal('broken\n');
  });

  it('do not share a core with one that needs all', async () => {
    await run(
      { name: 'whole machine', command: passing, cores: 1000, budgetS: 60 },
      { name: 'small', command: passing, budgetS: 60 },
    );
    expect(events).to.deep.equal(['whole machine begins', 'whole machine passed', 'small begins', 'small passed']);
  });

  it('begin beside all others where they only wait for the network', async () => {
    await run(
      { name: 'whole machine', command: passing, cores: 1000, budgetS: 60 },
      { name: 'download', command: passing, cores: 0, budgetS: 60 },
    );
    expect(events.slice(0, 2)).to.deep.equal(['whole machine begins', 'download begins']);
  });

  it('are ended after four times their budget', async () => {
    const [ended] = await run({
      name: 'endless',
      command: ['node', '-e', 'setInterval(() => {}, 1000)'],
      budgetS: 0.1,
    });
    expect([ended?.outcome, ended?.reason]).to.deep.equal(['failed', 'ended after 0.4 s, 4 times its budget']);
  });

  it('end although a process outside their group holds their output', async () => {
    const [ended] = await run({ name: 'daemon', command: ['bash', '-c', 'setsid sleep 20 & exit 0'], budgetS: 10 });
    expect(ended?.outcome).to.equal('passed');
    expect(ended?.s).to.be.below(10);
  });

  it('that run at an interruption fail, and those after them do not begin', async () => {
    const interruption = new AbortController();
    const stages = [
      { name: 'endless', command: ['node', '-e', 'setInterval(() => {}, 1000)'], budgetS: 60 },
      { name: 'next', command: passing, needs: ['endless?'], budgetS: 60 },
    ];
    const ended = await runStages(stages, {
      folder,
      cwd: folder,
      environment: process.env,
      signal: interruption.signal,
      onBegin: () => {
        interruption.abort();
      },
      onEnd: () => undefined,
    });
    const why = 'the run was interrupted';
    expect(ended.map(({ outcome, reason }) => [outcome, reason])).to.deep.equal([
      ['failed', why],
      ['skipped', why],
    ]);
  });

  it('that wait for each other are an error', async () => {
    const circle = run(
      { name: 'a', command: passing, needs: ['b'], budgetS: 60 },
      { name: 'b', command: passing, needs: ['a'], budgetS: 60 },
    );
    expect(await circle.then(String, String)).to.equal('Error: stages wait for each other: a, b');
  });
});
