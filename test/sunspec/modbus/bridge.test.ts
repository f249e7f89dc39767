import { createServer } from 'node:net';
import { expect } from 'chai';
import type { Origin } from '../../../src/core/origin.ts';
import { listen } from '../../../src/core/net/listen.ts';
import { createModbusAdapter } from '../../../src/sunspec/modbus/bridge.ts';
import type { ModbusAdapter, ModbusAdapterOptions, ModbusDevice } from '../../../src/sunspec/modbus/bridge.ts';
import type { Bank } from '../../../src/sunspec/map/bank.ts';
import type { Layout } from '../../../src/sunspec/map/layout.ts';
import { adu, RawClient, readRequest } from '../../support/modbus-client.ts';
import { MemoryUnit } from '../../support/modbus-unit.ts';
import { closed, freePorts } from '../../support/ports.ts';

interface TestDevice extends ModbusDevice {
  readonly unit: MemoryUnit;
  readonly origins: Origin[];
}

/** A device whose register 100 holds its index. */
function device(index: number): TestDevice {
  const unit = new MemoryUnit();
  const origins: Origin[] = [];
  unit.bytes.writeUInt16BE(index, 0);
  const bank: Pick<Bank, 'read' | 'write'> = {
    read: (address, count) => unit.read(address, count),
    write: (address, words, by) => {
      unit.write(address, words, { peer: by.peer ?? '' });
      origins.push(by);
    },
  };
  const layout: Pick<Layout, 'base'> = { base: 40_000 };
  return { index, unit, origins, bank: { ...bank, layout } as Bank };
}

const devices = (count: number) => Array.from({ length: count }, (_, index) => device(index));

