/** What the client's connection tells the wire log. */
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { expect } from 'chai';
import { listen } from '../../../src/core/net/listen.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import type { ModbusMessages } from '../../../src/core/wire/modbus.ts';
import { createModbusMessages, ModbusTap } from '../../../src/core/wire/modbus.ts';
import { WireLog } from '../../../src/core/wire/wire-log.ts';
import type { TransactionIds } from '../../../src/contract/sunspec-client.ts';
import { MbapPort } from '../../../src/sunspec/client/mbap-port.ts';
import { RawClient } from '../../support/modbus-client.ts';
import { HandWall } from '../../support/wall.ts';
import { until } from '../modbus/faults/wire-rig.ts';

describe('messages of the SunSpec client', () => {
  let wall: HandWall;
  let messages: ModbusMessages;
  let server: Server;
  let device: Socket;
  let port: MbapPort;
  let heard: string[];

  async function open(transactionIds: TransactionIds = 'strict'): Promise<void> {
    const accepted = new Promise<Socket>((resolve) => {
      server.once('connection', resolve);
    });
    const { socket } = await RawClient.open((await listen(server, '127.0.0.1', 0)).port);
    port = new MbapPort(socket, transactionIds, new ModbusTap(messages, 'sunspec_client', wall));
    port.on('data', (frame) => heard.push(frame.subarray(0, -2).toString('hex')));
    device = await accepted;
    device.on('error', () => undefined);
    device.resume();
  }

  beforeEach(() => {
    wall = new HandWall();
    const log = new WireLog({ clock: wall, sim: () => 0 as SimTime, log: { error: () => undefined } });
    messages = createModbusMessages(log);
    messages.record(true, { source: 'rest' });
    server = createServer();
    heard = [];
  });
  afterEach(async () => {
    port.destroy();
    device.destroy();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  });

  /** Unit id, PDU and CRC of a read of one register. */
  const ask = () => {
    port.write(Buffer.from('0103006400010000', 'hex'));
  };
  const header = (id: number) => id.toString(16).padStart(4, '0');
  const answer = (id: number) => `${header(id)}0000000501030200${id === 0 ? '07' : '64'}`;
  async function send(octets: string, told = 1): Promise<void> {
    const before = messages.lastId;
    device.write(Buffer.from(octets, 'hex'));
    await until(() => messages.lastId >= before + told);
  }
  /** Kind, id of the exchange, and octets or why there are none; of requests the transaction id. */
  const seen = () =>
    messages.list().map(({ kind, raw, facts: { exchange, noAnswer } }) => {
      const octets = raw.toString('hex');
      return [kind, exchange.id, noAnswer ?? (kind === 'request' ? octets.slice(0, 4) : octets)];
    });
  const wholes = () => messages.list().map((entry) => messages.decode(entry)!.whole);

  it('pair a late answer with its own request', async () => {
    await open();
    ask();
    wall.advance(250);
    port.timedOut();
    ask();
    wall.advance(50);
    await send(answer(1));
    await send(answer(2));
    expect(seen()).to.deep.equal([
      ['request', 1, '0001'],
      ['no_answer', 1, 'no_answer_in_time'],
      ['request', 3, '0002'],
      ['answer', 1, answer(1)],
      ['answer', 3, answer(2)],
    ]);
    expect(messages.list().map(({ facts }) => facts.durationMs)).to.deep.equal([null, 250, null, 300, 50]);
    expect(messages.list().map(({ direction }) => direction)).to.deep.equal(['out', 'in', 'out', 'in', 'in']);
    expect(heard).to.deep.equal(['0103020064']);
  });

  it('give a request its end before the next one, also without a time-out', async () => {
    await open();
    ask();
    ask();
    await send(answer(2));
    ask();
    expect(seen()).to.deep.equal([
      ['request', 1, '0001'],
      ['no_answer', 1, 'no_answer_in_time'],
      ['request', 3, '0002'],
      ['answer', 3, answer(2)],
      ['request', 5, '0003'],
    ]);
  });

  it('show an answer with the id of none of the last 16 requests as foreign', async () => {
    await open();
    ask();
    await send('123400000003018302');
    await send(answer(0));
    for (let i = 0; i < 16; i += 1) ask();
    messages.clear();
    await send(answer(1));
    await send(answer(2));
    expect(seen()).to.deep.equal([
      ['foreign', messages.lastId - 1, answer(1)],
      ['answer', 5, answer(2)],
    ]);
    const [{ facts, direction }] = messages.list() as [ReturnType<ModbusMessages['list']>[number]];
    expect([direction, facts.exchange.unitId, facts.exchange.functionCode, facts.exchange.address]).to.deep.equal([
      'in',
      1,
      3,
      null,
    ]);
    expect(heard).to.deep.equal([]);
  });

  it('take id 0 for the last request only where that is allowed', async () => {
    await open('zero');
    ask();
    await send(answer(0));
    await send('9999000000050103020064');
    expect(seen()).to.deep.equal([
      ['request', 1, '0001'],
      ['answer', 1, answer(0)],
      ['foreign', 3, '9999000000050103020064'],
    ]);
    expect(heard).to.deep.equal(['0103020007']);
  });

  it('end with the connection, from either side', async () => {
    await open();
    ask();
    device.destroy();
    await until(() => messages.lastId === 2);
    port.destroy();
    expect(seen()).to.deep.equal([
      ['request', 1, '0001'],
      ['no_answer', 1, 'connection_ended'],
    ]);
  });

  it('end at once when the client closes, and say nothing more of a request that was answered', async () => {
    await open();
    ask();
    await send(answer(1));
    ask();
    port.destroy();
    port.destroy();
    expect(seen().slice(2)).to.deep.equal([
      ['request', 3, '0002'],
      ['no_answer', 3, 'connection_ended'],
    ]);
  });

  it('show octets that are not Modbus as an answer that is not whole, once', async () => {
    await open();
    const reasons: string[] = [];
    port.on('ended', (reason) => {
      reasons.push(reason);
      port.destroy();
    });
    ask();
    await send(Buffer.from('HTTP/1.1 400 Bad Request').toString('hex'));
    await until(() => reasons.length > 1);
    expect(seen()).to.deep.equal([
      ['request', 1, '0001'],
      ['answer', 1, Buffer.from('HTTP/1.1 400 Bad Request').toString('hex')],
    ]);
    expect(wholes()).to.deep.equal([true, false]);
  });

  for (const cut of ['00', '00010000', '000100000005', '0001000000050103']) {
    it(`show an unfinished answer of ${cut.length / 2} octets when the connection ends`, async () => {
      await open();
      ask();
      device.write(Buffer.from(cut, 'hex'));
      await until(() => port.receivedInWords !== '');
      port.timedOut();
      device.end();
      await until(() => messages.lastId === 2);
      port.destroy();
      expect(seen()).to.deep.equal([
        ['request', 1, '0001'],
        ['answer', 1, cut],
      ]);
      expect(wholes()).to.deep.equal([true, false]);
    });
  }

  it('leave out the answer to a request that was not recorded', async () => {
    await open();
    messages.record(false, { source: 'rest' });
    ask();
    messages.record(true, { source: 'rest' });
    device.write(Buffer.from(answer(1), 'hex'));
    await until(() => heard.length === 1);
    messages.record(false, { source: 'rest' });
    device.write(Buffer.from(answer(9), 'hex'));
    await until(() => port.receivedInWords.includes('id 9'));
    port.destroy();
    expect(seen()).to.deep.equal([]);
  });
});
