import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { expect } from 'chai';
import { CommAlarms } from '../../../src/core/comm-alarms.ts';
import { createLogBook } from '../../../src/core/log/log.ts';
import { KeptPorts } from '../../../src/core/net/kept-ports.ts';
import type { KeptPlace, KeptPort } from '../../../src/core/net/kept-ports.ts';
import { listen } from '../../../src/core/net/listen.ts';
import { accepts, acceptError } from '../../support/listeners.ts';
import { closed } from '../../support/ports.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

const turn = () =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

describe('Kept ports', () => {
  let wall: HandWall;
  let timers: HandTimers;
  let alarms: CommAlarms;
  let ports: KeptPorts;
  let book: ReturnType<typeof createLogBook>;
  let open: { readonly server: Server; readonly port: KeptPort }[];
  /** listeners of other programs */
  let thieves: Server[];

  const lines = () => book.entries().map(({ level, message }) => `${level} ${message}`);
  const alarmed = (...devices: number[]) => devices.map((device) => alarms.of(device).length);

  beforeEach(() => {
    wall = new HandWall();
    timers = new HandTimers(wall);
    alarms = new CommAlarms(() => wall.nowMs());
    book = createLogBook({ write: () => undefined, clock: wall });
    open = [];
    thieves = [];
    ports = new KeptPorts({
      log: book.logger('Modbus'),
      clock: wall,
      later: timers.later,
      alarm: { alarms, code: 'modbus_port_lost', devices: () => [0, 1] },
    });
  });

  afterEach(async () => {
    for (const { server, port } of open) {
      await port.release();
      await closed(server);
    }
    for (const thief of thieves) thief.close();
  });

  async function thiefAt(port: number): Promise<Server> {
    const thief = createServer();
    thieves.push(thief);
    await listen(thief, '127.0.0.1', port);
    return thief;
  }

  async function bound(place: Partial<KeptPlace> = {}): Promise<{ server: Server; port: KeptPort; number: number }> {
    const server = createServer((socket) => socket.destroy());
    const { port: number } = await listen(server, '127.0.0.1', 0);
    const port = ports.keep(server, { host: '127.0.0.1', port: number, ...place });
    open.push({ server, port });
    return { server, port, number };
  }

  async function pass(ms: number): Promise<void> {
    timers.pass(ms);
    // an attempt to bind ends in a later turn of the event loop
    for (let i = 0; i < 3; i += 1) await turn();
  }

  for (const code of ['EBADF', 'EINVAL', 'ENOTSOCK']) {
    it(`${code}: the port is bound again after a second`, async () => {
      const { server, number } = await bound();
      server.emit('error', acceptError(code));
      expect([server.listening, await accepts(number)]).to.deep.equal([false, false]);
      const failure = `the listener on 127.0.0.1:${number} has failed: accept ${code}`;
      expect(ports.trouble).to.deep.equal({ state: 'retrying', detail: `${failure}; tries again in 1 s` });
      await pass(1000);
      expect([server.listening, await accepts(number), ports.trouble]).to.deep.equal([true, true, {}]);
      expect(lines()).to.deep.equal([
        `warning ${failure}; the port is opened again as soon as possible`,
        `info listens on 127.0.0.1:${number} again`,
      ]);
    });
  }

  for (const code of ['EMFILE', 'ENFILE', 'ECONNABORTED', 'EPROTO', 'ENOBUFS', 'ENOMEM', 'EPERM']) {
    it(`${code}: the port stays, with one warning a minute`, async () => {
      const { server, number } = await bound({ deviceIndex: 0 });
      for (let i = 0; i < 5; i += 1) server.emit('error', acceptError(code));
      await pass(59_999);
      server.emit('error', acceptError(code));
      expect([lines().length, server.listening, ports.trouble, alarmed(0)]).to.deep.equal([1, true, {}, [0]]);
      await pass(1);
      server.emit('error', acceptError(code));
      expect(await accepts(number)).to.equal(true);
      const text = `warning cannot accept a connection: ${code === 'EMFILE' ? 'too many open files' : ''}`;
      expect(lines()).to.have.length(2);
      expect(lines()[0]!.startsWith(text)).to.equal(true);
      expect(lines()[1]).to.equal(`${lines()[0]} (and 5 more since the last such line)`);
    });
  }

  it('another reason has a warning of its own, and an error without a code too', async () => {
    const { server } = await bound();
    server.emit('error', acceptError('EMFILE'));
    server.emit('error', acceptError('ECONNABORTED'));
    server.emit('error', new Error('it went wrong'));
    expect(lines().slice(1)).to.deep.equal([
      'warning cannot accept a connection: accept ECONNABORTED',
      'warning cannot accept a connection: it went wrong',
    ]);
  });

  it('a listener that was closed from outside is bound again, with the listeners of its server', async () => {
    const { server, number } = await bound();
    const counts = () => server.eventNames().map((name) => [name, server.listenerCount(name)]);
    const before = counts();
    await closed(server);
    expect(ports.trouble.detail).to.equal(`the listener on 127.0.0.1:${number} was closed; tries again in 1 s`);
    await pass(1000);
    expect([await accepts(number), counts()]).to.deep.equal([true, before]);
  });

  it('a port that another program has taken is tried until it is free; each reason is logged once', async () => {
    const { server, number } = await bound();
    server.emit('error', acceptError('EINVAL'));
    const thief = await thiefAt(number);
    await pass(1000);
    const taken = `cannot listen on 127.0.0.1:${number}: the port is in use`;
    expect(ports.trouble.detail).to.equal(`${taken}; tries again in 2 s`);
    for (const waitS of [2, 4, 8, 16, 32, 60, 60, 60, 60, 60]) await pass(waitS * 1000);
    expect(lines().slice(1)).to.deep.equal([`warning the port cannot open again: ${taken}`]);
    // failed attempts leave nothing at the server
    expect([server.listenerCount('listening'), server.listenerCount('error')]).to.deep.equal([0, 1]);
    await closed(thief);
    await pass(60_000);
    expect(ports.trouble).to.deep.equal({});
    expect(await accepts(number)).to.equal(true);
  });

  it('an address that has vanished is waited for', async () => {
    // 192.0.2.0/24 is for documentation (RFC 5737): no machine has it
    const server = createServer();
    const failure: unknown = await listen(server, '192.0.2.1', 9).catch((error: unknown) => error);
    open.push({ server, port: ports.recover(server, { host: '192.0.2.1', port: 9 }, failure) });
    await pass(3000);
    expect(ports.trouble.detail).to.equal(
      'cannot listen on 192.0.2.1:9: this machine has no such address; tries again in 2 s',
    );
    expect(lines()).to.have.length(1);
  });

  it('a released port is not bound again, and its close is no loss', async () => {
    const { server, port, number } = await bound({ deviceIndex: 0 });
    await port.release();
    await closed(server);
    server.emit('error', acceptError('EINVAL'));
    await pass(120_000);
    expect([ports.trouble, lines(), alarmed(0), await accepts(number)]).to.deep.equal([{}, [], [0], false]);
  });

  it('a lost port that is released is given up', async () => {
    const { server, port, number } = await bound({ deviceIndex: 0 });
    server.emit('error', acceptError('EINVAL'));
    await port.release();
    await pass(120_000);
    expect([ports.trouble, timers.waiting, alarmed(0), await accepts(number)]).to.deep.equal([{}, 0, [0], false]);
  });

  it('several lost ports are counted', async () => {
    const [first, second] = [await bound(), await bound()];
    first.server.emit('error', acceptError('EINVAL'));
    second.server.emit('error', acceptError('EINVAL'));
    expect(ports.trouble.detail).to.match(/^the listener on .*; tries again in 1 s; 2 ports are closed$/);
    await pass(1000);
    expect(ports.trouble).to.deep.equal({});
  });

  describe('alarms', () => {
    it('of the device of the port, with the latest reason, until it is bound again', async () => {
      const { server, number } = await bound({ deviceIndex: 1 });
      const beginMs = wall.nowMs();
      server.emit('error', acceptError('EINVAL'));
      const thief = await thiefAt(number);
      await pass(1000);
      expect(alarmed(0, 1)).to.deep.equal([0, 1]);
      expect(alarms.of(1)[0]).to.deep.equal({
        code: 'modbus_port_lost',
        severity: 'warning',
        sinceMs: beginMs,
        message: `cannot listen on 127.0.0.1:${number}: the port is in use`,
      });
      await closed(thief);
      await pass(2000);
      expect(alarmed(0, 1)).to.deep.equal([0, 0]);
    });

    it('of all devices of a shared port, also of those that join; of no device of another port', async () => {
      const [shared, meter] = [await bound({ isShared: true }), await bound()];
      meter.server.emit('error', acceptError('EINVAL'));
      ports.joined(2);
      expect(alarmed(0, 1, 2)).to.deep.equal([0, 0, 0]);
      shared.server.emit('error', acceptError('EINVAL'));
      expect(alarmed(0, 1, 2)).to.deep.equal([1, 1, 0]);
      ports.joined(2);
      expect(alarmed(2)).to.deep.equal([1]);
      await shared.port.release();
      expect(alarmed(0, 1)).to.deep.equal([0, 0]);
    });

    it('stand as long as one of the ports of the device is lost', async () => {
      const [own, shared] = [await bound({ deviceIndex: 0 }), await bound({ isShared: true })];
      own.server.emit('error', acceptError('EINVAL'));
      shared.server.emit('error', acceptError('EINVAL'));
      await own.port.release();
      expect(alarmed(0, 1)).to.deep.equal([1, 1]);
      await shared.port.release();
      expect(alarmed(0, 1)).to.deep.equal([0, 0]);
    });
  });
});
