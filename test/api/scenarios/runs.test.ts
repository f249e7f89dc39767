import { expect } from 'chai';
import { packageFile } from '../../../src/core/package-files.ts';
import { startApp } from '../../support/running-app.ts';
import type { RunningApp } from '../../support/running-app.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';

const storage = { devices: [{ device_type: 'Batt-3Phase', profile: 'Batt-10kW-3Phase' }] };
const steps = [{ expect: { point: '713.SoC', above: 0 } }, { after: 2 }];
const waiting = { steps: [{ when: { write: { model: 704 }, real_timeout: '1 min' } }] };

describe('runs of scenarios', () => {
  let running: RunningApp;
  before(async () => (running = await startApp()));
  after(() => running.app.stop());

  const call = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const resource = path.startsWith('/runs') ? `scenario-${path.slice(1)}` : `scenarios${path}`;
    const answer = await ask(running.port, `/api/sim/${resource}`, {
      method,
      ...(body !== undefined && { body }),
    });
    return { status: answer.status, text: answer.text, ...answer.json };
  };

  async function ended(id: string): Promise<Json> {
    for (;;) {
      const { run } = await call('GET', `/runs/${id}`);
      if (run.state !== 'running') return run;
    }
  }

  it('beside have devices of their own, and change nothing here', async () => {
    const here = running.app.plant.latest.tick;
    const {
      status,
      id,
      beside,
      scenario_id: kept,
    } = await call('POST', '/runs', {
      scenario: { name: 'storage', config: storage, steps },
    });
    expect({ status, beside, kept }).to.deep.equal({ status: 201, beside: true, kept: null });
    const run = await ended(id);
    expect(run).to.deep.include({ state: 'passed', sim_s: 2, assertions_passed: 1 });
    expect(run.assertions[0]).to.deep.include({ signal: '713.SoC of device 0', bounds: { low: 0, high: null } });
    expect(running.app.plant.latest.tick).to.equal(here);
    const { json } = await ask(running.port, `/api/sim/scenario-runs/${id}/report`);
    expect(json.devices).to.deep.equal([{ index: 0, name: 'Batt-3Phase 0', type: 'Batt-3Phase' }]);
    expect(json.series.map(({ signal }: Json) => signal)).to.deep.equal(['713.SoC of device 0']);
    expect((await call('GET', `/runs/${id}/report?format=junit`)).text).to.contain('<testsuite name="storage"');
    expect((await call('GET', '')).scenarios).to.deep.equal([]);
  });

  it('beside take a scenario that comes with the program, which does not fit here', async () => {
    const { bundled } = await call('GET', '');
    const droop = bundled.find(({ name }: Json) => name === 'freq-droop');
    expect(droop).to.deep.include({ fits: false, takes_s: 360, standard: 'IEEE 1547-2018 6.5.2.7' });
    expect(droop.differs[0]).to.equal('PV-3Phase and Batt-3Phase, here PV-3Phase');
    const begun = await call('POST', '/runs', { bundled: 'freq-droop' });
    expect([begun.status, begun.bundled]).to.deep.equal([201, 'freq-droop']);
    expect((await ended(begun.id)).state).to.equal('passed');
  });

  it('beside write no report, read no other file, and have at most 100 devices', async () => {
    const details = [];
    for (const config of [{ ...storage, findings_report: 'own.html' }, '/etc/passwd', { device_type: 'PV', N: 101 }]) {
      const { status, errors } = await call('POST', '/runs', { scenario: { config, steps } });
      details.push([status, errors[0].name, errors[0].detail]);
    }
    expect(details.map(([status, name]) => [status, name])).to.deep.equal([
      [422, '/scenario/config/findings_report'],
      [422, '/scenario/config'],
      [422, '/scenario/config'],
    ]);
    expect(details[1]?.[2]).to.match(/^must be a mapping of settings, or one of .*mixed-site/);
    expect(details[2]?.[2]).to.equal('has 101 devices; a run beside has at most 100, and derbench run takes more');
  });

  it('beside take a configuration that comes with the program by name, also one with files', async () => {
    const begun = await call('POST', '/runs', {
      scenario: { config: 'mixed-site', steps: [{ expect: { point: '701.W', device: 6, at_most: 0 } }] },
    });
    expect(begun.status).to.equal(201);
    expect((await ended(begun.id)).state).to.equal('passed');
  });

  it('beside are two at a time, and are stopped', async () => {
    const begun = [
      await call('POST', '/runs', { scenario: waiting }),
      await call('POST', '/runs', { scenario: waiting }),
    ];
    expect(begun.map(({ status }) => status)).to.deep.equal([201, 201]);
    const third = await call('POST', '/runs', { scenario: waiting });
    expect([third.status, third.detail]).to.deep.equal([409, '2 scenarios run beside already; one must end first']);
    for (const { id } of begun) {
      expect((await call('DELETE', `/runs/${id}`)).status).to.equal(409);
      expect((await call('GET', `/runs/${id}/report`)).status).to.equal(409);
      expect((await call('POST', `/runs/${id}/stop`)).run.state).to.equal('stopped');
      expect((await call('POST', `/runs/${id}/stop`)).status).to.equal(409);
    }
    const fourth = await call('POST', '/runs', { scenario: { steps: [{ after: 1 }] } });
    expect(fourth.status).to.equal(201);
    await ended(fourth.id);
  });

  it('beside are refused files, addresses and other protocols, by their place', async () => {
    const config = {
      ...storage,
      web_ip: '0.0.0.0',
      ocpp_csms_url: 'ws://elsewhere.example',
      state_dir: '/tmp/x',
      mb_enable: true,
      tick: 0.5,
    };
    const { status, errors } = await call('POST', '/runs', { scenario: { config, steps } });
    expect(status).to.equal(422);
    expect(errors.map(({ name }: Json) => name)).to.deep.equal([
      '/scenario/config/web_ip',
      '/scenario/config/ocpp_csms_url',
      '/scenario/config/state_dir',
    ]);
    const profile = packageFile('config/profiles/10kW-3Phase.yaml');
    const file = { devices: [{ device_type: 'PV-3Phase', profile }] };
    const refused = await call('POST', '/runs', { yaml: `config: ${JSON.stringify(file)}\nsteps: [{ after: 1 }]\n` });
    expect([refused.status, refused.errors[0].name]).to.deep.equal([422, '/yaml']);
    expect(refused.errors[0].detail).to.match(/^line 1: config\.devices\[0\]\.profile: given .*, which is not a file/);
    const free = await call('POST', '/runs', { bundled: 'freq-droop', scenario: { steps } });
    expect(free.errors[0].detail).to.equal('exactly one of scenario, yaml, bundled, run is required');
    await ended((await call('POST', '/runs', { scenario: { steps: [{ after: 1 }] } })).id);
  });

  it('beside of a text in a request keep it, and run again as they ran', async () => {
    const parameters = { wait: 2 };
    const yaml = "parameters: { wait: 1 }\nsteps: [{ after: '${wait}' }]\n";
    const first = await call('POST', '/runs', { yaml, pace: 'fast', parameters });
    expect([first.status, first.text_kept]).to.deep.equal([201, true]);
    expect((await ended(first.id)).sim_s).to.equal(2);
    expect((await call('GET', `/text?run=${first.id}`)).text).to.equal(yaml);
    const second = await call('POST', '/runs', { run: first.id });
    expect([second.status, second.run.parameters, second.beside]).to.deep.equal([201, parameters, true]);
    await ended(second.id);
    const third = await call('POST', '/runs', { run: second.id, parameters: {} });
    expect((await ended(third.id)).sim_s).to.equal(1);
    const asJson = await call('POST', '/runs', { scenario: { steps: [{ after: 1 }] } });
    await ended(asJson.id);
    expect(JSON.parse((await call('GET', `/text?run=${asJson.id}`)).text)).to.deep.equal({ steps: [{ after: 1 }] });
    expect((await call('POST', '/runs', { run: '999' })).status).to.equal(404);
    expect((await call('POST', '/runs', { run: first.id, yaml })).status).to.equal(422);
  });

  it('say so when the text that they ran is gone', async () => {
    const { id } = await call('POST', '', { yaml: 'steps: [{ after: 1 }]\n' });
    await call('POST', `/${id}/start`, { pace: 'fast' });
    const [{ id: run, text_kept: isKept }] = (await call('GET', '/runs')).runs;
    await ended(run);
    expect([isKept, (await call('GET', `/text?run=${run}`)).text]).to.deep.equal([false, 'steps: [{ after: 1 }]\n']);
    await call('DELETE', `/${id}`);
    const { status, detail } = await call('POST', '/runs', { run });
    expect([status, detail]).to.deep.equal([404, `the text of run ${run} is not kept any more`]);
    expect((await call('GET', `/text?run=${run}`)).status).to.equal(404);
  });

  it('of scenarios that are kept are in the history, newest first, and outlive the scenario', async () => {
    const { id } = await call('POST', '', { yaml: 'name: short\nsteps: [{ after: 1 }]\n' });
    await call('POST', `/${id}/start`, { pace: 'fast' });
    const [newest] = (await call('GET', '/runs')).runs;
    expect(newest).to.deep.include({ name: 'short', scenario_id: id, beside: false });
    expect((await ended(newest.id)).state).to.equal('passed');
    expect((await call('DELETE', `/${id}`)).status).to.equal(200);
    expect((await call('GET', `/runs/${newest.id}`)).run.state).to.equal('passed');
    expect((await call('DELETE', `/runs/${newest.id}`)).status).to.equal(200);
    expect((await call('GET', `/runs/${newest.id}`)).status).to.equal(404);
  });

  it('are forgotten beyond 50, the oldest first', async () => {
    const { runs: before } = await call('GET', '/runs');
    const { id } = await call('POST', '', { scenario: { steps: [{ after: 1 }] } });
    for (let n = Number(before.length); n < 51; n += 1) {
      await call('POST', `/${id}/start`, { pace: 'fast' });
      const [{ id: run }] = (await call('GET', '/runs')).runs;
      await ended(run);
    }
    const { runs, max_runs: max } = await call('GET', '/runs');
    expect([runs.length, max]).to.deep.equal([50, 50]);
    expect((await call('GET', `/runs/${before.at(-1).id}`)).status).to.equal(404);
    expect((await call('GET', `/runs/${before.at(-2).id}`)).status).to.equal(200);
  });
});

