import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import modbusSerial from 'modbus-serial';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { cable, end, ends } from './support/cable.ts';
import { describeWith } from './support/peers.ts';
import { addressOf } from './support/registers.ts';

describeWith(['socat'], 'modbus-serial over a serial line', () => {
  let directory: string;
  let socat: ChildProcess;
  let simulator: RunningSimulator | undefined;
  const master = new modbusSerial.default();

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'derbench-line-'));
    socat = await cable(directory);
    const [ours, theirs] = ends(directory);
    simulator = await startSimulator([
      '-N',
      '3',
      '-mb',
      'no',
      '-rtu',
      'yes',
      '--rtu_port',
      ours,
      '--rtu_baud',
      '115200',
      '--rtu_parity',
      'E',
    ]);
    await master.connectRTUBuffered(theirs, { baudRate: 115_200, parity: 'even' });
    master.setTimeout(2000);
  });

  after(async () => {
    if (master.isOpen)
      await new Promise<void>((resolve) => {
        master.close(() => {
          resolve();
        });
      });
    const code = await simulator?.stop();
    await end(socat);
    rmSync(directory, { recursive: true });
    expect(code).to.equal(0);
  });

  const read = (unitId: number, address: number, count: number) => {
    master.setID(unitId);
    return master.readHoldingRegisters(address, count).then(({ data }) => data);
  };

  it('prints the line at its start', () => {
    expect(simulator?.output).to.match(/RTU +\S+simulator \(115200 8E1, units 1\.\.3, SunSpec base 40000\)/);
  });

  it('reads every device at its address, 125 registers at a time', async () => {
    for (const unitId of [1, 2, 3]) {
      expect(await read(unitId, 40_000, 2)).to.deep.equal([0x5375, 0x6e53]);
      expect(await read(unitId, 40_068, 1)).to.deep.equal([unitId]);
      expect(await read(unitId, 40_000, 125)).to.have.length(125);
    }
  });

  it('writes one register, several, and all devices at once', async () => {
    const limit = await addressOf(simulator?.httpPort ?? 0, 704, 'WMaxLimPct');
    master.setID(2);
    await master.writeRegister(limit, 7500);
    expect(await read(2, limit, 1)).to.deep.equal([7500]);
    await master.writeRegisters(limit - 1, [0, 8000]);
    expect(await read(2, limit - 1, 2)).to.deep.equal([0, 8000]);
    master.setID(0);
    // a broadcast has no answer: the client times out
    master.setTimeout(50);
    const unanswered: unknown = await master.writeRegister(limit, 6000).catch((error: unknown) => error);
    expect(unanswered).to.have.property('name', 'TransactionTimedOutError');
    master.setTimeout(2000);
    for (const unitId of [1, 2, 3]) expect(await read(unitId, limit, 1)).to.deep.equal([6000]);
  });

  it('a refused request gets the exception of the device', async () => {
    master.setID(1);
    const code = (promise: Promise<unknown>) =>
      promise.then(
        () => 0,
        (error: unknown) => (error as { modbusCode: number }).modbusCode,
      );
    expect(await code(master.readHoldingRegisters(10, 1))).to.equal(2);
    expect(await code(master.writeRegister(40_000, 1))).to.equal(2);
    expect(await code(master.writeRegister(40_068, 248))).to.equal(3);
    expect(await code(master.readCoils(0, 1))).to.equal(1);
  });

  it('an address without a device gives no answer', async () => {
    master.setTimeout(50);
    const error: unknown = await read(9, 40_000, 2).catch((cause: unknown) => cause);
    master.setTimeout(2000);
    expect(error).to.have.property('name', 'TransactionTimedOutError');
    expect(await read(1, 40_000, 1)).to.deep.equal([0x5375]);
  });

  it('moves a device to another address', async () => {
    master.setID(3);
    await master.writeRegister(40_068, 33);
    expect(await read(33, 40_068, 1)).to.deep.equal([33]);
    await master.writeRegister(40_068, 3);
    expect(await read(3, 40_068, 1)).to.deep.equal([3]);
  });

  it('500 polls in a row are answered', async () => {
    for (let i = 0; i < 500; i++) expect(await read(1 + (i % 3), 40_070, 100)).to.have.length(100);
  });
});
