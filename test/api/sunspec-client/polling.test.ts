import { expect } from 'chai';
import type { App } from '../../../src/app/start-stop.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { oldInverter } from '../../support/foreign-map.ts';
import { prefix } from '../../support/rest.ts';
import { ScriptedPeer } from '../../support/scripted-peer.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';
import { openBattery } from './support.ts';
import type { PolledBattery } from './support.ts';

describe('REST sunspec-client that polls', () => {
  let app: App;
  let port: number;
  let modbusPort: number;
  let call: PolledBattery['call'];
  let connect: PolledBattery['connect'];
  let timers: HandTimers;
  beforeEach(async () => {
    const wall = new HandWall();
    timers = new HandTimers(wall);
    ({ app, port, modbusPort, call, connect } = await openBattery({ wall, later: timers.later }));
  });
  afterEach(() => app.stop());

  /** Lets so many rounds pass, 0.2 s apart, the first one at once. */
  async function rounds(count: number): Promise<void> {
    for (let i = 0; i < count; i += 1) {
      timers.pass(i === 0 ? 0 : 200);
      // an operation has its turn after the round
      await call('/sunspec-client/read', { address: 40_000, count: 1 });
    }
  }

  it('polls, and keeps a history of what it saw', async () => {
    await connect();
    expect(await call('/sunspec-client/poll', { enabled: true, interval_s: 0.2 })).to.include({
      enabled: true,
      interval_s: 0.2,
      models: null,
    });
    await rounds(3);
    const history = await call('/sunspec-client/history?metrics=power_kw,state_of_charge_pct,inverter_state');
    expect(history).to.deep.include({
      endpoint: `tcp://127.0.0.1:${modbusPort}`,
      interval_s: 0.2,
      capacity: 10_000,
      metrics: ['power_kw', 'state_of_charge_pct', 'inverter_state'],
      truncated: false,
      count: 3,
    });
    const { metrics, status } = await call('/overview');
    const [first, second] = history.samples;
    expect(first).to.include({
      tick: 1,
      power_kw: metrics.power_kw,
      state_of_charge_pct: metrics.state_of_charge_pct,
      inverter_state: status.inverter_state,
    });
    expect(Date.parse(second.timestamp) - Date.parse(first.timestamp)).to.equal(200);
    const { summary, poll } = await call('/sunspec-client');
    for (const [name, value] of Object.entries(metrics))
      if (name !== 'timestamp') expect(summary[name], name).to.equal(value);
    expect(poll.polled.map(({ id }: Json) => id)).to.deep.equal([701, 713, 714, 802]);
    expect(await call('/sunspec-client/poll', { enabled: false })).to.include({ enabled: false, interval_s: 0.2 });
  });

  it('gives the history as columns and CSV, and bounds it', async () => {
    await connect();
    await call('/sunspec-client/poll', { enabled: true, interval_s: 0.2 });
    await rounds(2);
    await call('/sunspec-client/poll', { enabled: false });
    const { columns, count } = await call('/sunspec-client/history?format=columns&metrics=frequency_hz');
    expect([count, columns.frequency_hz]).to.deep.equal([2, [60, 60]]);
    const one = await call('/sunspec-client/history?limit=1&metrics=power_kw');
    expect([one.count, one.truncated, one.samples[0].tick]).to.deep.equal([1, true, count]);
    const csv = await ask(port, `${prefix}/sunspec-client/history?format=csv&metrics=power_kw`);
    expect(csv.headers['content-type']).to.match(/^text\/csv/);
    expect(csv.text.split('\r\n')[0]).to.equal('timestamp,wall_time,tick,power_kw');
    expect((await call('/sunspec-client/history?seconds=60')).count).to.equal(count);
    expect((await call('/sunspec-client/history?until=2020-01-01T00:00:00Z')).count).to.equal(0);
    expect((await call('/sunspec-client/history?metrics=rotor_rpm', undefined, 422)).errors[0].name).to.equal(
      'metrics',
    );
  });

  it('keeps the history of one device: another one begins anew, the same one goes on', async () => {
    const other = await ScriptedPeer.open(oldInverter().image, 40_000);
    const history = () => call('/sunspec-client/history?metrics=power_kw');
    const polled = async (count: number): Promise<Json> => {
      await call('/sunspec-client/poll', { enabled: true, interval_s: 0.2 });
      await rounds(count);
      await call('/sunspec-client/poll', { enabled: false });
      return history();
    };
    expect(await history()).to.include({ endpoint: null, unit_id: null, count: 0 });
    await connect();
    const first = await polled(2);
    expect(first).to.include({ endpoint: `tcp://127.0.0.1:${modbusPort}`, unit_id: 1 });
    await call('/sunspec-client/disconnect', {});
    await call('/sunspec-client/connect', { host: '127.0.0.1', port: other.port, unit_id: 1, base_address: 1234 }, 502);
    expect(await history(), 'nothing else was found').to.deep.equal(first);
    await connect();
    const kept: number = first.count;
    const second = await polled(1);
    expect(second.count).to.equal(kept + 1);
    expect(second.samples.slice(0, kept)).to.deep.equal(first.samples);
    await call('/sunspec-client/connect', { host: '127.0.0.1', port: other.port });
    expect(await history()).to.deep.include({
      endpoint: `tcp://127.0.0.1:${other.port}`,
      unit_id: 1,
      count: 0,
      truncated: false,
      samples: [],
    });
    const third = await polled(1);
    expect(new Set(third.samples.map((sample: Json) => sample.power_kw))).to.deep.equal(new Set([4.95]));
    expect(third.samples[0].tick).to.be.greaterThan(second.samples.at(-1).tick);
    await call('/sunspec-client/connect', { host: '127.0.0.1', port: other.port, unit_id: 2 });
    expect(await history(), 'another unit of a gateway').to.include({ unit_id: 2, count: 0 });
    await other.close();
  });
});
