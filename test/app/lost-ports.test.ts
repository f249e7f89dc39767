import { once } from 'node:events';
import type { Server } from 'node:net';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import type { CommName } from '../../src/core/adapter.ts';
import type { App } from '../../src/app/start-stop.ts';
import { ask } from '../support/http.ts';
import { acceptError, accepts, serverAt } from '../support/listeners.ts';
import { startApp } from '../support/running-app.ts';
import { HandTimers } from '../support/timers.ts';
import { HandWall } from '../support/wall.ts';

describe('A listener that fails in a running simulator', () => {
  let app: App;
  let port: number;
  let wall: HandWall;
  let timers: HandTimers;

  beforeEach(async () => {
    wall = new HandWall();
    timers = new HandTimers(wall);
    const flags = ['--proxy', 'string-inverter-basic', '--proxy_port', '0', '-d3', 'yes', '--dnp3_port', '0'];
    ({ app, port } = await startApp(['PV-3Phase', 'PV-3Phase'], flags, { wall, later: timers.later }));
  });

  afterEach(() => app.stop());

  const states = (status: Record<string, { state: string }>, ...names: CommName[]) =>
    names.map((name) => status[name]?.state);

  const portOf = (comm: CommName): number => {
    const endpoint = app.adapters.find((adapter) => adapter.comm === comm)?.status().endpoint ?? '';
    return Number(new URL(endpoint).port);
  };

  for (const [comm, code, devices] of [
    ['modbus_tcp', 'modbus_port_lost', [0]],
    ['modbus_proxy', 'proxy_port_lost', [0, 1]],
    ['dnp3', 'dnp3_port_lost', [0]],
  ] as const) {
    it(`${comm}: is shown, alarmed and bound again; ticks and the other protocols go on`, async () => {
      const others = (['modbus_tcp', 'modbus_proxy', 'dnp3'] as const).filter((name) => name !== comm);
      const number = portOf(comm);
      (await serverAt(number)).emit('error', acceptError('EINVAL'));
      wall.advance(500);
      const lost = (await ask(port, '/api/sim/overview')).json;
      expect(states(lost.comm_status, comm, ...others)).to.deep.equal(['retrying', 'listening', 'listening']);
      expect(lost.comm_status[comm].detail).to.match(/has failed: accept EINVAL; tries again in 1 s$/);
      const alarms = lost.alarms.active.map((alarm: { code: string; device_index: number; source: string }) => [
        alarm.code,
        alarm.device_index,
        alarm.source,
      ]);
      expect(alarms).to.deep.equal(devices.map((index) => [code, index, 'comm']));
      const health = await ask(port, '/api/sim/health');
      expect([health.status, health.json.status]).to.deep.equal([200, 'degraded']);
      const { tick } = await app.plant.step(2);
      expect([tick, await accepts(number), await accepts(portOf(others[0]!))]).to.deep.equal([2, false, true]);
      timers.pass(1000);
      expect(await accepts(number)).to.equal(true);
      const { json } = await ask(port, '/api/sim/overview');
      expect([...states(json.comm_status, comm), json.alarms.active_count]).to.deep.equal(['listening', 0]);
      expect((await ask(port, '/api/sim/health')).json.status).to.equal('ok');
    });
  }

  it('HTTP: open streams go on, and the port is bound again', async () => {
    const stream = new WebSocket(`ws://127.0.0.1:${port}/api/sim/ws/telemetry`);
    await once(stream, 'message');
    const server: Server = app.api.server;
    server.emit('error', acceptError('EINVAL'));
    expect(await accepts(port)).to.equal(false);
    const next = once(stream, 'message');
    await app.plant.step(1);
    await next;
    timers.pass(1000);
    expect((await ask(port, '/api/sim/health')).status).to.equal(200);
    const lines = app.logBook.entries({ modules: ['Lab'] }).map(({ message }) => message);
    expect(lines).to.include(`HTTP: listens on 127.0.0.1:${port} again`);
    const closing = once(stream, 'close');
    await app.stop();
    expect((await closing)[0]).to.equal(1001);
  });

  it('a stop while all ports are lost leaves nothing open', async () => {
    const numbers = [port, portOf('modbus_tcp'), portOf('modbus_proxy'), portOf('dnp3')];
    for (const number of numbers) (await serverAt(number)).emit('error', acceptError('EINVAL'));
    await app.stop();
    timers.pass(120_000);
    expect(await Promise.all(numbers.map((number) => accepts(number)))).to.deep.equal([false, false, false, false]);
  });
});
