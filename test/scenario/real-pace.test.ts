/** Scenarios on the running clock, whose ticks and real time the test makes. */
import { expect } from 'chai';
import { createApp } from '../../src/app/build.ts';
import type { App } from '../../src/app/start-stop.ts';
import { checkRequest } from '../../src/app/scenarios/checks.ts';
import type { RunReport } from '../../src/contract/scenarios.ts';
import { createLogBook } from '../../src/core/log/log.ts';
import type { SimTime } from '../../src/core/time/clock.ts';
import { readScenario } from '../../src/scenario/file/read.ts';
import { sourceOfRequest } from '../../src/scenario/file/source.ts';
import type { ScenarioAnswer, ScenarioHost } from '../../src/scenario/run/host.ts';
import { ScenarioRun } from '../../src/scenario/run/run.ts';
import { configOf } from '../support/configured.ts';
import { HandTimers } from '../support/timers.ts';
import { HandWall } from '../support/wall.ts';

const tickMs = 1500;
/** turns of the event loop after which a tick that has not ended waits for real time */
const patience = 40;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Lets everything happen that takes no time. */
async function turns(): Promise<void> {
  for (let n = 0; n < patience; n += 1) await turn();
}

/** A simulator whose clock runs; nothing ticks it but `pass`. */
class Bench {
  readonly #wall = new HandWall();
  readonly #timers = new HandTimers(this.#wall);
  readonly app: App;
  #lastNow = 0;

  constructor(...flags: readonly string[]) {
    this.app = createApp(configOf('--device_type', 'PV-3Phase', ...flags), {
      logBook: createLogBook({ write: () => undefined }),
      checkReplies: true,
      wall: this.#wall,
      later: this.#timers.later,
    });
  }

  async begin(content: unknown, change: Partial<ScenarioHost> = {}): Promise<ScenarioRun> {
    const scenario = readScenario(sourceOfRequest(content), 'test', {}, checkRequest);
    const host = { ...this.app.scenarioHost('test'), ...change };
    const run = new ScenarioRun(scenario, host, { pace: 'real', by: { source: 'rest' } });
    await turns();
    return run;
  }

  /** One tick of real time. */
  async tick(): Promise<void> {
    for (let ms = 0; ms < tickMs; ms += tickMs / 10) {
      this.#timers.pass(tickMs / 10);
      // as clients do between two ticks
      this.now();
    }
    const work = { isDone: false };
    void this.app.plant.tick().then(() => (work.isDone = true));
    for (let n = 1; !work.isDone; n += 1) {
      await turn();
      if (n % patience === 0) this.#timers.pass(100);
    }
    await turns();
  }

  /** Lets real time pass within a turn. */
  passWall(ms: number): void {
    this.#wall.advance(ms);
  }

  async ticks(count: number): Promise<void> {
    for (let n = 0; n < count; n += 1) await this.tick();
  }

  /** Ticks until a run has ended. */
  async ended(run: ScenarioRun): Promise<RunReport> {
    for (let n = 0; n < 500 && run.report.state === 'running'; n += 1) await this.tick();
    expect(run.report.state, 'after 500 ticks').to.not.equal('running');
    return run.finished;
  }

