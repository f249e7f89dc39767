import { createServer } from 'node:net';
import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import { listen } from '../../../src/core/net/listen.ts';
import type { Bank } from '../../../src/sunspec/map/bank.ts';
import { createModbusAdapter } from '../../../src/sunspec/modbus/bridge.ts';
import type { ModbusAdapter, ModbusAdapterOptions, ModbusDevice } from '../../../src/sunspec/modbus/bridge.ts';
import { openHandles, settled, settledTo } from '../../support/handles.ts';
import { RawClient, readRequest } from '../../support/modbus-client.ts';
import { MemoryUnit } from '../../support/modbus-unit.ts';
import { closed, freePorts } from '../../support/ports.ts';

/** A device whose register 100 holds its index. */
function device(index: number): ModbusDevice {
  const unit = new MemoryUnit();
  unit.bytes.writeUInt16BE(index, 0);
  const bank: Pick<Bank, 'read'> = { read: (address, count) => unit.read(address, count) };
  return { index, bank: bank as Bank };
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => (error instanceof SimError ? error : null),
  );
const answerOf = (index: number, unitId = 1) =>
  `000100000005${unitId.toString(16).padStart(2, '0')}0302${index.toString(16).padStart(4, '0')}`;

/** A port with a free one behind it, as far as can be known. */
describe('Modbus: devices that join and leave', () => {
  let adapter: ModbusAdapter;
  const clients: RawClient[] = [];

  async function start(options: Partial<ModbusAdapterOptions> = {}): Promise<void> {
    adapter = createModbusAdapter({
      devices: [device(0), device(1)],
      host: '127.0.0.1',
      port: 0,
      sharedPort: false,
      ...options,
    });
    await adapter.start();
  }

  async function open(index: number): Promise<RawClient> {
    const client = await RawClient.open(adapter.endpointOf(index)?.port ?? 0);
    clients.push(client);
    return client;
  }

  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await adapter.stop();
  });

  it('a device gets a port of its own, and the others keep theirs with their masters', async () => {
    await start();
    const before = [adapter.endpointOf(0), adapter.endpointOf(1)];
    const old = await open(1);
    await adapter.addDevice(device(2));
    expect([adapter.endpointOf(0), adapter.endpointOf(1)]).to.deep.equal(before);
    expect(await (await open(2)).request(readRequest(1, 100, 1))).to.equal(answerOf(2));
    expect(await old.request(readRequest(1, 100, 1))).to.equal(answerOf(1));
    expect(adapter.status().peers).to.equal(2);
  });

  it('its port follows from its index', async () => {
    const port = await freePorts(6);
    await start({ devices: [device(0)], port });
    await adapter.addDevice(device(5));
    expect(adapter.endpointOf(5)).to.include({ port: port + 5, unitId: 1 });
  });

  it('on a shared port a device is a further unit, and its unit is nobody when it leaves', async () => {
    await start({ sharedPort: true });
    const client = await open(0);
    expect(await client.request(readRequest(1, 100, 1, 3))).to.equal('000100000003' + '03830b');
    await adapter.addDevice(device(2));
    expect(adapter.endpointOf(2)).to.deep.equal({ ...adapter.endpointOf(0), unitId: 3 });
    expect(await client.request(readRequest(1, 100, 1, 3))).to.equal(answerOf(2, 3));
    await adapter.removeDevice(2);
    expect(adapter.endpointOf(2)).to.equal(null);
    expect(await client.request(readRequest(1, 100, 1, 3))).to.equal('000100000003' + '03830b');
    expect(await client.request(readRequest(1, 100, 1, 2))).to.equal(answerOf(1, 2));
  });

  it('when a device leaves, its masters are dropped and its port is free; the others go on', async () => {
    await start();
    const [gone, stays] = [await open(0), await open(1)];
    const port = adapter.endpointOf(0)?.port ?? 0;
    await adapter.removeDevice(0);
    await gone.untilClosed();
    expect(await stays.request(readRequest(1, 100, 1))).to.equal(answerOf(1));
    expect(adapter.endpointOf(0)).to.equal(null);
    expect(adapter.status()).to.include({
      state: 'listening',
      peers: 1,
      endpoint: `tcp://127.0.0.1:${adapter.endpointOf(1)?.port ?? 0}`,
    });
    const again = createServer();
    await listen(again, '127.0.0.1', port);
    await closed(again);
    await adapter.removeDevice(0);
  });

  it('all may leave, and others come', async () => {
    await start();
    for (const index of [0, 1]) await adapter.removeDevice(index);
    expect(adapter.status()).to.include({ state: 'listening', endpoint: null, peers: 0 });
    await adapter.addDevice(device(2));
    expect(await (await open(2)).request(readRequest(1, 100, 1))).to.equal(answerOf(2));
  });

  it('a port that is taken is named, and nothing is left of the device', async () => {
    const first = await freePorts(3);
    const taken = createServer();
    const { port } = await listen(taken, '127.0.0.1', first + 2);
    await start({ devices: [device(0)], port: first });
    const error = await failure(adapter.addDevice(device(2)));
    expect(error).to.include({
      code: 'COMMAND_CONFLICT',
      message: `Modbus of device 2: cannot listen on 127.0.0.1:${port}: the port is in use`,
    });
    expect(adapter.endpointOf(2)).to.equal(null);
    expect(adapter.status()).to.include({ state: 'listening', detail: null });
    await closed(taken);
    await adapter.addDevice(device(2));
    expect(adapter.endpointOf(2)?.port).to.equal(port);
  });

  it('refuses an index beyond the unit ids of a shared port, or beyond the ports', async () => {
    await start({ sharedPort: true });
    await adapter.addDevice(device(246));
    expect(await failure(adapter.addDevice(device(247))))
      .to.include({ code: 'COMMAND_CONFLICT' })
      .and.to.have.property('message')
      .that.contains('unit ids 1 to 247')
      .and.contains('device 247 would have unit id 248');
    await adapter.stop();
    adapter = createModbusAdapter({ devices: [device(0)], host: '127.0.0.1', port: 65_530, sharedPort: false });
    expect(await failure(adapter.addDevice(device(6))))
      .to.include({ code: 'COMMAND_CONFLICT' })
      .and.to.have.property('message')
      .that.contains('device 6 would need port 65536');
  });

  it('of a shard have unit ids from its first device on, and the host that others know', async () => {
    const shard = { devices: [device(1000), device(1001)], countsFrom: 1000, sharedPort: true };
    await start({ ...shard, host: '0.0.0.0', advertisedHost: 'lab-2' });
    await adapter.addDevice(device(1002));
    const endpoints = [1000, 1001, 1002].map((index) => adapter.endpointOf(index));
    expect(endpoints.map((endpoint) => [endpoint?.host, endpoint?.unitId])).to.deep.equal([
      ['lab-2', 1],
      ['lab-2', 2],
      ['lab-2', 3],
    ]);
    const client = await open(1002);
    expect(await client.request(readRequest(1, 100, 1, 3))).to.equal(answerOf(1002, 3));
  });

  it('what joined or left while it was stopped counts at the next start', async () => {
    await start();
    await adapter.stop();
    await adapter.addDevice(device(2));
    await adapter.removeDevice(0);
    expect(adapter.endpointOf(2)).to.equal(null);
    await adapter.start();
    expect(adapter.endpointOf(0)).to.equal(null);
    expect(await (await open(2)).request(readRequest(1, 100, 1))).to.equal(answerOf(2));
  });

  it('a stop while a device joins leaves nothing open', async () => {
    await start();
    const joining = failure(adapter.addDevice(device(2)));
    await adapter.stop();
    expect((await joining)?.code).to.equal('STOPPING');
    expect(adapter.status()).to.include({ state: 'stopped', peers: 0 });
    expect(adapter.endpointOf(2)).to.equal(null);
  });

  it('a device that would join during a stop does not', async () => {
    await settled();
    const before = openHandles();
    await start();
    // a master that stays keeps the stop from being over at once
    await open(0);
    const stopping = adapter.stop();
    await Promise.resolve();
    expect((await failure(adapter.addDevice(device(2))))?.code).to.equal('STOPPING');
    await stopping;
    clients.splice(0).forEach((client) => {
      client.destroy();
    });
    await settledTo(before);
    expect(openHandles()).to.deep.equal(before);
    expect(adapter.endpointOf(2)).to.equal(null);
  });
});