describe('the check of a scenario', () => {
  let running: RunningApp;
  before(async () => (running = await startApp()));
  after(() => running.app.stop());
  const check = async (body: object): Promise<Json> => {
    const { status, json } = await ask(running.port, '/api/sim/scenarios/check', { method: 'POST', body });
    return { status, ...json };
  };

  it('keeps nothing, and counts what the scenario has', async () => {
    const last = [{ grid: { voltage_pu: 1 } }];
    const rules = [{ every: 5, steps: [{ grid: { voltage_pu: 1.01 } }] }];
    const answer = await check({
      scenario: {
        name: 'x',
        config: { seed: 3 },
        steps: [{ after: 1, expect: { point: '701.W', above: -1 } }],
        rules,
        finally: last,
      },
    });
    expect(answer).to.deep.include({
      status: 200,
      name: 'x',
      steps: 2,
      rules: 1,
      assertions: 1,
      fits: true,
      differs: [],
      unused_settings: ['seed'],
      needs_peer: false,
    });
    const { json } = await ask(running.port, '/api/sim/scenarios');
    expect(json.scenarios).to.deep.equal([]);
  });

  it('names lines of YAML, and a text that is none', async () => {
    const { status, errors } = await check({ yaml: 'steps:\n  - after: 1\n  - grid: { voltage_pu: 9 }\n' });
    expect(status).to.equal(422);
    expect(errors[0]).to.deep.include({ in: 'body', name: '/yaml' });
    expect(errors[0].detail).to.match(/^line 3: steps\[1\]\.grid\.voltage_pu: /);
    const none = await check({ yaml: 'steps: [\n' });
    expect([none.status, none.errors[0].name]).to.deep.equal([422, '/yaml']);
    const included = await check({ yaml: 'steps:\n  - include: other.yaml\n' });
    expect(included.errors[0].detail).to.match(/^line 2: .*include/);
  });

  it('tells why it does not fit, and is no refusal', async () => {
    const answer = await check({ scenario: { config: storage, steps } });
    expect(answer).to.deep.include({ status: 200, fits: false });
    expect(answer.differs).to.deep.equal(['Batt-3Phase, here PV-3Phase']);
  });

  it('has the texts of those that are there', async () => {
    const text = async (query: string) => ask(running.port, `/api/sim/scenarios/text?${query}`);
    expect((await text('bundled=volt-watt')).text).to.match(/^name: /);
    const yaml = '# mine\nsteps: [{ after: 1 }]\n';
    const { json } = await ask(running.port, '/api/sim/scenarios', { method: 'POST', body: { yaml } });
    expect((await text(`id=${json.id}`)).text).to.equal(yaml);
    expect((await text('id=99')).status).to.equal(404);
    expect((await text('bundled=no-such')).status).to.equal(422);
    expect((await text('')).status).to.equal(422);
  });

  it('have a schema that names the keys of steps', async () => {
    const { json } = await ask(running.port, '/api/sim/scenarios/schema');
    expect(json.properties).to.include.keys('name', 'steps', 'finally');
    expect(json.$defs.entry.anyOf[0].properties).to.include.keys('after', 'grid', 'expect');
  });
});
