import { expect } from 'chai';
import { Central } from '../central/central.ts';
import { startRawServer, switching } from './raw-server.ts';
import type { RawServer } from './raw-server.ts';
import { openCentral, until, useCentral } from './rig.ts';
import type { RigOptions } from './rig.ts';

const all = ['ocpp2.1', 'ocpp2.0.1', 'ocpp1.6'] as const;

describe('connection of a charge point (OCPP-J 3, RFC 6455)', () => {
  const stage = useCentral();
  const { rigOn, connected } = stage;
  const rigAt = (options?: RigOptions) => rigOn(stage.central.url, options);
  let raw: RawServer | null = null;
  afterEach(async () => {
    await raw?.close();
    raw = null;
  });

  describe('negotiation', () => {
    it('offers its versions in their order, and takes the one that the central system chooses (3.1.2)', async () => {
      stage.central.subprotocols = ['ocpp2.0.1'];
      const rig = rigAt({ subprotocols: all });
      expect(await rig.connect()).to.deep.equal({ subprotocol: 'ocpp2.0.1' });
      expect(rig.link.subprotocol).to.equal('ocpp2.0.1');
      expect(stage.central.requests[0]?.headers['sec-websocket-protocol']).to.match(
        /^ocpp2\.1, ?ocpp2\.0\.1, ?ocpp1\.6$/,
      );
    });

    it('offers the whole list again after each connection', async () => {
      stage.central.subprotocols = ['ocpp2.0.1'];
      const { rig, station } = await connected({ subprotocols: all });
      stage.central.subprotocols = ['ocpp2.1'];
      station.cut();
      await rig.closed.take();
      rig.passWait();
      expect(await rig.opened.take()).to.deep.equal({ subprotocol: 'ocpp2.1' });
    });

    it('without a version in common it is closed, and tried again (3.3)', async () => {
      stage.central.subprotocols = [];
      const rig = rigAt({ subprotocols: ['ocpp2.0.1', 'ocpp1.6'] });
      rig.link.connect();
      const text = 'the central system has chosen no version of OCPP, offered: ocpp2.0.1, ocpp1.6';
      expect(await rig.failed.take()).to.deep.equal({ kind: 'no_version', status: null, text });
      expect([rig.lines.at(-1), rig.link.lastError]).to.deep.equal([`CP-1: ${text}`, text]);
      expect(rig.link.state).to.equal('connecting');
      stage.central.subprotocols = ['ocpp1.6'];
      rig.passWait();
      expect(await rig.opened.take()).to.deep.equal({ subprotocol: 'ocpp1.6' });
    });

    for (const [chosen, shown] of [
      ['ocpp2.0.1', 'ocpp2.0.1'],
      ['OCPP1.6', 'OCPP1.6'],
      ['ocpp1.6, ocpp2.1', 'ocpp1.6, ocpp2.1'],
      [`x${'y'.repeat(300)}`, `x${'y'.repeat(39)}`],
    ] as const)
      it(`does not take ${shown}, which it has not offered`, async () => {
        raw = await startRawServer((key) => switching(key, chosen));
        const rig = rigOn(raw.url, { subprotocols: ['ocpp1.6', 'ocpp2.1'] });
        rig.link.connect();
        expect(await rig.failed.take()).to.deep.equal({
          kind: 'no_version',
          status: null,
          text: `the central system has chosen ${shown}, which is none of the versions offered: ocpp1.6, ocpp2.1`,
          chosen,
        });
        expect(rig.transport.counters.connects).to.equal(0);
      });

    it('percent-encodes its identity in the last part of the path (3.1.1)', async () => {
      const { rig } = await connected({ identity: 'RDAM|123 /a', credentials: { securityProfile: 0 } });
      expect(stage.central.requests[0]?.url).to.equal('/ocpp/RDAM%7C123%20%2Fa');
      expect(rig.lines[0]).to.match(/^RDAM\|123 \/a: connected/);
    });

    it('keeps the query of the address, drops credentials and slashes at its end', async () => {
      const rig = rigOn(`${stage.central.url.replace('//', '//user:S3CR3T@')}//?token=1`);
      await rig.connect();
      expect(stage.central.requests[0]?.url).to.equal('/ocpp/CP-1?token=1');
      expect(stage.central.requests[0]?.headers.authorization).to.equal(undefined);
    });
  });

  describe('attempts', () => {
    for (const [line, failure] of [
      ['HTTP/1.1 099 Odd', { kind: 'rejected', status: 99 }],
      ['HTTP/1.1 000 None', { kind: 'rejected', status: 0 }],
      ['HTTP/1.1 999 High', { kind: 'rejected', status: 999 }],
      ['HTTP/1.1 204 Empty', { kind: 'rejected', status: 204 }],
      ['HTTP/1.1 1 One', { kind: 'network', status: null }],
      ['ICY 200 OK', { kind: 'network', status: null }],
    ] as const)
      it(`the answer ${line} is a failure like others`, async () => {
        raw = await startRawServer(() => `${line}\r\nContent-Length: 0\r\n\r\n`);
        const rig = rigOn(raw.url);
        rig.link.connect();
        expect(await rig.failed.take()).to.include(failure);
        expect(rig.link.reconnectInS).to.be.above(0);
      });

    it('refusals by status are told, and tried again with the waits of RetryBackOff (J 5.4 of 2.x)', async () => {
      const draws = [0, 0.25, 0.5, 0.75, 0.999];
      const rig = rigAt({
        backOff: { waitMinimumMs: 10_000, randomRangeMs: 1000, repeatTimes: 2 },
        random: { next: () => draws.shift() ?? 0 },
      });
      const statuses = [404, 401, 403, 500, 500];
      const waits: number[] = [];
      stage.central.admit = () => statuses[0] ?? null;
      rig.link.connect();
      for (const status of [...statuses]) {
        expect(await rig.failed.take()).to.include({ kind: 'rejected', status });
        statuses.shift();
        waits.push(rig.passWait());
      }
      await rig.opened.take();
      // minimum and random part; twice the one before and a random part, two times; from there on the same
      expect(waits).to.deep.equal([10_000, 20_250, 41_000, 41_000, 41_000]);
      expect(rig.lines.filter((line) => line.includes('status'))).to.deep.equal([
        'CP-1: the central system answered with status 404: it does not know the identity of this station',
        'CP-1: the central system answered with status 401: it does not accept the credentials of this station',
        'CP-1: the central system answered with status 403: it does not permit this station to connect',
        'CP-1: the central system answered with status 500',
        'CP-1: the central system answered with status 500',
      ]);
      expect(rig.link.lastError).to.equal(null);
    });

    it('waits as RetryBackOff says now, and waits go on growing', async () => {
      const rig = rigAt({
        backOff: { waitMinimumMs: 10_000, randomRangeMs: 0, repeatTimes: 2 },
        random: { next: () => 0.5 },
      });
      stage.central.admit = () => 500;
      rig.link.connect();
      await rig.failed.take();
      rig.link.setBackOff({ waitMinimumMs: 2000, randomRangeMs: 1000, repeatTimes: 1 });
      const waits: number[] = [rig.passWait()];
      for (let i = 0; i < 2; i++) {
        await rig.failed.take();
        waits.push(rig.passWait());
      }
      expect(waits).to.deep.equal([10_000, 5500, 5500]);
    });

    it('targets that are tried in turn share the waits', async () => {
      const rig = rigAt({
        backOff: { waitMinimumMs: 1000, randomRangeMs: 0, repeatTimes: 4 },
        random: { next: () => 0 },
      });
      stage.central.admit = () => 500;
      rig.link.connect();
      const waits: number[] = [];
      for (let i = 0; i < 3; i++) {
        await rig.failed.take();
        rig.link.retarget({ ...rig.link.target, url: `${stage.central.url}/${i}` });
        waits.push(rig.passWait());
      }
      await rig.failed.take();
      expect(waits).to.deep.equal([1000, 2000, 4000]);
      expect(stage.central.requests.map(({ url }) => url)).to.deep.equal([
        '/ocpp/CP-1',
        '/ocpp/0/CP-1',
        '/ocpp/1/CP-1',
        '/ocpp/2/CP-1',
      ]);
    });

    it('tries the first connection again too, where nobody listens yet', async () => {
      const gone = await openCentral();
      const { url, port } = gone;
      await gone.close();
      const rig = rigOn(url);
      rig.link.connect();
      expect(await rig.failed.take()).to.include({ kind: 'network' });
      expect(rig.link.lastError).to.match(/^no connection: /);
      expect(rig.link.reconnectInS).to.equal(1.5);
      const later = await Central.open({}, port);
      try {
        rig.passWait();
        await rig.opened.take();
        expect(rig.transport.counters).to.include({ connects: 1, drops: 0 });
        await rig.transport.stop();
      } finally {
        await later.close();
      }
    });

    it('gives an attempt up after its time, and closes its socket', async () => {
      raw = await startRawServer(() => null);
      const rig = rigOn(raw.url, { openTimeoutMs: 5000 });
      rig.link.connect();
      await until(() => raw?.requests.length === 1);
      rig.timers.pass(4999);
      expect(rig.link.reconnectInS).to.equal(null);
      rig.timers.pass(1);
      expect(await rig.failed.take()).to.deep.equal({
        kind: 'timeout',
        status: null,
        text: 'no connection within 5 s',
      });
      await until(() => raw?.sockets.size === 0);
    });

    it('a refused attempt leaves no socket, even where the server keeps it open', async () => {
      raw = await startRawServer(() => 'HTTP/1.1 401 Unauthorized\r\nContent-Length: 100000\r\n\r\nxxx');
      const rig = rigOn(raw.url);
      rig.link.connect();
      expect(await rig.failed.take()).to.include({ status: 401 });
      await until(() => raw?.sockets.size === 0);
    });

    it('does not follow where a redirection leads', async () => {
      raw = await startRawServer(
        () => `HTTP/1.1 302 Found\r\nLocation: ${stage.central.url}\r\nContent-Length: 0\r\n\r\n`,
      );
      const rig = rigOn(raw.url);
      rig.link.connect();
      expect(await rig.failed.take()).to.include({ kind: 'rejected', status: 302 });
      expect(stage.central.requests).to.have.length(0);
    });

    it('a connection that has brought a frame, or lasted 30 s, makes the next wait a first one', async () => {
      const rig = rigAt();
      const waits: number[] = [];
      const cut = async (before: () => Promise<void> | void) => {
        await rig.opened.take();
        const station = stage.central.station('CP-1');
        await station.nextConnection();
        await before();
        station.cut();
        await rig.closed.take();
        waits.push((rig.link.reconnectInS ?? NaN) * 1000);
        rig.passWait();
      };
      rig.link.connect();
      await cut(() => undefined);
      await cut(() => undefined);
      await cut(async () => {
        expect((await stage.central.station('CP-1').call('ClearCache')).kind).to.equal('result');
      });
      await cut(() => {
        rig.timers.pass(29_999);
      });
      await cut(() => {
        rig.timers.pass(30_000);
      });
      await rig.opened.take();
      expect(waits).to.deep.equal([1500, 3500, 1500, 3500, 1500]);
      expect(rig.transport.counters).to.include({ connects: 6, drops: 5 });
    });

    it('a connection that is dropped as useless does not begin the waits anew, however long it has lasted', async () => {
      const rig = rigAt();
      const waits: number[] = [];
      rig.link.connect();
      for (let times = 0; times < 3; times += 1) {
        await rig.opened.take();
        rig.timers.pass(30_000);
        rig.link.drop('it is of no use', 1008);
        await rig.closed.take();
        waits.push(rig.passWait());
      }
      await rig.opened.take();
      expect(waits).to.deep.equal([1500, 3500, 7500]);
    });

    it('connect ends a wait; disconnect ends waits, attempts and connections', async () => {
      stage.central.admit = () => 503;
      const rig = rigAt();
      rig.link.connect();
      await rig.failed.take();
      rig.link.connect();
      expect(rig.link.state).to.equal('connecting');
      await rig.failed.take();
      rig.link.disconnect();
      expect([rig.link.state, rig.link.isWanted, rig.timers.waiting]).to.deep.equal(['disconnected', false, 0]);
      stage.central.admit = () => null;
      rig.link.connect();
      rig.link.disconnect();
      await until(() => rig.link.state === 'disconnected');
      await rig.connect();
      rig.link.disconnect(4000, 'enough');
      expect(await rig.closed.take()).to.deep.equal({ code: 4000, reason: 'enough' });
      expect(rig.link.state).to.equal('disconnected');
      rig.link.reconnect('nobody wants it');
      expect([rig.link.reconnectInS, rig.timers.waiting]).to.deep.equal([null, 0]);
      expect(rig.transport.counters).to.include({ connects: 1, drops: 0 });
    });

    it('connect while the former connection still closes opens the next one at once', async () => {
      const { rig } = await connected();
      rig.link.disconnect();
      rig.link.connect();
      await rig.closed.take();
      await rig.opened.take();
      expect(rig.transport.counters).to.include({ connects: 2, drops: 0 });
    });

    it('reconnect ends an attempt that hangs, and goes to the new target', async () => {
      raw = await startRawServer(() => null);
      const rig = rigOn(raw.url);
      rig.link.connect();
      await until(() => raw?.requests.length === 1);
      rig.link.setTarget({ ...rig.link.target, url: stage.central.url });
      rig.link.reconnect('another central system');
      await rig.opened.take();
      expect(rig.lines).to.have.length(1);
    });

    it('restart closes, and opens again after its time', async () => {
      const { rig, connection } = await connected();
      rig.link.restart('reset', 2000);
      expect(await connection.closed).to.deep.equal({ code: 1001, reason: 'reset' });
      await rig.closed.take();
      expect(rig.link.reconnectInS).to.equal(2);
      rig.link.restart('reset', 3000);
      expect(rig.link.reconnectInS).to.equal(3);
      rig.passWait();
      await rig.opened.take();
      expect(rig.transport.counters).to.include({ connects: 2, drops: 0 });
    });

    it('an address of no use is told, and tried again', async () => {
      const rig = rigOn('wss://127.0.0.1:1/ocpp', { credentials: { rootCert: 'no PEM' } });
      rig.link.connect();
      expect(rig.link.lastError).to.equal(
        'no connection can be made: the root certificate is not a certificate in PEM',
      );
      expect(rig.link.reconnectInS).to.equal(1.5);
      expect(await rig.failed.take()).to.include({ kind: 'material' });
    });
  });
});
