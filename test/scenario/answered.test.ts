import { expect } from 'chai';
import { checkRequest } from '../../src/app/scenarios/checks.ts';
import type { RunReport } from '../../src/contract/scenarios.ts';
import { readScenario } from '../../src/scenario/file/read.ts';
import { sourceOfRequest } from '../../src/scenario/file/source.ts';
import { ScenarioRun } from '../../src/scenario/run/run.ts';
import { startApp } from '../support/running-app.ts';
import type { RunningApp } from '../support/running-app.ts';

const connect = { call: { request: 'POST /sunspec-client/connect', body: { device: 0 } } };
const write = (WMaxLimPct: number) => ({
  call: { request: 'POST /sunspec-client/write', body: { model: 704, points: { WMaxLimPct } } },
});
const ignoring = { fault: { kind: 'ignore_write', points: ['704.WMaxLimPct'] } };

describe('the assertion that what was answered is done', () => {
  let running: RunningApp;

  beforeEach(async () => (running = await startApp()));
  afterEach(() => running.app.stop());

  async function run(content: unknown): Promise<RunReport> {
    const { app } = running;
    const scenario = readScenario(sourceOfRequest(content), 'test', {}, checkRequest);
    return new ScenarioRun(scenario, app.scenarioHost('test'), { pace: 'fast', by: { source: 'rest' } }).finished;
  }
  const verdicts = (report: RunReport) => report.assertions().map(({ state, message }) => [state, message]);

  it('holds for a device that does what it says, with the same words in every run', async () => {
    const report = await run({
      steps: [{ expect: { answered: true } }, connect, { ...write(60), expect: { answered: true } }],
      always: [{ answered: { device: 0, protocol: 'modbus' } }],
      finally: [
        { expect: { answered: true } },
        { expect: { answered: { protocol: 'modbus', except: ['704.WMaxLimPct'] } } },
      ],
    });
    expect(report.failures).to.deep.equal([]);
    expect(verdicts(report)).to.deep.equal([
      ['passed', 'all of it is done'],
      ['passed', 'no command was answered positively'],
      ['passed', 'all of it is done'],
      ['passed', 'all of it is done'],
      ['passed', 'all of it is done'],
    ]);
  });

  it('fails with a sentence for a device that answers and does nothing', async () => {
    const report = await run({
      steps: [connect, ignoring, { ...write(50), expect: { answered: true, within: '3 s' } }],
      finally: [{ clear_faults: true, expect: { answered: true } }],
    });
    expect(report.state).to.equal('failed');
    expect(report.failures).to.have.length(2);
    expect(report.failures[0]).to.match(
      /what was answered positively is done within 3 s: did not come true within 3 s; Modbus master 127\.0\.0\.1:\d+ wrote 704\.WMaxLimPct = 50 at 12:00:0\d UTC and was answered with success; the register has 100: fault 'ignore_write' \(1\) is on\.$/,
    );
    expect(report.failures[1]).to.match(/the register has 100: fault 'ignore_write' \(1\) was on\.$/);
  });

  it('looks at commands since the step began, and waits for those that are late', async () => {
    const late = { fault: { kind: 'late_write', points: ['704.WMaxLimPct'], delay_s: 4 } };
    const report = await run({
      steps: [
        connect,
        ignoring,
        write(50),
        { after: 1, clear_faults: true },
        { after: 1, expect: { answered: true } },
        late,
        { ...write(40), expect: [{ answered: true }, { answered: true, within: '6 s' }] },
      ],
    });
    expect(verdicts(report).map(([state]) => state)).to.deep.equal(['passed', 'failed', 'passed']);
    expect(report.failures[0]).to.include("fault 'late_write'");
  });

  it('records what it needs, and says what cannot be recorded', async () => {
    const { app } = running;
    const recording = async () =>
      (await app.scenarioHost('test').perform({ method: 'GET', path: '/modbus/messages' })).body as {
        readonly enabled: boolean;
      };
    const states: boolean[] = [];
    const asked = await run({
      steps: [{ expect: [{ answered: true }, { get: 'modbus/messages', pointer: '/enabled', equals: true }] }],
    });
    states.push((await recording()).enabled);
    expect([asked.state, ...states]).to.deep.equal(['passed', false]);
    for (const [protocol, words] of [
      ['ocpp', /no charging station with OCPP/],
      ['dnp3', /DNP3 is switched off/],
    ] as const) {
      const report = await run({ steps: [{ expect: { answered: { protocol } } }] });
      expect([report.state, report.error], protocol).to.satisfy(
        ([state, error]: [string, string | null]) => state === 'error' && words.test(error ?? ''),
      );
    }
  });

  it('names all that cannot be recorded, and carries out finally, which compares with the start', async () => {
    const report = await run({
      steps: [
        {
          registers: { 704: { WMaxLimPct: 50 } },
          expect: [{ answered: { protocol: 'dnp3' } }, { answered: { protocol: 'ocpp' } }],
        },
      ],
      finally: [
        {
          registers: { 704: { WMaxLimPct: 90 } },
          expect: { point: '704.WMaxLimPct', since: 'start', equals: -10 },
        },
      ],
    });
    expect(report.state).to.equal('error');
    expect(report.error).to.match(/DNP3 is switched off.*; there is no charging station with OCPP/);
    expect(report.steps().map(({ place, state }) => `${place} ${state}`)).to.deep.equal(['/finally/0 done']);
    expect(verdicts(report).map(([state]) => state)).to.deep.equal(['passed']);
  });
});
