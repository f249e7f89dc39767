/** Scopes, causes other than a request, and Modbus: what the interface names as the source of a change. */
import { expect } from 'chai';
import { createModbusAdapter } from '../../src/sunspec/modbus/bridge.ts';
import { adu, RawClient } from '../support/modbus-client.ts';
import type { Json } from '../support/http.ts';
import { testPlant } from '../support/plant.ts';
import type { Rest } from '../support/rest.ts';

import {
  begin,
  connector,
  fromDashboard,
  index,
  later,
  openSite,
  override,
  pointOf,
  site,
  writerIn,
} from './provenance-support.ts';

let rest: Rest;
const open = async () => {
  rest = await openSite();
};
const close = () => rest.api.stop();

describe('provenance of scopes', () => {
  beforeEach(open);
  afterEach(close);

  for (const [name, body] of [
    ['grid', { frequency_hz: 60.02 }],
    ['environment', { ambient_temperature_c: 12 }],
  ] as const) {
    it(`${name}: common, of one device, and back`, async () => {
      const path = `/controls/${name}`;
      const seen = async (query = ''): Promise<Json> => {
        const { changed_by: by } = await rest.get(`${path}${query}`);
        return by && [by.source, by.changed_at];
      };
      await rest.post(path, body);
      await rest.plant.step(2);
      await fromDashboard(rest, `${path}?device=1`, body);
      expect([await seen(), await seen('?device=0'), await seen('?device=1')]).to.deep.equal([
        ['rest', begin],
        ['rest', begin],
        ['dashboard', later],
      ]);
      await rest.post(`${path}?device=1`, { source: 'csv' });
      expect([await seen(), await seen('?device=1')]).to.deep.equal([
        ['rest', begin],
        ['rest', later],
      ]);
      await fromDashboard(rest, path, body);
      expect([await seen(), await seen('?device=0'), await seen('?device=1')]).to.deep.equal([
        ['dashboard', later],
        ['dashboard', later],
        ['dashboard', later],
      ]);
    });
  }

  it('a plant that is driven without an origin says default', () => {
    rest.plant.setGrid({ voltagePu: 1.01 });
    rest.plant.setSurroundings({ loadKw: 1 }, 0);
    expect(rest.plant.grid().changedBy).to.include({ source: 'default' });
    expect([rest.plant.surroundings().changedBy, rest.plant.surroundings(0).changedBy?.source]).to.deep.equal([
      null,
      'default',
    ]);
  });
});

describe('provenance of what happens by itself', () => {
  beforeEach(open);
  afterEach(close);

  it('a reversion', async () => {
    await rest.post('/registers/704', {
      points: {
        WMaxLimPctEna: 'ENABLED',
        WMaxLimPct: 50,
        WMaxLimPctRvrt: 80,
        WMaxLimPctEnaRvrt: 'ENABLED',
        WMaxLimPctRvrtTms: 2,
      },
    });
    expect((await rest.get('/controls')).modes.max_power).to.include({ source: 'rest', reversion_remaining_s: 2 });
    await rest.plant.step(2);
    const reverted = { source: 'reversion', source_detail: null, changed_at: '2026-06-21T12:00:02.000Z' };
    expect(await pointOf(rest, 704, 'WMaxLimPct')).to.include({ value: 80, ...reverted });
    expect((await rest.get('/controls')).modes.max_power).to.include({ enabled: true, ...reverted });
    expect(await pointOf(rest, 704, 'WMaxLimPctRvrt')).to.include({ source: 'rest', changed_at: begin });
  });

  it('a reset of the device leaves the start values, and who reset it', async () => {
    const { battery } = index;
    await rest.post('/controls/grid', { frequency_hz: 60.01 });
    await rest.post(`/controls/grid?device=${battery}`, { voltage_pu: 0.99 });
    await rest.post(`/controls/environment?device=${battery}`, { load_kw: 1 });
    await rest.post(`/controls/battery?device=${battery}`, { mode: 'charge', soc_pct: 40 });
    await rest.post(`/registers/704?device=${battery}`, { points: { WMaxLimPct: 50, WMaxLimPctEna: 'ENABLED' } });
    await rest.plant.step(2);
    const { source_detail: peer } = await fromDashboard(rest, '/commands', {
      command: 'reset',
      scope: 'device',
      device: battery,
    });
    await rest.plant.step(1);
    const { overrides, modes, grid } = await rest.get(`/controls?device=${battery}`);
    expect(overrides).to.deep.equal([
      { name: 'device_reset', connector_id: null, source: 'dashboard', source_detail: peer, changed_at: later },
    ]);
    expect(writerIn(modes.max_power)).to.deep.equal({ source: 'default', source_detail: null, changed_at: null });
    expect(writerIn(await pointOf(rest, 704, 'WMaxLimPct', battery))).to.deep.equal({
      source: 'default',
      source_detail: null,
      changed_at: null,
    });
    expect(grid.changed_by).to.include({ source: 'rest', changed_at: begin });
    expect(grid.changed_by).to.deep.equal((await rest.get('/controls/grid')).changed_by);
    expect((await rest.get(`/controls/environment?device=${battery}`)).changed_by).to.equal(null);
    expect(await rest.get(`/controls/battery?device=${battery}`)).to.include({ control: 'auto', forced_by: null });
  });

  it('a reset of alarms stands beside the others', async () => {
    await rest.post('/controls/shading', { shaded_share: 0.2, irradiance_share: 0.5 });
    await rest.post('/commands', { command: 'reset' }, 202);
    await rest.plant.step(1);
    expect((await rest.get('/controls')).overrides.map(({ name }: Json) => name)).to.deep.equal([
      'alarm_reset',
      'pv_shading',
    ]);
  });

  it('a charging station keeps connectors apart', async () => {
    const device = rest.plant.device(index.evse);
    device.command(
      { kind: 'evse.profile_limit', connectorId: 0, limitW: 5000, limitA: null },
      { source: 'ocpp', peer: 'profile 7' },
    );
    await rest.post(`${connector}/limit`, { power_kw: 7 });
    expect(await override(rest, index.evse, 'evse_profile_limit', 0)).to.deep.equal({
      source: 'ocpp',
      source_detail: 'profile 7',
      changed_at: begin,
    });
    expect(await override(rest, index.evse, 'evse_limit', 1)).to.include({ source: 'rest' });
    expect(await override(rest, index.evse, 'evse_limit', 0)).to.equal(null);
    expect(await rest.get(connector)).to.include({ discharge_by: null });
  });
});

