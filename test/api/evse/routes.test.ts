import { expect } from 'chai';
import { createChargePointIds } from '../../../src/contract/charge-point-ids.ts';
import { reservedChargePointIds } from '../../../src/contract/ocpp-settings.ts';
import { allRoutes } from '../../../src/api/routes.ts';
import { createApi } from '../../../src/api/http/server.ts';
import { loadConfig } from '../../../src/config/layers/load.ts';
import { apiContext } from '../../support/api-context.ts';
import { evsePlant, pvBeside } from '../../support/evse-plant.ts';
import { examples } from '../../support/examples.ts';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { prefix, Rest } from '../../support/rest.ts';

let rest: Rest;
const at = '/evse/SIM-CP-1/connectors/1';

describe('charging stations over REST (9.2, 9.3)', () => {
  afterEach(() => rest.api.stop());

  it('lists stations with identity, registers and connectors', async () => {
    rest = await Rest.open(evsePlant([pvBeside, 'EVSE-AC-22kW-1port', 'EVSE-Hybrid-2DC-1AC']));
    const { evses } = await rest.get('/evse');
    expect(evses.map(({ id, device_index: index }: Json) => [id, index])).to.deep.equal([
      ['SIM-CP-1', 1],
      ['SIM-CP-1-2', 2],
    ]);
    const [ac, hybrid] = evses;
    expect(ac).to.deep.include({
      profile: rest.plant.devices[1]!.profileName,
      vendor: 'derbench',
      model: 'AC-22',
      ocpp: null,
      max_power_kw: 22,
      power_kw: 0,
      sharing: 'proportional',
      battery: null,
    });
    const registers = await rest.get('/registers/1?device=1');
    expect(ac.serial_number).to.equal(registers.points.find(({ name }: Json) => name === 'SN').value);
    expect(ac.connectors[0]).to.deep.include({
      connector_id: 1,
      evse_id: 1,
      type: 'ac',
      standard: 'Type2',
      max_power_kw: 22,
      phases: 3,
      bidirectional: false,
      status: 'available',
      status_ocpp_2: 'available',
      error_code: 'NoError',
      operative: true,
      ev: null,
      session: null,
      power_kw: 0,
      current_a: [0, 0, 0],
      energy_wh: 0,
      local_limit_kw: null,
      discharge_kw: null,
      reservation: null,
      cable: { ev_plugged: false, evse_plugged: false, locked: false },
    });
    expect(hybrid.connectors.map(({ type, standard }: Json) => `${type} ${standard}`)).to.deep.equal([
      'dc CCS2',
      'dc CCS2',
      'ac Type2',
    ]);
    expect(await rest.get('/evse/SIM-CP-1-2')).to.deep.equal(hybrid);
    expect(await rest.get('/evse/SIM-CP-1-2/connectors')).to.deep.equal({ connectors: hybrid.connectors });
    expect(await rest.get('/evse/SIM-CP-1-2/connectors/3')).to.deep.equal(hybrid.connectors[2]);
  });

  it('shows the identity where devices are listed', async () => {
    rest = await Rest.open(evsePlant([pvBeside, 'EVSE-AC-22kW-1port']));
    expect((await rest.get('/overview')).devices.map((each: Json) => each.charge_point_id)).to.deep.equal([
      null,
      'SIM-CP-1',
    ]);
    expect((await rest.get('/devices')).devices.map((each: Json) => each.charge_point_id)).to.deep.equal([
      null,
      'SIM-CP-1',
    ]);
  });

  it('refuses unknown stations and connectors', async () => {
    rest = await Rest.open(evsePlant());
    for (const path of [
      '/evse/sim-cp-1',
      '/evse/SIM-CP-1-0',
      '/evse/SIM-CP-2/connectors',
      '/evse/SIM-CP-2/connectors/1',
      `${at}2`,
    ]) {
      await rest.refused(path, 404, 'unknown-resource');
    }
    await rest.refused('/evse/SIM-CP-2/connectors/1/plug', 404, 'unknown-resource', {});
    const problem = await rest.refused('/evse/SIM-CP-1/connectors/7/plug', 404, 'unknown-resource', {});
    expect(problem.detail).to.equal('SIM-CP-1 has no connector 7; it has 1.');
    for (const cid of ['0', '-1', 'x', '1.5'])
      await rest.refused(`/evse/SIM-CP-1/connectors/${cid}`, 422, 'validation');
    await rest.refused('/evse?device=0', 422, 'validation');
  });

  it('identities are URL-encoded, and reserved words are paths', async () => {
    const plant = evsePlant();
    rest = await Rest.open(plant);
    const api = createApi(
      { ...apiContext({ plant }), chargePointId: createChargePointIds(plant, 'Lab|1/ä') },
      { checkReplies: true },
    );
    const { port } = await api.start();
    expect((await ask(port, `${prefix}/evse/${encodeURIComponent('Lab|1/ä')}`)).json).to.include({
      id: 'Lab|1/ä',
      device_index: 0,
    });
    await api.stop();
    for (const word of reservedChargePointIds) {
      expect((await rest.get(`/evse/${word}`)).connectors, word).to.equal(undefined);
      await rest.refused(`/evse/${word}/connectors/1`, 404, 'unknown-resource');
    }
  });

  it('without stations the list is empty', async () => {
    rest = await Rest.open(evsePlant([pvBeside]));
    expect(await rest.get('/evse')).to.deep.equal({ evses: [] });
    expect(await rest.get('/evse/sessions')).to.deep.equal({ sessions: [] });
    expect(await rest.get('/evse/profiles')).to.deep.equal({ profiles: [] });
    await rest.refused('/evse/SIM-CP-1', 404, 'unknown-resource');
  });

  it('profiles are those of the context', async () => {
    rest = await Rest.open(evsePlant());
    const loaded = loadConfig(['--evse_profile', 'EVSE-V2G-DC-50kW-bidir'], {});
    if (loaded.kind !== 'run') throw new Error('no configuration');
    const { source } = loaded.config.devices[0]!.profile;
    if (source.kind !== 'evse') throw new Error('no charging station');
    const profile = { name: 'EVSE-V2G-DC-50kW-bidir', description: 'as given', bundled: true, evse: source.evse };
    const api = createApi(
      { ...apiContext({ plant: rest.plant }), evseProfiles: () => [profile] },
      { checkReplies: true },
    );
    const { port } = await api.start();
    expect((await ask(port, `${prefix}/evse/profiles`)).json).to.deep.equal({
      profiles: [
        {
          name: 'EVSE-V2G-DC-50kW-bidir',
          description: 'as given',
          max_power_kw: 50,
          battery_kwh: 75,
          v2g: true,
          bundled: true,
          connectors: [{ connector_id: 1, type: 'dc', standard: 'CCS2', max_power_kw: 50, bidirectional: true }],
        },
      ],
    });
    await api.stop();
  });
});

