/** Paths of `ocpp/` and `evse/` at a connected station of 2.1: what they show is true, and what they ask for happens. */
import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { headEndPki } from '../../support/head-end.ts';
import type { Json } from '../../support/http.ts';
import { CentralRefusal } from '../central/answers.ts';
import { request } from '../v201/der/rig.ts';
import { id, Site } from './site.ts';

const connectorPath = `evse/${id}/connectors/1`;
const v2g = `${id}-1`;

describe('REST at a connected charging station of OCPP 2.1', () => {
  let site: Site;
  before(async () => {
    site = await Site.open({
      // certificates of tests are valid now
      flags: ['--ocpp_version', 'ocpp2.1', '--start_date', new Date().toISOString().slice(0, 10)],
      central: { subprotocols: ['ocpp2.1'] },
    });
    await site.post('devices', { device_type: 'EVSE', evse_profile: 'EVSE-V2G-DC-50kW-bidir' });
    await site.until('both are connected', () => site.peers === 2);
  });
  after(() => site.close());

  const get = (path: string): Promise<Json> => site.get(`ocpp/${id}${path}`);
  const post = (path: string, body: Json = {}): Promise<Json> => site.post(`ocpp/${id}/${path}`, body);
  const refused = async (path: string, body: Json, status: number): Promise<Json> => {
    const answer = await site.rest(`ocpp/${id}/${path}`, body);
    expect(answer.status, answer.text).to.equal(status);
    return answer.json;
  };
  const inS = (s: number) => new Date(site.nowMs() + s * 1000).toISOString();
  const events = () => site.station.callsOf('TransactionEvent').map(({ payload }) => payload);

  it('GET ocpp and ocpp/{id}: the state of the connection', async () => {
    const status = await get('');
    expect((await site.get('ocpp')).charge_points[0]).to.deep.equal(status);
    expect(status).to.deep.include({
      id,
      device_index: 0,
      version: 'ocpp2.1',
      subprotocol: 'ocpp2.1',
      url: site.central.url,
      connection_state: 'connected',
      boot_status: 'accepted',
      security_profile: 0,
      heartbeat_interval_s: 300,
      queue: { calls: 0, transaction_messages: 0 },
      last_error: null,
    });
    expect((await site.get(`evse/${id}`)).ocpp).to.deep.equal(status);
  });

  it('GET messages: both directions with their times, by action and direction', async () => {
    const [call, result] = (await get('/messages?action=BootNotification')).messages as Json[];
    expect(call).to.include({ direction: 'out', type: 'call', action: 'BootNotification' });
    expect(call.payload).to.deep.include({ reason: 'PowerUp' });
    expect(result).to.include({ direction: 'in', type: 'result', message_id: call.message_id });
    const all = (await get('/messages?limit=1000')).messages as Json[];
    const frames = site.station.frames.map(({ direction, frame }) => `${direction} ${String(frame?.[1])}`);
    expect(all.map((each) => `${each.direction === 'in' ? 'out' : 'in'} ${each.message_id}`)).to.deep.equal(frames);
    const sent = (await get('/messages?direction=out&action=StatusNotification')).messages as Json[];
    expect(sent).to.have.length(site.station.callsOf('StatusNotification').length);
  });

  it('POST boot with a reason, and heartbeat', async () => {
    expect((await refused('boot', { reason: 'Boredom' }, 422)).detail).to.match(/reason/);
    expect((await post('boot', { reason: 'Watchdog' })).result).to.include({ status: 'Accepted', interval: 300 });
    expect(site.station.callsOf('BootNotification').at(-1)?.payload.reason).to.equal('Watchdog');
    const beat = await post('heartbeat');
    expect(beat.result).to.deep.equal({ currentTime: inS(0) });
    expect(site.station.calls.at(-1)).to.deep.include({ messageId: beat.message_id, action: 'Heartbeat' });
    expect((await get('')).last_heartbeat_at).to.equal(new Date(site.wall.nowMs()).toISOString());
  });

  it('POST call: the answer, a CALLERROR, what breaks its schema, an action of the other side, no answer', async () => {
    const { station } = site;
    const call = { action: 'DataTransfer', payload: { vendorId: 'org.example', data: { x: [1] } } };
    expect((await post('call', call)).result).to.deep.equal({ status: 'Accepted' });
    station.answers['DataTransfer'] = () => {
      throw new CentralRefusal('GenericError', 'not today');
    };
    expect((await post('call', call)).error).to.deep.equal({
      code: 'GenericError',
      description: 'not today',
      details: {},
    });
    const broken = { action: 'DataTransfer', payload: { vendorId: 7 } };
    expect((await refused('call', broken, 422)).detail).to.match(/vendorId/);
    // of 1.6
    expect((await refused('call', { action: 'StartTransaction', payload: {} }, 422)).detail).to.match(/unknown/);
    const vat = await post('call', { action: 'VatNumberValidation', payload: { vatNumber: 'NL1' } });
    expect(vat.result).to.deep.equal({ vatNumber: 'NL1', status: 'Rejected' });
    station.judged = false;
    await post('call', { ...broken, validate: false });
    expect(station.calls.at(-1)?.payload).to.deep.equal({ vendorId: 7 });
    station.judged = true;
    station.silent = true;
    const asked = refused('call', { ...call, timeout_s: 2 }, 504);
    await site.until('it is sent', () => station.calls.at(-1)?.payload.vendorId === 'org.example', 1);
    await site.advance(3);
    expect((await asked).code).to.equal('upstream-timeout');
    station.silent = false;
  });

  it('GET and POST configuration: the variables that the central system sees too', async () => {
    const { variables } = await get('/configuration');
    const readable = (variables as Json[]).filter(({ value, instance }) => value !== null && instance === null);
    expect(readable.length).to.be.greaterThan(80);
    const asked = readable.slice(0, 50).map((each) => ({
      component: {
        name: String(each.component).replace(/\[.*$/, ''),
        ...(/\[(.*)\]/.exec(each.component)?.[1] !== undefined && { instance: /\[(.*)\]/.exec(each.component)?.[1] }),
        ...(each.evse_id !== null && {
          evse: { id: each.evse_id, ...(each.connector_id !== null && { connectorId: each.connector_id }) },
        }),
      },
      variable: { name: each.variable },
    }));
    const { getVariableResult } = await site.call('GetVariables', { getVariableData: asked });
    for (const [n, { attributeStatus, attributeValue }] of (getVariableResult as Json[]).entries()) {
      expect(attributeStatus, JSON.stringify(asked[n])).to.equal('Accepted');
      expect(attributeValue, JSON.stringify(asked[n])).to.equal(readable[n]?.value);
    }
    const place = { component: 'OCPPCommCtrlr', variable: 'HeartbeatInterval' };
    const changed = await post('configuration', { ...place, value: '77' });
    expect(changed.variables[0]).to.deep.include({ ...place, value: '77', mutability: 'ReadWrite' });
    expect((await get('/configuration?key=OCPPCommCtrlr.HeartbeatInterval')).variables[0].value).to.equal('77');
    expect((await get('')).heartbeat_interval_s).to.equal(77);
    const before = site.station.callsOf('Heartbeat').length;
    await site.advance(80, 10);
    expect(site.station.callsOf('Heartbeat').length).to.equal(before + 1);
    await refused('configuration', { ...place, value: 'soon' }, 422);
    await refused('configuration', { key: 'HeartbeatInterval', value: '1' }, 422);
    await refused('configuration', { ...place, variable: 'NoSuch', value: '1' }, 404);
    await refused('configuration', { ...place, evse_id: 9, value: '1' }, 404);
    const order = { component: 'OCPPCommCtrlr', variable: 'NetworkConfigurationPriority' };
    expect((await refused('configuration', { ...order, value: '2,0' }, 422)).detail).to.match(/slot 2/);
    const secret = { component: 'SecurityCtrlr', variable: 'BasicAuthPassword' };
    await refused('configuration', { ...secret, value: 'a password with\na line break' }, 422);
  });

  it('GET charging-profiles and composite-schedule: which profile decides, in W and A', async () => {
    const profile = (profileId: number, stackLevel: number, chargingRateUnit: string, limit: number) => ({
      id: profileId,
      stackLevel,
      chargingProfilePurpose: 'TxDefaultProfile',
      chargingProfileKind: 'Relative',
      chargingSchedule: [{ id: 1, chargingRateUnit, chargingSchedulePeriod: [{ startPeriod: 0, limit }] }],
    });
    for (const chargingProfile of [profile(1, 0, 'W', 9000), profile(2, 3, 'A', 10)])
      expect((await site.call('SetChargingProfile', { evseId: 1, chargingProfile })).status).to.equal('Accepted');
    await site.post(`${connectorPath}/plug`, { ev: { soc_pct: 20 } });
    await site.post(`${connectorPath}/start`, { id_token: 'TAG' });
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
    expect(await site.get(connectorPath)).to.include({ limit_source: 'charging_profile' });
    expect((await site.rest(`ocpp/${id}/composite-schedule?connector=9`)).status).to.equal(404);
    expect((await site.call('ClearChargingProfile', { chargingProfileCriteria: { evseId: 1 } })).status).to.equal(
      'Accepted',
    );
    expect((await get('/charging-profiles')).charging_profiles).to.deep.equal([]);
  });

  it('GET transactions, while they run and afterwards; POST stop with a reason', async () => {
    const [running] = (await get('/transactions')).transactions as Json[];
    const { transactionId } = events()[0].transactionInfo;
    expect(running).to.include({ transaction_id: transactionId, connector_id: 1, id_token: 'TAG', ended_at: null });
    expect(running.started_at).to.equal(events()[0].timestamp);
    await site.post(`${connectorPath}/stop`, { reason: 'EmergencyStop' });
    await site.settle();
    const ended = ((await get('/transactions')).transactions as Json[])[0];
    const last = events().at(-1);
    expect(last).to.deep.include({ eventType: 'Ended' });
    expect(last.transactionInfo).to.include({ transactionId, stoppedReason: 'EmergencyStop' });
    expect(ended).to.include({ ended_at: last.timestamp, stop_reason: 'EmergencyStop', queued: 0 });
    const register = last.meterValue.at(-1).sampledValue.find((each: Json) => /Import.Register/.test(each.measurand));
    expect(ended.meter_stop_wh).to.be.closeTo(register.value, 0.6);
    await site.post(`${connectorPath}/unplug`);
    const [session] = (await site.get('evse/sessions')).sessions as Json[];
    expect(session).to.include({ session_id: ended.session_id, transaction_id: transactionId });
  });

  it('GET local-list, reservations and certificates: what the central system has set', async () => {
    const expiry = inS(3600);
    const entry = {
      idToken: { idToken: 'LOCAL', type: 'Central' },
      idTokenInfo: { status: 'Accepted', cacheExpiryDateTime: expiry, groupIdToken: { idToken: 'P', type: 'Central' } },
    };
    const list = { versionNumber: 5, updateType: 'Full', localAuthorizationList: [entry] };
    expect((await site.call('SendLocalList', list)).status).to.equal('Accepted');
    const { version, entries, cache } = await get('/local-list');
    expect([version, entries]).to.deep.equal([
      5,
      [{ id_token: 'LOCAL', status: 'Accepted', expires_at: expiry, parent_id_token: 'P' }],
    ]);
    expect(cache.map((each: Json) => String(each.id_token))).to.include('TAG');
    const reservation = { id: 9, expiryDateTime: expiry, idToken: { idToken: 'LOCAL', type: 'Central' }, evseId: 1 };
    expect((await site.call('ReserveNow', reservation)).status).to.equal('Accepted');
    expect((await get('/reservations')).reservations).to.deep.equal([
      { reservation_id: 9, connector_id: 1, id_token: 'LOCAL', expires_at: expiry },
    ]);
    expect((await site.get(connectorPath)).reservation).to.include({ reservation_id: 9 });
    expect((await site.call('CancelReservation', { reservationId: 9 })).status).to.equal('Accepted');
    expect((await get('/reservations')).reservations).to.deep.equal([]);
    const certificate = (await headEndPki()).root.cert;
    const install = { certificateType: 'CSMSRootCertificate', certificate };
    expect((await site.call('InstallCertificate', install)).status).to.equal('Accepted');
    const [shown] = (await get('/certificates')).certificates as Json[];
    expect(shown).to.include({ use: 'CSMSRootCertificate' });
    const { fingerprint256 } = new X509Certificate(certificate);
    expect(shown.fingerprint.toUpperCase()).to.equal(fingerprint256.replaceAll(':', ''));
  });

  it('GET der-controls of station and device', async () => {
    const station = site.central.station(v2g);
    const set = request('D1', 'FixedVar', { isDefault: true, priority: 2 }) as Json;
    expect((await site.call('SetDERControl', set, station)).status).to.equal('Accepted');
    const { controls } = await site.get(`ocpp/${v2g}/der-controls`);
    expect(controls).to.have.length(1);
    expect(controls[0]).to.include({ control_id: 'D1', control_type: 'FixedVar', is_default: true, priority: 2 });
    expect((await site.get('evse/der-controls?device=1')).control_ids).to.include({ constant_var: 'D1' });
    await site.call('ClearDERControl', { isDefault: true }, station);
    expect((await site.get(`ocpp/${v2g}/der-controls`)).controls).to.deep.equal([]);
    expect((await get('/der-controls')).controls).to.deep.equal([]);
  });

  it('GET and DELETE findings: what was against the schema, and against rules', async () => {
    await site.rest(`ocpp/${id}/findings`, undefined, 'DELETE');
    const reply = await site.station.brokenCall('Reset', { type: 'Lukewarm' }, 'bad-1');
    expect(reply).to.include({ kind: 'error', code: 'PropertyConstraintViolation' });
    site.station.sendText('[2,"half"');
    await site.settle();
    const chargingProfile = {
      id: 1,
      stackLevel: 0,
      chargingProfilePurpose: 'TxProfile',
      chargingProfileKind: 'Relative',
      chargingSchedule: [{ id: 1, chargingRateUnit: 'A', chargingSchedulePeriod: [{ startPeriod: 0, limit: 9 }] }],
    };
    expect((await site.call('SetChargingProfile', { evseId: 1, chargingProfile })).status).to.equal('Rejected');
    const findings = (await get('/findings')).findings as Json[];
    const schema = findings.find(({ kind }) => kind === 'schema');
    expect(schema).to.include({ action: 'Reset', message_id: 'bad-1', clause: 'schema of ocpp2.1' });
    const clauses = findings.filter(({ kind }) => kind === 'rule').map(({ clause }) => String(clause));
    expect(clauses.some((clause) => clause.startsWith('OCPP-J'))).to.equal(true);
    expect(clauses).to.include('OCPP 2.1 K01.FR.03');
    const cleared = await site.rest(`ocpp/${id}/findings`, undefined, 'DELETE');
    expect(cleared.json).to.deep.equal({ findings: [] });
  });

  it('POST authorize with a type, and meter, go to the central system', async () => {
    site.station.answers['Authorize'] = ({ idToken }) => ({
      idTokenInfo: { status: (idToken as Json).idToken === 'BAD' ? 'Blocked' : 'Accepted' },
    });
    const authorize = (id_token: string, type?: string) =>
      site.post(`${connectorPath}/authorize`, { id_token, ...(type !== undefined && { type }) });
    expect(await authorize('BAD', 'KeyCode')).to.include({ status: 'Blocked' });
    expect(site.station.calls.at(-1)).to.deep.include({
      action: 'Authorize',
      payload: { idToken: { idToken: 'BAD', type: 'KeyCode' } },
    });
    expect((await site.rest(`${connectorPath}/authorize`, { id_token: 'X', type: 'x'.repeat(60) })).status).to.equal(
      422,
    );
    await site.post(`${connectorPath}/meter`, { energy_wh: 123_000, send: true });
    await site.settle();
    const { action, payload } = site.station.calls.at(-1) ?? {};
    expect(action).to.equal('MeterValues');
    expect(payload.evseId).to.equal(1);
    expect(payload.meterValue[0].sampledValue[0]).to.include({ value: 123_000, context: 'Trigger' });
  });

  it('POST availability, fault and clear-fault of a connector reach the central system', async () => {
    const states = () => site.station.callsOf('StatusNotification').map(({ payload }) => payload.connectorStatus);
    const shown = async (path: string, body: Json = {}) => {
      await site.post(`${connectorPath}/${path}`, body);
      await site.advance(1);
      return states().at(-1);
    };
    expect(await shown('availability', { operative: false })).to.equal('Unavailable');
    expect(await shown('availability', { operative: true })).to.equal('Available');
    expect(await shown('fault', { error_code: 'GroundFailure' })).to.equal('Faulted');
    expect(await shown('clear-fault')).to.equal('Available');
  });

  it('POST disconnect and connect; a call without a connection is a conflict', async () => {
    const { closed } = site.station.connection;
    await post('disconnect', { code: 4001 });
    expect((await closed).code).to.equal(4001);
    await site.settle();
    expect(await get('')).to.include({ connection_state: 'disconnected', reconnect_in_s: null, subprotocol: null });
    await site.advance(60, 10);
    await refused('heartbeat', {}, 409);
    await refused('call', { action: 'Heartbeat', payload: {} }, 409);
    expect((await site.rest(`${connectorPath}/meter`, { send: true })).status).to.equal(409);
    await post('connect');
    await site.until('it is back', () => site.peers === 2);
  });

  it('POST fault acts on the messages of the station', async () => {
    await post('fault', { kind: 'call_error', code: 'InternalError', count: 1, action: 'ClearCache' });
    expect(await site.station.call('ClearCache')).to.include({ kind: 'error', code: 'InternalError' });
    expect(await site.station.call('ClearCache')).to.deep.include({ kind: 'result' });
    await post('fault', { kind: 'delay', delay_ms: 2000, count: 1, action: 'GetLocalListVersion' });
    const late = site.station.call('GetLocalListVersion');
    await site.advance(1);
    expect(site.station.waiting).to.equal(1);
    await site.advance(2);
    expect(await late).to.deep.include({ kind: 'result', payload: { versionNumber: 5 } });
    const { connects } = site.station;
    await post('fault', { kind: 'drop_socket', count: 1 });
    expect(await site.station.call('ClearCache')).to.deep.equal({ kind: 'lost' });
    await site.until('it has come back', () => site.station.connects === connects + 1);
    site.station.judged = false;
    await post('fault', { kind: 'malformed', count: 1 });
    const before = site.station.frames.length;
    site.station.sendText(JSON.stringify([2, 'm1', 'ClearCache', {}]));
    await site.advance(1);
    expect(
      site.station.frames.slice(before).some(({ frame, direction }) => direction === 'in' && frame === null),
    ).to.equal(true);
    await post('fault', { kind: 'duplicate', count: 1 });
    const calls = site.station.calls.length;
    await post('heartbeat');
    await site.settle();
    expect(site.station.calls.slice(calls).map(({ messageId }) => messageId)).to.satisfy(
      ([one, two]: string[]) => one === two,
    );
    site.station.judged = true;
  });

  it('POST faults: a call without answer and an answer to another call', async () => {
    const inject = (kind: string, more: Json = {}) =>
      site.post('faults', { inject: [{ protocol: 'ocpp', kind, device: 0, ...more }] });
    await inject('no_response', { count: 1, action: 'ClearCache' });
    const unanswered = site.station.call('ClearCache');
    await site.advance(2);
    expect(site.station.waiting).to.equal(1);
    site.station.judged = false;
    await inject('wrong_message_id', { count: 1 });
    site.station.sendText(JSON.stringify([2, 'mine', 'GetLocalListVersion', {}]));
    await site.advance(1);
    const [type, messageId] = site.station.frames.findLast(({ direction }) => direction === 'in')?.frame ?? [];
    expect(type).to.equal(3);
    expect(messageId).to.not.equal('mine');
    site.station.judged = true;
    site.station.cut();
    expect(await unanswered).to.deep.equal({ kind: 'lost' });
    await site.settle();
    await site.until('it is back', () => site.peers === 2, 200);
    expect(await site.call('GetLocalListVersion')).to.deep.equal({ versionNumber: 5 });
  });
});
