/** Each write, and who made it, from where and when, read back wherever the interface shows it. */
import { request } from 'node:http';
import { expect } from 'chai';
import type { Json } from '../support/http.ts';
import { byModbus } from '../support/map.ts';
import type { Rest } from '../support/rest.ts';
import { prefix } from '../support/rest.ts';

import {
  begin,
  connector,
  fromDashboard,
  index,
  later,
  openSite,
  override,
  pointOf,
  writerIn,
} from './provenance-support.ts';

const loopbackPeer = /^127\.0\.0\.1:\d{1,5}$/;

let rest: Rest;
const open = async () => {
  rest = await openSite();
};
const close = () => rest.api.stop();

/** A request whose own address is known. */
function withAddress(path: string, body: object): Promise<{ readonly peer: string; readonly json: Json }> {
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        host: '127.0.0.1',
        port: rest.port,
        path: `${prefix}${path}`,
        method: 'POST',
        agent: false,
        headers: { 'Content-Type': 'application/json' },
      },
      (response) => {
        // the socket forgets its address when it closes
        const peer = `127.0.0.1:${response.socket.localPort}`;
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          resolve({ peer, json: JSON.parse(Buffer.concat(chunks).toString()) });
        });
      },
    );
    asked.on('error', reject);
    asked.end(JSON.stringify(body));
  });
}

interface Write {
  /** what is written, in words */
  readonly what: string;
  readonly path: string;
  readonly body: object;
  /** requests that must have come before */
  readonly before?: readonly (readonly [path: string, body: object])[];
  /** that pass between them and the write */
  readonly ticks?: number;
  /** where it shows; null: nobody has written */
  readonly seen: () => Promise<Json>;
}

const member = (path: string, name: string) => async (): Promise<Json> => (await rest.get(path))[name];
const plugged = [[`${connector}/plug`, { ev_side: true, evse_side: true }]] as const;
const stopped = [...plugged, [`${connector}/stop`, {}]] as const;
const manual = [['/hybrid-dc/dispatch?device=4', { policy: 'manual' }]] as const;
const ofConnector = (name: string) => () => override(rest, index.evse, name, 1);
const atConnector = (
  operation: string,
  name: string,
  body: object,
  before: Write['before'] = [],
  ticks = 2,
): Write => ({
  what: `connector: ${operation}`,
  path: `${connector}/${operation}`,
  body,
  before,
  ticks,
  seen: ofConnector(name),
});
/** The longest start delay of a session. */
const startTicks = 12;

