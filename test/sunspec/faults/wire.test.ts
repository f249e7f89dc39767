import { expect } from 'chai';
import type { FaultKind, FaultRequest } from '../../../src/core/faults/kinds.ts';
import {
  lateWriteFault,
  bitsFault,
  dynamicScaleFault,
  falsifyFault,
  freezeFault,
  lagFault,
  noiseFault,
  notImplementedFault,
  scaleFault,
  strictPointsFault,
  valueFault,
  baseFault,
  chainEndFault,
  commonLength65Fault,
  hideModelFault,
  modelIdFault,
  modelLengthFault,
  shiftFault,
} from '../../../src/fault-kinds/modbus-map.ts';
import { FaultyMaps } from '../../../src/sunspec/faults/faulty-map.ts';
import { createModbusAdapter } from '../../../src/sunspec/modbus/bridge.ts';
import type { ModbusAdapter } from '../../../src/sunspec/modbus/bridge.ts';
import { FaultyMapRig } from '../../support/faulty-map.ts';
import { createTestBank } from '../../support/map.ts';
import { adu, RawClient, readRequest } from '../../support/modbus-client.ts';
import { modbusEndpoint, startApp } from '../../support/running-app.ts';
import type { RunningApp } from '../../support/running-app.ts';
import { ask } from '../../support/http.ts';

/** PDU of an answer, in hex. */
const pdu = (answer: string) => answer.slice(14);

function writeRequest(address: number, ...values: number[]): Buffer {
  const body = Buffer.alloc(6 + 2 * values.length);
  body[0] = 16;
  body.writeUInt16BE(address, 1);
  body.writeUInt16BE(values.length, 3);
  body[5] = 2 * values.length;
  values.forEach((value, i) => body.writeUInt16BE(value, 6 + 2 * i));
  return adu(1, 1, body.toString('hex'));
}

type Parameters = Readonly<Record<string, unknown>>;

