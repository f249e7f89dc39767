import { createServer } from 'node:net';
import { expect } from 'chai';
import { listen } from '../../../../src/core/net/listen.ts';
import {
  aliasUnitFault,
  connectionLimitFault,
  deafAfterConnectFault,
  delayFault,
  dropFault,
  exceptionFault,
  greetingFault,
  ignoreUnitFault,
  outageFault,
  reconnectPauseFault,
  requestIntervalFault,
} from '../../../../src/fault-kinds/modbus-transport.ts';
import { acceptError, serverAt } from '../../../support/listeners.ts';
import { readRequest } from '../../../support/modbus-client.ts';
import { refusalAt, until, WireRig } from './wire-rig.ts';

const condition = { point: '701.W', below: 1 };

describe('faults of connections and of whole devices', () => {
  let rig: WireRig;
  beforeEach(async () => {
    rig = await new WireRig().start();
  });
  afterEach(() => rig.stop());

  /** Sends a request that is lost; the requests of the listener show that it has been read. */
  async function expectSilence(client: Awaited<ReturnType<WireRig['open']>>, unitId = 1): Promise<void> {
    const before = rig.context.counters.requests;
    client.send(readRequest(1, 100, 1, unitId));
    await until(() => rig.context.counters.requests > before);
    expect(client.received.length).to.equal(0);
  }

  describe('connection_limit', () => {
    it('refuse: a further connection is reset, the open ones go on; a place that is free again is given at once', async () => {
      rig.inject(connectionLimitFault, { connections: 1 });
      const first = await rig.open();
      expect(await rig.works(first)).to.equal(true);
      expect(await rig.refusal()).to.equal('reset');
      expect(await rig.works(first)).to.equal(true);
      first.destroy();
      await until(() => rig.own.connectionCount === 0);
      // a port that opened again at this moment would refuse it
      expect(await rig.works(await rig.open())).to.equal(true);
    });

    it('replace_oldest: the newest wins', async () => {
      rig.inject(connectionLimitFault, { connections: 2, policy: 'replace_oldest' });
      const [first, second] = [await rig.open(), await rig.open()];
      expect([await rig.works(first), await rig.works(second)]).to.deep.equal([true, true]);
      const third = await rig.open();
      await first.untilClosed();
      expect([await rig.works(second), await rig.works(third)]).to.deep.equal([true, true]);
    });

    it('replace_oldest: of connections that were open before, as many give way as are too many', async () => {
      const early = [await rig.open(), await rig.open(), await rig.open()];
      for (const client of early) expect(await rig.works(client)).to.equal(true);
      rig.inject(connectionLimitFault, { connections: 2, policy: 'replace_oldest' });
      const last = await rig.open();
      await Promise.all(early.slice(0, 2).map((client) => client.untilClosed()));
      expect([await rig.works(early[2]!), await rig.works(last)]).to.deep.equal([true, true]);
      expect(rig.own.connectionCount).to.equal(2);
    });

    it('none at all, whatever the policy', async () => {
      rig.inject(connectionLimitFault, { connections: 0, policy: 'replace_oldest' });
      expect(await rig.refusal()).to.equal('ECONNREFUSED');
      rig.clear();
      expect(await rig.works(await rig.open())).to.equal(true);
    });

    it('of one device leaves ports of others and of several devices alone', async () => {
      rig.inject(connectionLimitFault, { connections: 0 }, { deviceIndex: 0 });
      expect(await rig.refusal()).to.equal('ECONNREFUSED');
      const other = await rig.open(rig.other);
      const shared = await rig.open(rig.shared);
      expect([await rig.works(other, rig.other), await rig.works(shared, rig.shared)]).to.deep.equal([true, true]);
    });

    it('refuses every second connection (ha-sunspec)', async () => {
      rig.inject(connectionLimitFault, { connections: 0 }, { every: 2 });
      expect(await rig.works(await rig.open())).to.equal(true);
      expect(await rig.refusal()).to.equal('reset');
      expect(await rig.works(await rig.open())).to.equal(true);
    });
  });

  describe('deaf_after_connect', () => {
    it('loses what arrives too early, and is fine afterwards', async () => {
      rig.inject(deafAfterConnectFault, { deaf_ms: 1000 });
      const client = await rig.open();
      await until(() => rig.own.connectionCount === 1);
      rig.faults.wall.advance(999);
      client.send(readRequest(1, 100, 1));
      await until(() => rig.own.clients()[0]?.idleMs === 0);
      rig.faults.wall.advance(1);
      expect(await rig.works(client)).to.equal(true);
      expect(rig.context.counters.requests).to.equal(1);
    });

    it('ends when it is cleared', async () => {
      rig.inject(deafAfterConnectFault, { deaf_ms: 600_000 });
      const client = await rig.open();
      await until(() => rig.own.connectionCount === 1);
      rig.faults.wall.advance(1);
      client.send(readRequest(1, 100, 1));
      await until(() => rig.own.clients()[0]?.idleMs === 0);
      rig.clear();
      expect(await rig.works(client)).to.equal(true);
      expect(rig.context.counters.requests).to.equal(1);
    });

    it('goes together with a limit that replaces', async () => {
      rig.inject(deafAfterConnectFault, { deaf_ms: 1000 });
      rig.inject(connectionLimitFault, { connections: 1, policy: 'replace_oldest' });
      const first = await rig.open();
      await until(() => rig.own.connectionCount === 1);
      const second = await rig.open();
      await first.untilClosed();
      rig.faults.wall.advance(10);
      second.send(readRequest(1, 100, 1));
      await until(() => rig.own.clients()[0]?.idleMs === 0);
      rig.faults.wall.advance(990);
      expect(await rig.works(second)).to.equal(true);
    });

    it('does not concern connections that were open before', async () => {
      const client = await rig.open();
      await until(() => rig.own.connectionCount === 1);
      rig.inject(deafAfterConnectFault, { deaf_ms: 1000 });
      expect(await rig.works(client)).to.equal(true);
    });
  });

  describe('outage', () => {
    it('silent: connections open and open anew, and nothing is answered', async () => {
      const open = await rig.open();
      expect(await rig.works(open)).to.equal(true);
      rig.inject(outageFault, { mode: 'silent' });
      await expectSilence(open);
      const fresh = await rig.open();
      await expectSilence(fresh);
      rig.context.sweeper.sweep();
      rig.clear();
      expect([await rig.works(open), await rig.works(fresh)]).to.deep.equal([true, true]);
    });

    it('refuse: open connections hear nothing, new ones find a closed port', async () => {
      const open = await rig.open();
      await until(() => rig.own.connectionCount === 1);
      rig.inject(outageFault, { mode: 'refuse' });
      await expectSilence(open);
      expect(await rig.refusal()).to.equal('ECONNREFUSED');
      rig.context.sweeper.sweep();
      rig.clear();
      expect(await rig.works(open)).to.equal(true);
    });

    it('close: open connections end with the next sweep, new ones at once', async () => {
      const [open, other] = [await rig.open(), await rig.open(rig.other)];
      await until(() => rig.own.connectionCount === 1 && rig.other.connectionCount === 1);
      rig.inject(outageFault, { mode: 'close' }, { deviceIndex: 0 });
      rig.context.sweeper.sweep();
      await open.untilClosed();
      expect(await rig.refusal()).to.equal('ECONNREFUSED');
      expect(await rig.works(other, rig.other)).to.equal(true);
      rig.clear();
      expect(await rig.works(await rig.open())).to.equal(true);
    });

    it('of one device silences its unit id on a port for several', async () => {
      const shared = await rig.open(rig.shared);
      rig.inject(outageFault, { mode: 'close' }, { deviceIndex: 1 });
      await expectSilence(shared, 2);
      rig.context.sweeper.sweep();
      expect(await rig.works(shared, rig.shared)).to.equal(true);
    });

    it('by RTU framing', async () => {
      const client = await rig.open(rig.rtu);
      rig.inject(outageFault, {}, { count: 1 });
      client.send(Buffer.from('010300640001c5d5', 'hex'));
      await until(() => rig.faults.registry.active.length === 0);
      expect(await rig.works(client, rig.rtu)).to.equal(true);
    });

    it('of now and then leaves open connections alone', async () => {
      const open = await rig.open();
      await until(() => rig.own.connectionCount === 1);
      rig.inject(outageFault, { mode: 'close' }, { every: 2 });
      rig.context.sweeper.sweep();
      expect(await rig.works(open)).to.equal(true);
    });

    it('by night: comes and goes with its condition', async () => {
      const client = await rig.open();
      rig.holding.clear();
      rig.inject(outageFault, {}, { when: condition });
      expect(await rig.works(client)).to.equal(true);
      rig.holding.add(0);
      await expectSilence(client);
      rig.holding.clear();
      expect(await rig.works(client)).to.equal(true);
    });

    it('on a port for several devices it takes a condition that holds at each of them', async () => {
      rig.holding.delete(1);
      rig.inject(outageFault, { mode: 'refuse' }, { when: condition });
      const client = await rig.open(rig.shared);
      await expectSilence(client, 1);
      rig.holding.add(1);
      rig.context.sweeper.sweep();
      expect(await rig.refusal(rig.shared)).to.equal('ECONNREFUSED');
    });
  });

  describe('a closed port', () => {
    it('opens and closes with a condition, and meets a connection of between with a reset', async () => {
      rig.holding.clear();
      rig.inject(outageFault, { mode: 'refuse' }, { when: condition });
      expect([rig.own.isAccepting, await rig.works(await rig.open())]).to.deep.equal([true, true]);
      rig.holding.add(0);
      expect(await rig.refusal()).to.equal('reset');
      rig.context.sweeper.sweep();
      expect([rig.own.isAccepting, await rig.refusal()]).to.deep.equal([false, 'ECONNREFUSED']);
      rig.holding.clear();
      rig.context.sweeper.sweep();
      await until(() => rig.own.isAccepting);
      expect(await rig.works(await rig.open())).to.equal(true);
    });

    it('stays open for a fault that strikes now and then, or a number of times', async () => {
      rig.inject(outageFault, { mode: 'refuse' }, { count: 1 });
      expect([rig.own.isAccepting, await rig.refusal()]).to.deep.equal([true, 'reset']);
      expect(await rig.works(await rig.open())).to.equal(true);
    });

    it('is closed for good when the listener ends, and says so if another program has taken it', async () => {
      rig.inject(outageFault, { mode: 'close' });
      const { port } = rig.own;
      const thief = createServer();
      await listen(thief, '127.0.0.1', port);
      rig.clear();
      await until(() => rig.log.entries().length > 0);
      expect(rig.log.entries().at(-1)?.message).to.match(/^the port cannot open again: .*the port is in use/);
      await new Promise((resolve) => thief.close(resolve));
      rig.timers.pass(1000);
      await until(() => rig.own.isAccepting);
      expect(await rig.works(await rig.open())).to.equal(true);
    });
  });

  describe('a port whose listener fails', () => {
    it('stays closed under a fault, and opens with its end', async () => {
      const { port } = rig.own;
      (await serverAt(port)).emit('error', acceptError('EINVAL'));
      expect([rig.own.isAccepting, rig.context.ports.trouble.state]).to.deep.equal([false, 'retrying']);
      rig.inject(outageFault, { mode: 'close' });
      expect(rig.context.ports.trouble).to.deep.equal({});
      rig.timers.pass(1000);
      expect(await rig.refusal()).to.equal('ECONNREFUSED');
      rig.clear();
      await until(() => rig.own.isAccepting);
      expect([rig.own.port, await rig.works(await rig.open())]).to.deep.equal([port, true]);
    });

    it('leaves open connections and other ports alone', async () => {
      const client = await rig.open();
      expect(await rig.works(client)).to.equal(true);
      (await serverAt(rig.own.port)).emit('error', acceptError('EINVAL'));
      expect([await rig.works(client), rig.other.isAccepting]).to.deep.equal([true, true]);
      rig.timers.pass(1000);
      await until(() => rig.own.isAccepting);
      expect([await rig.works(client), await rig.works(await rig.open())]).to.deep.equal([true, true]);
    });

    it('ends while it is lost', async () => {
      const { port } = rig.own;
      (await serverAt(port)).emit('error', acceptError('EINVAL'));
      await rig.own.close();
      rig.timers.pass(120_000);
      expect([rig.timers.waiting, await refusalAt(port)]).to.deep.equal([0, 'ECONNREFUSED']);
    });
  });

  describe('reconnect_pause', () => {
    it('keeps the port closed after the end of a connection', async () => {
      rig.inject(reconnectPauseFault, { pause_ms: 2000 });
      const [first, second] = [await rig.open(), await rig.open()];
      expect([await rig.works(first), await rig.works(second)]).to.deep.equal([true, true]);
      first.destroy();
      await until(() => rig.own.connectionCount === 1);
      expect(await rig.refusal()).to.equal('ECONNREFUSED');
      expect(await rig.works(second)).to.equal(true);
      rig.timers.pass(1999);
      expect(rig.own.isAccepting).to.equal(false);
      rig.timers.pass(1);
      await until(() => rig.own.isAccepting);
      expect(await rig.works(await rig.open())).to.equal(true);
    });
  });

  describe('request_interval', () => {
    it('serves no request that comes too soon after the last served one', async () => {
      const client = await rig.open();
      const fault = rig.inject(requestIntervalFault, { min_ms: 1000, result: 'busy' });
      const functions = [];
      for (const ms of [0, 999, 1, 999]) {
        rig.faults.wall.advance(ms);
        functions.push((await client.request(readRequest(1, 100, 1))).slice(14, 16));
      }
      expect(functions).to.deep.equal(['03', '83', '03', '83']);
      expect(fault.strikeCount).to.equal(2);
      rig.clear();
      rig.inject(requestIntervalFault, { min_ms: 1000 });
      expect(await rig.works(client)).to.equal(true);
      await expectSilence(client);
    });

    it('of one device leaves another on the same port alone; and may end the connection', async () => {
      const client = await rig.open(rig.shared);
      rig.inject(requestIntervalFault, { min_ms: 1000, result: 'busy' }, { deviceIndex: 0 });
      const answers = [];
      for (const unitId of [1, 2, 2, 1])
        answers.push((await client.request(readRequest(1, 100, 1, unitId))).slice(12, 18));
      expect(answers).to.deep.equal(['010302', '020302', '020302', '018306']);
      rig.clear();
      rig.inject(requestIntervalFault, { min_ms: 1000, result: 'disconnect' });
      expect(await rig.works(client, rig.shared)).to.equal(true);
      client.send(readRequest(1, 100, 1));
      await rig.release();
      expect((await client.untilClosed()).length).to.equal(0);
    });
  });

  describe('greeting', () => {
    it('begins a connection with octets, once', async () => {
      rig.inject(greetingFault, { octets: [0, 80, 194, 1, 2, 3] });
      const client = await rig.open();
      expect((await client.take(6)).toString('hex')).to.equal('0050c2010203');
      expect([await rig.works(client), await rig.works(client)]).to.deep.equal([true, true]);
    });
  });

  describe('ignore_unit', () => {
    it('answers to no request for these unit ids', async () => {
      const client = await rig.open();
      const fault = rig.inject(ignoreUnitFault, { unit_ids: [0, 255] });
      await expectSilence(client, 0);
      await expectSilence(client, 255);
      expect(await rig.works(client)).to.equal(true);
      expect(fault.strikeCount).to.equal(2);
      rig.clear();
      expect((await client.request(readRequest(9, 100, 1, 255))).slice(12, 14)).to.equal('ff');
    });
  });

  describe('alias_unit', () => {
    it('answers to further unit ids on a port of its own, with the id that was asked', async () => {
      const client = await rig.open();
      await expectSilence(client, 200);
      const fault = rig.inject(aliasUnitFault, { unit_ids: [200, 240] });
      expect(await client.request(readRequest(9, 100, 1, 200))).to.equal('000900000005c803020064');
      expect(await client.request(readRequest(9, 100, 1, 240))).to.equal('000900000005f003020064');
      expect([fault.occasions, fault.strikeCount]).to.deep.equal([2, 2]);
      await expectSilence(client, 201);
      rig.clear();
      await expectSilence(client, 200);
    });

    it('on a port for several devices it names one of them', async () => {
      const client = await rig.open(rig.shared);
      rig.units[1].bytes.writeUInt16BE(0xabcd, 0);
      rig.inject(aliasUnitFault, { unit_ids: [50, 1] }, { deviceIndex: 1 });
      expect((await client.request(readRequest(9, 100, 1, 50))).slice(-4)).to.equal('abcd');
      expect((await client.request(readRequest(9, 100, 1, 1))).slice(-4)).to.equal('0064');
    });

    it('of all devices it means none there', async () => {
      const client = await rig.open(rig.shared);
      const fault = rig.inject(aliasUnitFault, { unit_ids: [50] });
      await expectSilence(client, 50);
      expect(fault.occasions).to.equal(0);
    });
  });

  describe('how long', () => {
    it('by strikes: as many answers as asked for, then as before', async () => {
      const client = await rig.open();
      rig.inject(exceptionFault, { code: 6 }, { count: 3 });
      const answers: string[] = [];
      for (let i = 0; i < 5; i++) answers.push((await client.request(readRequest(1, 100, 1))).slice(14));
      expect(answers).to.deep.equal(['8306', '8306', '8306', '03020064', '03020064']);
      expect(rig.disturber.active).to.equal(false);
    });

    it('by wall time, to the instant, before the registry is asked to look', async () => {
      const client = await rig.open();
      rig.inject(delayFault, { delay_ms: 50 }, { durationS: 10 });
      rig.faults.wall.advance(9999);
      client.send(readRequest(1, 100, 1));
      await rig.release(0);
      expect(rig.timers.waiting).to.equal(1);
      rig.timers.pass(50);
      await client.answer();
      expect(rig.faults.registry.active).to.have.length(1);
      expect(await rig.works(client)).to.equal(true);
    });

    it('by chance: the same requests for the same seed', async () => {
      const client = await rig.open();
      const pattern = async (seed: number) => {
        rig.inject(exceptionFault, { code: 6 }, { probability: 0.3, seed });
        let seen = '';
        for (let i = 0; i < 50; i++)
          seen += (await client.request(readRequest(1, 100, 1))).slice(14, 16) === '83' ? 'x' : '.';
        rig.clear();
        return seen;
      };
      const first = await pattern(11);
      expect(await pattern(11))
        .to.equal(first)
        .and.to.match(/x.*\./);
      expect(await pattern(12)).not.to.equal(first);
    });

    it('every second request is lost', async () => {
      const client = await rig.open();
      rig.inject(dropFault, {}, { every: 2 });
      client.send(Buffer.concat([1, 2, 3, 4, 5].map((id) => readRequest(id, 100, 1))));
      const ids: number[] = [];
      for (let i = 0; i < 3; i++) ids.push((await client.answer()).readUInt16BE(0));
      expect(ids).to.deep.equal([1, 3, 5]);
    });

    it('every second request to each device is lost, also when they are asked in turns', async () => {
      const client = await rig.open(rig.shared);
      rig.inject(dropFault, {}, { every: 2 });
      client.send(
        Buffer.concat(
          [
            [1, 1],
            [2, 2],
            [3, 1],
            [4, 2],
            [5, 1],
            [6, 2],
          ].map(([id = 0, unitId]) => readRequest(id, 100, 1, unitId)),
        ),
      );
      const ids: number[] = [];
      for (let i = 0; i < 4; i++) ids.push((await client.answer()).readUInt16BE(0));
      expect(ids).to.deep.equal([1, 2, 5, 6]);
    });
  });

  it('a fault of one device leaves the others alone, also on a port for several', async () => {
    rig.inject(exceptionFault, { code: 6 }, { deviceIndex: 1 });
    rig.inject(delayFault, { delay_ms: 1000 }, { deviceIndex: 1 });
    const [own, shared] = [await rig.open(), await rig.open(rig.shared)];
    expect([await rig.works(own), await rig.works(shared, rig.shared)]).to.deep.equal([true, true]);
    shared.send(readRequest(5, 100, 1, 2));
    await until(() => rig.timers.waiting > 0);
    rig.timers.pass(1000);
    expect((await shared.answer()).toString('hex')).to.equal('000500000003028306');
  });

  it('is inactive without a fault of its own', () => {
    expect(rig.disturber.active).to.equal(false);
    rig.inject(dropFault);
    expect(rig.disturber.active).to.equal(true);
    rig.clear();
    expect(rig.disturber.active).to.equal(false);
  });
});