const writes: readonly Write[] = [
  {
    what: 'common grid',
    path: '/controls/grid',
    body: { voltage_pu: 0.99 },
    seen: member('/controls/grid', 'changed_by'),
  },
  {
    what: 'grid of one device',
    path: '/controls/grid?device=1',
    body: { frequency_hz: 60.01 },
    seen: member('/controls/grid?device=1', 'changed_by'),
  },
  {
    what: 'grid event',
    path: '/controls/grid/event',
    body: { event: 'sag' },
    seen: member('/controls/grid', 'changed_by'),
  },
  {
    what: 'end of a grid event',
    path: '/controls/grid/event',
    body: { event: null },
    seen: member('/controls/grid', 'changed_by'),
  },
  {
    what: 'grid event of one device',
    path: '/controls/grid/event?device=2',
    body: { event: 'swell' },
    seen: member('/controls/grid?device=2', 'changed_by'),
  },
  {
    what: 'common environment',
    path: '/controls/environment',
    body: { irradiance_w_m2: 500 },
    seen: member('/controls/environment', 'changed_by'),
  },
  {
    what: 'environment of one device',
    path: '/controls/environment?device=0',
    body: { load_kw: 1 },
    seen: member('/controls/environment?device=0', 'changed_by'),
  },
  { what: 'clock', path: '/controls/time', body: { rate: 1 }, seen: member('/controls/time', 'changed_by') },
  {
    what: 'shading',
    path: '/controls/shading',
    body: { shaded_share: 0.2, irradiance_share: 0.5 },
    seen: member('/controls/shading', 'changed_by'),
  },
  {
    what: 'shading among the overrides',
    path: '/controls/shading',
    body: { shaded_share: 0, irradiance_share: 0.5 },
    seen: () => override(rest, index.pv, 'pv_shading'),
  },
  {
    what: 'gradient',
    path: '/controls/gradient',
    body: { w_pct_per_s: 0.27 },
    seen: member('/controls/gradient', 'changed_by'),
  },
  {
    what: 'local control',
    path: '/controls/local',
    body: { local: true },
    seen: member('/controls/local', 'changed_by'),
  },
  {
    what: 'forced battery',
    path: '/controls/battery?device=1',
    body: { mode: 'charge' },
    seen: member('/controls/battery?device=1', 'forced_by'),
  },
  {
    what: 'state of charge',
    path: '/controls/battery?device=1',
    body: { soc_pct: 40 },
    seen: () => override(rest, index.battery, 'battery_soc'),
  },
  {
    what: 'contactor',
    path: '/controls/battery?device=1',
    body: { strings: [{ index: 0, contactor: 'open' }] },
    seen: () => override(rest, index.battery, 'battery_contactors'),
  },
  {
    what: 'wind',
    path: '/wind/override?device=2',
    body: { wind_speed_m_s: 9 },
    seen: member('/wind?device=2', 'override_by'),
  },
  {
    what: 'fuel cell set-point',
    path: '/fuelcell/setpoint?device=3',
    body: { power_kw: 2 },
    seen: member('/fuelcell?device=3', 'setpoint_by'),
  },
  {
    what: 'hydrogen tank',
    path: '/fuelcell/tank?device=3',
    body: { level_pct: 60 },
    seen: () => override(rest, index.fuelCell, 'fuelcell_tank'),
  },
  {
    what: 'hybrid policy',
    path: '/hybrid-dc/dispatch?device=4',
    body: { policy: 'pv_priority' },
    seen: member('/hybrid-dc?device=4', 'policy_by'),
  },
  {
    what: 'hybrid target',
    path: '/hybrid-dc/manual?device=4',
    body: { target_kw: 3 },
    before: manual,
    seen: member('/hybrid-dc?device=4', 'manual_target_by'),
  },
  {
    what: 'hybrid battery',
    path: '/hybrid-dc/manual?device=4',
    body: { target_kw: 3, battery_kw: 1 },
    before: manual,
    seen: member('/hybrid-dc?device=4', 'manual_battery_by'),
  },
  {
    what: 'grid-support function',
    path: '/grid-support/max-power',
    body: { limit_pct: 80 },
    seen: async () => writerIn(await pointOf(rest, 704, 'WMaxLimPct')),
  },
  {
    what: 'enable of a function, as a mode',
    path: '/grid-support/volt-var',
    body: { enabled: true },
    seen: async () => writerIn((await rest.get('/controls')).modes.volt_var),
  },
  {
    what: 'register',
    path: '/registers/704',
    body: { points: { WMaxLimPct: 70 } },
    seen: async () => writerIn(await pointOf(rest, 704, 'WMaxLimPct')),
  },
  atConnector('plug', 'evse_cable', { ev_side: true }),
  atConnector('unplug', 'evse_cable', {}, plugged),
  atConnector('authorize', 'evse_authorization', { id_token: 'TAG-1' }),
  atConnector('start', 'evse_session', {}, stopped),
  atConnector('suspend', 'evse_suspension', { by: 'ev' }, plugged, startTicks),
  atConnector('stop', 'evse_session', { reason: 'Local' }, plugged),
  atConnector('availability', 'evse_availability', { operative: false }),
  atConnector('fault', 'evse_fault', { error_code: 'GroundFailure' }),
  atConnector('clear-fault', 'evse_fault', {}, [[`${connector}/fault`, { error_code: 'GroundFailure' }]]),
  atConnector('ev', 'evse_vehicle', { target_soc_pct: 70 }, plugged),
  atConnector('meter', 'evse_meter', { energy_wh: 1000 }),
  atConnector('unlock', 'evse_lock', {}, plugged),
  atConnector('reserve', 'evse_reservation', { reservation_id: 1, id_token: 'TAG-1' }),
  {
    what: 'local limit of a connector',
    path: `${connector}/limit`,
    body: { power_kw: 7 },
    seen: member(connector, 'local_limit_by'),
  },
];