describe('Modbus adapter', () => {
  let adapter: ModbusAdapter;
  const clients: RawClient[] = [];

  function create(options: Partial<ModbusAdapterOptions>): ModbusAdapter {
    adapter = createModbusAdapter({ devices: devices(1), host: '127.0.0.1', port: 0, sharedPort: false, ...options });
    return adapter;
  }

  async function open(port: number | undefined): Promise<RawClient> {
    const client = await RawClient.open(port ?? 0);
    clients.push(client);
    return client;
  }

  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await adapter.stop();
  });

  it('gives each device a port, where unit ids 0, 1 and 255 mean it', async () => {
    create({ devices: devices(3) });
    await adapter.start();
    for (const index of [0, 1, 2]) {
      const endpoint = adapter.endpointOf(index);
      expect(endpoint).to.include({ host: '127.0.0.1', unitId: 1, tls: false });
      const client = await open(endpoint?.port);
      for (const unitId of [0, 1, 255]) {
        expect(await client.request(readRequest(1, 100, 1, unitId))).to.equal(
          `000100000005${unitId.toString(16).padStart(2, '0')}0302000${index}`,
        );
      }
      expect(await client.request(readRequest(1, 100, 1, 2))).to.equal('000100000003' + '02830b');
    }
    expect(adapter.endpointOf(3)).to.equal(null);
  });

  it('names its ports for people: one, a row of neighbours, a list, a shared one', async () => {
    const line = async (options: Partial<ModbusAdapterOptions>, count: number) => {
      create({ devices: devices(count), ...options });
      expect(adapter.startLines()).to.deep.equal([]);
      await adapter.start();
      const lines = adapter.startLines();
      await adapter.stop();
      expect(lines).to.have.length(1);
      return lines[0]?.replace(/\b\d{4,5}\b(?!\))/g, 'PORT');
    };
    expect(await line({}, 1)).to.equal('Modbus    127.0.0.1:PORT (unit 1, SunSpec base 40000)');
    expect(await line({ port: await freePorts(3) }, 3)).to.equal(
      'Modbus    127.0.0.1:PORT..PORT (unit 1, SunSpec base 40000)',
    );
    expect(await line({ sharedPort: true }, 3)).to.equal('Modbus    127.0.0.1:PORT (units 1..3, SunSpec base 40000)');
    expect(await line({ host: 'localhost' }, 25)).to.match(
      /^Modbus {4}localhost:PORT(, PORT){19}, ... \(25 ports, see GET \/api\/sim\/devices\) \(unit 1, SunSpec base 40000\)$/,
    );
    expect(adapter.exposure).to.deep.equal({ what: 'Modbus', host: 'localhost' });
  });

  it('answers for unit ids that no device has as a gateway does, unless it is told to be silent', async () => {
    const foreign = readRequest(1, 100, 1, 9);
    const behind = readRequest(2, 100, 1);
    for (const [options, answers] of [
      [{ sharedPort: false }, true],
      [{ sharedPort: true }, true],
      [{ sharedPort: false, foreignUnit: 'silent' }, false],
      [{ sharedPort: true, foreignUnit: 'silent' }, false],
    ] as const) {
      create({ devices: devices(2), ...options });
      await adapter.start();
      const client = await open(adapter.endpointOf(0)?.port);
      client.send(Buffer.concat([foreign, behind]));
      if (answers) expect((await client.answer()).toString('hex')).to.equal('000100000003' + '09830b');
      expect((await client.answer()).readUInt16BE(0)).to.equal(2);
      expect(adapter.report()).to.include({ foreignUnit: answers ? 'gateway' : 'silent' });
      await adapter.stop();
    }
  });

  it('unit 0 is the device on a port of its own, and nobody on a shared one', async () => {
    create({ devices: devices(2), sharedPort: true });
    await adapter.start();
    const client = await open(adapter.endpointOf(0)?.port);
    expect(await client.request(readRequest(1, 100, 1, 0))).to.equal('000100000003' + '00830b');
  });

  it('puts all devices on one port, with unit id 1 + index', async () => {
    create({ devices: devices(247), sharedPort: true, foreignUnit: 'gateway' });
    await adapter.start();
    expect(adapter.endpointOf(246)).to.deep.equal({
      protocol: 'modbus_tcp',
      host: '127.0.0.1',
      port: adapter.endpointOf(0)?.port,
      unitId: 247,
      tls: false,
    });
    const client = await open(adapter.endpointOf(0)?.port);
    expect(await client.request(readRequest(1, 100, 1, 1))).to.equal('000100000005010302' + '0000');
    expect(await client.request(readRequest(1, 100, 1, 247))).to.equal('000100000005f70302' + '00f6');
    for (const foreign of ['00', 'f8', 'ff']) {
      expect(await client.request(readRequest(1, 100, 1, parseInt(foreign, 16)))).to.equal(
        `000100000003${foreign}830b`,
      );
    }
  });

  it('refuses more devices than there are unit ids', () => {
    expect(() => createModbusAdapter({ devices: devices(248), host: '127.0.0.1', port: 0, sharedPort: true }))
      .to.throw(/at most 247 devices/)
      .with.property('code', 'CONFIG_INVALID');
  });

  it('refuses more devices than there are ports', () => {
    expect(() => createModbusAdapter({ devices: devices(3), host: '127.0.0.1', port: 65_534, sharedPort: false }))
      .to.throw(/device 2 would need port 65536/)
      .with.property('code', 'CONFIG_INVALID');
  });

  it('tells the bank who wrote', async () => {
    const [only] = devices(1);
    create({ devices: [only!] });
    await adapter.start();
    const client = await open(adapter.endpointOf(0)?.port);
    expect(await client.request(adu(9, 1, '0600c80001'))).to.equal('000900000006010600c80001');
    const peer = `127.0.0.1:${client.socket.localPort ?? 0}`;
    expect(only!.origins).to.deep.equal([{ source: 'modbus', peer }]);
    expect(adapter.clients().map((info) => info.peer)).to.deep.equal([peer]);
  });

  it('reports its status', async () => {
    create({ devices: devices(2) });
    expect(adapter.status()).to.include({ enabled: true, state: 'stopped', endpoint: null, peers: 0 });
    await adapter.start();
    const port = adapter.endpointOf(0)?.port ?? 0;
    const client = await open(port);
    const askedMs = Date.now();
    await client.request(readRequest(1, 100, 1));
    await client.request(readRequest(1, 0, 1));
    const status = adapter.status();
    expect(status).to.include({
      state: 'listening',
      endpoint: `tcp://127.0.0.1:${port}`,
      peers: 1,
      rxCount: 2,
      txCount: 2,
      errorCount: 1,
    });
    // a stamp is taken from the monotonic clock, which may be off by some ms
    expect(status.lastActivityMs).to.be.within(askedMs - 100, Date.now() + 100);
    await adapter.stop();
    await adapter.stop();
    expect(adapter.status()).to.include({ state: 'stopped', peers: 0, endpoint: null });
    expect(adapter.endpointOf(0)).to.equal(null);
  });

  it('starts again after a stop', async () => {
    create({});
    await adapter.start();
    await adapter.stop();
    await adapter.start();
    const client = await open(adapter.endpointOf(0)?.port);
    expect(await client.request(readRequest(1, 100, 1))).to.equal('000100000005010302' + '0000');
  });

  it('names device, address and reason when a port is taken, and gives the others back', async () => {
    const taken = createServer();
    const { port } = await listen(taken, '127.0.0.1', await freePorts(1));
    create({ devices: [device(0)], port });
    const error = await adapter.start().then(
      () => undefined,
      (cause: unknown) => cause,
    );
    const message =
      `Modbus of device 0: cannot listen on 127.0.0.1:${port}: the port is in use; --mb_port takes another ` +
      'port, or 0 for any free one';
    expect(error).to.include({ code: 'LISTEN_FAILED', message });
    expect(adapter.status()).to.include({ state: 'error', detail: message, endpoint: null });
    await closed(taken);
    await adapter.start();
    expect(adapter.endpointOf(0)?.port).to.equal(port);
  });

  it('counts the ports from the indexes of its devices', async () => {
    const port = await freePorts(7);
    create({ devices: [device(6)], port });
    await adapter.start();
    expect(adapter.endpointOf(6)).to.include({ port: port + 6, unitId: 1 });
  });

  it('binds 1000 ports', async () => {
    create({ devices: devices(1000) });
    await adapter.start();
    expect(new Set(Array.from({ length: 1000 }, (_, i) => adapter.endpointOf(i)?.port)).size).to.equal(1000);
    const client = await open(adapter.endpointOf(999)?.port);
    expect(await client.request(readRequest(1, 100, 1))).to.equal('000100000005010302' + '03e7');
  });
});
