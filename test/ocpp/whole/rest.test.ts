/** Paths of `ocpp/` at a station that is connected: what they show is true, and what they ask for happens. */
import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { headEndPki } from '../../support/head-end.ts';
import type { Json } from '../../support/http.ts';
import { Central } from '../central/central.ts';
import { CentralRefusal } from '../central/answers.ts';
import { id, Site } from './site.ts';

const password = 'a password of 1.6';

describe('REST at a connected charge point of OCPP 1.6', () => {
  let site: Site;
  before(async () => {
    // certificates of tests are valid now
    site = await Site.open({ flags: ['--start_date', new Date().toISOString().slice(0, 10)] });
    await site.until('it is connected', () => site.peers === 1);
  });
  after(() => site.close());

  const get = (path: string): Promise<Json> => site.get(`ocpp/${id}${path}`);
  const post = (path: string, body: Json = {}): Promise<Json> => site.post(`ocpp/${id}/${path}`, body);
  const refused = async (path: string, body: Json, status: number): Promise<Json> => {
    const answer = await site.rest(`ocpp/${id}/${path}`, body);
    expect(answer.status, answer.text).to.equal(status);
    return answer.json;
  };
  const nowIso = (s = 0) => new Date(site.nowMs() + s * 1000).toISOString();

  it('GET ocpp and ocpp/{id}: the state of the connection', async () => {
    const status = await get('');
    expect((await site.get('ocpp')).charge_points).to.deep.equal([status]);
    expect(status).to.deep.include({
      id,
      device_index: 0,
      enabled: true,
      version: 'ocpp1.6j',
      subprotocol: 'ocpp1.6',
      url: site.central.url,
      connection_state: 'connected',
      boot_status: 'accepted',
      security_profile: 0,
      heartbeat_interval_s: 300,
      last_heartbeat_at: null,
      reconnect_in_s: null,
      queue: { calls: 0, transaction_messages: 0 },
      last_error: null,
      tls: null,
    });
    expect(Date.parse(status.connected_since)).to.be.within(site.wall.nowMs() - 5000, site.wall.nowMs());
    expect(status.clock_offset_s).to.be.a('number');
    expect((await site.get(`evse/${id}`)).ocpp).to.deep.equal(status);
  });

  it('GET messages: both directions with their times, by action and direction', async () => {
    const { messages } = await get('/messages?action=BootNotification');
    const [call, result] = messages as Json[];
    expect(messages).to.have.length(2);
    expect(call).to.include({ direction: 'out', type: 'call', action: 'BootNotification', duration_ms: null });
    expect(call.payload.chargePointVendor).to.equal('derbench');
    expect(result).to.include({ direction: 'in', type: 'result', message_id: call.message_id, duration_ms: 0 });
    const received = (await get('/messages?direction=in')).messages as Json[];
    expect(received.length).to.be.greaterThan(2);
    expect(new Set(received.map(({ direction }) => String(direction)))).to.deep.equal(new Set(['in']));
    const all = (await get('/messages?limit=1000')).messages as Json[];
    const frames = site.station.frames.map(({ direction, frame }) => `${direction} ${String(frame?.[1])}`);
    const seen = all.map(({ direction, message_id: key }) => `${direction === 'in' ? 'out' : 'in'} ${key}`);
    expect(seen).to.deep.equal(frames);
    const after = (await get(`/messages?after_id=${all.at(-2)?.id}`)).messages as Json[];
    expect(after.map((each) => each.id as number)).to.deep.equal([all.at(-1)?.id]);
  });

  it('POST boot and heartbeat send and give the answer', async () => {
    expect((await refused('boot', { reason: 'PowerUp' }, 422)).detail).to.match(/reason/);
    const boot = await post('boot');
    expect(boot).to.deep.include({ action: 'BootNotification' });
    expect(boot.result).to.include({ status: 'Accepted', interval: 300 });
    expect(site.station.callsOf('BootNotification')).to.have.length(2);
    const beat = await post('heartbeat');
    expect(beat.result).to.deep.equal({ currentTime: nowIso() });
    expect(site.station.calls.at(-1)).to.deep.include({ messageId: beat.message_id, action: 'Heartbeat' });
    expect((await get('')).last_heartbeat_at).to.equal(new Date(site.wall.nowMs()).toISOString());
  });

  it('POST call: the answer, a CALLERROR, a payload that breaks its schema, and 504 without an answer', async () => {
    const { station } = site;
    const call = { action: 'DataTransfer', payload: { vendorId: 'org.example', data: 'x' } };
    expect((await post('call', call)).result).to.deep.equal({ status: 'Accepted' });
    station.answers['DataTransfer'] = () => {
      throw new CentralRefusal('GenericError', 'not today');
    };
    const { error } = await post('call', call);
    expect(error).to.deep.equal({ code: 'GenericError', description: 'not today', details: {} });
    const broken = { action: 'DataTransfer', payload: { vendorId: 7 } };
    expect((await refused('call', broken, 422)).detail).to.match(/vendorId/);
    expect((await refused('call', { action: 'Nonsense', payload: {} }, 422)).detail).to.match(/unknown/);
    station.judged = false;
    await post('call', { ...broken, validate: false });
    expect(station.calls.at(-1)?.payload).to.deep.equal({ vendorId: 7 });
    station.silent = true;
    const asked = refused('call', { ...call, timeout_s: 2 }, 504);
    await station.next('DataTransfer', ({ vendorId }) => vendorId === 7);
    await site.settle();
    await site.until('it is sent', () => station.calls.at(-1)?.payload.vendorId === 'org.example', 1);
    await site.advance(3);
    expect((await asked).code).to.equal('upstream-timeout');
    station.silent = false;
    station.judged = true;
  });

  it('GET and POST configuration: the keys that the central system sees too', async () => {
    const { keys } = await get('/configuration');
    const { configurationKey } = await site.call('GetConfiguration', {});
    const shown = (keys as Json[]).filter(({ value }) => value !== null).map(({ key, value }) => `${key}=${value}`);
    for (const { key, value } of configurationKey as Json[])
      if (value !== undefined && value !== '') expect(shown).to.include(`${key}=${value}`);
    const changed = await post('configuration', { key: 'HeartbeatInterval', value: '77' });
    expect(changed.keys).to.deep.equal([
      { key: 'HeartbeatInterval', value: '77', readonly: false, reboot_required: false },
    ]);
    expect((await get('/configuration?key=heartbeatinterval')).keys[0].value).to.equal('77');
    expect((await get('')).heartbeat_interval_s).to.equal(77);
    const before = site.station.callsOf('Heartbeat').length;
    await site.advance(80, 10);
    expect(site.station.callsOf('Heartbeat').length).to.equal(before + 1);
    expect((await site.rest(`ocpp/${id}/configuration?key=NoSuchKey`)).status).to.equal(404);
    await refused('configuration', { key: 'HeartbeatInterval', value: 'soon' }, 422);
    await post('configuration', { key: 'NumberOfConnectors', value: '1' });
  });

  it('GET charging-profiles and composite-schedule: which profile decides, in W and A', async () => {
    const schedule = (unit: string, limit: number) => ({
      chargingRateUnit: unit,
      chargingSchedulePeriod: [{ startPeriod: 0, limit }],
    });
    const profile = (chargingProfileId: number, stackLevel: number, chargingSchedule: Json) => ({
      chargingProfileId,
      stackLevel,
      chargingSchedule,
      chargingProfilePurpose: 'TxDefaultProfile',
      chargingProfileKind: 'Relative',
    });
    for (const given of [profile(1, 0, schedule('W', 9000)), profile(2, 3, schedule('A', 10))])
      await site.call('SetChargingProfile', { connectorId: 1, csChargingProfiles: given });
    site.do({ kind: 'evse.plug', connectorId: 1, ev: { socPct: 20 } });
    site.do({ kind: 'evse.authorize', connectorId: 1, idToken: 'TAG' });
    await site.until('charging', () => site.connector().status === 'charging');
    await site.advance(20, 5);
    const { charging_profiles: profiles } = await get('/charging-profiles?connector=1');
    expect(profiles.map((each: Json) => [each.profile_id, each.stack_level, each.effective])).to.have.deep.members([
      [1, 0, false],
      [2, 3, true],
    ]);
    expect(profiles[0]).to.include({ connector_id: 1, purpose: 'TxDefaultProfile', kind: 'Relative' });
    const inA = await get('/composite-schedule?connector=1&duration_s=60&unit=A');
    expect(inA).to.include({ connector_id: 1, duration_s: 60, unit: 'A' });
    expect(inA.periods[0]).to.include({ start_s: 0, limit: 10 });
    const { nominalVoltageV, powerW } = site.connector();
    const inW = await get('/composite-schedule?connector=1&duration_s=60&unit=W');
    expect(inW.periods[0].limit).to.be.closeTo(30 * nominalVoltageV, 0.1);
    expect(powerW).to.be.closeTo(30 * nominalVoltageV, 50);
    expect(await site.get(`evse/${id}/connectors/1`)).to.include({ limit_source: 'charging_profile' });
    expect((await site.rest(`ocpp/${id}/composite-schedule?connector=9`)).status).to.equal(404);
    await site.call('ClearChargingProfile', {});
    expect((await get('/charging-profiles')).charging_profiles).to.deep.equal([]);
  });

  it('GET transactions, while they run and afterwards', async () => {
    const [running] = (await get('/transactions')).transactions as Json[];
    expect(running).to.include({ transaction_id: '1', connector_id: 1, id_token: 'TAG', ended_at: null, queued: 0 });
    const [start] = site.station.callsOf('StartTransaction');
    expect(running.started_at).to.equal(start?.payload.timestamp);
    site.do({ kind: 'evse.stop', connectorId: 1, reason: 'EmergencyStop' });
    site.do({ kind: 'evse.unplug', connectorId: 1 });
    await site.settle();
    const [ended] = (await get('/transactions')).transactions as Json[];
    const [stop] = site.station.callsOf('StopTransaction');
    expect(ended).to.include({ ended_at: stop?.payload.timestamp, meter_stop_wh: stop?.payload.meterStop });
    expect(ended.stop_reason).to.equal('EmergencyStop');
    expect((await site.get('evse/sessions')).sessions[0].transaction_id).to.equal(ended.session_id);
  });

  it('GET local-list, reservations and certificates: what the central system has set', async () => {
    const expiryDate = nowIso(3600);
    const entry = { idTag: 'LOCAL', idTagInfo: { status: 'Accepted', parentIdTag: 'P', expiryDate } };
    const list = { listVersion: 5, updateType: 'Full', localAuthorizationList: [entry] };
    expect((await site.call('SendLocalList', list)).status).to.equal('Accepted');
    const { version, entries, cache } = await get('/local-list');
    expect([version, entries]).to.deep.equal([
      5,
      [{ id_token: 'LOCAL', status: 'Accepted', expires_at: expiryDate, parent_id_token: 'P' }],
    ]);
    expect(cache.map((each: Json) => String(each.id_token))).to.deep.equal(['TAG']);
    const reservation = { connectorId: 1, expiryDate, idTag: 'LOCAL', reservationId: 9 };
    expect((await site.call('ReserveNow', reservation)).status).to.equal('Accepted');
    expect((await get('/reservations')).reservations).to.deep.equal([
      { reservation_id: 9, connector_id: 1, id_token: 'LOCAL', expires_at: expiryDate },
    ]);
    expect((await site.get(`evse/${id}/connectors/1`)).reservation).to.include({ reservation_id: 9 });
    await site.call('CancelReservation', { reservationId: 9 });
    expect((await get('/reservations')).reservations).to.deep.equal([]);
    const certificate = (await headEndPki()).root.cert;
    const install = { certificateType: 'CentralSystemRootCertificate', certificate };
    expect((await site.call('InstallCertificate', install)).status).to.equal('Accepted');
    const [shown] = (await get('/certificates')).certificates as Json[];
    expect(shown).to.include({ use: 'CentralSystemRootCertificate' });
    const { fingerprint256 } = new X509Certificate(certificate);
    expect(shown.fingerprint.toUpperCase()).to.equal(fingerprint256.replaceAll(':', ''));
  });

  it('GET and DELETE findings: what was against the schema, and against a rule of the transport', async () => {
    await site.rest(`ocpp/${id}/findings`, undefined, 'DELETE');
    const reply = await site.station.brokenCall('Reset', { type: 'Lukewarm' }, 'bad-1');
    expect(reply).to.include({ kind: 'error', code: 'PropertyConstraintViolation' });
    site.station.sendText('[2,"half"');
    await site.settle();
    await site.station.call('ClearCache');
    const { findings } = await get('/findings');
    const schema = (findings as Json[]).find(({ kind }) => kind === 'schema');
    expect(schema).to.include({ action: 'Reset', message_id: 'bad-1', clause: 'schema of ocpp1.6j' });
    expect(schema.text).to.match(/type/);
    expect((findings as Json[]).find(({ kind }) => kind === 'rule')?.clause).to.match(/^OCPP-J/);
    const cleared = await site.rest(`ocpp/${id}/findings`, undefined, 'DELETE');
    expect(cleared.json).to.deep.equal({ findings: [] });
    expect((await get('/findings')).findings).to.deep.equal([]);
  });

  it('POST authorize and meter of evse go to the central system', async () => {
    const path = `evse/${id}/connectors/1`;
    site.station.answers['Authorize'] = ({ idTag }) => ({
      idTagInfo: { status: idTag === 'BAD' ? 'Blocked' : 'Accepted' },
    });
    expect(await site.post(`${path}/authorize`, { id_token: 'BAD' })).to.include({ status: 'Blocked' });
    expect(site.station.calls.at(-1)).to.deep.include({ action: 'Authorize', payload: { idTag: 'BAD' } });
    await site.post(`${path}/meter`, { energy_wh: 123_000, send: true });
    await site.settle();
    const { action, payload } = site.station.calls.at(-1) ?? {};
    expect(action).to.equal('MeterValues');
    expect(payload.meterValue[0].sampledValue[0]).to.include({ value: '123000', context: 'Trigger' });
  });

  it('POST disconnect and connect, also to another central system with a password', async () => {
    const { closed } = site.station.connection;
    const ended = await post('disconnect', { code: 4001 });
    expect((await closed).code).to.equal(4001);
    await site.settle();
    expect(ended.id).to.equal(id);
    expect(await get('')).to.include({ connection_state: 'disconnected', reconnect_in_s: null, subprotocol: null });
    await site.advance(60, 10);
    expect(site.station.connected).to.equal(false);
    await refused('heartbeat', {}, 409);
    const got: (string | undefined)[] = [];
    const other = await Central.open({
      nowMs: () => site.nowMs(),
      admit: (_, given) => {
        got.push(given?.toString());
        return given?.toString() === password ? null : 401;
      },
    });
    try {
      await post('connect', { url: other.url, security_profile: 1, password: 'a wrong password!' });
      await site.until('it is refused', () => got.length > 0);
      await site.until('it tells so', async () => /401/.test((await get('')).last_error ?? ''));
      await post('connect', { password });
      const station = other.station(id);
      await site.until('it is there', () => station.connected);
      expect(station.connection.password?.toString()).to.equal(password);
      expect(await get('')).to.include({ url: other.url, security_profile: 1, connection_state: 'connected' });
      // it knows nothing of the station yet
      await station.next('BootNotification');
      for (const connectorId of [0, 1])
        await station.next('StatusNotification', (told) => told.connectorId === connectorId);
      expect((await refused('connect', { url: 'wss://127.0.0.1/x' }, 422)).detail).to.match(/wss|ws/);
      await post('connect', { url: site.central.url, security_profile: 0 });
      await site.until('it is back', () => site.station.connected);
      expect(station.connected).to.equal(false);
    } finally {
      await other.close();
    }
  });

  it('POST fault acts on the messages of the station', async () => {
    await site.until('it is at rest', () => site.peers === 1);
    await post('fault', { kind: 'call_error', code: 'InternalError', count: 1, action: 'ClearCache' });
    expect(await site.station.call('ClearCache')).to.include({ kind: 'error', code: 'InternalError' });
    expect(await site.station.call('ClearCache')).to.deep.include({ kind: 'result' });
    const { connects } = site.station;
    const given = await post('fault', { kind: 'drop_socket', count: 1 });
    expect(JSON.stringify(given)).to.contain('drop_socket');
    expect(await site.station.call('ClearCache')).to.deep.equal({ kind: 'lost' });
    await site.until('it has come back', () => site.station.connects === connects + 1);
  });
});