describe('faults of the map in frames of Modbus TCP', () => {
  let rig: FaultyMapRig;
  let adapter: ModbusAdapter;
  let client: RawClient;

  before(async () => {
    rig = new FaultyMapRig();
    const other = createTestBank().bank;
    adapter = createModbusAdapter({
      devices: [
        { index: 0, bank: rig.map.bank },
        { index: 1, bank: other },
      ],
      host: '127.0.0.1',
      port: 0,
      sharedPort: false,
      faultyMaps: new FaultyMaps(rig.faults),
    });
    await adapter.start();
    client = await RawClient.open(adapter.endpointOf(0)?.port ?? 0);
  });
  afterEach(() => {
    rig.bench.registry.clear();
  });
  after(async () => {
    client.destroy();
    await adapter.stop();
    rig.end();
  });

  const read = async (address: number, count: number) => pdu(await client.request(readRequest(1, address, count)));

  // 701.W, the two registers of 701.Hz, and the marker with what follows, as they are without a fault
  const asUsual = { w: '030212c0', hz: '03040000ea6c', head: '030853756e5300010042' };
  const rows: readonly (readonly [FaultKind, Parameters, readonly string[] | null, Partial<typeof asUsual>])[] = [
    [freezeFault, {}, null, {}],
    [notImplementedFault, {}, ['701'], { w: '03028000', hz: '0304ffffffff' }],
    [valueFault, { value: 1000 }, ['701.W'], { w: '03020064' }],
    [valueFault, { raw: [0xdead, 0xbeef] }, ['701.Hz'], { hz: '0304deadbeef' }],
    [scaleFault, { factor: -1 }, ['701.W'], { w: '0302ed40' }],
    [noiseFault, { amplitude: 0 }, ['701.W'], {}],
    [lagFault, { delay_s: 10 }, ['701'], {}],
    [bitsFault, { set: [0] }, ['701.Alrm'], {}],
    [dynamicScaleFault, { scale_factor: '701.W_SF', steps: [{ shift: 1 }] }, null, { w: '030201e0' }],
    [falsifyFault, { switch: 'MeasZeroP' }, null, { w: '03020000' }],
    [strictPointsFault, {}, null, {}],
    [baseFault, { address: 0 }, null, { w: '8302', hz: '8302', head: '8302' }],
    [modelLengthFault, { model: 1, length: 65 }, null, { head: '030853756e5300010041' }],
    // model 701 lies one register lower: behind W stands VA, and Hz has lost its first half
    [commonLength65Fault, {}, null, { w: '03021388', hz: '0304ea6c0000', head: '030853756e5300010041' }],
    [shiftFault, { model: 1, registers: 1 }, null, { w: '03020000', hz: '03040ad30000', head: '030853756e5380000001' }],
    [chainEndFault, { variant: 'zeros' }, null, {}],
    [hideModelFault, { model: 1 }, null, { head: '030853756e5302bd0099', w: '03020000', hz: '030400000000' }],
    [modelIdFault, { model: 1, id: 2 }, null, { head: '030853756e5300020042' }],
  ];
  for (const [kind, parameters, points, changed] of rows) {
    it(`${kind.kind} ${JSON.stringify(parameters)}`, async () => {
      const fault = rig.inject(kind, parameters, points === null ? {} : { target: { points } });
      const seen = {
        w: await read(rig.slot('701.W').address, 1),
        hz: await read(rig.slot('701.Hz').address, 2),
        head: await read(rig.map.layout.base, 4),
      };
      expect(seen).to.deep.equal({ ...asUsual, ...changed });
      rig.bench.registry.clear({ id: fault.facts.id });
      expect({
        w: await read(rig.slot('701.W').address, 1),
        hz: await read(rig.slot('701.Hz').address, 2),
        head: await read(rig.map.layout.base, 4),
      }).to.deep.equal(asUsual);
    });
  }

  it('answers a read of a part of a point with exception 3 under strict_points', async () => {
    rig.inject(strictPointsFault);
    expect(await read(rig.slot('701.Hz').address, 1)).to.equal('8303');
  });

  it('ends the map by exception 2 under chain_end', async () => {
    const end = rig.map.layout.base + rig.map.layout.size - 2;
    expect(await read(end, 2)).to.equal('0304ffff0000');
    rig.inject(chainEndFault, { variant: 'exception' });
    expect([await read(end, 2), await read(end, 1), await read(end - 1, 1)]).to.deep.equal([
      '8302',
      '8302',
      '03020000',
    ]);
    rig.bench.registry.clear();
    rig.inject(chainEndFault, { variant: 'absent_length' });
    expect([await read(end, 2), await read(end, 1)]).to.deep.equal(['8302', '0302ffff']);
  });

  it('lets a shifted point be written', async () => {
    rig.inject(shiftFault, { model: 704, registers: 3 });
    const { address } = rig.slot('704.WMaxLimPct');
    expect(pdu(await client.request(writeRequest(address + 3, 777)))).to.match(/^10/);
    expect(rig.map.value('704.WMaxLimPct')).to.equal(77.7);
    expect(pdu(await client.request(writeRequest(rig.slot('704.ID').address, 1)))).to.equal('9002');
  });

  it('leaves the device beside it alone when it is meant for one', async () => {
    const beside = await RawClient.open(adapter.endpointOf(1)?.port ?? 0);
    const { address } = rig.slot('701.LLV');
    const truth = await beside.request(readRequest(1, address, 1));
    rig.inject(notImplementedFault, {}, { deviceIndex: 0, target: { points: ['701'] } });
    expect(pdu(await client.request(readRequest(1, address, 1)))).to.equal('0302ffff');
    expect(await beside.request(readRequest(1, address, 1))).to.equal(truth);
    beside.destroy();
  });

  it('sees each of three requests sent at once as an occasion of its own', async () => {
    rig.inject(valueFault, { extreme: 'zero' }, { target: { points: ['701.W'] }, every: 2 });
    const request = readRequest(1, rig.slot('701.W').address, 1);
    client.send(Buffer.concat([request, request, request]));
    const answers = [await client.answer(), await client.answer(), await client.answer()].map((each) =>
      pdu(each.toString('hex')),
    );
    expect(answers).to.deep.equal(['030212c0', '03020000', '030212c0']);
  });
});

