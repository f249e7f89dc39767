import { expect } from 'chai';
import { modbusEndpoint, startApp } from '../../support/running-app.ts';
import type { RunningApp } from '../../support/running-app.ts';
import { RawClient, readRequest } from '../../support/modbus-client.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';

describe('beside an exchange', () => {
  let running: RunningApp;
  let session: string;
  before(async () => (running = await startApp(['PV-3Phase', 'EVSE'])));
  after(() => running.app.stop());

  const call = async (path: string, body?: unknown): Promise<Json> => {
    const { status, json } = await ask(running.port, `/api/sim${path}`, { ...(body !== undefined && { body }) });
    return { ...json, status };
  };
  const attach = async () => {
    const reply = await call('/exchange', { owner: 'mosaik' });
    ({ session } = reply);
    return reply;
  };
  const step = (body: object = {}) => call('/exchange/step', { session, dt_s: 1, ...body });
  const ended = async (id: string): Promise<Json> => {
    for (;;) {
      const { run } = await call(`/scenarios/${id}`);
      if (run.state !== 'running') return run;
    }
  };
  const end = () => call('/exchange/end', { session });

  it('a scenario cannot start while steps pass the time, and names the owner', async () => {
    await attach();
    const { id } = await call('/scenarios', { scenario: { name: 'waits', steps: [{ after: 2 }] } });
    const { status, detail } = await call(`/scenarios/${id}/start`, {});
    expect([status, detail]).to.deep.equal([
      409,
      '"mosaik" passes the time by POST exchange/step until POST exchange/end',
    ]);
    await end();
    expect((await call(`/scenarios/${id}/start`, { pace: 'fast' })).status).to.equal(200);
    await ended(id);
  });

  it('a scenario has the clock to itself, also while values come to a clock that runs', async () => {
    await call('/controls/time', { mode: 'accelerated' });
    await attach();
    await call('/controls/time', { mode: 'paused' });
    const { id } = await call('/scenarios', { scenario: { name: 'long', steps: [{ after: 80_000 }] } });
    await call(`/scenarios/${id}/start`, { pace: 'fast' });
    const refusals = [await step({ va_pu: 0.9 }), await call('/controls/time/step', {})];
    for (const { status, detail } of refusals)
      expect([status, detail]).to.deep.equal([
        409,
        'the scenario "long" has the clock until it ends; POST scenarios/{id}/stop ends it',
      ]);
    expect((await call('/controls/grid?device=0')).voltage_a_pu, 'nothing is applied').to.equal(1);
    await call(`/scenarios/${id}/stop`, {});
    await ended(id);
    expect((await step()).status).to.equal(200);
    await end();
  });

  it('a step of a scenario that sets the grid of attached devices fails with the reason', async () => {
    await call('/controls/time', { mode: 'accelerated' });
    await attach();
    const { id } = await call('/scenarios', { scenario: { name: 'sags', steps: [{ grid: { voltage_pu: 0.9 } }] } });
    await call(`/scenarios/${id}/start`, { pace: 'real' });
    const run = await ended(id);
    expect(run.state).to.equal('failed');
    expect(JSON.stringify(run)).to.contain('\\"mosaik\\" gives the grid of attached devices until POST exchange/end');
    await end();
    await call('/controls/time', { mode: 'paused' });
  });

  it('environment, registers, faults, Modbus and charging stations stay open', async () => {
    await attach();
    const { status, irradiance_w_m2: sun } = await call('/controls/environment', { irradiance_w_m2: 400 });
    expect([status, sun]).to.deep.equal([200, 400]);
    expect((await call('/registers/704?device=0', { points: { WMaxLimPct: 50, WMaxLimPctEna: 1 } })).status).to.equal(
      200,
    );
    const fault = { inject: [{ kind: 'delay', delay_ms: 1, function: 6 }] };
    expect((await call('/faults', fault)).status).to.be.within(200, 201);
    expect((await call('/faults', { clear: true })).status).to.equal(200);
    const master = await RawClient.open(modbusEndpoint(running.app, 0).port);
    expect(await master.request(readRequest(1, 40_000, 2))).to.match(/53756e53$/);
    master.socket.destroy();
    const [{ id }] = (await call('/evse')).evses;
    expect((await call(`/evse/${id}/connectors/1/plug`, { ev_side: true, evse_side: true })).status).to.equal(200);
    const before = (await call('/registers/701?device=0&points=W')).points[0].value;
    await step({ dt_s: 60 });
    expect((await call('/registers/701?device=0&points=W')).points[0].value).to.not.equal(before);
    await end();
  });

  it('the exchange shows as the writer of the grid of its devices, and once in the timeline for each begin and end', async () => {
    await attach();
    await step({ va_pu: 1.02 });
    const { changed_by: by } = await call('/controls/grid?device=0');
    expect(by).to.include({ source: 'rest' });
    await step({ va_pu: 1.03 });
    const later = (await call('/controls/grid?device=0')).changed_by;
    expect(Date.parse(later.changed_at) - Date.parse(by.changed_at)).to.equal(1000);
    await end();
    expect((await call('/controls/grid?device=0')).changed_by).to.equal(null);
    const { entries } = await call('/timeline?kinds=grid');
    const times = (title: string) =>
      entries.reduce((sum: number, entry: Json) => sum + (entry.title === title ? Number(entry.count) : 0), 0);
    // five tests of this file attach
    expect(times('Attaches devices to a grid outside')).to.equal(5);
    expect(times('Returns the devices to the grid of the simulator')).to.equal(5);
  });
});
