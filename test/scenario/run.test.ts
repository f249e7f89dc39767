import { expect } from 'chai';
import { createApp } from '../../src/app/build.ts';
import type { App } from '../../src/app/start-stop.ts';
import { checkRequest } from '../../src/app/scenarios/checks.ts';
import type { RunReport } from '../../src/contract/scenarios.ts';
import { SimError } from '../../src/core/errors.ts';
import { createLogBook } from '../../src/core/log/log.ts';
import { readScenario } from '../../src/scenario/file/read.ts';
import { sourceOfRequest } from '../../src/scenario/file/source.ts';
import { reportDocument } from '../../src/scenario/report/document.ts';
import { htmlPage } from '../../src/scenario/report/html.ts';
import { junitXml } from '../../src/scenario/report/junit.ts';
import { ScenarioRun } from '../../src/scenario/run/run.ts';
import { configOf } from '../support/configured.ts';

/** A simulator without listeners: nothing of it runs but what the scenario makes run. */
function simulator(...flags: readonly string[]): App {
  const config = configOf('--device_type', 'PV-3Phase', '--start_paused', 'yes', ...flags);
  return createApp(config, { logBook: createLogBook({ write: () => undefined }), checkReplies: true });
}

async function runOn(app: App, content: unknown): Promise<RunReport> {
  const scenario = readScenario(sourceOfRequest(content), 'test', {}, checkRequest);
  return new ScenarioRun(scenario, app.scenarioHost('test'), { pace: 'fast', by: { source: 'rest' } }).finished;
}

const run = (content: unknown): Promise<RunReport> => runOn(simulator(), content);
const states = (report: RunReport) => report.assertions().map(({ state }) => state);

