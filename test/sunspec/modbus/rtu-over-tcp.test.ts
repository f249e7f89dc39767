import { expect } from 'chai';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { createModbusAdapter } from '../../../src/sunspec/modbus/bridge.ts';
import type { ModbusAdapter, ModbusAdapterOptions } from '../../../src/sunspec/modbus/bridge.ts';
import type { Logger } from '../../../src/core/log/log.ts';
import { RawClient } from '../../support/modbus-client.ts';
import { testPlant } from '../../support/plant.ts';
import { rtu, rtuRead, rtuWrite } from '../../support/rtu.ts';

const marker = (address: number) => rtu(address, '0304' + '53756e53').toString('hex');
const daRegister = 40_068;

describe('Modbus RTU over TCP', () => {
  let plant: SimPlant;
  let adapter: ModbusAdapter;
  let lines: string[];
  let limitRegister: number;
  const clients: RawClient[] = [];

  async function start(count: number, options: Partial<ModbusAdapterOptions> = {}): Promise<void> {
    const sharedPort = options.sharedPort ?? false;
    plant = testPlant({
      types: Array.from({ length: count }, () => 'PV-3Phase'),
      unitAddressOf: sharedPort ? (index) => 1 + index : () => 1,
    });
    limitRegister = plant.device(0).bank.layout.slot(704, 'WMaxLimPct')!.address;
    lines = [];
    const write = (level: string) => (message: string) => {
      lines.push(`${level} ${message}`);
    };
    const logger: Logger = {
      debug: write('debug'),
      info: write('info'),
      warning: write('warning'),
      error: write('error'),
    };
    adapter = createModbusAdapter({
      devices: plant.devices,
      host: '127.0.0.1',
      port: 0,
      sharedPort,
      framing: 'rtu',
      logger,
      ...options,
    });
    await adapter.start();
  }

  async function open(index = 0): Promise<RawClient> {
    const client = await RawClient.open(adapter.endpointOf(index)?.port ?? 0);
    clients.push(client);
    return client;
  }

  /** Sends a request and, behind it, one whose answer shows that nothing else came. */
  async function expectAnswer(client: RawClient, request: Buffer, answer: string, probe: number): Promise<void> {
    client.send(Buffer.concat([request, rtuRead(probe, 40_000, 2)]));
    const expected = answer + marker(probe);
    expect((await client.take(expected.length / 2)).toString('hex')).to.equal(expected);
    expect(client.received.length).to.equal(0);
  }

  const addressOf = (index: number) => plant.device(index).bank.map.m1.DA;
  const limitOf = (index: number) => plant.device(index).bank.map.m704.WMaxLimPct;

  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await adapter.stop();
  });

  it('each device on a port of its own answers at its address alone', async () => {
    await start(2);
    expect(adapter.endpointOf(1)).to.include({ unitId: 1, tls: false });
    const client = await open(1);
    for (const foreign of [2, 247, 248, 255]) await expectAnswer(client, rtuRead(foreign, 40_000, 2), '', 1);
    expect(adapter.counters).to.include({ foreign: 4, requests: 4, answers: 4 });
    expect(adapter.status().endpoint).to.match(/^tcp:/);
    expect(lines.join()).to.contain('Modbus RTU over TCP on 127.0.0.1');
  });

  it('on a shared port the addresses are 1 + index, and a foreign one is silent', async () => {
    await start(3, { sharedPort: true });
    const client = await open();
    for (const index of [0, 1, 2]) await expectAnswer(client, Buffer.alloc(0), '', 1 + index);
    await expectAnswer(client, rtuRead(4, 40_000, 2), '', 1);
    expect(adapter.report()).to.include({ foreignUnit: 'silent' });
    expect(adapter.report().listeners[0]).to.include({ transport: 'rtu_over_tcp', deviceIndex: null });
    expect(adapter.clients()[0]).to.include({ paused: false });
    await adapter.removeDevice(2);
    await expectAnswer(client, rtuRead(3, 40_000, 2), '', 1);
  });

  it('a request cut in two segments is answered once, a damaged one not at all', async () => {
    await start(1);
    const client = await open();
    const request = rtuRead(1, 40_000, 2);
    client.send(request.subarray(0, 5));
    while (adapter.clients()[0]?.heldBytes !== 5)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    await expectAnswer(client, request.subarray(5), marker(1), 1);
    const damaged = rtuWrite(1, limitRegister, 5000);
    damaged[3] = 0;
    client.send(damaged);
    // behind a pause a frame may begin, whatever was there before
    while (adapter.counters.unreadable === 0)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    await expectAnswer(client, Buffer.alloc(0), '', 1);
    expect(limitOf(0)).to.equal(100);
  });

  it('an unknown function is answered when the stream falls silent', async () => {
    await start(1);
    const client = await open();
    client.send(rtu(1, '32aabb'));
    expect((await client.take(5)).toString('hex')).to.equal(rtu(1, 'b201').toString('hex'));
  });

  it('2000 requests in one piece: answers in order, all of them', async () => {
    await start(1);
    const client = await open();
    client.send(Buffer.concat(Array.from({ length: 2000 }, (_, i) => rtuRead(1, 40_000, 1 + (i % 100)))));
    for (let i = 0; i < 2000; i++) {
      const answer = await client.take(5 + 2 * (1 + (i % 100)));
      expect(answer[2]).to.equal(2 * (1 + (i % 100)));
    }
  });

  describe('2.2: addresses of a line', () => {
    it('a broadcast is carried out by all and answered by none', async () => {
      await start(3, { sharedPort: true });
      await expectAnswer(await open(), rtuWrite(0, limitRegister, 5000), '', 2);
      expect([0, 1, 2].map(limitOf)).to.deep.equal([50, 50, 50]);
    });

    it('what a broadcast asks of a device that refuses it, the others do', async () => {
      await start(2, { sharedPort: true });
      plant.device(0).command({ kind: 'local', local: true }, { source: 'rest' });
      await expectAnswer(await open(), rtuWrite(0, limitRegister, 5000), '', 2);
      expect([0, 1].map(limitOf)).to.deep.equal([100, 50]);
      expect(adapter.counters.internalErrors).to.equal(0);
    });

    it('a broadcast does not set addresses', async () => {
      await start(2, { sharedPort: true });
      await expectAnswer(await open(), rtuWrite(0, daRegister, 9), '', 1);
      expect([0, 1].map(addressOf)).to.deep.equal([1, 2]);
    });

    it('a new address is acknowledged from the old one and then in force', async () => {
      await start(2, { sharedPort: true });
      const client = await open();
      const write = rtuWrite(2, daRegister, 40);
      await expectAnswer(client, write, write.toString('hex'), 40);
      await expectAnswer(client, rtuRead(2, 40_000, 2), '', 40);
      expect(adapter.endpointOf(1)?.unitId).to.equal(40);
      expect(plant.device(1).bank.provenance(plant.device(1).bank.layout.slot(1, 'DA')!)).to.include({
        source: 'modbus',
      });
    });

    it('an address outside of 1 to 247 is refused', async () => {
      await start(1);
      const client = await open();
      for (const value of [0, 248, 0xffff])
        await expectAnswer(client, rtuWrite(1, daRegister, value), rtu(1, '8603').toString('hex'), 1);
      expect(addressOf(0)).to.equal(1);
    });

    it('a reset of the device brings its first address back', async () => {
      await start(2, { sharedPort: true });
      const client = await open();
      const write = rtuWrite(2, daRegister, 40);
      await expectAnswer(client, write, write.toString('hex'), 40);
      plant.device(1).command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
      await expectAnswer(client, rtuRead(40, 40_000, 2), '', 2);
    });

    it('two devices of one address both do what is written and neither is heard; the log says so once', async () => {
      await start(3, { sharedPort: true });
      const client = await open();
      const write = rtuWrite(2, daRegister, 3);
      await expectAnswer(client, write, write.toString('hex'), 1);
      await expectAnswer(client, rtuWrite(3, limitRegister, 2500), '', 1);
      await expectAnswer(client, rtuRead(3, 40_000, 2), '', 1);
      expect([0, 1, 2].map(limitOf)).to.deep.equal([100, 25, 25]);
      expect(lines.filter((line) => line.startsWith('warning'))).to.deep.equal([
        'warning devices 1, 2 have the same address 3 (1.DA): all of them carry out writes to it, and none of them answers',
      ]);
    });
  });
});

describe('1.DA', () => {
  it('is there where a line knows the devices by it, and nowhere else', () => {
    const without = testPlant().device(0).bank;
    const withLine = testPlant({ unitAddressOf: () => 7 }).device(0).bank;
    expect(without.map.m1.DA).to.equal(null);
    expect(withLine.map.m1.DA).to.equal(7);
    expect(withLine.layout.size).to.equal(without.layout.size);
    expect(withLine.layout.slot(1, 'DA')).to.include({ address: 40_068, writable: true });
  });

  it('a profile cannot set it', () => {
    expect(() => testPlant({ unitAddressOf: () => 7, models: { 1: { DA: 5 } } })).to.throw(
      /device profiles are invalid/,
    );
  });
});