describe('faults of the map in the whole simulator', () => {
  let running: RunningApp;
  const clients: RawClient[] = [];
  const by = { source: 'rest', peer: 'test' } as const;

  before(async () => {
    running = await startApp(['PV-3Phase', 'PV-1Phase']);
  });
  after(async () => {
    for (const client of clients) client.destroy();
    await running.app.stop();
  });
  afterEach(() => {
    running.app.faults.clear();
  });

  async function open(index: number): Promise<RawClient> {
    const client = await RawClient.open(modbusEndpoint(running.app, index).port);
    clients.push(client);
    return client;
  }

  const inject = (kind: FaultKind, request: Omit<FaultRequest, 'protocol' | 'kind'>) => {
    running.app.faults.inject([{ protocol: kind.protocol, kind: kind.kind, ...request }], by);
  };
  const addressOf = (index: number, model: number, path: string) => {
    const slot = running.app.plant.device(index).bank.layout.slot(model, path);
    if (slot === undefined) throw new Error(`no ${path}`);
    return slot.address;
  };

  it('hides from masters what REST shows as it is', async () => {
    const client = await open(0);
    inject(valueFault, { target: { points: ['701.Hz'] }, parameters: { value: 50 } });
    expect(pdu(await client.request(readRequest(1, addressOf(0, 701, 'Hz'), 2)))).to.equal('03040000c350');
    const { json } = await ask(running.port, '/api/sim/registers/701');
    expect(json.points.find(({ name }: { name: string }) => name === 'Hz').value).to.be.closeTo(60, 0.1);
  });

  it('refuses at a device what only it can know', () => {
    expect(() => {
      inject(valueFault, { target: { points: ['701.Nothing'] }, parameters: { value: 50 } });
    }).to.throw('cannot be injected');
    expect(() => {
      inject(hideModelFault, { parameters: { model: 802 } });
    }).to.throw('cannot be injected');
    expect(running.app.faults.active).to.have.length(0);
  });

  it('lags by simulated time, and lands late writes by it', async () => {
    const client = await open(1);
    const { plant } = running.app;
    const heartbeat = async () =>
      Number.parseInt(pdu(await client.request(readRequest(1, addressOf(1, 715, 'DERHb'), 2))).slice(4), 16);
    inject(lagFault, { deviceIndex: 1, target: { points: ['715.DERHb'] }, parameters: { delay_s: 3 } });
    await plant.step(10);
    const truth = Number(plant.device(1).bank.map.m715.DERHb);
    expect(await heartbeat()).to.equal(truth - 3);
    inject(lateWriteFault, { deviceIndex: 1, parameters: { delay_s: 2 } });
    await client.request(writeRequest(addressOf(1, 704, 'WMaxLimPct'), 5000));
    expect(plant.device(1).bank.map.m704.WMaxLimPct).to.equal(100);
    await plant.step(3);
    expect(plant.device(1).bank.map.m704.WMaxLimPct).to.equal(50);
  });

  it('meets a device that joins later, and lets go of one that leaves', async () => {
    inject(notImplementedFault, { target: { points: ['701.LNV'] } });
    const added = await ask(running.port, '/api/sim/devices', { body: { device_type: 'PV-3Phase' } });
    const index: number = added.json.device_index;
    const client = await open(index);
    expect(pdu(await client.request(readRequest(1, addressOf(index, 701, 'LNV'), 1)))).to.equal('0302ffff');
    const removed = await ask(running.port, `/api/sim/devices/${index}/remove`, { body: {} });
    expect(removed.status).to.equal(200);
    running.app.faults.clear();
    expect(running.app.plant.devices.map((device) => device.index)).to.deep.equal([0, 1]);
  });
});