describe('runs of scenarios', () => {
  it('leave out a device that another client removes while all of them are asked', async () => {
    for (const path of ['/consistency', '/registers/changes', '/answers']) {
      const subject = { '/consistency': 'consistent', '/registers/changes': 'nothing_left', '/answers': 'answered' }[
        path
      ]!;
      const app = simulator('-N', '2');
      const host = app.scenarioHost('test');
      const perform: typeof host.perform = async (request) => {
        if (request.path === path && app.plant.devices.length === 2)
          await host.perform({ method: 'POST', path: '/devices/1/remove' });
        return host.perform(request);
      };
      const content = sourceOfRequest({ steps: [{ after: 2, expect: { [subject]: true } }] });
      const scenario = readScenario(content, 'test', {}, checkRequest);
      const options = { pace: 'fast', by: { source: 'rest' } } as const;
      const report = await new ScenarioRun(scenario, { ...host, perform }, options).finished;
      expect(app.plant.devices, subject).to.have.length(1);
      expect(report.state, report.failures.join()).to.equal('passed');
    }
  });

  it('carry steps out at their very instants, whatever the tick', async () => {
    const app = simulator();
    const report = await runOn(app, {
      steps: [
        { at: '2.25 s', registers: { 704: { WMaxLimPct: 60, WMaxLimPctEna: 'ENABLED' } } },
        { after: 0.1, grid: { voltage_pu: 1.02 } },
        { time: '12:00:10', irradiance: 700 },
        { cron: '* * * * *', mark: 'minute' },
      ],
    });
    expect(report.state, report.failures.join()).to.equal('passed');
    expect(report.steps().map(({ atS }) => atS)).to.deep.equal([2.25, 2.35, 10, 60]);
    const { bank } = app.plant.device(0);
    const writer = bank.provenance(bank.layout.slot(704, 'WMaxLimPct')!);
    expect(writer).to.deep.include({ source: 'scenario', peer: 'test' });
    expect(app.plant.dateMs(writer!.at)).to.equal(Date.parse('2026-06-21T12:00:02.250Z'));
  });

  it('judge assertions now, within and throughout, and say in a sentence what was seen', async () => {
    const report = await run({
      always: [
        { point: '701.Hz', between: [59, 61] },
        { point: '701.W', above: 5000, name: 'power stays' },
      ],
      steps: [
        { at: 5, expect: { point: '701.W', above: 5000 } },
        {
          name: 'a limit of 40 %',
          registers: { 704: { WMaxLimPct: 40, WMaxLimPctEna: 'ENABLED' } },
          expect: [
            { point: '701.W', at_most: 4000, tolerance: 1, within: '10 s' },
            { point: '701.W', below: 3000, within: '4 s' },
            { point: '701.W', equals: 4000, tolerance: 1, after: '10 s', for: '5 s' },
            { snapshot: 'status.connection_state', equals: 'connected', for: '3 s', name: 'no trip' },
            { point: '701.ConnSt', equals: 1 },
            { get: 'controls/grid', pointer: '/frequency_hz', equals: 60 },
          ],
        },
      ],
      finally: [{ expect: { nothing_left: true } }],
    });
    expect(states(report)).to.deep.equal([
      'passed',
      'failed',
      'passed',
      'passed',
      'failed',
      'passed',
      'passed',
      'passed',
      'passed',
      'failed',
    ]);
    const names = report.assertions().map(({ name }) => name);
    expect(names).to.include.members(['power stays', 'a limit of 40 %: no trip']);
    expect(report.state).to.equal('failed');
    expect(report.failures).to.have.length(3);
    const words = report.failures.join('\n');
    expect(words).to.match(
      /\/always\/1: power stays: 701.W of device 0 must be above 5000: broken .* after the start; it was \d+ W/,
    );
    expect(words).to.match(
      /\/steps\/1\/expect\/1: a limit of 40 %: 701.W of .* did not come true within 4 s; it was 4000 W \(lowest 4000 after/,
    );
    expect(words).to.contain('704.WMaxLimPctEna is ENABLED instead of DISABLED, set by scenario');
  });

  it('wait for conditions, and fail where they do not come', async () => {
    const report = await run({
      steps: [
        { registers: { 704: { WMaxLimPct: 50, WMaxLimPctEna: 'ENABLED' } } },
        { when: { point: '701.W', below: 5100, for: '3 s', timeout: '1 min' }, mark: 'limited' },
        {
          when: {
            all: [
              { point: '701.W', above: 0 },
              { point: '701.Hz', above: 59 },
            ],
          },
        },
        { when: { point: '701.W', above: 9e9, timeout: '4 s' }, grid: { voltage_pu: 0.5 } },
        { when: { write: { model: 704, source: 'modbus' }, timeout: '2 s' } },
      ],
    });
    expect(report.steps().map(({ state }) => state)).to.deep.equal(['done', 'done', 'done', 'failed', 'failed']);
    expect(report.failures[0]).to.match(
      /\/steps\/3: waited 4 s in vain: 701.W of device 0 above .*the last value was 5\d+ W|5000 W/,
    );
    expect(report.steps()[3]?.actions[0]?.status).to.equal(null);
    expect(report.failures[1]).to.contain('write to model 704 by modbus did not come');
  });

  it('stop at the first failure where they are told to, and put back what finally says', async () => {
    const app = simulator();
    const report = await runOn(app, {
      on_failure: 'stop',
      steps: [
        { registers: { 704: { WMaxLimPct: 50 } }, expect: { point: '701.W', above: 9e9 } },
        { after: 1, irradiance: 1 },
      ],
      // a step that fails keeps none of the others from it
      finally: [
        { call: { request: 'POST /controls/battery', body: { mode: 'auto' } } },
        { registers: { 704: { WMaxLimPct: 100 } }, expect: { nothing_left: true } },
      ],
    });
    expect(report.state).to.equal('failed');
    expect(report.steps().map(({ place, state }) => `${place} ${state}`)).to.deep.equal([
      '/steps/0 done',
      '/steps/1 skipped',
      '/finally/0 failed',
      '/finally/1 done',
    ]);
    expect(states(report)).to.deep.equal(['failed', 'passed']);
  });

  it('put back what finally says when another client takes the clock', async () => {
    const app = simulator();
    const endListening = app.plant.onTick(() => {
      endListening();
      app.plant.setTime({ mode: 'accelerated' });
    });
    const report = await runOn(app, {
      steps: [{ registers: { 704: { WMaxLimPct: 50 } } }, { after: 10, irradiance: 1 }],
      finally: [{ registers: { 704: { WMaxLimPct: 100 } }, expect: { nothing_left: true } }],
    });
    expect(report.state).to.equal('error');
    expect(report.error).to.contain('stepping needs the clock paused');
    expect(report.steps().map(({ place, state }) => `${place} ${state}`)).to.deep.equal([
      '/steps/0 done',
      '/steps/1 skipped',
      '/finally/0 done',
    ]);
    expect(states(report)).to.deep.equal(['passed']);
  });

  for (const isGivenBack of [false, true])
    it(`${isGivenBack ? 'go on with' : 'end'} finally at a wait when another client has ${
      isGivenBack ? 'given the clock back' : 'the clock'
    }`, async () => {
      const app = simulator();
      const endListening = app.plant.onTick(() => {
        endListening();
        app.plant.setTime({ mode: 'accelerated' });
      });
      const host = app.scenarioHost('test');
      const perform: typeof host.perform = (request) => {
        if (isGivenBack && request.path === '/overview') app.plant.setTime({ mode: 'paused' });
        return host.perform(request);
      };
      const content = sourceOfRequest({
        steps: [{ after: 10, irradiance: 1 }],
        finally: [
          { call: { request: 'GET /overview' }, expect: { point: '701.W', above: 0, for: '1 s' } },
          { after: 2, call: { request: 'GET /overview' } },
        ],
      });
      const scenario = readScenario(content, 'test', {}, checkRequest);
      const options = { pace: 'fast', by: { source: 'rest' } } as const;
      const report = await new ScenarioRun(scenario, { ...host, perform }, options).finished;
      expect(report.state).to.equal('error');
      expect(report.steps().map(({ place, state }) => `${place} ${state}`)).to.deep.equal([
        '/steps/0 skipped',
        '/finally/0 done',
        `/finally/1 ${isGivenBack ? 'done' : 'skipped'}`,
      ]);
      expect(states(report)).to.deep.equal([isGivenBack ? 'passed' : 'dropped']);
    });

  it('begin no step of finally in a simulator that is stopping', async () => {
    const app = simulator();
    const host = app.scenarioHost('test');
    const plant = new Proxy(host.plant, {
      get: (target, name) => {
        if (name === 'runTo') return () => Promise.reject(new SimError('STOPPING', 'the simulator is stopping'));
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    const content = sourceOfRequest({
      steps: [{ after: 10, irradiance: 1 }],
      finally: [{ registers: { 704: { WMaxLimPct: 100 } } }],
    });
    const scenario = readScenario(content, 'test', {}, checkRequest);
    const options = { pace: 'fast', by: { source: 'rest' } } as const;
    const report = await new ScenarioRun(scenario, { ...host, plant }, options).finished;
    expect(report.state).to.equal('stopped');
    expect(report.steps().map(({ place, state }) => `${place} ${state}`)).to.deep.equal(['/steps/0 skipped']);
  });

  it('name the time limit of the part that did not end', async () => {
    const never = { when: { point: '701.W', above: 9e9, timeout: '2 d' }, mark: 'never' };
    const report = await runOn(simulator('--tick', '10'), { timeout: 100, steps: [never], finally: [never] });
    expect(report.failures).to.deep.equal([
      'the scenario did not end within 100 s',
      'the steps of finally did not end within 3600 s',
    ]);
  });

  it('tell of a step that still waits at their end what it has waited for', async () => {
    const report = await run({
      on_failure: 'stop',
      steps: [
        { grid: { voltage_pu: 1 }, expect: { point: '701.W', above: 9e9, within: '5 s' } },
        { when: { write: { model: 704, source: 'modbus' } } },
        { after: 1 },
      ],
    });
    expect(report.steps().map(({ state, message }) => [state, message])).to.deep.equal([
      ['done', null],
      ['skipped', 'the scenario ended before: write to model 704 by modbus did not come'],
      ['skipped', 'the scenario ended before'],
    ]);
  });

  it('compare energies and other differences with a mark, run rules, and tell refusals', async () => {
    const report = await run({
      duration: '1 h',
      steps: [
        { at: 600, mark: 'ten' },
        {
          at: '1 h',
          expect: [
            { point: '701.TotWhInj', since: 'start', between: [9000, 10_000] },
            { point: '701.TotWhInj', since: 'ten', between: [7000, 8500] },
          ],
        },
        { call: { request: 'POST /evse/0/connectors/1/plug', status: 404, body: {} } },
        { call: { request: 'POST /controls/battery', body: { mode: 'auto' } } },
      ],
      rules: [{ every: '15 min', steps: [{ call: { request: 'GET /overview' } }] }],
    });
    expect(states(report)).to.deep.equal(['passed', 'passed']);
    expect(
      report
        .steps()
        .filter(({ place }) => place.startsWith('/rules'))
        .map(({ atS }) => atS),
    ).to.deep.equal([900, 1800, 2700, 3600]);
    expect(report.failures).to.have.length(1);
    expect(report.failures[0]).to.match(/^\/steps\/3: POST \/controls\/battery was answered with 404: /);
  });

  it('count messages of a protocol, which is recorded only meanwhile', async () => {
    const app = simulator();
    const report = await runOn(app, {
      steps: [{ at: 3, expect: { messages: { protocol: 'modbus', match: { kind: 'request' }, at_most: 0 } } }],
    });
    expect(report.state, report.failures.join()).to.equal('passed');
    const { body } = await app.api.perform({ method: 'GET', path: '/modbus/messages', by: { source: 'rest' } });
    expect((body as { enabled: boolean }).enabled).to.equal(false);
  });

  it('leave messages recorded that a client has asked for during the run', async () => {
    const app = simulator();
    const by = { source: 'rest' } as const;
    const messages = { protocol: 'modbus', match: { kind: 'request' }, at_most: 0 };
    const content = { steps: [{ at: 3, expect: { messages } }] };
    const scenario = readScenario(sourceOfRequest(content), 'test', {}, checkRequest);
    const run = new ScenarioRun(scenario, app.scenarioHost('test'), { pace: 'fast', by });
    const unfollow = app.plant.onTick(() => {
      unfollow();
      void app.api.perform({ method: 'POST', path: '/modbus/messages', body: { enabled: true }, by });
    });
    expect((await run.finished).state).to.equal('passed');
    const { body } = await app.api.perform({ method: 'GET', path: '/modbus/messages', by });
    expect((body as { enabled: boolean }).enabled).to.equal(true);
  });

  it('keep the clock from others and give it back as it was', async () => {
    const app = simulator();
    const scenario = readScenario(sourceOfRequest({ steps: [{ at: 60 }] }), 'test', {}, checkRequest);
    const first = new ScenarioRun(scenario, app.scenarioHost('first'), { pace: 'fast', by: { source: 'rest' } });
    const step = await app.api.perform({ method: 'POST', path: '/controls/time/step', by: { source: 'rest' } });
    expect(step.status).to.equal(409);
    expect((step.body as { detail: string }).detail).to.contain('the scenario "first" has the clock');
    expect(
      () => new ScenarioRun(scenario, app.scenarioHost('second'), { pace: 'fast', by: { source: 'rest' } }),
    ).to.throw('one runs at a time');
    first.stop();
    expect((await first.finished).state).to.equal('stopped');
    const again = await app.api.perform({ method: 'POST', path: '/controls/time/step', by: { source: 'rest' } });
    expect(again.status).to.equal(200);
  });

  it('give byte-identical results twice, and results in three forms', async () => {
    const content = {
      name: 'a <b> & "c"',
      steps: [
        {
          event: 'sag',
          expect: [
            { point: '701.LLV', below: 470, within: 3 },
            { no_alarm: true, for: 20 },
          ],
        },
      ],
    };
    const origin = { version: '1', buildId: 'b', seed: 1 };
    const documents = await Promise.all(
      [1, 2].map(async () => {
        const document: Record<string, unknown> = reportDocument(await run(content), origin);
        delete document['real'];
        return JSON.stringify(document);
      }),
    );
    expect(documents[0]).to.equal(documents[1]);
    const report = await run(content);
    expect(junitXml([report]))
      .to.contain('<testsuite name="a &lt;b&gt; &amp; &quot;c&quot;"')
      .and.contain('tests="3"');
    expect(htmlPage({ ...report, name: '\0\u001b\ud800' }, origin)).to.contain('<h1>??? ');
    const page = htmlPage(report, origin);
    expect(page).to.contain('a &lt;b&gt; &amp; &quot;c&quot;').and.contain('<svg').and.not.contain('<script');
  });
});
