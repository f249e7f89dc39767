import { expect } from 'chai';
import type { ModbusUnit } from '../../../../src/sunspec/modbus/server/unit.ts';
import { createModbusContext, createModbusTcpServer } from '../../../../src/sunspec/modbus/server/server.ts';
import { RawClient, readRequest } from '../../../support/modbus-client.ts';
import { FakeWallClock, MemoryUnit } from '../../../support/modbus-unit.ts';

const silent = () => undefined;
const logger = { debug: silent, info: silent, warning: silent, error: silent };
const requests = 40;

/** @returns the most of the requests of one segment that were served in one turn of the event loop */
async function mostInOneTurn(costMs: number): Promise<number> {
  const clock = new FakeWallClock();
  const memory = new MemoryUnit();
  let reads = 0;
  const unit: ModbusUnit = {
    read(address, count) {
      reads += 1;
      clock.advance(costMs);
      return memory.read(address, count);
    },
    write: silent,
  };
  const context = createModbusContext({ clock, logger });
  const server = createModbusTcpServer({ host: '127.0.0.1', port: 0, context, units: () => unit });
  const client = await RawClient.open(await server.listen());
  let [last, most, done] = [0, 0, false];
  const watch = () => {
    most = Math.max(most, reads - last);
    last = reads;
    if (!done) setImmediate(watch);
  };
  watch();
  client.send(Buffer.concat(Array.from({ length: requests }, (_, i) => readRequest(i, 160, 125))));
  for (let i = 0; i < requests; i += 1) expect((await client.answer()).readUInt16BE(0)).to.equal(i);
  done = true;
  client.destroy();
  await server.close();
  expect(reads).to.equal(requests);
  return most;
}

describe('Modbus TCP listener: costly requests of one segment', () => {
  for (const [costMs, most] of [
    [0, requests],
    [0.125, 4],
    [50, 1],
  ] as const) {
    it(`${costMs} ms each: ${most} are served before other masters have their turn`, async () => {
      // the watch may come before or behind the connection in a turn
      expect(await mostInOneTurn(costMs)).to.be.within(most, Math.min(requests, 2 * most));
    });
  }

  it('all masters together have a share of a turn, and none is served twice before each of the others was', async () => {
    const clock = new FakeWallClock();
    const memory = new MemoryUnit();
    const [masters, each] = [10, 8];
    const served: number[] = [];
    let [inTurn, most] = [0, 0];
    const unit = (master: number): ModbusUnit => ({
      read(address, count) {
        served.push(master);
        most = Math.max(most, (inTurn += 1));
        setImmediate(() => (inTurn = 0));
        clock.advance(2);
        return memory.read(address, count);
      },
      write: silent,
    });
    const units = Array.from({ length: masters }, (_, i) => unit(i));
    const context = createModbusContext({ clock, logger });
    const server = createModbusTcpServer({ host: '127.0.0.1', port: 0, context, units: (id) => units[id] });
    const port = await server.listen();
    const clients = await Promise.all(units.map(() => RawClient.open(port)));
    clients.forEach((client, master) => {
      client.send(Buffer.concat(Array.from({ length: each }, (_, i) => readRequest(i, 160, 1, master))));
    });
    for (const client of clients)
      for (let i = 0; i < each; i += 1) expect((await client.answer()).readUInt16BE(0)).to.equal(i);
    for (const client of clients) client.destroy();
    await server.close();
    // three requests of 2 ms use up the share of 5 ms; the count may span the end of a turn and the begin of the next
    expect(most).to.be.within(3, 6);
    served.forEach((master, at) => {
      const between = served.slice(at + 1, served.indexOf(master, at + 1));
      if (served.includes(master, at + 1)) expect(new Set(between).size, served.join(' ')).to.equal(between.length);
    });
  });
});
