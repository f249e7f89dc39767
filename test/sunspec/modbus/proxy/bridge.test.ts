import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { App } from '../../../../src/app/start-stop.ts';
import { SimError } from '../../../../src/core/errors.ts';
import type { FaultRequest } from '../../../../src/core/faults/kinds.ts';
import { createLogBook } from '../../../../src/core/log/log.ts';
import type { ProxyAdapter } from '../../../../src/sunspec/modbus/proxy/bridge.ts';
import { proxyMapSchema } from '../../../../src/sunspec/modbus/proxy/schema.ts';
import type { ProxyMap, ProxyRegister } from '../../../../src/sunspec/modbus/proxy/schema.ts';
import { bundledProxyMapNames } from '../../../../src/config/profile/bundled.ts';
import { openHandles, settled } from '../../../support/handles.ts';
import { ask } from '../../../support/http.ts';
import type { Json } from '../../../support/http.ts';
import { adu, RawClient } from '../../../support/modbus-client.ts';
import { startApp } from '../../../support/running-app.ts';
import { refusalAt } from '../faults/wire-rig.ts';
import { bundledMap } from '../../../support/proxy.ts';

const proxyOf = (app: App): ProxyAdapter => app.adapters.find(({ comm }) => comm === 'modbus_proxy') as ProxyAdapter;

/** A request and its answer PDU in hex; `pdu` is hex too. */
async function exchange(client: RawClient, pdu: string, unitId = 1): Promise<string> {
  return (await client.request(adu(7, unitId, pdu))).slice(14);
}

const hex16 = (value: number) => (value & 0xffff).toString(16).padStart(4, '0');
const read = (functionCode: 3 | 4, address: number, count: number) =>
  `0${functionCode}${hex16(address)}${hex16(count)}`;
const write = (address: number, ...values: number[]) =>
  `10${hex16(address)}${hex16(values.length)}${(2 * values.length).toString(16).padStart(2, '0')}${values.map(hex16).join('')}`;

async function registersAt(
  client: RawClient,
  functionCode: 3 | 4,
  address: number,
  count: number,
  unitId = 1,
): Promise<Buffer> {
  const answer = await exchange(client, read(functionCode, address, count), unitId);
  expect(answer.slice(0, 2), `${address}: ${answer}`).to.equal(`0${functionCode}`);
  return Buffer.from(answer.slice(4), 'hex');
}

/** The number in registers, by rules written down once more: big-endian octets, most or least significant register first. */
function numberIn(bytes: Buffer, type: ProxyRegister['type'], lowFirst: boolean): number {
  const octets = lowFirst
    ? Buffer.concat(
        Array.from({ length: bytes.length / 2 }, (_, i) =>
          bytes.subarray(bytes.length - 2 * i - 2, bytes.length - 2 * i),
        ),
      )
    : bytes;
  if (type === 'float32') return octets.readFloatBE();
  if (type === 'uint64') return Number(octets.readBigUInt64BE());
  return type.startsWith('int') ? octets.readIntBE(0, octets.length) : octets.readUIntBE(0, octets.length);
}

describe('Proxy: a map that fits no device', () => {
  it('ends the start with the device types that it wants', async () => {
    for (const [types, map, wanted] of [
      [['PV-3Phase', 'EVSE'], 'hybrid-little-word-order', 'Batt-3Phase, Batt-2Phase, Batt-1Phase, HybridDC-3Phase'],
      [
        ['EVSE'],
        'string-inverter-basic',
        'PV-3Phase, PV-2Phase, PV-1Phase, Batt-3Phase, Batt-2Phase, Batt-1Phase, Wind-T3-3Phase, ' +
          'Wind-T4-3Phase, Fuelcell-3Phase, HybridDC-3Phase',
      ],
    ] as const) {
      const error = await startApp(types, ['--proxy', map]).then(
        () => null,
        (reason: unknown) => reason,
      );
      if (!(error instanceof SimError)) throw new Error('it starts');
      expect(error.code).to.equal('CONFIG_INVALID');
      expect(error.message).to.include(`(device types with all of its points: ${wanted}):`);
    }
  });
});

