import { expect } from 'chai';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { brokenRules } from './support/findings.ts';
import { PythonPeer, describeWith } from './support/peers.ts';
import { addressOf } from './support/registers.ts';

const marker = [0x5375, 0x6e53];
const base = 40_000;
/** Rules that these tests make the master break. */
const mistakes = [
  'modbus.outstanding_many',
  'modbus.quantity_illegal',
  'modbus.read_part_of_point',
  'modbus.write_part_of_point',
  'modbus.write_read_only',
];
const exceptions = { illegalFunction: 1, illegalDataAddress: 2, illegalDataValue: 3 } as const;

describeWith(['pymodbus'], 'as a raw master', () => {
  let simulator: RunningSimulator;
  let master: PythonPeer;
  let limit: number;
  let timer: number;

  before(async () => {
    simulator = await startSimulator();
    master = new PythonPeer('modbus_master', simulator.modbusPort);
    limit = await addressOf(simulator.httpPort, 704, 'WMaxLimPct');
    timer = await addressOf(simulator.httpPort, 704, 'WMaxLimPctRvrtTms');
  });
  after(async () => {
    const rules = await brokenRules(simulator.httpPort);
    await master.stop();
    expect(await simulator.stop()).to.equal(0);
    expect(rules).to.deep.equal(mistakes);
  });

  const read = (address: number, count = 1): Promise<number[]> => master.ask('read_holding', { address, count });

  it('reads with functions 3 and 4', async () => {
    expect(await read(base, 2)).to.deep.equal(marker);
    expect(await master.ask('read_input', { address: base, count: 2 })).to.deep.equal(marker);
    expect(await master.ask('read_input', { address: base, count: 125 })).to.deep.equal(await read(base, 125));
  });

  it('writes one register with function 6', async () => {
    await master.ask('write_one', { address: limit, value: 7525 });
    expect(await read(limit)).to.deep.equal([7525]);
  });

  it('writes several registers with function 16', async () => {
    await master.ask('write_many', { address: timer, values: [1, 2] });
    expect(await read(timer, 2)).to.deep.equal([1, 2]);
    await master.ask('write_many', { address: timer, values: [0, 0] });
    expect(await read(timer, 2)).to.deep.equal([0, 0]);
  });

  it('gets exception 1 for other functions', async () => {
    for (const code of [1, 2, 5, 7, 15, 22, 23, 43]) {
      expect(await master.exceptionOf('other_function', { code }), `function ${code}`).to.equal(
        exceptions.illegalFunction,
      );
    }
  });

  it('gets exception 2 for registers outside the map and for writes to read-only registers', async () => {
    for (const [address, count] of [
      [0, 1],
      [base - 1, 2],
      [50_000, 1],
      [65_535, 1],
    ] as const) {
      expect(await master.exceptionOf('read_holding', { address, count }), `${address}`).to.equal(
        exceptions.illegalDataAddress,
      );
    }
    expect(await master.exceptionOf('write_one', { address: base, value: 0 }), 'marker').to.equal(
      exceptions.illegalDataAddress,
    );
    const measured = await addressOf(simulator.httpPort, 701, 'W');
    expect(await master.exceptionOf('write_many', { address: measured, values: [0] }), '701.W').to.equal(
      exceptions.illegalDataAddress,
    );
  });

  it('reads 125 registers at a time and gets exception 3 for 126 and 0', async () => {
    expect(await master.ask('read_any', { address: base, count: 125 })).to.have.length(125);
    expect(await master.exceptionOf('read_any', { address: base, count: 126 })).to.equal(exceptions.illegalDataValue);
    expect(await master.exceptionOf('read_any', { address: base, count: 0 })).to.equal(exceptions.illegalDataValue);
  });

  it('gets exception 3 for values out of range and for half of a 32-bit point', async () => {
    const before = await read(limit, 8);
    expect(await master.exceptionOf('write_one', { address: limit, value: 10_001 })).to.equal(
      exceptions.illegalDataValue,
    );
    expect(await master.exceptionOf('write_one', { address: timer, value: 1 })).to.equal(exceptions.illegalDataValue);
    expect(await read(limit, 8)).to.deep.equal(before);
  });

  it('gets every answer, in order, when many requests are in flight', async () => {
    const first = await read(base, 125);
    const addresses = Array.from({ length: 500 }, (_, i) => base + (i % 60));
    const answers: { transaction: number; register: number }[] = await master.ask('pipeline', { addresses });
    expect(answers).to.deep.equal(
      addresses.map((address, i) => ({ transaction: i + 1, register: first[address - base] })),
    );
  });
});
