import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import { createLogBook } from '../../../src/core/log/log.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';
import { FakeStations } from './fake-stations.ts';

const secret = 'S3CR3T-marker-of-16';
const at = '/ocpp/SIM-CP-1';

describe('REST ocpp (interface 9.5)', () => {
  let rest: Rest;
  let ocpp: FakeStations;
  let lines: string;

  const open = async (more: object) => {
    lines = '';
    const logBook = createLogBook({ level: 'debug', write: (line) => (lines += line) });
    rest = await Rest.open(testPlant({ types: ['EVSE'] }), { logBook, ...more });
  };
  afterEach(() => rest.api.stop());

  describe('while OCPP is off', () => {
    beforeEach(() => open({}));

    it('views answer 200 and are empty (seams rule 8)', async () => {
      expect(await rest.get('/ocpp')).to.deep.equal({ enabled: false, charge_points: [] });
      expect(await rest.get(at)).to.include({ enabled: false, connection_state: 'disabled', url: null, tls: null });
      expect(await rest.get(`${at}/messages`)).to.deep.equal({ messages: [] });
      expect(await rest.get(`${at}/configuration`)).to.deep.equal({ keys: [] });
      for (const name of [
        'charging-profiles',
        'reservations',
        'der-controls',
        'local-list',
        'certificates',
        'transactions',
        'findings',
      ])
        await rest.get(`${at}/${name}`);
      expect((await rest.get('/evse/SIM-CP-1')).ocpp).to.equal(null);
    });

    it('operations answer 409 disabled, and an unknown station 404', async () => {
      for (const name of ['connect', 'disconnect', 'boot', 'heartbeat'])
        await rest.refused(`${at}/${name}`, 409, 'disabled', {});
      await rest.refused(`${at}/call`, 409, 'disabled', { action: 'A', payload: {} });
      await rest.refused('/evse/SIM-CP-1/connectors/1/meter', 409, 'disabled', { send: true });
      await rest.refused('/ocpp/none', 404, 'unknown-resource');
    });
  });

  describe('with a charge point', () => {
    beforeEach(() => {
      ocpp = new FakeStations();
      return open({ ocpp });
    });

    it('shows it, in the list and at its charging station', async () => {
      const status = await rest.get(at);
      expect(status).to.include({ id: 'SIM-CP-1', url: 'ws://127.0.0.1:8180/ocpp', reconnect_in_s: 1.235 });
      expect(status.tls).to.deep.equal({ version: 'TLSv1.3', cipher: 'TLS_AES_128_GCM_SHA256' });
      expect(await rest.get('/ocpp')).to.deep.equal({ enabled: true, charge_points: [status] });
      expect((await rest.get('/evse/SIM-CP-1')).ocpp).to.deep.equal(status);
    });

    it('connects and disconnects; the password stands nowhere', async () => {
      const body = { url: 'ws://127.0.0.1:1/x', security_profile: 1, password: secret };
      const answer = await rest.post(`${at}/connect`, body, 202);
      expect(JSON.stringify(answer) + lines).to.not.contain(secret);
      await rest.post(`${at}/disconnect`, {}, 202);
      expect(ocpp.calls).to.deep.equal([
        ['connect', { url: 'ws://127.0.0.1:1/x', securityProfile: 1, password: secret }, 'rest'],
        ['disconnect', 1000],
      ]);
    });

    it('refuses what cannot be a target, and close codes that nobody may send', async () => {
      for (const url of ['http://a', 'ws://u:p@a', 'ws://a?x', 'ws://'])
        await rest.refused(`${at}/connect`, 422, 'validation', { url });
      for (const code of [999, 1005, 1006, 1015, 5000])
        await rest.refused(`${at}/disconnect`, 422, 'validation', { code });
      for (const version of ['ocpp1.6', [], ['ocpp2.1', 'ocpp2.1'], ['ocpp2.1', 'ocpp3']])
        await rest.refused(`${at}/connect`, 422, 'validation', { version });
      await rest.refused(`${at}/connect`, 422, 'validation', { security_profile: 4 });
      expect(ocpp.calls).to.deep.equal([]);
    });

    it('sends a call; an error of the central system is an answer', async () => {
      const call = { action: 'DataTransfer', payload: { vendorId: 'x'.repeat(32_000) }, validate: false, timeout_s: 5 };
      expect(await rest.post(`${at}/call`, call)).to.deep.equal({
        message_id: 'm-1',
        action: 'DataTransfer',
        duration_ms: 2.346,
        result: { status: 'Accepted' },
      });
      expect(ocpp.calls).to.deep.equal([
        ['call', { action: 'DataTransfer', payload: call.payload, validate: false, timeoutS: 5 }],
      ]);
      ocpp.answer = { kind: 'error', code: 'GenericError', description: 'no', details: {} };
      expect(await rest.post(`${at}/heartbeat`, {}))
        .to.have.property('error')
        .that.deep.equals({
          code: 'GenericError',
          description: 'no',
          details: {},
        });
      await rest.refused(`${at}/call`, 422, 'validation', { action: 'A', payload: [] });
      await rest.refused(`${at}/call`, 422, 'validation', { action: 'A', payload: {}, timeout_s: 301 });
      await rest.refused(`${at}/call`, 422, 'validation', { action: 'A', payload: { x: 'x'.repeat(32_769) } });
    });

    for (const [code, status, problem] of [
      ['NOT_CONNECTED', 409, 'not-connected'],
      ['PEER_TIMEOUT', 504, 'upstream-timeout'],
      ['PEER_ERROR', 502, 'upstream-error'],
    ] as const)
      it(`${code} of a call is ${problem}`, async () => {
        ocpp.failure = new SimError(code, 'why');
        await rest.refused(`${at}/boot`, status, problem, {});
      });

    it('messages by filter; what is no object stands under value', async () => {
      const { messages } = await rest.get(`${at}/messages?limit=5&after_id=3&action=A&direction=in`);
      expect(ocpp.calls).to.deep.equal([['messages', { limit: 5, afterId: 3, action: 'A', direction: 'in' }]]);
      expect(messages.map(({ payload }: { payload: unknown }) => payload)).to.deep.equal(['no frame', { value: [1] }]);
      await rest.refused(`${at}/messages?direction=up`, 422, 'validation');
    });

    it('configuration: keys of 1.6 need key', async () => {
      expect((await rest.get(`${at}/configuration?key=AuthorizationKey`)).keys[0].value).to.equal(null);
      await rest.post(`${at}/configuration`, { key: 'HeartbeatInterval', value: '60' });
      expect(ocpp.calls.at(-1)).to.deep.equal(['setConfiguration', { name: 'HeartbeatInterval', value: '60' }]);
      await rest.refused(`${at}/configuration`, 422, 'validation', { component: 'C', variable: 'V', value: '1' });
      await rest.refused(`${at}/configuration`, 422, 'validation', { value: '1' });
      await rest.post(`${at}/configuration`, { key: 'AuthorizationKey', value: secret });
      expect(lines).to.not.contain(secret);
    });

    it('configuration: variables of 2.x need component and variable', async () => {
      ocpp.status = { ...ocpp.status, version: 'ocpp2.1' };
      expect((await rest.get(`${at}/configuration?key=Connector.ConnectorType`)).variables).to.deep.equal([
        {
          component: 'Connector',
          variable: 'ConnectorType',
          attribute: 'Actual',
          value: 'cType2',
          mutability: 'ReadOnly',
          evse_id: 1,
          connector_id: 1,
          instance: null,
          reboot_required: false,
        },
      ]);
      expect(ocpp.calls.at(-1)).to.deep.equal(['configuration', 'Connector.ConnectorType']);
      const place = { evse_id: 1, connector_id: 1, instance: 'L1', attribute: 'Actual' };
      await rest.post(`${at}/configuration`, { component: 'Connector', variable: 'Phases', value: '1', ...place });
      expect(ocpp.calls.at(-1)).to.deep.equal([
        'setConfiguration',
        {
          name: 'Phases',
          value: '1',
          component: 'Connector',
          attribute: 'Actual',
          evseId: 1,
          connectorId: 1,
          instance: 'L1',
        },
      ]);
      await rest.refused(`${at}/configuration`, 422, 'validation', { key: 'HeartbeatInterval', value: '60' });
      await rest.refused(`${at}/configuration`, 422, 'validation', { variable: 'Phases', value: '60' });
    });

    it('composite schedule, profiles, findings', async () => {
      const schedule = await rest.get(`${at}/composite-schedule?connector=1&duration_s=60&unit=A`);
      expect(schedule.periods).to.deep.equal([{ start_s: 0, limit: null, number_phases: null }]);
      expect(ocpp.calls.at(-1)).to.deep.equal(['compositeSchedule', 1, 60, 'A']);
      await rest.get(`${at}/charging-profiles?connector=0`);
      expect(ocpp.calls.at(-1)).to.deep.equal(['chargingProfiles', 0]);
      expect((await rest.get(`${at}/findings`)).findings).to.have.lengthOf(1);
    });

    it('a session shows the transaction of the central system, and whether its messages wait', async () => {
      const connector = '/evse/SIM-CP-1/connectors/1';
      await rest.post(`${connector}/plug`, {});
      ocpp.queued = 2;
      const { session } = await rest.get(connector);
      expect(session).to.include({ transaction_id: '4711', session_id: '1', offline: true });
      ocpp.transactionId = null;
      expect((await rest.get(connector)).session).to.include({ transaction_id: 'local-1', session_id: '1' });
    });

    it('meter values go to the central system; without a line the reading stays', async () => {
      const meter = '/evse/SIM-CP-1/connectors/1/meter';
      expect(await rest.post(meter, { energy_wh: 5000, send: true })).to.include({ energy_wh: 5000 });
      expect(ocpp.calls).to.deep.equal([['sendMeterValues', 1]]);
      ocpp.status = { ...ocpp.status, connectionState: 'connecting' };
      await rest.refused(meter, 409, 'not-connected', { energy_wh: 1, send: true });
      expect(await rest.get('/evse/SIM-CP-1/connectors/1')).to.include({ energy_wh: 5000 });
    });

    it('under central authority the central system answers for a token', async () => {
      rest.plant.device(0).command({ kind: 'evse.authority', central: true }, { source: 'ocpp' });
      const answer = await rest.post('/evse/SIM-CP-1/connectors/1/authorize', { id_token: 'TAG-1' });
      expect(answer).to.deep.equal({ status: 'Blocked', id_token_info: { status: 'Blocked' } });
      expect(ocpp.calls).to.deep.equal([['authorize', 1, 'TAG-1']]);
    });
  });
});
