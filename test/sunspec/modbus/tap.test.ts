import { expect } from 'chai';
import type { SimTime } from '../../../src/core/time/clock.ts';
import { createModbusMessages, ModbusTap } from '../../../src/core/wire/modbus.ts';
import type { ModbusMessages } from '../../../src/core/wire/modbus.ts';
import { WireLog } from '../../../src/core/wire/wire-log.ts';
import { createModbusContext, createModbusTcpServer } from '../../../src/sunspec/modbus/server/server.ts';
import type { ModbusContextOptions, ModbusTcpServer } from '../../../src/sunspec/modbus/server/server.ts';
import { createDisturber } from '../../../src/sunspec/modbus/faults/disturber.ts';
import type { ModbusUnit } from '../../../src/sunspec/modbus/server/unit.ts';
import {
  badCrcFault,
  disconnectFault,
  delayFault,
  dropFault,
  duplicateFault,
  exceptionFault,
  garbageFault,
  splitFault,
  truncateFault,
  wrongTransactionFault,
} from '../../../src/fault-kinds/modbus-transport.ts';
import { FaultBench } from '../../support/faults.ts';
import { adu, RawClient, readRequest } from '../../support/modbus-client.ts';
import { MemoryUnit, missingRegister } from '../../support/modbus-unit.ts';
import { HandTimers } from '../../support/timers.ts';
import { rtuFrame, until } from './faults/wire-rig.ts';

class Unit extends MemoryUnit {
  readonly deviceIndex = 3;

  names(functionCode: number, address: number, count: number) {
    return () => ({
      ignored: [`i${address}`],
      points: [`f${functionCode}.${address}+${count}`],
      values: (words: Buffer) => ({ [`at${address}`]: words.toString('hex') }),
    });
  }
}

const read100 = '000100000006010300640001';
const answer100 = '0001000000050103020064';

