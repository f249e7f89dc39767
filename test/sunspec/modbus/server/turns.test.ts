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
    [0.5, 4],
    [50, 1],
  ] as const) {
    it(`${costMs} ms each: ${most} are served before other masters have their turn`, async () => {
      // the watch may come before or behind the connection in a turn
      expect(await mostInOneTurn(costMs)).to.be.within(most, Math.min(requests, 2 * most));
    });
  }
});
