import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { SimError } from '../../../../src/core/errors.ts';
import type { Logger } from '../../../../src/core/log/log.ts';
import type { ModbusContext } from '../../../../src/sunspec/modbus/server/context.ts';
import { createModbusContext, createModbusTcpServer } from '../../../../src/sunspec/modbus/server/server.ts';
import type { ModbusContextOptions, ModbusTcpServer } from '../../../../src/sunspec/modbus/server/server.ts';
import { pick } from '../../../support/depth.ts';
import { RawClient, readRequest } from '../../../support/modbus-client.ts';
import { brokenRegister, FakeWallClock, MemoryUnit } from '../../../support/modbus-unit.ts';

interface Rig {
  readonly server: ModbusTcpServer;
  readonly context: ModbusContext;
  readonly clock: FakeWallClock;
  readonly unit: MemoryUnit;
  readonly lines: string[];
  open(): Promise<RawClient>;
}

/** Lets the event loop turn until something is so. */
async function until(ready: () => boolean): Promise<void> {
  while (!ready())
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}

describe('Modbus TCP listener', () => {
  const rigs: Rig[] = [];
  const clients: RawClient[] = [];

  async function rig(options: ModbusContextOptions = {}): Promise<Rig> {
    const clock = new FakeWallClock();
    const unit = new MemoryUnit();
    const lines: string[] = [];
    const write = (level: string) => (message: string) => {
      lines.push(`${level} ${message}`);
    };
    const logger: Logger = {
      debug: write('debug'),
      info: write('info'),
      warning: write('warning'),
      error: write('error'),
    };
    const context = createModbusContext({ clock, logger, ...options });
    const server = createModbusTcpServer({
      host: '127.0.0.1',
      port: 0,
      context,
      units: (unitId) => (unitId === 1 ? unit : undefined),
    });
    const port = await server.listen();
    async function open(): Promise<RawClient> {
      const client = await RawClient.open(port);
      clients.push(client);
      return client;
    }
    const made = { server, context, clock, unit, lines, open };
    rigs.push(made);
    return made;
  }

  /** Moves the clock and runs the time limits: once to see how things stand, once after. */
  function pass({ clock, context }: Rig, ms: number): void {
    context.sweeper.sweep();
    clock.advance(ms);
    context.sweeper.sweep();
  }

  /** Until the only connection is read no more: what it has not taken fills all that lies between. */
  async function untilStuck(made: Rig, feed: () => void = () => undefined): Promise<void> {
    let before = -1;
    let turns = 0;
    await until(() => {
      feed();
      const { counters } = made.context;
      turns = made.server.clients()[0]?.paused === true && counters.answers === before ? turns + 1 : 0;
      before = counters.answers;
      return turns === 100;
    });
  }

  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await Promise.all(rigs.splice(0).map(({ server }) => server.close()));
  });

  describe('M4, M5: every request gets one answer, in order', () => {
    it('50 requests in one segment give 50 answers in order', async () => {
      const client = await (await rig()).open();
      client.send(Buffer.concat(Array.from({ length: 50 }, (_, i) => readRequest(i, 100 + i, 1))));
      for (let i = 0; i < 50; i++) {
        const answer = await client.answer();
        const value = i === brokenRegister - 100 ? 'exception' : 100 + i;
        expect([answer.readUInt16BE(0), answer.length === 11 ? answer.readUInt16BE(9) : 'exception']).to.deep.equal([
          i,
          value,
        ]);
      }
      expect(client.received.length).to.equal(0);
    });

    it('3000 long answers to one segment arrive whole and in order', async () => {
      const client = await (await rig()).open();
      client.send(Buffer.concat(Array.from({ length: 3000 }, (_, i) => readRequest(i, 160, 125))));
      for (let i = 0; i < 3000; i++) {
        const answer = await client.answer();
        expect([answer.readUInt16BE(0), answer.length]).to.deep.equal([i, 259]);
      }
    });

    it('a master that sends thousands, ends its side and only then reads gets every answer', async () => {
      const made = await rig();
      const client = await made.open();
      client.socket.pause();
      client.send(Buffer.concat(Array.from({ length: 40_000 }, (_, i) => readRequest(i, 160, 125))));
      client.socket.end();
      await untilStuck(made);
      client.socket.resume();
      expect((await client.untilClosed()).length).to.equal(40_000 * 259);
      expect(made.context.counters.answers).to.equal(40_000);
    });
  });

  it('M11: a flood of requests takes turns with the other masters', async () => {
    const made = await rig();
    const requests = pick({ quick: 12_000, ci: 60_000 });
    const client = await made.open();
    client.send(Buffer.concat(Array.from({ length: requests }, (_, i) => readRequest(i, 160, 1))));
    let most = 0;
    for (let before = 0; before < requests; ) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      const { answers } = made.context.counters;
      most = Math.max(most, answers - before);
      before = answers;
    }
    expect(most).to.be.within(500, 2000);
  });

  describe('M6, M7: a peer that takes no answers', () => {
    async function neverReading(made: Rig): Promise<RawClient> {
      const client = await made.open();
      client.socket.pause();
      const requests = Buffer.concat(Array.from({ length: 5000 }, (_, i) => readRequest(i, 160, 125)));
      await untilStuck(made, () => {
        if (client.socket.writableLength === 0) client.send(requests);
      });
      return client;
    }

    it('costs a bounded amount of memory and nobody else an answer', async () => {
      const made = await rig();
      await neverReading(made);
      const other = await made.open();
      for (let i = 0; i < 100; i++) await other.request(readRequest(i, 100, 1));
      const [stuck] = made.server.clients();
      expect(stuck?.paused).to.equal(true);
      expect(stuck?.unsentBytes).to.be.within(1, 64 * 1024 + 259);
      expect(stuck?.heldBytes).to.be.below(256 * 1024);
    });

    it('is served on when it reads again', async () => {
      const made = await rig();
      const client = await neverReading(made);
      const sent = client.socket.bytesWritten / 12;
      client.socket.resume();
      const answers = await client.take(sent * 259);
      const firstWrong = Array.from({ length: sent }, (_, i) => i).find(
        (i) => answers.readUInt16BE(259 * i) !== i % 5000,
      );
      expect(firstWrong).to.equal(undefined);
      expect(made.context.counters.answers).to.equal(sent);
    });

    it('is closed after 30 s without progress', async () => {
      const made = await rig();
      const client = await neverReading(made);
      pass(made, 29_999);
      expect(made.context.counters.timeouts).to.equal(0);
      made.clock.advance(1);
      made.context.sweeper.sweep();
      await until(() => made.server.connectionCount === 0);
      expect(made.context.counters.timeouts).to.equal(1);
      client.destroy();
    });
  });

  describe('M8: connections', () => {
    it('at the cap a new one is refused while none is idle', async () => {
      const made = await rig({ limits: { maxConnections: 2 } });
      const first = await made.open();
      await first.request(readRequest(1, 100, 1));
      await (await made.open()).request(readRequest(1, 100, 1));
      made.clock.advance(60_000);
      const third = await made.open();
      expect((await third.untilClosed()).length).to.equal(0);
      expect(await first.request(readRequest(2, 100, 1))).to.equal('000200000005010302' + '0064');
      expect(made.context.counters.refusedConnections).to.equal(1);
    });

    it('at the cap the one that has been idle longest gives way after 60 s', async () => {
      const made = await rig({ limits: { maxConnections: 2 } });
      const [first, second] = [await made.open(), await made.open()];
      await first.request(readRequest(1, 100, 1));
      await second.request(readRequest(1, 100, 1));
      made.clock.advance(1);
      await first.request(readRequest(2, 100, 1));
      made.clock.advance(60_000);
      const third = await made.open();
      expect(await third.request(readRequest(1, 100, 1))).to.equal('000100000005010302' + '0064');
      await second.untilClosed();
      expect(first.closed).to.equal(false);
    });

    it('serves 500 at one time', async () => {
      const made = await rig({ limits: { maxConnections: 501 } });
      const many = await Promise.all(Array.from({ length: 500 }, () => made.open()));
      const answers = await Promise.all(many.map((client, i) => client.request(readRequest(i, 100, 1))));
      answers.forEach((answer, i) => expect(answer.slice(0, 4)).to.equal(i.toString(16).padStart(4, '0')));
      expect(made.server.connectionCount).to.equal(500);
      const fresh = await made.open();
      expect(await fresh.request(readRequest(1, 100, 1))).to.equal('000100000005010302' + '0064');
    });
  });

  describe('M9: time limits', () => {
    it('closes after 30 s with an unfinished frame, however slowly it goes on', async () => {
      const made = await rig();
      const client = await made.open();
      const request = readRequest(1, 100, 1);
      client.send(request.subarray(0, 3));
      await until(() => made.server.clients()[0]?.heldBytes === 3);
      pass(made, 20_000);
      client.send(request.subarray(3, 5));
      await until(() => made.server.clients()[0]?.heldBytes === 5);
      made.clock.advance(10_000);
      made.context.sweeper.sweep();
      expect((await client.untilClosed()).length).to.equal(0);
    });

    it('does not count a frame that follows another', async () => {
      const made = await rig();
      const client = await made.open();
      const request = readRequest(1, 100, 1);
      const rest = Buffer.concat([request.subarray(5), request.subarray(0, 5)]);
      client.send(request.subarray(0, 5));
      for (let i = 0; i < 4; i++) {
        pass(made, 20_000);
        client.send(rest);
        await client.answer();
      }
      expect(client.closed).to.equal(false);
    });

    it('closes an idle connection after an hour', async () => {
      const made = await rig();
      const client = await made.open();
      await client.request(readRequest(1, 100, 1));
      pass(made, 3_599_999);
      expect(made.context.counters.timeouts).to.equal(0);
      pass(made, 1);
      await client.untilClosed();
    });

    it('never does when the limit is 0', async () => {
      const made = await rig({ limits: { idleTimeoutMs: 0 } });
      const client = await made.open();
      await client.request(readRequest(1, 100, 1));
      pass(made, 1e9);
      expect(await client.request(readRequest(2, 100, 1))).to.equal('000200000005010302' + '0064');
    });
  });

  describe('M12: a unit id that is not served', () => {
    it('gets no answer, and the next request does', async () => {
      const client = await (await rig()).open();
      client.send(Buffer.concat([readRequest(1, 100, 1, 7), readRequest(2, 100, 1)]));
      expect((await client.answer()).readUInt16BE(0)).to.equal(2);
    });

    it('gets exception 0x0B from a gateway', async () => {
      const client = await (await rig({ foreignUnit: 'gateway' })).open();
      expect(await client.request(readRequest(1, 100, 1, 7))).to.equal('000100000003' + '07' + '830b');
    });
  });

  describe('M13: failures inside', () => {
    it('a unit that throws answers exception 4, is logged once, and the connection lives', async () => {
      const made = await rig();
      const client = await made.open();
      expect(await client.request(readRequest(1, brokenRegister, 1))).to.equal('000100000003018304');
      expect(await client.request(readRequest(2, 100, 1))).to.equal('000200000005010302' + '0064');
      expect(made.lines.filter((line) => line.startsWith('error'))).to.have.length(1);
    });

    it('a unit that gives too few registers answers exception 4', async () => {
      const made = await rig();
      made.unit.read = () => Buffer.alloc(2);
      expect(await (await made.open()).request(readRequest(1, 100, 2))).to.equal('000100000003018304');
    });

    it('survives resets in the middle of answers', async () => {
      const made = await rig();
      const many = await Promise.all(Array.from({ length: 50 }, () => made.open()));
      for (const client of many) {
        client.send(Buffer.concat(Array.from({ length: 50 }, (_, i) => readRequest(i, 160, 125))));
        client.socket.resetAndDestroy();
      }
      await until(() => made.server.connectionCount === 0);
      expect(await (await made.open()).request(readRequest(1, 100, 1))).to.equal('000100000005010302' + '0064');
    });
  });

  describe('log', () => {
    it('a flood of broken streams is written 10 times a second, then counted', async () => {
      const made = await rig();
      for (let i = 0; i < 14; i++) {
        const client = await made.open();
        client.send('ffffffffffff');
        await client.untilClosed();
      }
      made.clock.advance(1000);
      made.context.log.flush();
      const info = made.lines.filter((line) => line.startsWith('info'));
      expect(info).to.have.length(11);
      expect(info[10]).to.match(/^info 4 more/);
      expect(made.context.counters.violations).to.equal(14);
    });
  });

  describe('lifecycle', () => {
    it('says in words that a port is in use', async () => {
      const taken = createServer();
      taken.listen(0, '127.0.0.1');
      await once(taken, 'listening');
      const { port } = taken.address() as AddressInfo;
      const server = createModbusTcpServer({
        host: '127.0.0.1',
        port,
        context: createModbusContext(),
        units: () => undefined,
      });
      const error = await server.listen().then(
        () => undefined,
        (cause: unknown) => cause,
      );
      expect(error).to.be.instanceOf(SimError);
      expect(error).to.include({
        code: 'LISTEN_FAILED',
        message: `cannot listen on 127.0.0.1:${port}: the port is in use`,
      });
      await server.close();
      taken.close();
    });

    it('says in words that an address is not of this machine', async () => {
      const server = createModbusTcpServer({
        host: '192.0.2.1',
        port: 0,
        context: createModbusContext(),
        units: () => undefined,
      });
      const error = await server.listen().then(
        () => undefined,
        (cause: unknown) => cause,
      );
      expect(error).to.include({
        code: 'LISTEN_FAILED',
        message: 'cannot listen on 192.0.2.1:0: this machine has no such address',
      });
    });

    it('accepts from the end of the bind to the beginning of the close', async () => {
      const options = { host: '127.0.0.1', context: createModbusContext(), units: () => undefined };
      const server = createModbusTcpServer({ ...options, port: 0 });
      const bound = server.listen();
      const accepting = [server.isAccepting];
      const port = await bound;
      accepting.push(server.isAccepting);
      const second = createModbusTcpServer({ ...options, port });
      await second.listen().catch(() => undefined);
      const closed = server.close();
      accepting.push(server.isAccepting);
      await closed;
      accepting.push(server.isAccepting);
      expect(accepting).to.deep.equal([false, true, false, false]);
      expect(second.isAccepting).to.equal(false);
    });

    it('close can be called twice and ends open connections', async () => {
      const made = await rig();
      const client = await made.open();
      await client.request(readRequest(1, 100, 1));
      await Promise.all([made.server.close(), made.server.close()]);
      await made.server.close();
      await client.untilClosed();
      expect(made.server.connectionCount).to.equal(0);
      expect(made.server.port).to.equal(0);
    });

    it('close comes to an end although a peer takes no answers', async () => {
      const made = await rig();
      const client = await made.open();
      client.socket.pause();
      const requests = Buffer.concat(Array.from({ length: 5000 }, (_, i) => readRequest(i, 160, 125)));
      await until(() => {
        if (client.socket.writableLength === 0) client.send(requests);
        return made.server.clients()[0]?.paused === true;
      });
      await made.server.close();
      expect(made.server.connectionCount).to.equal(0);
    });

    it('a listener that was closed does not listen again', async () => {
      const server = createModbusTcpServer({
        host: '127.0.0.1',
        port: 0,
        context: createModbusContext(),
        units: () => undefined,
      });
      await server.close();
      const error = await server.listen().then(
        () => undefined,
        (cause: unknown) => cause,
      );
      expect(error).to.include({ code: 'STOPPING' });
    });
  });
});