describe('a charging session over REST', () => {
  afterEach(() => rest.api.stop());

  it('runs from plug to unplug, with the meter of the connector', async () => {
    rest = await Rest.open(evsePlant());
    const plugged = await rest.post(`${at}/plug`, { ev: { id: 'EV-7', soc_pct: 40, battery_capacity_kwh: 50 } });
    expect(plugged).to.deep.include({
      status: 'preparing',
      authorized: true,
      cable: { ev_plugged: true, evse_plugged: true, locked: true },
    });
    expect(plugged.ev).to.include({ id: 'EV-7', soc_pct: 40, battery_capacity_kwh: 50, max_charge_kw: 11, phases: 3 });
    expect(plugged.session).to.include({
      transaction_id: '1',
      state: 'starting',
      started_at: '2026-06-21T12:00:00.000Z',
      energy_wh: 0,
    });
    await rest.plant.step(240);
    const [station] = (await rest.get('/evse')).evses;
    const [charging] = station.connectors;
    expect(charging).to.include({
      status: 'charging',
      status_ocpp_2: 'occupied',
      limit_source: 'ev',
      contactor_closed: true,
    });
    expect(charging.power_kw).to.be.closeTo(11, 1e-6);
    expect(station.power_kw).to.equal(charging.power_kw);
    expect(charging.current_a[1]).to.be.closeTo(11000 / (3 * 230 * 0.99), 0.2);
    // 360 s less start delay of 3 to 15 s and ramp
    expect(charging.energy_wh).to.be.within(11000 * (343 / 3600), 11000 * (358 / 3600));
    expect(charging.session).to.deep.include({
      state: 'active',
      energy_wh: charging.energy_wh,
      charging_state: 'charging',
      offline: false,
    });
    expect(charging.ev.soc_pct - 40).to.be.closeTo((charging.energy_wh * 0.92) / 500, 1e-5);
    expect(station.battery).to.deep.equal({ capacity_kwh: 50, soc_pct: charging.ev.soc_pct });
    const { metrics } = await rest.get('/overview');
    expect(-metrics.power_kw).to.be.closeTo(11.003, 0.02);

    const stopped = await rest.post(`${at}/stop`, { reason: 'Remote' });
    expect(stopped).to.include({
      state: 'ended',
      stop_reason: 'Remote',
      ended_at: '2026-06-21T12:06:00.000Z',
      charging_state: 'idle',
    });
    expect(await rest.get(at)).to.deep.include({ status: 'finishing', power_kw: 0, session: stopped });
    const free = await rest.post(`${at}/unplug`, {});
    expect(free).to.deep.include({ status: 'available', ev: null, session: null, energy_wh: charging.energy_wh });
    expect((await rest.get('/evse/sessions')).sessions).to.deep.equal([stopped]);
  });

  it('sessions: newest first over all stations, by state, limited', async () => {
    rest = await Rest.open(evsePlant(['EVSE-AC-7.4kW-2port', 'EVSE-AC-22kW-1port']));
    await rest.post(`${at}/plug`, {});
    await rest.plant.step(20);
    await rest.post('/evse/SIM-CP-1-1/connectors/1/plug', {});
    await rest.plant.step(20);
    await rest.post('/evse/SIM-CP-1/connectors/2/plug', {});
    await rest.post(`${at}/stop`, {});
    const list = async (query: string): Promise<Json> =>
      (await rest.get(`/evse/sessions${query}`)).sessions.map(
        (session: Json) => `${session.charge_point_id}/${session.connector_id} ${session.state}`,
      );
    expect(await list('')).to.deep.equal(['SIM-CP-1/2 starting', 'SIM-CP-1-1/1 active', 'SIM-CP-1/1 ended']);
    const { sessions } = await rest.get('/evse/sessions');
    // each station counts for itself
    expect(sessions.map(({ transaction_id: id }: Json) => id)).to.deep.equal(['2', '1', '1']);
    expect(await list('?state=ended')).to.deep.equal(['SIM-CP-1/1 ended']);
    expect(await list('?limit=2')).to.deep.equal(['SIM-CP-1/2 starting', 'SIM-CP-1-1/1 active']);
    expect(await list('?limit=1&state=active')).to.deep.equal(['SIM-CP-1-1/1 active']);
    for (const query of ['?limit=0', '?limit=1001', '?state=gone', '?device=0'])
      await rest.refused(`/evse/sessions${query}`, 422, 'validation');
  });

  it('the examples have the members and words of real answers', async () => {
    rest = await Rest.open(evsePlant());
    const { body, reply } = examples('plug_in');
    expect(await rest.post(`${at}/plug`, body)).to.deep.equal(reply);
    const fresh = await rest.post(`${at}/unplug`, {});
    expect(fresh).to.deep.equal(examples('unplug').reply);
    for (const id of ['set_availability', 'set_connector_fault', 'reserve_connector'] as const) {
      const { body: asked, reply: shown } = examples(id);
      const path = allRoutes
        .find(({ operationId }) => operationId === id)!
        .path.split('/')
        .at(-1)!;
      expect(await rest.post(`${at}/${path}`, asked), id).to.deep.equal(shown);
      const undo = {
        set_availability: ['availability', { operative: true }],
        set_connector_fault: ['clear-fault', {}],
        reserve_connector: ['cancel-reservation', {}],
      } as const;
      await rest.post(`${at}/${undo[id][0]}`, undo[id][1]);
    }
    await rest.post(`${at}/plug`, {});
    await rest.plant.step(245);
    const live = await rest.get('/evse/SIM-CP-1');
    const shown = examples('get_evse').reply;
    for (const member of [
      'profile',
      'vendor',
      'model',
      'serial_number',
      'firmware_version',
      'max_power_kw',
      'power_kw',
      'standby_kw',
      'sharing',
    ]) {
      expect(shown[member], member).to.equal(live[member]);
    }
    const [liveConnector, shownConnector] = [live.connectors[0], shown.connectors[0]];
    for (const member of ['status', 'min_power_kw', 'limit_kw', 'limit_source', 'power_kw', 'voltage_v', 'cable']) {
      expect(shownConnector[member], member).to.deep.equal(liveConnector[member]);
    }
    expect(shownConnector.current_a[0]).to.be.closeTo(liveConnector.current_a[0], 0.2);
    expect({ ...liveConnector.ev, soc_pct: shownConnector.ev.soc_pct }).to.deep.equal(shownConnector.ev);
    expect(shownConnector.ev.soc_pct).to.be.closeTo(liveConnector.ev.soc_pct, 0.1);
  });
});
