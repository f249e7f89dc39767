import { once } from 'node:events';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { ModbusTCPClient } from 'jsmodbus';
import modbusSerial from 'modbus-serial';
import { createModbusContext, createModbusTcpServer } from '../../../src/sunspec/modbus/server/server.ts';
import type { ModbusTcpServer } from '../../../src/sunspec/modbus/server/server.ts';
import { MemoryUnit, rangedRegister, readOnlyRegister } from '../../support/modbus-unit.ts';

describe('Modbus TCP listener with foreign masters', () => {
  let unit: MemoryUnit;
  let server: ModbusTcpServer;
  let port: number;

  beforeEach(async () => {
    unit = new MemoryUnit();
    server = createModbusTcpServer({
      host: '127.0.0.1',
      port: 0,
      context: createModbusContext(),
      units: (unitId) => (unitId === 1 ? unit : undefined),
    });
    port = await server.listen();
  });

  afterEach(() => server.close());

  it('modbus-serial reads, writes and sees exceptions', async () => {
    const master = new modbusSerial.default();
    await master.connectTCP('127.0.0.1', { port });
    master.setTimeout(2000);
    master.setID(1);
    expect((await master.readHoldingRegisters(160, 125)).data).to.deep.equal(
      Array.from({ length: 125 }, (_, i) => 160 + i),
    );
    expect((await master.readInputRegisters(100, 2)).data).to.deep.equal([100, 101]);
    await master.writeRegister(200, 7);
    await master.writeRegisters(201, [8, 9]);
    expect((await master.readHoldingRegisters(200, 3)).data).to.deep.equal([7, 8, 9]);
    const codeOf = (request: Promise<unknown>) =>
      request.then(
        () => 0,
        (error: unknown) => (error as { modbusCode?: number }).modbusCode,
      );
    expect(await codeOf(master.readHoldingRegisters(50, 1))).to.equal(2);
    expect(await codeOf(master.writeRegister(readOnlyRegister, 1))).to.equal(2);
    expect(await codeOf(master.writeRegisters(rangedRegister, [11]))).to.equal(3);
    expect(await codeOf(master.readCoils(0, 1))).to.equal(1);
    await new Promise<void>((resolve) => {
      master.close(() => {
        resolve();
      });
    });
  });

  it('jsmodbus reads, writes and sees exceptions', async () => {
    const socket = new Socket();
    const master = new ModbusTCPClient(socket, 1);
    socket.connect({ port, host: '127.0.0.1' });
    await once(socket, 'connect');
    const read = await Promise.all([master.readHoldingRegisters(100, 2), master.readHoldingRegisters(160, 125)]);
    expect(read.map(({ response }) => Array.from(response.body.valuesAsArray))).to.deep.equal([
      [100, 101],
      Array.from({ length: 125 }, (_, i) => 160 + i),
    ]);
    await master.writeSingleRegister(200, 7);
    await master.writeMultipleRegisters(201, [8, 9]);
    const { response } = await master.readHoldingRegisters(200, 3);
    expect(Array.from(response.body.valuesAsArray)).to.deep.equal([7, 8, 9]);
    const codeOf = (request: Promise<unknown>) =>
      request.then(
        () => 0,
        (error: unknown) => (error as { response?: { body: { code: number } } }).response?.body.code,
      );
    expect(await codeOf(master.readHoldingRegisters(50, 1))).to.equal(2);
    expect(await codeOf(master.writeSingleRegister(rangedRegister, 11))).to.equal(3);
    expect(await codeOf(master.readCoils(0, 1))).to.equal(1);
    socket.destroy();
    await once(socket, 'close');
  });
});
