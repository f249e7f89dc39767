import { expect } from 'chai';
import { Operations } from '../../../src/ui/views/devices/connector';
import { SessionsTab } from '../../../src/ui/views/devices/sessions';
import { Lists } from '../../../src/ui/views/protocols/ocpp/configuration';
import { Connection } from '../../../src/ui/views/protocols/ocpp/connection';
import { zone } from '../../../src/ui/look/format';
import { pass } from '../support/clock.ts';
import { Daemon } from '../support/daemon.ts';
import { all, leave, one, show, textOf } from '../support/page.tsx';
import { answerForSite } from '../support/site.ts';
import { startPage } from '../support/stream.ts';

describe('fields that start with the value in force', () => {
  let daemon: Daemon;
  before(startPage);
  beforeEach(() => {
    daemon = new Daemon();
    answerForSite(daemon);
  });
  afterEach(async () => {
    zone.value = 'UTC';
    await leave();
    await pass(3000);
  });
  const valuesOf = (...names: readonly string[]) => names.map((name) => one(`[name="${name}"]`).value);

  it('limit, discharge and meter of a connector', async () => {
    const station = daemon.exampleOf('GET', 'evse/EVSE-3');
    const connector = { ...station.connectors[0], local_limit_kw: 7.4, discharge_kw: 2.5, energy_wh: 1234.6 };
    await show(<Operations id={station.charge_point_id} connector={connector} central={false} />);
    const powers = all('[name="power_kw"]').map(({ value }) => value);
    expect(powers).to.deep.equal(['7.4', '2.5']);
    expect(valuesOf('energy_wh')).to.deep.equal(['1235']);
  });

  it('generator of sessions', async () => {
    const { generators } = daemon.exampleOf('GET', 'evse/session-generator');
    const running = { ...generators[0], running: true, rate_per_hour: 2.5, seed: 9, id_token: 'CARD' };
    daemon.on('GET evse/session-generator', () => ({ generators: [running] }));
    const [device] = daemon.exampleOf('GET', 'overview').devices;
    await show(<SessionsTab device={{ ...device, charge_point_id: running.charge_point_id }} />);
    expect(valuesOf('rate_per_hour', 'seed', 'id_token')).to.deep.equal(['2.5', '9', 'CARD']);
  });

  it('address and security profile of a central system', async () => {
    const status = daemon.exampleOf('GET', 'ocpp').charge_points[0];
    await show(<Connection status={{ ...status, url: 'wss://central.example/ocpp', security_profile: 2 }} />);
    expect(valuesOf('url', 'security_profile')).to.deep.equal(['wss://central.example/ocpp', '2']);
  });

  it('and instants of lists stand in the zone of the clock', async () => {
    const status = daemon.exampleOf('GET', 'ocpp').charge_points[0];
    const example = daemon.exampleOf('GET', `ocpp/${status.id}/transactions`);
    const transactions = [{ ...example.transactions[0], started_at: '2026-06-21T22:30:00.000Z', ended_at: null }];
    daemon.on(`GET ocpp/${status.id}/transactions`, () => ({ ...example, transactions }));
    zone.value = 'Europe/Berlin';
    await show(<Lists status={status} />);
    expect(textOf()).to.contain('2026-06-22 00:30:00').and.not.contain('2026-06-21T22:30');
  });
});
