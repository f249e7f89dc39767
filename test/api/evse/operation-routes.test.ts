import { expect } from 'chai';
import { evseErrorCodes } from '../../../src/contract/kinds/evse.ts';
import { evsePlant } from '../../support/evse-plant.ts';
import type { Json } from '../../support/http.ts';
import { Rest } from '../../support/rest.ts';

let rest: Rest;
const at = '/evse/SIM-CP-1/connectors/1';
const post = (operation: string, body: unknown = {}): Promise<Json> => rest.post(`${at}/${operation}`, body);
const conflict = (operation: string, body: unknown = {}): Promise<Json> =>
  rest.refused(`${at}/${operation}`, 409, 'conflict', body);
const invalid = async (operation: string, body: unknown): Promise<Json> =>
  (await rest.refused(`${at}/${operation}`, 422, 'validation', body)).errors.map(({ name }: Json) => name);
const now = (): Promise<Json> => rest.get(at);

/** A station with a vehicle that has been charging for a minute. */
async function charging(profile = 'EVSE-AC-22kW-1port'): Promise<void> {
  rest = await Rest.open(evsePlant([profile]));
  await post('plug');
  await rest.plant.step(40);
  expect((await now()).status).to.equal('charging');
}

describe('operations at a connector (9.2)', () => {
  afterEach(() => rest.api.stop());

  it('what needs a vehicle or a session is a conflict at a free connector, and changes nothing', async () => {
    rest = await Rest.open(evsePlant());
    const before = await now();
    for (const [operation, body] of [
      ['unplug', {}],
      ['start', {}],
      ['stop', {}],
      ['suspend', { by: 'ev' }],
      ['resume', { by: 'evse' }],
      ['discharge', { power_kw: 1 }],
      ['clear-fault', {}],
      ['ev', { soc_pct: 5 }],
      ['lock', {}],
      ['unlock', {}],
      ['cancel-reservation', {}],
    ] as const)
      await conflict(operation, body);
    expect(await now()).to.deep.equal(before);
  });

  it('bodies are checked before anything is done', async () => {
    await charging();
    const before = await now();
    for (const [operation, body, names] of [
      ['plug', { ev: { soc_pct: 101, colour: 'red' } }, ['/ev/soc_pct', '/ev/colour']],
      ['plug', { ev_side: false, evse_side: false }, ['/ev_side']],
      ['plug', { ev: {}, ev_side: false }, ['/ev']],
      ['unplug', { force: true }, ['/force']],
      ['unplug', { ev_side: false, evse_side: false }, ['/ev_side']],
      ['authorize', {}, ['/id_token']],
      ['authorize', { id_token: '' }, ['/id_token']],
      ['start', { authorize: 'yes' }, ['/authorize']],
      ['stop', { reason: '' }, ['/reason']],
      ['suspend', {}, ['/by']],
      ['resume', { by: 'csms' }, ['/by']],
      ['limit', {}, ['/power_kw']],
      ['limit', { power_kw: -1 }, ['/power_kw']],
      ['discharge', { power_kw: '1' }, ['/power_kw']],
      ['availability', { operative: 1 }, ['/operative']],
      ['fault', { error_code: 'Broken' }, ['/error_code']],
      ['ev', {}, ['']],
      [
        'ev',
        { phases: 2, battery_capacity_kwh: 0, departure_time: 'noon' },
        ['/battery_capacity_kwh', '/phases', '/departure_time'],
      ],
      ['ev', { charging_curve: [{ soc_pct: 0, fraction: 1 }] }, ['/charging_curve']],
      [
        'ev',
        {
          charging_curve: [
            { soc_pct: 50, fraction: 1 },
            { soc_pct: 50, fraction: 1 },
          ],
        },
        ['/charging_curve/1'],
      ],
      [
        'ev',
        {
          charging_curve: [
            { soc_pct: 0, fraction: 0 },
            { soc_pct: 50, fraction: 1 },
          ],
        },
        ['/charging_curve/0'],
      ],
      ['meter', {}, ['']],
      ['meter', { energy_wh: -1 }, ['/energy_wh']],
      ['lock', { by: 'ev' }, ['/by']],
      ['reserve', { id_token: 'T' }, ['/reservation_id']],
      ['reserve', { reservation_id: 1, id_token: 'T', expires_in_s: 0 }, ['/expires_in_s']],
    ] as const)
      expect(await invalid(operation, body), `${operation} ${JSON.stringify(body)}`).to.deep.equal(names);
    const { errors } = await rest.refused(`${at}/fault`, 422, 'validation', { error_code: 'Broken' });
    expect(errors[0].allowed).to.deep.equal([...evseErrorCodes]);
    expect(await now()).to.deep.equal(before);
  });

  it('plug: one side after the other, once', async () => {
    rest = await Rest.open(evsePlant());
    expect(await post('plug', { evse_side: false, ev: { id: 'EV-1' } })).to.deep.include({
      status: 'preparing',
      session: null,
      cable: { ev_plugged: true, evse_plugged: false, locked: false },
    });
    expect((await post('plug', { ev_side: false })).session.state).to.equal('starting');
    await conflict('plug');
    expect((await post('unplug')).cable).to.deep.equal({ ev_plugged: false, evse_plugged: false, locked: false });
    expect((await rest.get('/evse/sessions')).sessions[0]).to.include({
      state: 'ended',
      stop_reason: 'EVDisconnected',
      ended_at: '2026-06-21T12:00:00.000Z',
    });
  });

  it('unplug: at the vehicle the session ends, at the station the connector is free', async () => {
    await charging();
    await conflict('unplug', { ev_side: false });
    expect(await post('unplug', { evse_side: false })).to.deep.include({
      status: 'finishing',
      status_ocpp_2: 'occupied',
      ev: null,
      cable: { ev_plugged: false, evse_plugged: true, locked: false },
    });
    await conflict('unplug', { ev_side: true });
    expect((await post('unplug', { evse_side: true })).status).to.equal('available');
    expect((await rest.get('/evse/sessions')).sessions[0]).to.include({ stop_reason: 'EVDisconnected' });
  });

  it('authorize before the vehicle comes; stop takes it back', async () => {
    rest = await Rest.open(evsePlant());
    expect(await post('authorize', { id_token: 'TAG-1', type: 'ISO14443' })).to.deep.equal({
      status: 'Accepted',
      id_token_info: null,
    });
    expect(await now()).to.include({ status: 'preparing', status_ocpp_2: 'available', authorized: true });
    await conflict('authorize', { id_token: 'TAG-1' });
    expect(await post('stop')).to.equal(null);
    expect(await now()).to.include({ status: 'available', authorized: false });
    await post('authorize', { id_token: 'TAG-2' });
    expect((await post('plug')).session).to.include({ id_token: 'TAG-2', state: 'starting' });
  });

  it('start and stop: token, reason, another session with the same vehicle', async () => {
    await charging();
    await conflict('start', { id_token: 'TAG-1' });
    await conflict('stop', { id_token: 'TAG-9' });
    expect(await post('stop')).to.include({
      transaction_id: '1',
      state: 'ended',
      id_token: 'AUTO',
      stop_reason: 'Local',
    });
    await conflict('stop');
    expect(await post('start', { id_token: 'TAG-1' })).to.include({
      transaction_id: '2',
      state: 'starting',
      id_token: 'TAG-1',
      ended_at: null,
    });
    await rest.plant.step(40);
    expect(await now()).to.include({ status: 'charging' });
    expect(await post('stop', { id_token: 'TAG-1', reason: 'Remote' })).to.include({ stop_reason: 'Remote' });
    expect(await post('start', { authorize: false })).to.include({ id_token: null });
  });

  it('suspend and resume, by either side', async () => {
    await charging();
    expect(await post('suspend', { by: 'ev' })).to.include({ status: 'suspended_ev', power_kw: 0, limit_source: 'ev' });
    await conflict('suspend', { by: 'ev' });
    expect(await post('suspend', { by: 'evse' })).to.include({ status: 'suspended_evse' });
    expect(await post('resume', { by: 'evse' })).to.include({ status: 'suspended_ev' });
    await conflict('resume', { by: 'evse' });
    expect((await post('resume', { by: 'ev' })).session).to.include({ state: 'active', charging_state: 'charging' });
    await rest.plant.step(10);
    expect((await now()).power_kw).to.be.closeTo(11, 1e-6);
  });

  it('limit: holds, pauses below the minimum, ends with null', async () => {
    await charging();
    expect(await post('limit', { power_kw: 7 })).to.include({ local_limit_kw: 7 });
    await rest.plant.step(10);
    const limited = await now();
    expect(limited.power_kw).to.be.closeTo(7, 1e-6);
    expect(limited).to.include({ limit_kw: 7, limit_source: 'local', status: 'charging' });
    await post('limit', { power_kw: 3 });
    await rest.plant.step(10);
    expect(await now()).to.include({ power_kw: 0, limit_kw: 0, limit_source: 'local', status: 'suspended_evse' });
    expect(await post('limit', { power_kw: null })).to.include({ local_limit_kw: null });
    await rest.plant.step(10);
    expect((await now()).power_kw).to.be.closeTo(11, 1e-6);
  });

  it('discharge: only where the connector can, down to the reserve', async () => {
    await charging();
    const problem = await conflict('discharge', { power_kw: 5 });
    expect(problem.detail).to.include('not bidirectional');
    await rest.api.stop();
    await charging('EVSE-V2G-DC-50kW-bidir');
    expect(await post('discharge', { power_kw: 20 })).to.include({ discharge_kw: 20 });
    await rest.plant.step(20);
    const giving = await now();
    expect(giving.power_kw).to.be.closeTo(-20, 1e-6);
    expect(giving.current_a[0] * giving.voltage_v).to.be.closeTo(-20_000, 1);
    expect(giving.session.energy_discharged_wh).to.be.closeTo(giving.energy_export_wh, 1e-6).and.greaterThan(50);
    await post('ev', { soc_pct: 30.05 });
    await rest.plant.step(20);
    expect(await now()).to.deep.include({ power_kw: 0, status: 'suspended_ev' });
    expect((await now()).ev.soc_pct).to.be.closeTo(30, 1e-6);
    expect(await post('discharge', { power_kw: null })).to.include({ discharge_kw: null });
    await rest.plant.step(20);
    expect((await now()).power_kw).to.be.greaterThan(20);
  });

  it('limit does not hold a discharge', async () => {
    await charging('EVSE-V2G-DC-50kW-bidir');
    await post('limit', { power_kw: 5 });
    await post('discharge', { power_kw: 20 });
    await rest.plant.step(40);
    expect(await now()).to.deep.include({ power_kw: -20, local_limit_kw: 5 });
  });

  it('availability: a session goes on, then nobody is served', async () => {
    await charging();
    expect(await post('availability', { operative: false })).to.include({ operative: false, status: 'charging' });
    await post('stop');
    expect(await now()).to.include({ status: 'unavailable', status_ocpp_2: 'unavailable' });
    await conflict('start', { id_token: 'TAG-1' });
    await post('unplug');
    expect(await post('availability', { operative: true })).to.include({ operative: true, status: 'available' });
  });

  it('fault and its end: the session waits, the alarm shows', async () => {
    await charging();
    expect(
      await post('fault', { error_code: 'GroundFailure', info: 'residual current', vendor_error_code: 'E7' }),
    ).to.include({
      status: 'faulted',
      error_code: 'GroundFailure',
      error_info: 'residual current',
      vendor_error_code: 'E7',
      power_kw: 0,
      contactor_closed: false,
    });
    await rest.plant.step(1);
    expect(
      (await rest.get('/overview')).alarms.active.map(({ code, source }: Json) => [code, source]),
    ).to.have.deep.members([
      ['connector_fault', 'evse'],
      ['ground_fault', 'evse'],
    ]);
    expect(await post('clear-fault')).to.include({
      error_code: 'NoError',
      error_info: null,
      vendor_error_code: null,
      status: 'charging',
    });
    await rest.plant.step(10);
    expect((await now()).power_kw).to.be.closeTo(11, 1e-6);
  });

  it('ev: what is left out stays', async () => {
    await charging();
    const { ev } = await now();
    const curve = [
      { soc_pct: 0, fraction: 1 },
      { soc_pct: 100, fraction: 0.5 },
    ];
    expect(
      (
        await post('ev', {
          target_soc_pct: 90,
          max_charge_kw: 7.4,
          departure_time: '2026-06-21T18:00:00+02:00',
          charging_curve: curve,
        })
      ).ev,
    ).to.deep.equal({
      ...ev,
      target_soc_pct: 90,
      max_charge_kw: 7.4,
      departure_time: '2026-06-21T18:00:00+02:00',
      charging_curve: curve,
    });
    expect((await post('ev', { phases: 1, id: 'EV-2' })).ev).to.include({ phases: 1, id: 'EV-2', target_soc_pct: 90 });
    await rest.plant.step(10);
    const [l1, l2, l3] = (await now()).current_a;
    expect(l1).to.be.greaterThan(6);
    expect([l2, l3]).to.deep.equal([0, 0]);
    expect((await post('ev', { departure_time: null })).ev.departure_time).to.equal(null);
  });

  it('meter: another reading; there is nobody to send it to', async () => {
    await charging();
    const { session } = await now();
    expect(await post('meter', { energy_wh: 250_000 })).to.deep.include({ energy_wh: 250_000, session });
    await rest.refused(`${at}/meter`, 409, 'disabled', { energy_wh: 1, send: true });
    expect((await post('meter', { send: false })).energy_wh).to.equal(250_000);
    await rest.refused('/evse/SIM-CP-1/connectors/4/meter', 404, 'unknown-resource', { send: true });
  });

  it('lock and unlock the cable', async () => {
    await charging();
    await conflict('lock');
    expect(await post('unlock')).to.deep.include({
      status: 'finishing',
      cable: { ev_plugged: true, evse_plugged: true, locked: false },
    });
    expect((await now()).session.stop_reason).to.equal('UnlockCommand');
    await conflict('unlock');
    expect((await post('lock')).cable.locked).to.equal(true);
    await conflict('unplug');
    await post('unlock');
    await post('unplug');
  });

  it('reserve: only its token starts, until it is over', async () => {
    rest = await Rest.open(evsePlant());
    expect(await post('reserve', { reservation_id: 7, id_token: 'TAG-7', expires_in_s: 60 })).to.deep.include({
      status: 'reserved',
      reservation: { reservation_id: 7, id_token: 'TAG-7', expires_at: '2026-06-21T12:01:00.000Z' },
    });
    await conflict('reserve', { reservation_id: 8, id_token: 'TAG-8' });
    await conflict('authorize', { id_token: 'TAG-8' });
    expect(await post('reserve', { reservation_id: 7, id_token: 'TAG-7' })).to.deep.include({
      reservation: { reservation_id: 7, id_token: 'TAG-7', expires_at: null },
    });
    expect(await post('cancel-reservation')).to.include({ status: 'available', reservation: null });
    await post('reserve', { reservation_id: 9, id_token: 'TAG-9', expires_in_s: 3 });
    await rest.plant.step(3);
    expect(await now()).to.include({ status: 'available', reservation: null });
    await post('reserve', { reservation_id: 10, id_token: 'TAG-10' });
    expect((await post('plug')).session).to.equal(null);
    expect(await post('start', { id_token: 'TAG-10' })).to.include({ id_token: 'TAG-10', state: 'starting' });
    expect((await now()).reservation).to.equal(null);
  });

  it('goes on under local control: this interface is at the device', async () => {
    rest = await Rest.open(evsePlant());
    await rest.post('/controls/local', { local: true });
    expect((await post('plug')).session.state).to.equal('starting');
  });

  it('connectors of one station are apart', async () => {
    rest = await Rest.open(evsePlant(['EVSE-AC-7.4kW-2port']));
    await rest.post('/evse/SIM-CP-1/connectors/2/plug', {});
    const { connectors } = await rest.get('/evse/SIM-CP-1/connectors');
    expect(connectors.map(({ status }: Json) => status)).to.deep.equal(['available', 'preparing']);
  });
});
