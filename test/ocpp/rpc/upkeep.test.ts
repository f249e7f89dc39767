import { expect } from 'chai';
import { WebSocket } from 'ws';
import { noDisturber } from '../../../src/ocpp/rpc/model.ts';
import { openHandles, settled } from '../../support/handles.ts';
import { namesOf, startNameServer } from '../../support/name-server.ts';
import { startRawServer, switching } from './raw-server.ts';
import type { RawServer } from './raw-server.ts';
import { until, useCentral } from './rig.ts';
import type { RigOptions } from './rig.ts';

describe('upkeep of the connection of a charge point', () => {
  const stage = useCentral();
  const { rigOn, connected } = stage;
  const rigAt = (options?: RigOptions) => rigOn(stage.central.url, options);
  let raw: RawServer | null = null;
  afterEach(async () => {
    await raw?.close();
    raw = null;
  });

  describe('targets that were set over REST', () => {
    for (const host of ['169.254.169.254', '[fe80::1]', '100.100.100.200', '[::ffff:169.254.0.1]', '224.0.0.1'])
      it(`no connection is made to ${host}`, async () => {
        const rig = rigOn(`ws://${host}:9/ocpp`, { guarded: true });
        rig.link.connect();
        const failure = await rig.failed.take();
        expect(failure.kind).to.equal('material');
        expect(failure.text).to.match(/ is a link-local, site-local, metadata/);
      });

    it('nor to a name that leads there', async () => {
      const server = await startNameServer((name) => (name === 'csms.example' ? ['169.254.169.254'] : null));
      const rig = rigOn('ws://csms.example:9/ocpp', { guarded: true, names: namesOf(server) });
      try {
        rig.link.connect();
        const failure = await rig.failed.take();
        expect(failure.kind).to.equal('material');
        expect(failure.text).to.match(/csms\.example resolves to 169\.254\.169\.254, which is a link-local/);
      } finally {
        server.close();
      }
    });

    it('loopback may be reached', async () => {
      const { rig } = await connected({ guarded: true });
      expect(rig.link.state).to.equal('connected');
    });
  });

  describe('pings', () => {
    it('go out every WebSocketPingInterval; a missing pong ends the connection at the next one', async () => {
      const { rig, connection } = await connected({ pingIntervalS: 10 });
      const { socket } = connection;
      const pinged = () =>
        new Promise((resolve) => {
          socket.once('ping', resolve);
        });
      for (let n = 0; n < 2; n += 1) {
        const ping = pinged();
        rig.timers.pass(10_000);
        await ping;
        // the pong is behind the ping on the wire, and before the answer to this
        await stage.central.station('CP-1').call('ClearCache');
      }
      // from here on the central system does not read
      socket.pause();
      rig.timers.pass(10_000);
      expect(rig.link.state).to.equal('connected');
      rig.timers.pass(10_000);
      expect(await rig.closed.take()).to.include({ code: 1006 });
      expect(rig.lines).to.include('CP-1: no pong in time');
      expect(rig.transport.counters.drops).to.equal(1);
    });

    it('of a central system that does not read are not answered while 16 KiB wait', async () => {
      const { rig, station, connection } = await connected();
      const { socket } = connection;
      const pongs: string[] = [];
      socket.on('pong', (data) => pongs.push(data.toString()));
      const before = Object.getOwnPropertyDescriptor(WebSocket.prototype, 'bufferedAmount');
      let unsent = 0;
      Object.defineProperty(WebSocket.prototype, 'bufferedAmount', { configurable: true, get: () => unsent });
      try {
        for (const octets of [0, 16_384, 16_385, 4_000_000, 0]) {
          unsent = octets;
          socket.ping(`with ${octets}`);
          expect((await station.call('ClearCache')).kind).to.equal('result');
        }
      } finally {
        if (before !== undefined) Object.defineProperty(WebSocket.prototype, 'bufferedAmount', before);
      }
      expect(pongs).to.deep.equal(['with 0', 'with 16384', 'with 0']);
      expect(rig.link.state).to.equal('connected');
    });

    it('of interval 0 never go out, and the interval changes while connected', async () => {
      const { rig, connection } = await connected({ pingIntervalS: 0 });
      let pings = 0;
      connection.socket.on('ping', () => {
        pings += 1;
      });
      rig.timers.pass(3_600_000);
      expect(rig.timers.waiting).to.equal(0);
      rig.link.setPingInterval(5);
      rig.timers.pass(5000);
      await until(() => pings === 1);
      rig.link.setPingInterval(0);
      expect(rig.timers.waiting).to.equal(0);
      rig.timers.pass(60_000);
      expect((await stage.central.station('CP-1').call('ClearCache')).kind).to.equal('result');
      expect(pings).to.equal(1);
      expect(rig.link.state).to.equal('connected');
    });

    for (const [what, head] of [
      ['pings', 0x89],
      ['pongs', 0x8a],
    ] as const)
      it(`more than 100 ${what} of the central system within a second end the connection with 1008`, async () => {
        raw = await startRawServer((key) => switching(key, 'ocpp1.6'));
        const rig = rigOn(raw.url, { pingIntervalS: 0 });
        rig.link.connect();
        await rig.opened.take();
        const [socket] = raw.sockets;
        const received: Buffer[] = [];
        socket?.on('data', (data) => received.push(data));
        const send = (times: number) =>
          socket?.write(Buffer.from(Array.from({ length: times }, () => [head, 0]).flat()));
        const frames = () => Buffer.concat(received);
        send(100);
        await until(() => what === 'pongs' || frames().length === 600);
        rig.wall.advance(1000);
        send(100);
        await until(() => what === 'pongs' || frames().length === 1200);
        expect(rig.link.state).to.equal('connected');
        send(30_000);
        await until(() => rig.lines.includes('CP-1: too many pings of the central system'));
        // behind the pongs a close frame alone: its first octet, mask, and the code under the mask
        const pongs = what === 'pings' ? 1200 : 0;
        await until(() => frames().length > pongs);
        const [first, , m1, m2, , , c1, c2] = frames().subarray(pongs);
        expect([first, (c1 ?? 0) ^ (m1 ?? 0), (c2 ?? 0) ^ (m2 ?? 0)]).to.deep.equal([0x88, 1008 >> 8, 1008 & 0xff]);
        rig.timers.pass(2000);
        await rig.closed.take();
        expect(rig.transport.counters.drops).to.equal(1);
      });

    it('of the central system are answered with their data', async () => {
      const { connection } = await connected();
      const pong = new Promise<Buffer>((resolve) => {
        connection.socket.once('pong', resolve);
      });
      connection.socket.ping('abc');
      expect((await pong).toString()).to.equal('abc');
    });
  });

  describe('ends', () => {
    it('of the central system are told with code and reason', async () => {
      const { rig, station } = await connected();
      station.close(4321, 'maintenance');
      expect(await rig.closed.take()).to.deep.equal({ code: 4321, reason: 'maintenance' });
      expect(rig.link.lastError).to.equal('the connection ended with code 4321: maintenance');
      expect(rig.link.connectedSinceMs).to.equal(null);
    });

    it('a frame of more than 256 KiB ends it (limit O1), one of 256 KiB does not', async () => {
      const { rig, station, connection } = await connected();
      const data = (length: number) => {
        const frame = (text: string) => JSON.stringify([2, 'long', 'DataTransfer', { vendorId: 'v', data: text }]);
        return frame('x'.repeat(length - frame('').length));
      };
      station.sendText(data(256 * 1024));
      expect(JSON.parse(await station.nextText())).to.deep.equal([3, 'long', { status: 'Accepted' }]);
      station.sendText(data(256 * 1024 + 1));
      expect((await connection.closed).code).to.equal(1009);
      expect(await rig.closed.take()).to.deep.equal({ code: 1006, reason: 'Max payload size exceeded' });
    });

    it('a central system that does not read is given up beyond 4 MiB', async () => {
      const { rig, connection } = await connected();
      connection.request.socket.pause();
      const payload = { vendorId: 'v', data: 'x'.repeat(1024 * 1024) };
      for (let n = 0; n < 40 && rig.line.open; n += 1) {
        void rig.line.call('DataTransfer', payload, { timeoutMs: 1 });
        rig.timers.pass(1);
      }
      expect(await rig.closed.take()).to.include({ code: 1006 });
    });

    it('codes that may not be sent become 1000, and long reasons are cut', async () => {
      const { rig, connection } = await connected();
      rig.link.disconnect(1005, 'ü'.repeat(200));
      const { code, reason } = await connection.closed;
      expect([code, reason]).to.deep.equal([1000, 'ü'.repeat(60)]);
    });

    it('a central system that ignores the closing handshake is cut off after 2 s', async () => {
      const { rig, connection } = await connected();
      connection.request.socket.pause();
      const stopped = rig.transport.stop();
      rig.timers.pass(1999);
      expect(rig.link.state).to.equal('connected');
      rig.timers.pass(1);
      await stopped;
      expect(rig.link.state).to.equal('disconnected');
    });

    it('stop ends an attempt, a wait and nothing at all, and may be called twice', async () => {
      raw = await startRawServer(() => null);
      const hanging = rigOn(raw.url);
      hanging.link.connect();
      await until(() => raw?.requests.length === 1);
      await Promise.all([hanging.transport.stop(), hanging.transport.stop()]);
      stage.central.admit = () => 404;
      const waiting = rigAt();
      waiting.link.connect();
      await waiting.failed.take();
      await waiting.transport.stop();
      const idle = rigAt();
      await idle.transport.stop();
      for (const rig of [hanging, waiting, idle]) {
        rig.link.connect();
        expect([rig.link.state, rig.timers.waiting]).to.deep.equal(['disconnected', 0]);
        expect(rig.wireLog.channels).to.have.length(0);
      }
    });

    it('many connections leave no handle, timer or listener', async () => {
      let listeners = 0;
      const disturber = {
        ...noDisturber,
        onChange: () => {
          listeners += 1;
          return () => {
            listeners -= 1;
          };
        },
      };
      await settled();
      const before = openHandles();
      for (let n = 0; n < 30; n += 1) {
        const { rig, station } = await connected({ pingIntervalS: 30, disturber });
        expect(listeners).to.equal(1);
        if (n % 2 === 0) station.cut();
        await rig.transport.stop();
        expect([listeners, rig.timers.waiting]).to.deep.equal([0, 0]);
      }
      await until(() => JSON.stringify(openHandles()) === JSON.stringify(before));
    });
  });
});
