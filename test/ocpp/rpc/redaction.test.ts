import { expect } from 'chai';
import { redacted } from '../../../src/ocpp/rpc/messages.ts';
import type { Central } from '../central/central.ts';
import type { CentralStation } from '../central/station.ts';
import { openCentral, TransportRig, until } from './rig.ts';

const secret = 'S3CR3T-marker';
const call = (action: string, payload: unknown) => JSON.stringify([2, 'id-1', action, payload]);
const pem = `-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----`;

describe('secrets in the messages of a charge point', () => {
  describe('a text', () => {
    const hidden: Readonly<Record<string, string>> = {
      'ChangeConfiguration of 1.6': call('ChangeConfiguration', { key: 'AuthorizationKey', value: secret }),
      'in another spelling': call('ChangeConfiguration', { key: 'authorization_key', value: secret }),
      'escaped names': `[2,"i","ChangeConfiguration",{"key":"Authorization\\u004bey","value":"${secret}"}]`,
      'GetConfiguration.conf': JSON.stringify([
        3,
        'id-1',
        { configurationKey: [{ key: 'AuthorizationKey', readonly: false, value: secret }] },
      ]),
      'SetVariables of 2.x': call('SetVariables', {
        setVariableData: [
          { component: { name: 'SecurityCtrlr' }, variable: { name: 'BasicAuthPassword' }, attributeValue: secret },
        ],
      }),
      SetNetworkProfile: call('SetNetworkProfile', {
        connectionData: { basicAuthPassword: secret, vpn: { key: secret, server: 's' }, apn: { apnPassword: secret } },
      }),
      'an address': call('GetDiagnostics', { location: `ftp://user:${secret}@host/x` }),
      'an address with slashes in its password': call('UpdateFirmware', { location: `https://u:a/${secret}@h/x` }),
      'a password with a question mark': call('GetLog', { log: { remoteLocation: `https://u:a?b${secret}@h/x` } }),
      'a password with a quote': call('GetDiagnostics', { location: `ftp://u:a'${secret}@h/x` }),
      'the query of an address': call('GetLog', { log: { remoteLocation: `https://h/x?sig=${secret}` } }),
      'the query of an address with an at sign': call('UpdateFirmware', {
        firmware: { location: `https://h/x?to=a@b&sig=${secret}` },
      }),
      'the query of an address with credentials': call('PublishFirmware', { location: `http://u:p@h/x?${secret}` }),
      'the fragment of an address': call('DataTransfer', { data: `https://h/x#token=${secret}` }),
      'a private key': call('DataTransfer', { vendorId: 'v', data: pem }),
      'a private key in a list': call('DataTransfer', { vendorId: 'v', list: [[pem]] }),
      'lists and objects of a secret': call('DataTransfer', { secret: [{ a: [secret, 5, true] }] }),
      'text inside text': call('DataTransfer', { data: JSON.stringify({ adminPassword: secret, b: 'x'.repeat(40) }) }),
      'a broken frame': call('ChangeConfiguration', { key: 'AuthorizationKey', value: secret }).slice(0, -3),
      'names in a list': call('DataTransfer', { names: ['AuthorizationKey'], values: [secret] }),
    };
    for (const [what, text] of Object.entries(hidden))
      it(`${what}: hidden`, () => {
        expect(text).to.include(secret);
        const clean = redacted(text);
        expect(clean).not.to.include(secret);
        expect(clean).to.include('(hidden)');
      });

    it('what is harmless stays as it is, byte for byte', () => {
      const texts = [
        call('StatusNotification', { connectorId: 1, status: 'Available', errorCode: 'NoError' }),
        '[2, "id-1",  "Heartbeat", {}]',
        '[2,"id-1","Heartbeat"',
        'no frame',
      ];
      for (const text of texts) expect(redacted(text)).to.equal(text);
    });

    const hostile: readonly (readonly [what: string, data: string, clean: string])[] = [
      ['letters behind an at sign', `@${'a'.repeat(250_000)}`, `@${'a'.repeat(250_000)}`],
      ['schemes', 'a://'.repeat(60_000), 'a://'.repeat(60_000)],
      ['schemes before an at sign', `${'a://'.repeat(60_000)}@`, 'a://(hidden)@'],
      ['schemes of dots', `@${'a.'.repeat(120_000)}`, `@${'a.'.repeat(120_000)}`],
      ['at signs', `a://${'@'.repeat(250_000)}h`, 'a://(hidden)@h'],
      ['URLs', 'a://u:p@h '.repeat(20_000), 'a://(hidden)@h '.repeat(20_000)],
      ['quotes', `@${'"://'.repeat(50_000)}`, `@${'"://'.repeat(50_000)}`],
      ['slashes', `@:${'/'.repeat(250_000)}`, `@:${'/'.repeat(250_000)}`],
      ['short names', `@${'password '.repeat(25_000)}`, '(hidden)'],
      ['half a private key', '-----BEGIN PRIVATE '.repeat(12_000), '-----BEGIN PRIVATE '.repeat(12_000)],
    ];
    for (const [what, data, clean] of hostile)
      it(`as long as a frame may be, of ${what}: read once, not again from each place`, () => {
        expect(redacted(call('DataTransfer', { data })) === call('DataTransfer', { data: clean })).to.equal(true);
        expect(redacted(`no frame @ ${data}`)).to.equal('(hidden)');
      });

    it('the host of a URL stays, with what stands around it', () => {
      const data = 'see wss://u:p@h:1/x, "ftp://v@h" and mailto:w@h; a://h/x @ b://h/x?y=z what? c://h?';
      const clean =
        'see wss://(hidden)@h:1/x, "ftp://(hidden)@h" and mailto:w@h; a://h/x @ b://h/x?(hidden) what? c://h?';
      expect(redacted(call('DataTransfer', { data }))).to.equal(call('DataTransfer', { data: clean }));
    });

    it('beside a secret its name and status stay', () => {
      const text = call('ChangeConfiguration', { key: 'AuthorizationKey', value: secret });
      expect(JSON.parse(redacted(text))).to.deep.equal([
        2,
        'id-1',
        'ChangeConfiguration',
        { key: 'AuthorizationKey', value: '(hidden)' },
      ]);
      const unknown = JSON.stringify([3, 'id-1', { unknownKey: ['AuthorizationKey', 'Other'] }]);
      expect(redacted(unknown)).to.equal(unknown);
    });

    it('known secrets are hidden wherever they stand', () => {
      const quoted = 'has"quote\\and more';
      expect(redacted(call('DataTransfer', { data: `x ${quoted} y` }), [quoted])).to.equal(
        call('DataTransfer', { data: 'x (hidden) y' }),
      );
      expect(redacted(`half ${secret} a frame`, [secret])).to.equal('(hidden)');
    });

    it('payloads of great depth are hidden from there on', () => {
      const deep = (value: unknown, times: number): unknown => (times === 0 ? value : { a: deep(value, times - 1) });
      const text = call('DataTransfer', { password: deep(secret, 70), other: deep(`//${secret}`, 70), at: '@' });
      expect(redacted(text)).not.to.include(secret);
    });
  });

  describe('the messages that REST shows', () => {
    let central: Central;
    let rig: TransportRig;
    let station: CentralStation;
    const password = Buffer.from('4pps-of-the-station');
    beforeEach(async () => {
      central = await openCentral();
      rig = new TransportRig(central.url, { credentials: { securityProfile: 1, password } });
      station = central.station('CP-1');
      await rig.connect();
      await station.nextConnection();
      rig.transport.channel.record(true, { source: 'rest', peer: 'test' });
    });
    afterEach(async () => {
      await rig.transport.stop();
      await central.close();
    });
    const shown = () => JSON.stringify(rig.transport.messages.list({}));

    it('have action, direction, id and duration', async () => {
      station.silent = true;
      const outcome = rig.line.call('Heartbeat', {}, { messageId: 'hb-1' });
      const sent = await station.next('Heartbeat');
      rig.wall.advance(120);
      station.answer(sent, { currentTime: '2026-06-21T08:00:00.000Z' });
      await outcome;
      expect((await station.call('NoSuchAction', { a: 1 }, 'in-1')).kind).to.equal('error');
      station.sendText('no frame');
      await until(() => rig.count('in', 'invalid') === 1);
      const list = rig.transport.messages.list({});
      const brief = list.map(({ direction, type, messageId, action, durationMs }) => [
        direction,
        type,
        messageId,
        action,
        durationMs,
      ]);
      expect(brief).to.deep.equal([
        ['out', 'call', 'hb-1', 'Heartbeat', null],
        ['in', 'result', 'hb-1', 'Heartbeat', 120],
        ['in', 'call', 'in-1', 'NoSuchAction', null],
        ['out', 'error', 'in-1', 'NoSuchAction', 0],
        ['in', 'invalid', null, null, null],
      ]);
      expect(list.map(({ payload }) => payload)).to.deep.equal([
        {},
        { currentTime: '2026-06-21T08:00:00.000Z' },
        { a: 1 },
        { code: 'NotImplemented', description: 'this action is not known', details: {} },
        'no frame',
      ]);
      const [, second] = list;
      expect(rig.transport.messages.list({ afterId: second?.id ?? 0, limit: 1 }).map(({ type }) => type)).to.deep.equal(
        ['invalid'],
      );
      expect(rig.transport.messages.list({ action: 'Heartbeat', direction: 'in' })).to.have.length(1);
      expect(list.every(({ truncated, atMs }) => !truncated && atMs > 0)).to.equal(true);
    });

    it('show long ones cut, as text', async () => {
      await station.call('DataTransfer', { vendorId: 'v', data: 'x'.repeat(100_000) });
      const [first] = rig.transport.messages.list({});
      expect(first?.truncated).to.equal(true);
      expect(first?.payload)
        .to.be.a('string')
        .with.lengthOf(64 * 1024);
    });

    it('never show the password of the station, also a former one, in any form', async () => {
      const forms = [password.toString(), password.toString('base64'), password.toString('hex')];
      const text = forms.join(' and ');
      await station.call('DataTransfer', { vendorId: 'v', data: text });
      rig.link.adoptCredentials({ password: Buffer.from('the-next-one-of-it') });
      await station.call('DataTransfer', { vendorId: 'v', data: `${text} the-next-one-of-it` });
      await station.call(password.toString(), {}, password.toString());
      for (const form of [...forms, 'the-next-one']) expect(shown()).not.to.include(form);
      expect(rig.transport.messages.list({})).to.have.length(6);
      const [first] = rig.transport.messages.list({ action: 'DataTransfer', direction: 'in' });
      expect(first?.payload).to.deep.equal({ vendorId: 'v', data: '(hidden) and (hidden) and (hidden)' });
    });

    it('never show a key that is set, nor what listeners of the wire log are told', async () => {
      const told: string[] = [];
      rig.transport.channel.subscribe(({ raw, summary, facts }) => {
        told.push(`${raw.toString()} ${summary} ${JSON.stringify(facts)}`);
      });
      await station.call('ChangeConfiguration', { key: 'AuthorizationKey', value: secret });
      await station.call('DataTransfer', { vendorId: 'v', data: pem });
      await station.call(`ftp://u:${secret}@h`, {});
      station.sendText(`[2,"x","ChangeConfiguration",{"key":"AuthorizationKey","value":"${secret}"`);
      await until(() => rig.count('in', 'invalid') === 1);
      expect(told).to.have.length(7);
      expect(told.join('\n')).not.to.include(secret);
      expect(shown()).not.to.include(secret);
    });
  });
});