describe('provenance over REST', () => {
  beforeEach(open);
  afterEach(close);

  for (const { what, path, body, before = [], ticks = 2, seen } of writes) {
    it(`${what}: source, peer and time`, async () => {
      for (const [earlier, given] of before) await fromDashboard(rest, earlier, given);
      await rest.plant.step(ticks);
      const { dateMs } = rest.plant.time;
      await rest.post(path, body);
      const shown = await seen();
      expect(shown).to.include({ source: 'rest', changed_at: new Date(dateMs).toISOString() });
      expect(shown.source_detail).to.match(loopbackPeer);
    });
  }

  it('the dashboard is told from other scripts', async () => {
    await fromDashboard(rest, '/controls/grid', { voltage_pu: 0.98 });
    await fromDashboard(rest, '/registers/704', { points: { WMaxLimPct: 70 } });
    expect((await rest.get('/controls/grid')).changed_by.source).to.equal('dashboard');
    expect((await pointOf(rest, 704, 'WMaxLimPct')).source).to.equal('dashboard');
    const { source, source_detail: detail } = await fromDashboard(rest, '/commands', { command: 'stop' });
    expect([source, loopbackPeer.test(detail)]).to.deep.equal(['dashboard', true]);
    expect((await rest.get('/commands')).commands[0]).to.include({ source: 'dashboard', source_detail: detail });
    await rest.plant.step(1);
    expect(await pointOf(rest, 703, 'ES')).to.include({ source: 'dashboard', source_detail: detail });
  });

  it('the peer is the address and port of the client', async () => {
    const grid = await withAddress('/controls/grid', { voltage_pu: 0.98 });
    expect(grid.json.changed_by.source_detail).to.equal(grid.peer);
    const registers = await withAddress('/registers/704', { points: { WMaxLimPct: 60 } });
    expect(registers.json.points.find(({ name }: Json) => name === 'WMaxLimPct').source_detail).to.equal(
      registers.peer,
    );
    const command = await withAddress('/commands', { command: 'stop' });
    expect(command.json.source_detail).to.equal(command.peer);
  });

  it('says nothing of what stands as it was started, and profile of what the profile set', async () => {
    for (const path of [
      '/controls/grid',
      '/controls/grid?device=1',
      '/controls/environment',
      '/controls/environment?device=1',
      '/controls/time',
    ]) {
      expect((await rest.get(path)).changed_by, path).to.equal(null);
    }
    expect((await rest.get('/controls/time')).stepped_by).to.equal(null);
    for (const device of Object.values(index))
      expect((await rest.get(`/controls?device=${device}`)).overrides).to.deep.equal([]);
    expect(await rest.get('/fuelcell?device=3')).to.include({ setpoint_by: null });
    expect(await rest.get('/wind?device=2')).to.include({ override_by: null });
    expect(await rest.get('/controls/battery?device=1')).to.include({ forced_by: null });
    expect(await rest.get('/hybrid-dc?device=4')).to.include({
      policy_by: null,
      manual_target_by: null,
      manual_battery_by: null,
    });
    expect(await rest.get(connector)).to.include({ local_limit_by: null, discharge_by: null });
    expect(writerIn(await pointOf(rest, 702, 'WMaxRtg'))).to.deep.equal({
      source: 'profile',
      source_detail: null,
      changed_at: begin,
    });
    expect(writerIn(await pointOf(rest, 704, 'WMaxLimPct'))).to.deep.equal({
      source: 'default',
      source_detail: null,
      changed_at: null,
    });
  });

  it('a refused write leaves no trace', async () => {
    await rest.refused('/controls/battery?device=1', 409, 'conflict', { power_kw: 3 });
    await rest.refused('/controls/grid?device=1', 422, 'validation', { source: 'csv', voltage_pu: 1 });
    await rest.refused('/controls/grid', 409, 'conflict', { source: 'csv' });
    await rest.refused('/controls/grid/event', 422, 'validation', { event: 'sag', parameters: { residual_pu: 9 } });
    await rest.refused('/registers/704', 422, 'validation', { points: { WMaxLimPct: 900 } });
    await rest.post('/controls/time', { mode: 'accelerated' });
    await rest.refused('/controls/time/step', 409, 'conflict', { ticks: 1 });
    expect((await rest.get('/controls?device=1')).overrides).to.deep.equal([]);
    expect((await rest.get('/controls/grid')).changed_by).to.equal(null);
    expect((await pointOf(rest, 704, 'WMaxLimPct')).source).to.equal('default');
    expect((await rest.get('/controls/time')).stepped_by).to.equal(null);
  });

  it('lists the last writers newest first, one for each thing and connector', async () => {
    await rest.post('/controls/battery?device=1', { mode: 'charge', power_kw: 2, soc_pct: 45 });
    await rest.plant.step(2);
    await rest.post('/controls/battery?device=1', { strings: [{ index: 1, contactor: 'open' }] });
    await fromDashboard(rest, '/controls/battery?device=1', { power_kw: 3 });
    const { overrides } = await rest.get('/controls?device=1');
    expect(overrides.map(({ name, source, changed_at: at }: Json) => [name, source, at])).to.deep.equal([
      ['battery_mode', 'dashboard', later],
      ['battery_contactors', 'rest', later],
      ['battery_soc', 'rest', begin],
    ]);
    await rest.post('/controls/battery?device=1', { mode: 'auto' });
    expect(await rest.get('/controls/battery?device=1')).to.include({ control: 'auto', forced_by: null });
    expect(await override(rest, index.battery, 'battery_mode')).to.include({ source: 'rest' });
  });

  it('the set-point of a kind shows who changed its value, be it another interface', async () => {
    await rest.post('/fuelcell/setpoint?device=3', { power_kw: 2 });
    await rest.plant.step(2);
    rest.plant.device(index.fuelCell).bank.transact(byModbus, ({ m704 }) => {
      m704.WSet = 3000;
    });
    expect((await rest.get('/fuelcell?device=3')).setpoint_by).to.deep.equal({
      source: 'modbus',
      source_detail: byModbus.peer,
      changed_at: later,
    });
    await rest.post('/fuelcell/setpoint?device=3', { power_kw: null });
    expect(await rest.get('/fuelcell?device=3')).to.include({ setpoint_kw: null, setpoint_by: null });
  });

  it('steps by hand are told from settings of the clock', async () => {
    await fromDashboard(rest, '/controls/time', { rate: 2 });
    await rest.plant.step(1, { source: 'scenario', peer: 'storm' });
    await rest.post('/controls/time/step', { ticks: 3 });
    const time = await rest.get('/controls/time');
    expect(time.changed_by).to.include({ source: 'dashboard', changed_at: begin });
    expect(time.stepped_by).to.include({ source: 'rest', changed_at: later });
    expect((await rest.get('/controls')).time.stepped_by).to.deep.equal(time.stepped_by);
  });
});
