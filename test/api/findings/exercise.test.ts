import { expect } from 'chai';
import { catalogueRows } from '../../../src/finding-rules/all.ts';
import { exercises, exerciseScenario } from '../../../src/finding-rules/exercises.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { startApp } from '../../support/running-app.ts';
import type { RunningApp } from '../../support/running-app.ts';

const prefix = '/api/sim';

describe('exercises of findings', () => {
  let running: RunningApp;

  before(async () => {
    // no tick comes by itself
    running = await startApp(
      ['EVSE', 'PV-3Phase'],
      [
        '--tick',
        '60',
        '--ocpp_enable',
        'yes',
        '--ocpp_csms_url',
        'ws://127.0.0.1:1/',
        '--dnp3_enable',
        'yes',
        '--dnp3_port',
        '0',
      ],
      {
        history: 'real',
      },
    );
  });
  after(() => running.app.stop());

  const get = async (path: string): Promise<Json> => (await ask(running.port, prefix + path)).json;
  const post = (path: string, body: Json) => ask(running.port, prefix + path, { method: 'POST', body });
  const setClock = (mode: string) => post('/controls/time', { mode });

  it('name rules that there are, once each, and steps that a scenario takes', async () => {
    const ids = exercises.flatMap(({ rules }) => rules);
    expect(ids.filter((id) => !catalogueRows.has(id))).to.deep.equal([]);
    expect(ids).to.have.length(new Set(ids).size);
    const scenario = exerciseScenario(exercises, { device: 0, station: 'SIM-CP-1' });
    const { status, text } = await post('/scenarios', { scenario });
    expect(status, text).to.equal(201);
  });

  it('run on the device that is named, and leave it as it was', async () => {
    await setClock('accelerated');
    const rules = ['modbus.refused_write_repeated', 'modbus.local_control_ignored', 'modbus.poll_fast'];
    const { status, json } = await post('/findings/exercise', { rules, device: 1 });
    expect(status, JSON.stringify(json)).to.equal(201);
    expect(json.exercises.map(({ rules: brought }: Json) => brought)).to.deep.equal([
      ['modbus.refused_write_repeated'],
      ['modbus.local_control_ignored'],
    ]);
    expect(json.others.map(({ rule }: Json) => rule)).to.deep.equal(['modbus.poll_fast']);
    const { run } = await get(`/scenarios/${json.scenario_id}`);
    expect(run).to.include({ state: 'running', pace: 'real' });
    const second = await post('/findings/exercise', { rules });
    expect(second.status, 'a second one meanwhile').to.equal(409);
    expect((await get('/scenarios')).scenarios.map(({ id }: Json) => id))
      .to.include(json.scenario_id)
      .and.have.length(2);
    await post(`/scenarios/${json.scenario_id}/stop`, {});
    expect((await get(`/scenarios/${json.scenario_id}`)).run.state).to.equal('stopped');
    expect((await get('/controls?device=1')).local).to.not.equal(true);
  });

  it('of a charging station are for stations alone', async () => {
    const rules = ['ocpp.transaction_id'];
    const refused = await post('/findings/exercise', { rules, device: 1 });
    expect([refused.status, refused.json.code]).to.deep.equal([409, 'conflict']);
    const { status, json } = await post('/findings/exercise', { rules, device: 0 });
    expect(status, JSON.stringify(json)).to.equal(201);
    await post(`/scenarios/${json.scenario_id}/stop`, {});
  });

  it('are refused while the clock is paused, and for rules and devices that there are not', async () => {
    await setClock('paused');
    const rules = ['modbus.local_control_ignored'];
    expect((await post('/findings/exercise', { rules })).json.code).to.equal('conflict');
    await setClock('accelerated');
    expect((await post('/findings/exercise', { rules: ['modbus.none'] })).status).to.equal(404);
    expect((await post('/findings/exercise', { rules, device: 7 })).status).to.equal(404);
    expect((await post('/findings/exercise', { rules: ['csip.schema'] })).status).to.equal(409);
  });

  it('leave out rules that have come up, unless they are named', async () => {
    const { findings } = running.app;
    const peer = findings.peer({ protocol: 'dnp3', address: '1@127.0.0.2' });
    peer.isValid = true;
    findings.ruleOf('dnp3.overflow_ignored')?.exercised(peer);
    const { json } = await post('/findings/exercise', { protocol: 'dnp3' });
    await post(`/scenarios/${json.scenario_id}/stop`, {});
    const brought = json.exercises.flatMap(({ rules }: Json) => rules);
    expect(brought).to.include('dnp3.local_ignored').and.not.include('dnp3.overflow_ignored');
    const named = await post('/findings/exercise', { rules: ['dnp3.overflow_ignored'] });
    await post(`/scenarios/${named.json.scenario_id}/stop`, {});
    expect(named.json.exercises).to.have.length(1);
  });
});