describe('Proxy: a map of another maker in front of the devices', () => {
  let app: App;
  let port: number;
  const clients: RawClient[] = [];

  async function start(types: readonly string[], ...flags: string[]): Promise<RawClient> {
    ({ app, port } = await startApp(types, ['--proxy_port', '0', ...flags]));
    return connect();
  }

  async function connect(): Promise<RawClient> {
    const client = await RawClient.open(proxyOf(app).port);
    clients.push(client);
    return client;
  }

  const rest = async (path: string, body?: unknown): Promise<Json> => {
    const answer = await ask(port, `/api/sim${path}`, body === undefined ? {} : { method: 'POST', body });
    expect(answer.status, answer.text).to.be.within(200, 202);
    return answer.json;
  };

  async function pointOf(name: string, device = 0): Promise<Json> {
    const [model, path] = [name.slice(0, name.indexOf('.')), name.slice(name.indexOf('.') + 1)];
    const { points } = await rest(`/registers/${model}?device=${device}`);
    return points.find((point: Json) => point.name === path);
  }

  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await app.stop();
  });

  for (const [mapName, types] of [
    ['string-inverter-basic', ['PV-3Phase', 'Wind-T4-3Phase']],
    ['hybrid-little-word-order', ['Batt-3Phase', 'HybridDC-3Phase']],
  ] as const) {
    it(`${mapName} shows what REST shows at the same tick`, async () => {
      const client = await start(types, '--proxy', mapName);
      await app.plant.step(4);
      const map = bundledMap(mapName);
      let compared = 0;
      for (const device of [0, 1]) {
        for (const register of map.registers.filter(({ point, bits }) => point !== undefined && !bits)) {
          const point = await pointOf(register.point!, device);
          const size =
            register.size ?? ({ uint16: 1, int16: 1, uint64: 4 } as Record<string, number>)[register.type] ?? 2;
          const bytes = await registersAt(
            client,
            register.table === 'input' ? 4 : 3,
            register.address,
            size,
            1 + device,
          );
          const where = `${mapName} ${register.name} of device ${device}`;
          if (register.type === 'string') {
            expect(bytes.toString('utf8').replace(/\0+$/, ''), where).to.equal(point.value);
          } else if (register.values) {
            const number = numberIn(bytes, register.type, map.word_order === 'little');
            const [, symbol] = Object.entries(register.values).find(([key]) => Number(key) === number)!;
            expect(symbol, where).to.equal(point.symbol);
          } else if (point.value !== null) {
            const shown = numberIn(bytes, register.type, map.word_order === 'little') * (register.scale ?? 1);
            const step = register.type.startsWith('float')
              ? 1e-6 * Math.abs(point.value)
              : Math.abs(register.scale ?? 1) / 2;
            const held = register.type.includes('16') && shown >= 0xfffe * (register.scale ?? 1);
            if (!held)
              expect(Math.abs(shown - point.value), `${where}: ${shown} and ${point.value}`).to.be.at.most(step + 1e-9);
          }
          compared += 1;
        }
      }
      expect(compared).to.be.above(40);
    });
  }

  it('a written limit moves the power', async () => {
    const client = await start(['PV-3Phase'], '--proxy', 'string-inverter-basic');
    await app.plant.step(2);
    const power = async () => (await registersAt(client, 4, 11, 2)).readInt32BE();
    const free = await power();
    expect(free).to.be.above(5000);
    expect(await exchange(client, `060064${hex16(250)}`)).to.equal(`060064${hex16(250)}`);
    await app.plant.step(20);
    expect(await power()).to.be.within(2400, 2500);
    const limit = await pointOf('704.WMaxLimPct');
    expect([limit.value, limit.source, limit.source_detail]).to.deep.equal([
      25,
      'modbus',
      `127.0.0.1:${clients[0]!.socket.localPort ?? 0}`,
    ]);
    expect((await registersAt(client, 3, 101, 1)).readUInt16BE()).to.equal(0xaa);
    expect(await exchange(client, write(101, 0x55))).to.equal('1000650001');
    await app.plant.step(20);
    expect(await power()).to.be.above(free * 0.9);
  });

  it('start and stop, acknowledge and reactive modes are commands', async () => {
    const client = await start(['PV-3Phase'], '--proxy', 'string-inverter-basic');
    expect(await exchange(client, write(110, 2))).to.equal('10006e0001');
    await app.plant.step(3);
    expect((await registersAt(client, 4, 0, 2)).toString('hex')).to.equal('000100ff');
    expect(await exchange(client, write(105, 3))).to.equal('1000690001');
    expect((await pointOf('705.Ena')).symbol).to.equal('ENABLED');
    expect(await exchange(client, write(105, 2))).to.equal('1000690001');
    expect((await registersAt(client, 3, 105, 1)).readUInt16BE()).to.equal(2);
    expect(await exchange(client, write(111, 1))).to.equal('10006f0001');
    expect((await registersAt(client, 3, 110, 2)).toString('hex')).to.equal('00020000');
  });

  it('a battery is told to charge in one write, and goes back by itself', async () => {
    const client = await start(['Batt-3Phase'], '--proxy', 'hybrid-little-word-order', '--tick', '1');
    const float = Buffer.alloc(4);
    float.writeFloatBE(3000);
    // mode 1, 3000 W of charging, for 60 s
    expect(await exchange(client, write(1300, 1, float.readUInt16BE(2), float.readUInt16BE(0), 60, 0))).to.equal(
      '1005140005',
    );
    await app.plant.step(30);
    const powerAt = async (address: number) => numberIn(await registersAt(client, 3, address, 2), 'float32', true);
    expect(await powerAt(1100)).to.be.within(-3010, -2990);
    expect(await powerAt(1208)).to.be.within(2700, 3010);
    expect((await registersAt(client, 3, 1210, 1)).readUInt16BE()).to.equal(3);
    await app.plant.step(40);
    expect((await registersAt(client, 3, 1300, 1)).readUInt16BE()).to.equal(0);
    expect(await powerAt(1100)).to.be.within(-50, 50);
  });

  it('refuses what a device of this maker would refuse', async () => {
    const client = await start(['PV-3Phase'], '--proxy', 'string-inverter-basic');
    const cases: readonly (readonly [string, string, string])[] = [
      ['another function', '0100000001', '8101'],
      ['beyond the map', read(3, 200, 1), '8302'],
      ['the SunSpec map', read(3, 40_000, 2), '8302'],
      ['126 registers', read(4, 0, 126), '8403'],
      ['part of a number', write(40, 1), '9002'],
      ['a constant', write(0, 1), '9002'],
      ['too high a limit', write(100, 1001), '9003'],
      ['an unknown number', write(101, 1), '9003'],
      ['an unknown command', write(105, 9), '9003'],
      ['a gap', write(99, 0, 500), '9002'],
      ['a good and a bad value', write(100, 500, 1), '9003'],
    ];
    for (const [what, pdu, answer] of cases) expect(await exchange(client, pdu), what).to.equal(answer);
    expect((await pointOf('704.WMaxLimPct')).value).to.equal(100);
    await rest('/controls/local', { local: true });
    expect(await exchange(client, write(100, 500))).to.equal('9002');
    expect((await registersAt(client, 3, 100, 1)).readUInt16BE()).to.equal(1000);
  });

  it('each device has a unit id, and devices that come and go are followed', async () => {
    const client = await start(['PV-3Phase', 'PV-1Phase'], '--proxy', 'string-inverter-basic');
    const serialOf = async (unitId: number) =>
      (await registersAt(client, 3, 10, 16, unitId)).toString('utf8').replace(/\0+$/, '');
    expect(await serialOf(1)).to.equal((await pointOf('1.SN', 0)).value);
    expect(await serialOf(2)).to.equal((await pointOf('1.SN', 1)).value);
    // a single phase has no line-line voltage
    expect((await registersAt(client, 4, 4, 1, 2)).readUInt16BE()).to.equal(0xffff);
    await rest('/devices', { device_type: 'PV-3Phase' });
    const { index } = app.plant.devices.at(-1)!;
    expect(await serialOf(1 + index)).to.equal((await pointOf('1.SN', index)).value);
    await rest('/devices/1/remove', {});
    // silence: the answer that comes is that of the next request
    client.send(Buffer.concat([adu(1, 2, read(3, 0, 1)), adu(2, 1, read(3, 0, 1))]));
    expect((await client.answer()).readUInt16BE(0)).to.equal(2);
  });

  it('one device alone also answers 0 and 255', async () => {
    const custom = `${import.meta.dirname}/../../../../fixtures/proxy/one-device.json`;
    const client = await start(['PV-3Phase', 'Batt-3Phase'], '--proxy', custom);
    for (const unitId of [0, 9, 255]) expect((await registersAt(client, 3, 500, 1, unitId)).readUInt16BE()).to.equal(1);
    client.send(Buffer.concat([adu(1, 1, read(3, 500, 1)), adu(2, 9, read(3, 500, 1))]));
    expect((await client.answer()).readUInt16BE(0)).to.equal(2);
  });

  it('faults of requests and answers act here as at the device itself', async () => {
    const client = await start(['PV-3Phase', 'PV-3Phase'], '--proxy', 'string-inverter-basic');
    const inject = (kind: string, more: Partial<FaultRequest> = {}) =>
      app.faults.inject([{ protocol: 'modbus', kind, ...more }], { source: 'rest' });
    inject('exception', { parameters: { code: 6 }, target: { functions: [4] }, deviceIndex: 0 });
    expect(await exchange(client, read(4, 11, 2))).to.equal('8406');
    expect((await registersAt(client, 4, 11, 2, 2)).length).to.equal(4);
    expect((await registersAt(client, 3, 100, 1)).length).to.equal(2);
    app.faults.clear();
    inject('wrong_unit', { parameters: { unit_id: 9 } });
    client.send(adu(7, 1, read(4, 0, 1)));
    expect((await client.answer())[6]).to.equal(9);
  });

  it('a fault that names points strikes the registers that show or set them, one with registers those of this map', async () => {
    const client = await start(['PV-3Phase'], '--proxy', 'string-inverter-basic');
    const inject = (target: FaultRequest['target'] & object) =>
      app.faults.inject([{ protocol: 'modbus', kind: 'exception', parameters: { code: 4 }, target }], {
        source: 'rest',
      });
    const answers = async () => {
      const codes = [];
      for (const address of [10, 11, 12, 13]) codes.push((await exchange(client, read(4, address, 1))).slice(0, 2));
      return codes.join(' ');
    };
    inject({ points: ['701.W'] });
    expect(await answers()).to.equal('04 84 84 04');
    app.faults.clear();
    inject({ registers: { address: 10, count: 1 } });
    expect(await answers()).to.equal('84 04 04 04');
  });

  it('strict_points refuses reads of a part of a number', async () => {
    const client = await start(['PV-3Phase'], '--proxy', 'string-inverter-basic');
    const [fault] = app.faults.inject(
      [{ protocol: 'modbus', kind: 'strict_points', target: { points: ['701.TotWhInj'] } }],
      { source: 'rest' },
    );
    for (const [address, count, answer] of [
      [16, 1, '8403'],
      [17, 1, '8403'],
      [15, 2, '8403'],
    ] as const)
      expect(await exchange(client, read(4, address, count))).to.equal(answer);
    expect((await registersAt(client, 4, 16, 2)).length).to.equal(4);
    expect((await registersAt(client, 4, 11, 1)).length).to.equal(2);
    expect(fault?.strikeCount).to.equal(3);
  });

  it('values falsified by a fault stay true here', async () => {
    const client = await start(['PV-3Phase'], '--proxy', 'string-inverter-basic');
    app.faults.inject(
      [{ protocol: 'modbus', kind: 'value', parameters: { value: 12 }, target: { points: ['701.W'] } }],
      {
        source: 'rest',
      },
    );
    expect((await registersAt(client, 4, 11, 2)).readInt32BE()).to.be.greaterThan(1000);
  });

  it('a map of one device has a closed port while that device is off', async () => {
    const custom = `${import.meta.dirname}/../../../../fixtures/proxy/one-device.json`;
    await start(['PV-3Phase', 'Batt-3Phase'], '--proxy', custom);
    const { device } = JSON.parse(await readFile(custom, 'utf8')) as { device: number };
    const reboot = (deviceIndex: number) =>
      app.faults.inject([{ protocol: 'device', kind: 'reboot', deviceIndex, parameters: { off_s: 10 } }], {
        source: 'rest',
      });
    reboot(1 - device);
    expect((await registersAt(await connect(), 3, 500, 1, 9)).length).to.equal(2);
    reboot(device);
    expect(await refusalAt(proxyOf(app).port)).to.equal('ECONNREFUSED');
  });

  it('a device that is off is silent here too, and the others are not', async () => {
    const client = await start(['PV-3Phase', 'PV-3Phase'], '--proxy', 'string-inverter-basic');
    app.faults.inject([{ protocol: 'device', kind: 'reboot', deviceIndex: 0, parameters: { off_s: 10 } }], {
      source: 'rest',
    });
    const { counters } = proxyOf(app).report();
    client.send(Buffer.concat([adu(1, 1, write(100, 500)), adu(2, 1, read(3, 100, 1)), adu(3, 2, read(3, 100, 1))]));
    expect((await client.answer()).readUInt16BE(0)).to.equal(3);
    expect(counters).to.include({ requests: 3, answers: 1, internalErrors: 0 });
    app.faults.clear();
    expect(await exchange(client, write(100, 500))).to.equal('1000640001');
  });

  it('shows its state in the overview and among the lines of the start', async () => {
    const client = await start(['PV-3Phase'], '--proxy', 'string-inverter-basic');
    await registersAt(client, 3, 0, 1);
    const { comm_status: status } = await rest('/overview');
    expect(status.modbus_proxy).to.include({
      enabled: true,
      state: 'listening',
      endpoint: `tcp://127.0.0.1:${proxyOf(app).port}`,
      peers: 1,
      rx_count: 1,
      tx_count: 1,
      error_count: 0,
    });
    const { interfaces } = await rest('/modbus');
    const shown = interfaces.find(({ comm }: Json) => comm === 'modbus_proxy');
    expect(shown.listeners[0]).to.include({ transport: 'tcp', endpoint: `tcp://127.0.0.1:${proxyOf(app).port}` });
    expect(shown.listeners[0].clients.map(({ peer }: Json) => peer)).to.deep.equal([
      `127.0.0.1:${client.socket.localPort ?? 0}`,
    ]);
    expect(proxyOf(app).startLines()).to.deep.equal([
      `Proxy     127.0.0.1:${proxyOf(app).port} (map String inverter, basic)`,
    ]);
    await proxyOf(app).stop();
    expect(proxyOf(app).status()).to.include({ state: 'stopped', endpoint: null, peers: 0 });
  });

  it('warns of points that a device lacks: at the start once for all of a shape, and when one joins', async () => {
    const logBook = createLogBook({ write: () => undefined });
    ({ app, port } = await startApp(
      ['PV-3Phase', 'PV-2Phase', 'PV-2Phase', 'Batt-3Phase'],
      ['--proxy', 'hybrid-little-word-order', '--proxy_port', '0'],
      { logBook },
    ));
    const warnings = () =>
      logBook
        .entries({ modules: ['Modbus'] })
        .filter(({ level }) => level === 'warning')
        .map(({ message, deviceIndex }) => [deviceIndex, message]);
    const pv = '802.V, 802.W, 802.ChaSt, 802.CellVAvg, 802.SoCRsvMin, 802.SetOp, 702.WChaRteMax';
    const shows =
      'which the map Hybrid, low word first shows: registers that need them read as absent and refuse writes';
    expect(warnings()).to.deep.equal([
      [0, `proxy: device 0 does not have ${pv}, 713.WHAvail, 713.WHRtg, ${shows}`],
      [null, `proxy: devices 1, 2 do not have ${pv}, 701.VL3, 713.WHAvail, 713.WHRtg, ${shows}`],
    ]);
    await rest('/devices', { device_type: 'HybridDC-3Phase' });
    expect(warnings()).to.have.lengthOf(2);
    await rest('/devices', { device_type: 'Batt-1Phase' });
    expect(warnings()[2]).to.deep.equal([5, `proxy: device 5 does not have 701.VL2, 701.VL3, ${shows}`]);
  });

  it('says once in the log that a value does not fit its type', async () => {
    const logBook = createLogBook({ write: () => undefined });
    ({ app, port } = await startApp(['Wind-T4-3Phase'], ['--proxy', 'string-inverter-basic', '--proxy_port', '0'], {
      logBook,
    }));
    const client = await connect();
    await app.plant.step(2);
    await registersAt(client, 4, 0, 26);
    await registersAt(client, 4, 0, 26);
    const lines = logBook.entries({ modules: ['Modbus'] }).filter(({ message }) => message.includes('voltage_l1_l2'));
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({
      message: 'proxy: voltage_l1_l2 is beyond the range of its type, and shows the nearest end of the range',
      deviceIndex: 0,
    });
  });

  /** Clients first: a socket of theirs is a handle too. */
  async function end(): Promise<void> {
    for (const client of clients.splice(0)) {
      const closed = once(client.socket, 'close');
      client.destroy();
      await closed;
    }
    await app.stop();
    await settled();
  }

  it('leaves nothing open', async () => {
    await start(['PV-3Phase'], '--proxy', 'string-inverter-basic');
    await end();
    const before = openHandles();
    const refused = await start(['PV-3Phase'], '--proxy', 'hybrid-little-word-order').then(
      () => null,
      (error: unknown) => error,
    );
    expect(refused).to.include({ code: 'CONFIG_INVALID' });
    await start(['Batt-3Phase'], '--proxy', 'hybrid-little-word-order');
    await end();
    expect(openHandles()).to.deep.equal(before);
  });
});

describe('Proxy: bundled maps', () => {
  it('are of the published form', () => {
    expect(bundledProxyMapNames).to.deep.equal(['hybrid-little-word-order', 'string-inverter-basic']);
    for (const name of bundledProxyMapNames) {
      const map: ProxyMap = bundledMap(name);
      expect(proxyMapSchema.parse(map)).to.deep.equal(map);
    }
  });
});
