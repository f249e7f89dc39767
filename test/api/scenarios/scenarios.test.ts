import { expect } from 'chai';
import { scenarioReportSchema } from '../../../src/api/scenarios/reports.ts';
import { readingLibrary } from '../../../src/app/scenarios/library.ts';
import { bundledScenarioNames } from '../../../src/config/profile/bundled.ts';
import { startApp } from '../../support/running-app.ts';
import type { RunningApp } from '../../support/running-app.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';

const steps = [{ grid: { voltage_pu: 1.05 }, expect: { point: '701.LLV', above: 500, within: 3 } }, { after: 2 }];

describe('scenarios over REST', () => {
  let running: RunningApp;
  let other: RunningApp;
  before(async () => ([running, other] = await Promise.all([startApp(), startApp()])));
  after(() => Promise.all([running.app.stop(), other.app.stop()]));

  const call = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const answer = await ask(running.port, `/api/sim/scenarios${path}`, {
      method,
      ...(body !== undefined && { body }),
    });
    return { status: answer.status, text: answer.text, ...answer.json };
  };
  const add = (scenario: object) => call('POST', '', { scenario });

  /** Reads a scenario until it does not run any more. */
  async function ended(id: string): Promise<Json> {
    for (;;) {
      const { run } = await call('GET', `/${id}`);
      if (run.state !== 'running') return run;
    }
  }

  it('are checked, kept, run, reported and forgotten', async () => {
    const { id, run: none } = await add({ name: 'high', steps });
    expect(none).to.equal(null);
    expect((await call('GET', `/${id}/report`)).status).to.equal(409);
    expect((await call('POST', `/${id}/start`, { pace: 'fast' })).run.state).to.equal('running');
    const run = await ended(id);
    expect(run).to.deep.include({ state: 'passed', steps_done: 2, assertions_passed: 1, sim_s: 2 });
    expect(run.assertions[0].message).to.match(/^it was \d+/);
    const { json: report } = await ask(running.port, `/api/sim/scenarios/${id}/report`);
    expect(scenarioReportSchema().safeParse(report).error?.issues).to.equal(undefined);
    expect(report.series.map(({ signal }: Json) => signal)).to.deep.equal(['701.LLV of device 0']);
    const { text } = await call('GET', `/${id}/report?format=junit`);
    expect(text).to.contain('<testsuite name="high"').and.contain('failures="0"');
    expect(await call('DELETE', `/${id}`)).to.deep.include({ status: 200, id });
    expect((await call('GET', `/${id}`)).status).to.equal(404);
  });

  it('are refused with the pointers of all mistakes', async () => {
    const { status, errors } = await add({
      steps: [{ grid: { voltage_pu: 9 } }, { expect: { point: '701.Wx', above: 1 } }],
    });
    expect(status).to.equal(422);
    expect(errors.map(({ name }: Json) => name)).to.deep.equal([
      '/scenario/steps/0/grid/voltage_pu',
      '/scenario/steps/1/expect',
    ]);
    const { errors: others } = await add({ steps: [{ expect: { point: '701.Wx', above: 1 } }] });
    expect(others[0].name).to.equal('/scenario/steps/0/expect');
    expect((await call('POST', '', {})).status).to.equal(422);
    expect((await call('POST', '', { bundled: 'no-such' })).errors[0].name).to.equal('/bundled');
    const other = await add({ config: { devices: [{ device_type: 'Wind-3Phase' }] }, steps });
    expect(other.status).to.equal(409);
    const counts = [{ device_type: 'PV-3Phase', count: 1e9 }, null, { count: 0 }];
    const { status: refused, errors: entries } = await add({ config: { devices: counts }, steps });
    expect(refused).to.equal(422);
    expect(entries.map(({ name }: Json) => name)).to.deep.equal([
      '/scenario/config/devices/0/count',
      '/scenario/config/devices/1',
      '/scenario/config/devices/2/count',
    ]);
    const { detail } = await add({ config: { devices: [{ device_type: 'PV-3Phase', count: 10_000 }] }, steps });
    expect(detail).to.contain('is for 10000 x PV-3Phase, here PV-3Phase;');
  });

  it('take parameters for a run, and name those that they refuse', async () => {
    const { id } = await add({
      parameters: { level: 1.02 },
      steps: [{ grid: { voltage_pu: '${level}' } }],
    });
    expect((await call('POST', `/${id}/start`, { pace: 'fast', parameters: { level: 1.03 } })).status).to.equal(200);
    expect((await ended(id)).parameters).to.deep.equal({ level: 1.03 });
    const { status, errors } = await call('POST', `/${id}/start`, { parameters: { level: 9 } });
    expect(status).to.equal(422);
    expect(errors[0].name).to.equal('/parameters');
    expect(errors[0].detail).to.match(/^\/steps\/0\/grid\/voltage_pu: /);
    const { errors: others } = await call('POST', `/${id}/start`, { parameters: { levle: 1 } });
    expect(others[0].detail).to.contain('has no parameter named "levle"; did you mean level?');
  });

  it('run one at a time, own the clock, and stop', async () => {
    const { id } = await add({ name: 'long', steps: [{ when: { write: { model: 704 }, real_timeout: '1 min' } }] });
    const { id: second } = await add({ steps });
    await call('POST', `/${id}/start`, {});
    expect((await call('GET', '')).clock_owner).to.equal('long');
    const refused = await call('POST', `/${second}/start`, {});
    expect([refused.status, refused.code]).to.deep.equal([409, 'conflict']);
    expect((await call('DELETE', `/${id}`)).status).to.equal(409);
    const stopped = await call('POST', `/${id}/stop`);
    expect(stopped.run).to.deep.include({ state: 'stopped' });
    expect(stopped.run.steps[0].state).to.equal('skipped');
    expect((await call('POST', `/${id}/stop`)).status).to.equal(409);
    expect((await call('GET', '')).clock_owner).to.equal(null);
  });

  it('keep results of 64 MiB of steps, and forget the oldest', async () => {
    const places = Array.from({ length: 900 }, () => '${p}');
    const heavy = {
      parameters: { p: 'x'.repeat(1000) },
      steps: [{ repeat: 17, steps: [{ call: { request: 'POST /controls/grid', body: { places }, status: 422 } }] }],
    };
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      const { id } = await add(heavy);
      ids.push(id);
      await call('POST', `/${id}/start`, { pace: 'fast' });
      await ended(id);
    }
    const runs = await Promise.all(ids.map(async (id) => (await call('GET', `/${id}`)).run));
    expect(runs.map((run) => run === null)).to.deep.equal([true, false, false, false, false]);
    expect((await call('GET', `/${ids[0]}/report`)).detail).to.equal(
      'its results were dropped to make room for those of later runs',
    );
    for (const id of ids) await call('DELETE', `/${id}`);
  });

  it('count steps and assertions as results, and those of the last run stay', async () => {
    const expectation = { point: '701.W', above: -1 };
    const many = (repeat: number) => ({
      steps: [{ repeat, steps: [{ expect: Array.from({ length: 100 }, () => expectation) }] }],
    });
    const ids: string[] = [];
    // each has 257 kB a step: 140 steps do not fit twice
    for (const repeat of [140, 1, 140]) {
      const { id } = await add(many(repeat));
      ids.push(id);
      await call('POST', `/${id}/start`, { pace: 'fast' });
      await ended(id);
    }
    const runs = await Promise.all(ids.map(async (id) => (await call('GET', `/${id}`)).run));
    expect(runs.map((run) => run?.steps.length ?? null)).to.deep.equal([null, 1, 140]);
    for (const id of ids) await call('DELETE', `/${id}`);
  });

  it('are refused when their contents have more than 32 MiB in all', async () => {
    const junk = { config: { unused: Array.from({ length: 400 }, () => 'x'.repeat(10_000)) }, steps };
    const statuses: number[] = [];
    const ids: string[] = [];
    for (let n = 0; n < 9; n += 1) {
      const { status, id, detail } = await add(junk);
      statuses.push(status);
      if (status === 201) ids.push(id);
      else expect(detail).to.equal('scenarios of 32 MiB in all are kept; DELETE scenarios/{id} makes room');
    }
    expect(statuses).to.deep.equal([...Array.from({ length: 8 }, () => 201), 409]);
    for (const id of ids) await call('DELETE', `/${id}`);
  });

  it('are kept up to 64', async () => {
    const { scenarios } = await call('GET', '');
    for (let n = Number(scenarios.length); n < 64; n += 1) expect((await add({ steps })).status).to.equal(201);
    const { status, detail } = await add({ steps });
    expect([status, detail]).to.deep.equal([409, '64 scenarios are kept; DELETE scenarios/{id} makes room']);
  });

  it('are checked one at a time; 16 others wait, further ones are refused', async () => {
    const { app } = other;
    const post = (scenario: object) =>
      app.api.perform({ method: 'POST', path: '/scenarios', body: { scenario }, by: { source: 'rest' } });
    await post({ steps });
    const long = { steps: [{ repeat: 100, steps }] };
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(long)));
    expect(answers.map(({ status }) => status)).to.deep.equal([
      ...Array.from({ length: 17 }, () => 201),
      ...Array.from({ length: 3 }, () => 429),
    ]);
    expect((answers.at(-1)?.body as Json).detail).to.equal('16 scenarios wait already to be checked');
    const { body } = await app.api.perform({ method: 'GET', path: '/scenarios', by: { source: 'rest' } });
    expect((body as Json).scenarios).to.have.length(18);
  });

  it('that wait are refused when the simulator stops', async () => {
    const { app } = other;
    const post = () =>
      app.api.perform({ method: 'POST', path: '/scenarios', body: { scenario: { steps } }, by: { source: 'rest' } });
    await post();
    const answers = Promise.all([post(), post()]);
    await Promise.resolve();
    await app.stop();
    expect((await answers).map(({ status }) => status)).to.deep.equal([201, 503]);
  });

  it('that come with the simulator are listed file by file', () => {
    const reading = [...readingLibrary()];
    expect(reading).to.have.length(bundledScenarioNames.length);
  });

  it('put back what finally says when the simulator stops', async () => {
    const { app, port } = await startApp();
    const scenario = {
      steps: [{ registers: { 704: { WMaxLimPct: 40 } } }, { when: { write: { model: 705 } } }],
      finally: [{ registers: { 704: { WMaxLimPct: 90 } } }],
    };
    const added = await ask(port, '/api/sim/scenarios', { method: 'POST', body: { scenario } });
    const { id } = added.json as { readonly id: string };
    await ask(port, `/api/sim/scenarios/${id}/start`, { method: 'POST', body: { pace: 'real' } });
    await app.stop();
    const { bank } = app.plant.device(0);
    expect(bank.value(bank.layout.slot(704, 'WMaxLimPct')!)).to.equal(90);
  });
});