describe('provenance over Modbus', () => {
  beforeEach(open);
  afterEach(close);

  /** Writes single registers of a device as a master would, and answers with the address of the master. */
  async function overModbus(
    device: number,
    ...points: readonly (readonly [model: number, name: string, word: number])[]
  ): Promise<string> {
    const { bank } = rest.plant.device(device);
    const adapter = createModbusAdapter({ devices: rest.plant.devices, host: '127.0.0.1', port: 0, sharedPort: false });
    await adapter.start();
    const client = await RawClient.open(adapter.endpointOf(device)?.port ?? 0);
    try {
      for (const [model, name, word] of points) {
        const pdu = Buffer.alloc(5);
        pdu[0] = 6;
        pdu.writeUInt16BE(bank.layout.slot(model, name)!.address, 1);
        pdu.writeUInt16BE(word, 3);
        expect(await client.request(adu(1, 1, pdu.toString('hex')))).to.equal(
          adu(1, 1, pdu.toString('hex')).toString('hex'),
        );
      }
      return `127.0.0.1:${client.socket.localPort}`;
    } finally {
      client.destroy();
      await adapter.stop();
    }
  }

  it('registers and modes show the address and port of the master', async () => {
    await rest.plant.step(2);
    const peer = await overModbus(index.pv, [704, 'WMaxLimPct', 6000], [704, 'WMaxLimPctEna', 1]);
    const shown = { source: 'modbus', source_detail: peer, changed_at: later };
    expect(await pointOf(rest, 704, 'WMaxLimPct')).to.include({ value: 60, ...shown });
    expect((await rest.get('/controls')).modes.max_power).to.include({ enabled: true, ...shown });
    expect(
      (await rest.post('/registers/704', { points: { VarSetPct: 5 } })).points.find(
        ({ name }: Json) => name === 'WMaxLimPct',
      ),
    ).to.include(shown);
  });

  it('what a register commands shows as an override, too', async () => {
    await rest.post(`/controls/battery?device=${index.battery}`, { strings: [{ index: 0, contactor: 'open' }] });
    const open = 2;
    const peer = await overModbus(index.battery, [802, 'SetOp', open]);
    expect(await override(rest, index.battery, 'battery_contactors')).to.deep.equal({
      source: 'modbus',
      source_detail: peer,
      changed_at: begin,
    });
  });
});

describe('provenance and physics', () => {
  it('registers do not depend on who wrote', async () => {
    const dumps = await Promise.all(
      (['rest', 'modbus', 'scenario'] as const).map(async (source) => {
        const plant = testPlant({ types: site });
        const by = { source, peer: `peer of ${source}` };
        plant.setGrid({ voltagePu: 1.02 }, undefined, by);
        plant.setSurroundings({ irradianceWm2: 700 }, index.pv, by);
        plant.startGridEvent('sag', {}, index.battery, by);
        plant.device(index.battery).command({ kind: 'battery.control', mode: 'discharge', powerW: 3000 }, by);
        plant.device(index.wind).command({ kind: 'wind.override', speedMS: 8, height: 'hub' }, by);
        plant.device(index.evse).command({ kind: 'evse.plug', connectorId: 1 }, by);
        plant.device(index.pv).bank.transact(by, ({ m704 }) => {
          m704.WMaxLimPctEna = 'ENABLED';
          m704.WMaxLimPct = 40;
        });
        plant.setTime({ rate: 2 }, by);
        await plant.step(20, by);
        return plant.devices.map(({ bank }) => bank.read(bank.layout.base, bank.layout.size).toString('hex'));
      }),
    );
    expect(dumps[1]).to.deep.equal(dumps[0]);
    expect(dumps[2]).to.deep.equal(dumps[0]);
  });
});