describe('messages of Modbus listeners', () => {
  let faults: FaultBench;
  let timers: HandTimers;
  let messages: ModbusMessages;
  let context: Required<Pick<ModbusContextOptions, 'clock' | 'later' | 'disturber' | 'tap'>>;
  let unit: Unit;
  const servers: ModbusTcpServer[] = [];
  const clients: RawClient[] = [];

  beforeEach(() => {
    faults = new FaultBench([3]);
    timers = new HandTimers(faults.wall);
    const wireLog = new WireLog({ clock: faults.wall, sim: () => 0 as SimTime, log: { error: () => undefined } });
    messages = createModbusMessages(wireLog);
    messages.record(true, { source: 'rest' });
    unit = new Unit();
    context = {
      clock: faults.wall,
      later: timers.later,
      tap: new ModbusTap(messages, 'modbus_tcp', faults.wall),
      disturber: createDisturber({
        registry: faults.registry,
        monotonicMs: () => faults.wall.monotonicMs(),
        deviceIndexes: () => [3],
        holds: () => true,
        spans: () => [],
      }),
    };
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  async function open(
    framing: 'mbap' | 'rtu' = 'mbap',
    options: ModbusContextOptions = {},
    units: (unitId: number) => ModbusUnit | undefined = (unitId) => (unitId === 1 ? unit : undefined),
  ): Promise<RawClient> {
    const server = createModbusTcpServer({
      host: '127.0.0.1',
      port: 0,
      framing,
      context: createModbusContext({ ...context, ...options }),
      units,
    });
    servers.push(server);
    const client = await RawClient.open(await server.listen());
    clients.push(client);
    return client;
  }

  /** Kind, direction and octets of all messages. */
  const seen = () =>
    messages.list().map(({ kind, direction, raw, facts }) => [kind, direction, facts.noAnswer ?? raw.toString('hex')]);
  const decoded = () => messages.list().map((entry) => messages.decode(entry)!);
  const answered = (...octets: string[]) => [
    ['request', 'in', read100],
    ...octets.map((raw) => ['answer', 'out', raw]),
  ];

  it('cost nothing and are not kept while nobody listens', async () => {
    messages.record(false, { source: 'rest' });
    const client = await open();
    await client.request(read100);
    expect([messages.count, messages.lastId]).to.deep.equal([0, 0]);
  });

  it('show a read and its answer as one exchange, with names and values', async () => {
    const client = await open();
    expect(await client.request(read100)).to.equal(answer100);
    expect(seen()).to.deep.equal(answered(answer100));
    const [request, answer] = messages.list();
    expect([request!.deviceIndex, request!.peer, request!.facts.durationMs]).to.deep.equal([
      3,
      `127.0.0.1:${client.socket.localPort!}`,
      null,
    ]);
    expect([request!.facts.exchange.id, answer!.facts.exchange.id]).to.deep.equal([1, 1]);
    expect(answer!.facts.durationMs).to.equal(0);
    expect(decoded()).to.deep.equal([
      {
        whole: true,
        transactionId: 1,
        unitId: 1,
        functionCode: 3,
        exceptionCode: null,
        points: ['f3.100+1'],
        ignored: null,
        values: null,
      },
      {
        whole: true,
        transactionId: 1,
        unitId: 1,
        functionCode: 3,
        exceptionCode: null,
        points: null,
        ignored: null,
        values: { at100: '0064' },
      },
    ]);
  });

  it('show what functions 6 and 16 write, and that their answers carry no values', async () => {
    const client = await open();
    await client.request(adu(2, 1, '0600650007'));
    await client.request(adu(3, 1, '1000660002040001fffe'));
    expect(
      decoded().map(({ functionCode, points, ignored, values }) => [functionCode, points, ignored, values]),
    ).to.deep.equal([
      [6, ['f6.101+1'], ['i101'], { at101: '0007' }],
      [6, null, null, null],
      [16, ['f16.102+2'], ['i102'], { at102: '0001fffe' }],
      [16, null, null, null],
    ]);
  });

  it('show exceptions, also to requests that are cut short or unknown', async () => {
    const client = await open();
    await client.request(adu(1, 1, `06${missingRegister.toString(16).padStart(4, '0')}0001`));
    await client.request(adu(2, 1, '10006600'));
    await client.request(adu(3, 1, '2b0e01'));
    await client.request(adu(4, 1, '03006400ff'));
    expect(
      decoded().map(({ functionCode, exceptionCode, points, values }) => [functionCode, exceptionCode, points, values]),
    ).to.deep.equal([
      [6, null, ['f6.140+1'], { at140: '0001' }],
      [6, 2, null, null],
      [16, null, null, null],
      [16, 3, null, null],
      [43, null, null, null],
      [43, 1, null, null],
      [3, null, null, null],
      [3, 3, null, null],
    ]);
  });

  it('keep the order of requests that come together', async () => {
    const client = await open();
    client.send(Buffer.concat([readRequest(1, 100, 1), readRequest(2, 101, 1)]));
    await client.take(22);
    expect(messages.list().map(({ facts }) => facts.exchange.id)).to.deep.equal([1, 1, 3, 3]);
  });

  it('say that a unit id is not served, and show what a gateway answers', async () => {
    const client = await open();
    client.send(adu(1, 9, '0300640001'));
    await client.request(read100);
    expect(seen().slice(0, 2)).to.deep.equal([
      ['request', 'in', '000100000006090300640001'],
      ['no_answer', 'out', 'unit_not_served'],
    ]);
    messages.clear();
    const gateway = await open('mbap', { foreignUnit: 'gateway' });
    await gateway.request(adu(1, 9, '0300640001'));
    expect(decoded().map(({ unitId, exceptionCode }) => [unitId, exceptionCode])).to.deep.equal([
      [9, null],
      [9, 11],
    ]);
    expect(messages.list().map(({ deviceIndex }) => deviceIndex)).to.deep.equal([null, null]);
  });

  it('say that nobody answers a broadcast', async () => {
    const all: ModbusUnit = { mute: true, read: () => Buffer.alloc(2), write: () => undefined };
    const client = await open('rtu', {}, (unitId) => (unitId === 0 ? all : unitId === 1 ? unit : undefined));
    client.send(rtuFrame('000600650001'));
    client.send(rtuFrame('010300640001'));
    await client.take(7);
    expect(seen()[1]).to.deep.equal(['no_answer', 'out', 'broadcast']);
    expect(messages.list()[0]!.facts.exchange.broadcast).to.equal(true);
  });

  it('show frames of others on a line, to which no answer is due', async () => {
    const client = await open('rtu');
    client.send(rtuFrame('090300640001'));
    client.send(rtuFrame('010300640001'));
    await client.take(7);
    expect(seen()).to.deep.equal([
      ['foreign', 'in', rtuFrame('090300640001').toString('hex')],
      ['request', 'in', rtuFrame('010300640001').toString('hex')],
      ['answer', 'out', rtuFrame('0103020064').toString('hex')],
    ]);
    expect(decoded().map(({ unitId, transactionId }) => [unitId, transactionId])).to.deep.equal([
      [9, null],
      [1, null],
      [1, null],
    ]);
  });

  describe('under faults of the transport', () => {
    const inject = (...given: Parameters<FaultBench['inject']>) => faults.inject(...given);

    it('say that an answer was suppressed', async () => {
      inject(dropFault, { carried_out: true }, { count: 1 });
      const client = await open();
      client.send(read100);
      await client.request(readRequest(2, 100, 1));
      expect(seen().slice(0, 2)).to.deep.equal([
        ['request', 'in', read100],
        ['no_answer', 'out', 'suppressed'],
      ]);
    });

    it('show an injected exception', async () => {
      inject(exceptionFault, { code: 6 });
      const client = await open();
      await client.request(read100);
      expect(seen()).to.deep.equal(answered('000100000003018306'));
    });

    it('show an answer when it leaves, with its delay', async () => {
      inject(delayFault, { delay_ms: 250 });
      const client = await open();
      client.send(read100);
      await until(() => timers.waiting > 0);
      expect(seen()).to.deep.equal(answered());
      timers.pass(250);
      await client.answer();
      expect(seen()).to.deep.equal(answered(answer100));
      expect(messages.list()[1]!.facts.durationMs).to.equal(250);
    });

    it('say that the connection ended before the answer could leave', async () => {
      inject(delayFault, { delay_ms: 250 });
      const client = await open();
      client.send(read100);
      await until(() => timers.waiting > 0);
      client.destroy();
      await until(() => messages.count === 2);
      expect(seen()).to.deep.equal([
        ['request', 'in', read100],
        ['no_answer', 'out', 'connection_ended'],
      ]);
      inject(disconnectFault, {});
      const other = await open();
      other.send(read100);
      await until(() => timers.waiting > 0);
      timers.pass(0);
      await other.untilClosed();
      expect(seen().at(-1)).to.deep.equal(['no_answer', 'out', 'suppressed']);
    });

    for (const [kind, parameters, octets] of [
      [truncateFault, { octets: 4 }, ['00010000']],
      [duplicateFault, {}, [answer100, answer100]],
      [splitFault, { octets: 6, gap_ms: 0 }, ['000100000005', '0103020064']],
      [wrongTransactionFault, { mode: 'zero' }, ['0000000000050103020064']],
    ] as const) {
      it(`show what really went with ${kind.kind}`, async () => {
        inject(kind, parameters);
        const client = await open();
        client.send(read100);
        await until(() => timers.waiting > 0);
        timers.pass(0);
        await client.take(octets.join('').length / 2);
        expect(seen()).to.deep.equal(answered(...octets));
      });
    }

    it('show octets that are no frame, without reading anything into them', async () => {
      inject(garbageFault, { octets: 9 });
      const client = await open();
      client.send(read100);
      await until(() => timers.waiting > 0);
      timers.pass(0);
      const garbage = await client.take(9);
      expect(messages.list()[1]!.raw.equals(garbage)).to.equal(true);
      expect(decoded()[1]).to.include({ whole: false, unitId: null, functionCode: null, values: null });
    });

    it('see a wrong CRC', async () => {
      inject(badCrcFault, {});
      const client = await open('rtu');
      client.send(rtuFrame('010300640001'));
      await until(() => timers.waiting > 0);
      timers.pass(0);
      await client.take(7);
      expect(decoded().map(({ whole }) => whole)).to.deep.equal([true, false]);
    });
  });
});