  /** The present instant, which never goes back. */
  now(): SimTime {
    const { now } = this.app.plant;
    expect(now).to.be.at.least(this.#lastNow);
    this.#lastNow = now;
    return now;
  }

  limitPct(): unknown {
    const { bank } = this.app.plant.device(0);
    return bank.value(bank.layout.slot(704, 'WMaxLimPct')!);
  }
}

const instantsAt = (report: RunReport, place: string) =>
  report.steps().flatMap((step) => (step.place === place ? [step.atS] : []));
const instantsOf = (report: RunReport) => report.steps().map(({ atS }) => atS);
/** All but the instants at which conditions were seen: those are ends of ticks. */
const outcomeOf = (report: RunReport) => ({
  state: report.state,
  failures: report.failures.map((words) => words.split(':')[0]).sort(),
  steps: report.steps().map(({ place, state }) => [place, state]),
  assertions: report.assertions().map(({ name, state }) => [name, state]),
});

const limit = (pct: number) => ({ registers: { 704: { WMaxLimPct: pct, WMaxLimPctEna: 'ENABLED' } } });

describe('runs of scenarios at the rate of the clock', () => {
  it('carry steps out at their very instants between two ticks', async () => {
    const bench = new Bench();
    const report = await bench.ended(
      await bench.begin({
        steps: [
          { at: '2.25 s', ...limit(60) },
          { after: 0.1, grid: { voltage_pu: 1.02 } },
          { after: 0.1, mark: 'soon' },
          { time: '12:00:10', irradiance: 700 },
          { cron: '* * * * *', mark: 'minute' },
        ],
      }),
    );
    expect(report.state, report.failures.join()).to.equal('passed');
    expect(report.pace).to.equal('real');
    expect(instantsOf(report)).to.deep.equal([2.25, 2.35, 2.45, 10, 60]);
    const { bank } = bench.app.plant.device(0);
    const writer = bank.provenance(bank.layout.slot(704, 'WMaxLimPct')!);
    expect(writer).to.deep.include({ source: 'scenario', peer: 'test' });
    expect(bench.app.plant.dateMs(writer!.at)).to.equal(Date.parse('2026-06-21T12:00:02.250Z'));
  });

  it('begin steps at their instants, though listeners of a tick take time and ask for it', async () => {
    const bench = new Bench();
    bench.app.plant.onTick(() => {
      bench.passWall(7);
      bench.now();
    });
    const steps = [
      { at: 2.25, ...limit(60) },
      { after: 0.1, grid: { voltage_pu: 1.02 } },
      { after: 0.1, mark: 'soon' },
    ];
    const report = await bench.ended(await bench.begin({ steps }));
    expect(instantsOf(report)).to.deep.equal([2.25, 2.35, 2.45]);
  });

  it('judge as a fast run does: windows, conditions, rules, differences and what finally says', async () => {
    const content = {
      duration: '40 s',
      always: [{ point: '701.Hz', between: [59, 61] }],
      steps: [
        {
          at: 5.2,
          ...limit(40),
          expect: [
            { point: '701.W', at_most: 4000, tolerance: 1, within: '10 s' },
            { point: '701.W', below: 3000, within: '4.7 s' },
            { point: '701.W', equals: 4000, tolerance: 1, after: '10 s', for: '5.1 s' },
            { point: '701.W', above: 5000, for: '20 s' },
          ],
        },
        { when: { point: '701.W', below: 4100, for: '3.1 s', timeout: '1 min' }, mark: 'limited' },
        { when: { point: '701.W', above: 9e9, timeout: '4.4 s' } },
        { at: 31.3, expect: { point: '701.TotWhInj', since: 'limited', between: [5, 25] } },
      ],
      rules: [{ every: '7 s', steps: [{ call: { request: 'GET /overview' } }] }],
      finally: [{ after: 2.2, ...limit(100), expect: { point: '701.W', above: 9000, within: '20 s' } }],
    };
    const bench = new Bench();
    const real = await bench.ended(await bench.begin(content));
    const other = new Bench();
    const scenario = readScenario(sourceOfRequest(content), 'test', {}, checkRequest);
    const host = other.app.scenarioHost('test');
    const fast = await new ScenarioRun(scenario, host, { pace: 'fast', by: { source: 'rest' } }).finished;
    expect(outcomeOf(real)).to.deep.equal(outcomeOf(fast));
    expect(real.state).to.equal('failed');
    expect(real.failures).to.have.length(3);
    for (const place of ['/steps/0', '/steps/3', '/rules/0/steps/0'])
      expect(instantsAt(real, place), place).to.deep.equal(instantsAt(fast, place));
    expect(instantsAt(real, '/rules/0/steps/0')).to.deep.equal([7, 14, 21, 28, 35]);
  });

  for (const [what, when] of [
    ['a write', { write: { model: 704, source: 'rest' } }],
    ['a value of a register', { point: '704.WMaxLimPct', equals: 80 }],
  ] as const)
    it(`go on as soon as ${what} comes between two ticks`, async () => {
      const bench = new Bench();
      const run = await bench.begin({ steps: [{ when, ...limit(30) }, { after: 1.5 }] });
      await bench.ticks(2);
      expect(run.report.stepsDone).to.equal(0);
      const body = { points: { WMaxLimPct: 80 } };
      await bench.app.api.perform({ method: 'POST', path: '/registers/704', body, by: { source: 'rest' } });
      await turns();
      expect(run.report.stepsDone).to.equal(1);
      expect(bench.limitPct()).to.equal(30);
      const report = await bench.ended(run);
      expect(report.state, report.failures.join()).to.equal('passed');
    });

  it('are stopped between two ticks, and put back what finally says', async () => {
    const bench = new Bench();
    const run = await bench.begin({
      steps: [limit(50), { at: 30, ...limit(10), expect: { point: '701.W', below: 1 } }],
      finally: [{ after: 2.5, ...limit(100) }],
    });
    await bench.ticks(4);
    expect(bench.limitPct()).to.equal(50);
    run.stop();
    await turns();
    const report = await bench.ended(run);
    expect(report.state).to.equal('stopped');
    expect(report.steps().map(({ place, state, atS }) => [place, state, atS])).to.deep.equal([
      ['/steps/0', 'done', 0],
      ['/steps/1', 'skipped', null],
      ['/finally/0', 'done', 8.5],
    ]);
    expect(bench.limitPct()).to.equal(100);
  });

  it('begin no step of a rule once the steps of finally run, however late its answers come', async () => {
    const bench = new Bench();
    const answers: (() => void)[] = [];
    const host = bench.app.scenarioHost('test');
    const slowly = (request: Parameters<ScenarioHost['perform']>[0]) =>
      request.path === '/overview'
        ? new Promise<ScenarioAnswer>((resolve) => {
            answers.push(() => {
              resolve({ status: 200, body: {} });
            });
          })
        : host.perform(request);
    const run = await bench.begin(
      {
        duration: '6 s',
        steps: [{ mark: 'begin' }],
        rules: [
          { every: '4 s', steps: [{ call: { request: 'GET /overview' } }, limit(20)] },
          { every: '5 s', steps: [limit(70)] },
        ],
        finally: [limit(100), { after: '12 s' }],
      },
      { perform: slowly },
    );
    await bench.ticks(6);
    expect(answers, 'requests of the rule').to.have.length(1);
    expect(run.report.steps().some(({ place }) => place.startsWith('/finally'))).to.equal(true);
    answers.forEach((answer) => {
      answer();
    });
    const report = await bench.ended(run);
    expect(report.state, report.failures.join()).to.equal('passed');
    expect(bench.limitPct()).to.equal(100);
    const begun = report.steps().filter(({ place, atS }) => place.startsWith('/rules') && atS !== null);
    expect(begun.map(({ place }) => place)).to.deep.equal(['/rules/0/steps/0', '/rules/1/steps/0']);
    expect(instantsAt(report, '/rules/0/steps/0')).to.deep.equal([4]);
    expect(instantsAt(report, '/rules/1/steps/0'), 'beside an answer that is late').to.deep.equal([5]);
  });

  it('let a paused clock run meanwhile, at whatever rate', async () => {
    const bench = new Bench('--start_paused', 'yes', '--time_rate', '20');
    const run = await bench.begin({ steps: [{ at: 44.4 }, { at: '1 min', expect: { point: '701.Hz', equals: 60 } }] });
    expect(bench.app.plant.time.mode).to.equal('accelerated');
    const report = await bench.ended(run);
    expect(instantsOf(report)).to.deep.equal([44.4, 60]);
    expect(bench.app.plant.time.mode).to.equal('paused');
    const { tick } = bench.app.plant.time;
    await bench.tick();
    expect(bench.app.plant.time.tick).to.equal(tick);
  });

  it('end with the simulator', async () => {
    const bench = new Bench();
    const run = await bench.begin({ steps: [{ at: 30, ...limit(10) }] });
    await bench.ticks(2);
    run.stop();
    await bench.app.stop();
    const report = await run.finished;
    expect(report.state).to.equal('stopped');
    expect(report.steps().map(({ state }) => state)).to.deep.equal(['skipped']);
  });
});
