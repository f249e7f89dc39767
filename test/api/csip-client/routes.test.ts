import { expect } from 'chai';
import { csipRoutes } from '../../../src/api/csip-client/routes.ts';
import { maxPemLength } from '../../../src/contract/certificates.ts';
import { SimError } from '../../../src/core/errors.ts';
import { createLogBook } from '../../../src/core/log/log.ts';
import { examples } from '../../support/examples.ts';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';
import { atMs, FakeClient, mrid } from './fake-client.ts';
import { examplesOf } from '../../../src/api/description/openapi.ts';

const replyOf = (operationId: string): Json => examples(operationId).reply;

const marker = 'S3CR3T-marker';

describe('REST csip', () => {
  let rest: Rest;
  let client: FakeClient;
  let lines: string;

  beforeEach(async () => {
    client = new FakeClient();
    lines = '';
    const logBook = createLogBook({ level: 'debug', write: (line) => (lines += line) });
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'PV-3Phase', 'PV-3Phase'] }), {
      csipClient: client,
      logBook,
    });
  });
  afterEach(() => rest.api.stop());

  it('shows the state, at both paths', async () => {
    for (const path of ['/csip-client', '/csip/status', '/csip-client?device=1']) {
      const { connection, ...status } = await rest.get(path);
      const { connection: expected, ...others } = replyOf('get_csip_client');
      expect(status, path).to.deep.equal(others);
      const { seconds_since_last_contact: since, ...rest0 } = connection;
      expect(since).to.be.closeTo(Math.max(0, (Date.now() - atMs) / 1000), 60);
      expect({ ...rest0, seconds_since_last_contact: expected.seconds_since_last_contact }).to.deep.equal(expected);
    }
    await rest.refused('/csip-client?device=2', 404, 'unknown-device');
  });

  it('says that a loss of communication was asked for, and when the next attempt is', async () => {
    client.current = {
      ...client.current,
      state: 'retrying',
      connection: { ...client.current.connection, retryInMs: 1234.4, lost: { sinceMs: atMs, untilMs: atMs + 1000 } },
    };
    const { connection } = await rest.get('/csip-client');
    expect(connection.retry_in_s).to.equal(1.234);
    expect(connection.communication_lost).to.deep.equal({
      since: '2026-06-21T12:00:00.000Z',
      until: '2026-06-21T12:00:01.000Z',
    });
  });

  const views: Readonly<Record<string, unknown>> = {
    '/csip/time': replyOf('get_csip_time'),
    '/csip/end-devices': replyOf('list_csip_end_devices'),
    '/csip/programs': replyOf('list_csip_programs'),
    '/csip/curves': replyOf('list_csip_curves'),
    '/csip/controls?state=active': replyOf('list_csip_controls'),
    '/csip/controls?limit=1': replyOf('list_csip_controls'),
    '/csip/responses?limit=1': replyOf('list_csip_responses'),
    [`/csip/controls/${mrid.toLowerCase()}`]: { ...replyOf('get_csip_control'), xml: '<DERControl/>' },
    '/csip/config': { ...replyOf('get_csip_config'), changed_by: null },
    '/csip/certificates': replyOf('get_csip_certificates'),
    '/csip/der': replyOf('get_csip_der'),
    '/csip/readings': replyOf('get_csip_readings'),
    '/csip/log-events': replyOf('get_csip_log_events'),
    '/csip/subscriptions': replyOf('list_csip_subscriptions'),
    '/csip/notifications': replyOf('list_csip_notifications'),
    '/csip/messages': { ...replyOf('get_csip_messages'), changed_by: null },
    '/csip/diagnostics': replyOf('get_csip_diagnostics'),
  };
  for (const [path, expected] of Object.entries(views)) {
    it(`GET ${path}`, async () => {
      expect(await rest.get(path)).to.deep.equal(expected);
    });
  }

  it('has no time before a server was asked for it', async () => {
    client.timeRead = null;
    expect((await rest.refused('/csip/time', 409, 'not-connected')).detail).to.match(/Time/);
  });

  it('finds controls by mRID in any case, and refuses what is none', async () => {
    await rest.refused('/csip/controls/FF', 404, 'unknown-resource');
    await rest.refused('/csip/controls/xyz', 422, 'validation');
    expect((await rest.get(`/csip/responses?mrid=${mrid.toLowerCase()}`)).responses).to.have.length(2);
    expect((await rest.get('/csip/responses?mrid=00')).responses).to.deep.equal([]);
    expect((await rest.get('/csip/controls')).controls).to.have.length(2);
  });

  it('acts on all clients, or on that of a device', async () => {
    for (const name of ['connect', 'disconnect', 'rediscover', 'poll']) {
      expect((await rest.post(`/csip/${name}`, {}, 202)).state).to.equal('running');
      await rest.post(`/csip/${name}?device=1`, {}, 202);
    }
    expect(await rest.post('/csip/reconnect?device=0', {})).to.deep.equal({ triggered: true });
    await rest.post('/csip/communication', { lost: true, duration_s: 60 });
    await rest.post('/csip/communication?device=1', { lost: false });
    expect(client.asked).to.deep.equal([
      ['connect', null],
      ['connect', 1],
      ['disconnect', null],
      ['disconnect', 1],
      ['rediscover', null],
      ['rediscover', 1],
      ['poll', null],
      ['poll', 1],
      ['reconnect', 0],
      ['communication', true, 60, null],
      ['communication', false, null, 1],
    ]);
    await rest.refused('/csip/communication', 422, 'validation', { lost: false, duration_s: 1 });
  });

  it('changes settings, and names who did', async () => {
    const config = await rest.post('/csip/config', { server_host: 'utility.example', pin: null, poll_rate_s: 30 });
    expect(config.changed_by).to.include({ source: 'rest' });
    expect(client.asked).to.deep.equal([
      ['configure', { serverHost: 'utility.example', pin: null, pollRateS: 30 }, null],
    ]);
    await rest.refused('/csip/config', 422, 'validation', {});
    const pin = await rest.refused('/csip/config', 422, 'validation', { pin: 111_111 });
    expect(JSON.stringify(pin.errors)).to.include('check digit').and.not.include('111111');
    client.failure = new SimError('COMMAND_BAD_VALUE', 'refused', [
      { name: '/server_host', detail: 'is not permitted' },
    ]);
    const { errors } = await rest.refused('/csip/config', 422, 'validation', { server_host: '10.0.0.1' });
    expect(errors).to.deep.equal([{ in: 'body', name: '/server_host', detail: 'is not permitted' }]);
  });

  it('takes texts of certificates of 32,768 characters and repeats none of them', async () => {
    const long = marker.padEnd(maxPemLength, 'x');
    await rest.post('/csip/config', { cert_pem: long, key_pem: marker, root_cert_pem: long, pin: 987_655 });
    await rest.post('/csip/certificates', { cert_pem: long, key_pem: marker, root_cert_pem: long });
    await rest.post('/csip/certificates', { select: 'comm_004a' });
    expect(client.asked.map(([name]) => name)).to.deep.equal(['configure', 'selectCertificate', 'selectCertificate']);
    expect(client.asked[1]?.[1]).to.deep.equal({ cert: long, key: marker, rootCert: long });
    expect(client.asked[2]?.[1]).to.equal('comm_004a');
    const answers = [
      await rest.call('/csip/config', { method: 'POST', body: { key_pem: `${long}y`, pin: 987_655 } }),
      await rest.call('/csip/config', { method: 'POST', body: { key_pem: [marker], pin: '987655' } }),
      await rest.call('/csip/certificates', { method: 'POST', body: { cert_pem: marker } }),
      await rest.call('/csip/config'),
      await rest.call('/logs'),
    ];
    expect(answers.map(({ status }) => status)).to.deep.equal([422, 422, 422, 200, 200]);
    const shown = [lines, ...answers.map(({ text }) => text)].join('\n');
    expect(shown).to.contain('/csip/config');
    expect(shown).not.to.contain(marker);
    expect(shown).not.to.contain('987655');
  });

  it('opts out of an event and in again', async () => {
    expect((await rest.post(`/csip/controls/${mrid}/opt?device=1`, { in: false })).opted_out).to.equal(true);
    expect(client.asked).to.deep.equal([['opt', mrid, false, 1]]);
    client.failure = new SimError('COMMAND_CONFLICT', 'it has ended');
    await rest.refused(`/csip/controls/${mrid}/opt`, 409, 'conflict', { in: true });
  });

  it('sends reports now', async () => {
    expect(await rest.post('/csip/der', { post: ['status', 'capability', 'status'] }, 202)).to.deep.equal(
      replyOf('get_csip_der'),
    );
    expect(await rest.post('/csip/readings?device=1', {})).to.deep.equal(replyOf('get_csip_readings'));
    await rest.post('/csip/log-events', { enabled: false, code: 2, function_set: 11, details: 'x' }, 202);
    await rest.post('/csip/log-events', { enabled: true }, 202);
    expect(client.asked).to.deep.equal([
      ['postDer', ['status', 'capability'], null],
      ['postReadings', 1],
      ['sendLogEvent', { code: 2, functionSet: 11, details: 'x' }, null],
      ['enableLogEvents', false],
      ['enableLogEvents', true],
    ]);
    for (const body of [{}, { details: 'x' }, { function_set: 11 }, { code: 256 }])
      await rest.refused('/csip/log-events', 422, 'validation', body);
    client.failure = new SimError('NOT_CONNECTED', 'the server has no list of LogEvents');
    await rest.refused('/csip/log-events', 409, 'not-connected', { enabled: false, code: 2 });
    expect(client.asked.at(-1)?.[0], 'nothing is switched when the event was not sent').to.equal('sendLogEvent');
    await rest.refused('/csip/der', 409, 'not-connected', { post: ['status'] });
    await rest.refused('/csip/readings', 409, 'not-connected', {});
  });

  it('subscribes', async () => {
    expect(await rest.post('/csip/subscriptions', { resource: '/edev/0/fsa', enabled: true })).to.deep.equal(
      replyOf('list_csip_subscriptions'),
    );
    expect(client.asked).to.deep.equal([['subscribe', '/edev/0/fsa', true, null]]);
    await rest.refused('/csip/subscriptions', 422, 'validation', { resource: 'a b', enabled: true });
  });

  it('records messages, and lists those that are asked for', async () => {
    await rest.post('/csip/messages', { enabled: true, clear: true });
    expect(client.asked.map(([name, on]) => [name, on])).to.deep.equal([
      ['clear', undefined],
      ['record', true],
    ]);
    await rest.get('/csip/messages?limit=9&after_id=3&method=GET&path=/edev&device=1');
    expect(client.filters).to.deep.equal([{ limit: 9, afterId: 3, method: 'GET', path: '/edev', deviceIndex: 1 }]);
    await rest.refused('/csip/messages?device=9', 404, 'unknown-device');
    await rest.refused('/csip/messages?method=HEAD', 422, 'validation');
  });

  it('probes plain HTTP, and searches for servers', async () => {
    expect(await rest.post('/csip/http-probe', { path: '/dcap', http_port: 8080 })).to.include({ status: 301 });
    expect(client.asked).to.deep.equal([['httpProbe', '/dcap', 8080, null]]);
    client.failure = new SimError('PEER_TIMEOUT', 'no answer in time');
    await rest.refused('/csip/http-probe', 504, 'upstream-timeout', {});
    expect(await rest.post('/csip/discover', {})).to.deep.equal(replyOf('discover_csip_servers'));
  });
});

describe('REST csip, switched off', () => {
  let rest: Rest;
  before(async () => {
    rest = await Rest.open();
  });
  after(() => rest.api.stop());

  it('shows that it is, with everything else empty', async () => {
    expect(await rest.get('/csip-client')).to.include({ enabled: false, state: 'disabled', server: null, time: null });
    expect(await rest.get('/csip/config')).to.include({ enabled: false, server_host: null, pin_set: null });
    expect(await rest.get('/csip/certificates')).to.include({ selected: null, lfdi: null });
    expect(await rest.get('/csip/messages')).to.include({ enabled: false, capacity: 0, last_id: 0 });
  });

  for (const route of csipRoutes) {
    const { method, path, operationId } = route;
    it(`${operationId} answers ${method === 'get' ? 200 : '409 disabled'}`, async () => {
      const filled = path.replace('{mrid}', mrid);
      if (method === 'post') await rest.refused(filled, 409, 'disabled', examplesOf(route).body ?? {});
      else if (path === '/csip/time') await rest.refused(filled, 409, 'not-connected');
      else if (path.includes('{mrid}')) await rest.refused(filled, 404, 'unknown-resource');
      else expect((await rest.call(filled)).status).to.equal(200);
    });
  }
});
