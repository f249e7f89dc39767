/** Messages that a scenario waits for and counts, made up in place of a protocol. */
import { expect } from 'chai';
import { createApp } from '../../src/app/build.ts';
import { checkRequest } from '../../src/app/scenarios/checks.ts';
import type { RunReport } from '../../src/contract/scenarios.ts';
import type { SimTime } from '../../src/core/time/clock.ts';
import { createLogBook } from '../../src/core/log/log.ts';
import { readScenario } from '../../src/scenario/file/read.ts';
import { sourceOfRequest } from '../../src/scenario/file/source.ts';
import type { ScenarioHost } from '../../src/scenario/run/host.ts';
import type { Check } from '../../src/scenario/run/checks.ts';
import { RunRecord } from '../../src/scenario/run/record.ts';
import { ScenarioRun } from '../../src/scenario/run/run.ts';
import { configOf } from '../support/configured.ts';

interface Bench {
  /** Messages of these kinds come, all at once. */
  readonly send: (...kinds: readonly string[]) => void;
  readonly run: (content: object) => Promise<RunReport>;
}

/** @param kept messages that the protocol keeps; `GET /overview` sends `caused` */
function bench(kept = 10_000): Bench {
  const config = configOf('--device_type', 'PV-3Phase', '--start_paused', 'yes');
  const app = createApp(config, { logBook: createLogBook({ write: () => undefined }) });
  const messages: { readonly id: number; readonly kind: string }[] = [];
  const listeners = new Set<(id: number) => void>();
  const send = (...kinds: readonly string[]) => {
    for (const kind of kinds) {
      messages.push({ id: messages.length + 1, kind });
      for (const tell of listeners) tell(messages.length);
    }
  };
  const base = app.scenarioHost('test');
  const host: ScenarioHost = {
    ...base,
    onMessage: (_protocol, _station, listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    perform(request) {
      if (request.path === '/overview') send('caused');
      if (request.path !== '/modbus/messages') return base.perform(request);
      const { after_id: after = 0, limit = 100 } = request.query ?? {};
      const newer = messages.slice(-kept).filter(({ id }) => id > Number(after));
      return Promise.resolve({ status: 200, body: { enabled: true, messages: newer.slice(-Number(limit)) } });
    },
  };
  const run = (content: object) => {
    const scenario = readScenario(sourceOfRequest(content), 'test', {}, checkRequest);
    return new ScenarioRun(scenario, host, { pace: 'fast', by: { source: 'rest' } }).finished;
  };
  return { send, run };
}

const of = (kind: string) => ({ protocol: 'modbus', match: { kind } });
const times = (report: RunReport, name: string) => report.steps().filter((step) => step.name === name).length;

describe('messages in scenarios', () => {
  it('that come together are told one after the other to the steps that wait for them', async () => {
    const { send, run } = bench();
    const report = run({
      steps: ['boot', 'status', 'heartbeat'].map((kind) => ({ when: { message: of(kind), timeout: 60 } })),
    });
    setImmediate(() => send('boot', 'status', 'heartbeat'));
    const { state, failures } = await report;
    expect(state, failures.join()).to.equal('passed');
  });

  it('that came before a step began do not count for it', async () => {
    const { run } = bench();
    const report = await run({
      steps: [
        { call: { request: 'GET /overview' }, expect: { messages: of('caused') } },
        { expect: { messages: { ...of('caused'), at_most: 0 }, within: 1 } },
        { when: { message: of('caused'), timeout: 2 } },
      ],
    });
    expect(report.assertions().map(({ state }) => state)).to.deep.equal(['passed', 'passed']);
    // the second step began after it
    expect(report.failures).to.have.length(1);
    expect(report.failures[0]).to.contain('/steps/2: waited 2 s in vain');
  });

  it('let a rule run once for each of them, also for those that come while its steps run', async () => {
    const { send, run } = bench();
    const report = run({
      duration: 600,
      steps: [{ mark: 'begin' }],
      rules: [
        {
          when: { message: of('x') },
          steps: [
            { name: 'fired', after: 1 },
            { name: 'rested', after: 30 },
          ],
        },
      ],
    });
    setImmediate(() => send('x', 'x', 'y', 'x'));
    expect(times(await report, 'rested')).to.equal(3);
  });

  it('advance a sequence by one entry each', async () => {
    const { send, run } = bench();
    const sequence = (...kinds: readonly string[]) => ({
      sequence: { protocol: 'modbus', messages: kinds.map((kind) => ({ kind })) },
      within: 60,
    });
    const report = run({ steps: [{ expect: [sequence('a', 'b'), sequence('a', 'a'), sequence('b', 'a')] }] });
    setImmediate(() => send('a', 'x', 'b'));
    const { failures } = await report;
    expect(failures).to.have.length(2);
    expect(failures.join()).to.contain('expect/1').and.contain('expect/2').and.not.contain('expect/0');
  });

  it('are all counted, however many come at once', async () => {
    const { send, run } = bench();
    const expectation = { messages: { ...of('x'), at_least: 900, at_most: 900 }, within: 60 };
    const report = run({ steps: [{ expect: expectation }] });
    setImmediate(() => send(...Array<string>(900).fill('x')));
    const { state, failures } = await report;
    expect(state, failures.join()).to.equal('passed');
  });

  it('that are gone before they could be read fail the run', async () => {
    const { send, run } = bench(10);
    const report = run({ steps: [{ expect: { messages: { ...of('x'), at_most: 100 }, within: 60 } }] });
    setImmediate(() => send(...Array<string>(50).fill('x')));
    const { state, failures } = await report;
    expect(state).to.equal('failed');
    expect(failures[0]).to.match(/^40 messages were not kept until the scenario could compare them/);
  });
});

describe('rules of scenarios', () => {
  const power = { point: '701.W', above: 0 };

  it('run once each time that a condition comes true: groups, and conditions that must last', async () => {
    for (const when of [
      power,
      { ...power, for: 10 },
      { all: [power] },
      { any: [power, { point: '701.Hz', above: 99 }] },
    ]) {
      const report = await bench().run({
        duration: 60,
        steps: [{ mark: 'a' }],
        rules: [{ when, steps: [{ name: 'fired' }] }],
      });
      expect(times(report, 'fired'), JSON.stringify(when)).to.equal(1);
    }
  });

  it('that would run for ever at one instant end the run, and finally is carried out', async () => {
    const set = (from: number, to: number) => ({
      when: { point: '704.WMaxLimPct', equals: from },
      steps: [{ registers: { 704: { WMaxLimPct: to } } }],
    });
    const report = await bench().run({
      duration: 60,
      steps: [{ mark: 'a' }],
      rules: [set(100, 50), set(50, 100)],
      finally: [{ name: 'restore', registers: { 704: { WMaxLimPct: 100 } } }],
    });
    expect(report.state).to.equal('error');
    expect(report.error).to.contain('began 1000 times at one instant');
    expect(report.steps().find(({ name }) => name === 'restore')?.state).to.equal('done');
  });

  it('keep a bounded number of results', () => {
    const record = new RunRecord(0 as SimTime);
    const failed = { verdict: 'failed' } as unknown as Check;
    for (let n = 0; n < 12_000; n += 1) {
      record.check([failed], true);
      record.fail('too low');
    }
    const { assertionsFailed, assertionsInAll, assertionsForgotten } = record.counts;
    expect([assertionsFailed, assertionsInAll]).to.deep.equal([12_000, 12_000]);
    expect(assertionsInAll - assertionsForgotten).to.be.within(2500, 5001);
    expect(record.failures).to.have.length(1001);
    expect(record.failures.at(-1)).to.equal('11000 more failures, which are not listed');
  });
});
