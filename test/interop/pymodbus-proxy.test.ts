import { expect } from 'chai';
import type { ProxyRegister } from '../../src/sunspec/modbus/proxy/schema.ts';
import { ask } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { bundledMap } from '../support/proxy.ts';
import { PythonPeer, describeWith } from './support/peers.ts';

/** Registers and the name of the type in pymodbus. */
const types: Readonly<Record<string, readonly [size: number, name: string]>> = {
  uint16: [1, 'UINT16'],
  int16: [1, 'INT16'],
  bitfield16: [1, 'UINT16'],
  uint32: [2, 'UINT32'],
  int32: [2, 'INT32'],
  bitfield32: [2, 'UINT32'],
  float32: [2, 'FLOAT32'],
  float64: [4, 'FLOAT64'],
  uint64: [4, 'UINT64'],
  int64: [4, 'INT64'],
  string: [1, 'STRING'],
};

describeWith(['pymodbus'], 'reads the maps of other makers', () => {
  let simulator: RunningSimulator;
  let master: PythonPeer;

  /** Paused, so that REST and the proxy show one tick. */
  async function start(type: string, map: string): Promise<void> {
    simulator = await startSimulator([
      '-d',
      type,
      '--start_paused',
      'yes',
      '--tick',
      '1',
      '--proxy',
      map,
      '--proxy_port',
      '0',
    ]);
    const port = /^ *Proxy .*:(\d+) \(map /m.exec(simulator.output)?.[1];
    master = new PythonPeer('modbus_master', Number(port));
  }

  afterEach(async () => {
    await master.stop();
    expect(await simulator.stop()).to.equal(0);
  });

  const post = async (path: string, body: unknown): Promise<Json> => {
    const answer = await ask(simulator.httpPort, `/api/sim${path}`, { method: 'POST', body });
    expect(answer.status, answer.text).to.be.below(300);
    return answer.json;
  };
  const step = (ticks: number) => post('/controls/time/step', { ticks });

  async function valueOf(name: string): Promise<Json> {
    const dot = name.indexOf('.');
    const { json } = await ask(simulator.httpPort, `/api/sim/registers/${name.slice(0, dot)}`);
    return json.points.find((point: Json) => point.name === name.slice(dot + 1));
  }

  /** A value as pymodbus puts it together; `wordOrder` is that of the map. */
  function read(register: ProxyRegister, wordOrder: string): Promise<Json> {
    const [size, type] = types[register.type]!;
    return master.ask('read_value', {
      table: register.table ?? 'holding',
      address: register.address,
      count: register.size ?? size,
      type,
      word_order: wordOrder,
    });
  }

  for (const [map, type, limit] of [
    ['string-inverter-basic', 'PV-3Phase', 'power_limit'],
    ['hybrid-little-word-order', 'Batt-3Phase', 'reserve'],
  ] as const) {
    it(map, async () => {
      await start(type, map);
      await step(3);
      const { registers, word_order: wordOrder = 'big' } = bundledMap(map);
      let compared = 0;
      for (const register of registers) {
        const shown = await read(register, register.type === 'string' ? 'big' : wordOrder);
        if (register.constant !== undefined) expect(shown, register.name).to.equal(register.constant);
        if (register.point === undefined || register.bits || register.values) continue;
        const { value } = await valueOf(register.point);
        if (typeof value === 'string') expect(shown, register.name).to.equal(value);
        else if (value !== null)
          expect(shown * (register.scale ?? 1), register.name).to.be.closeTo(
            value,
            Math.max(
              1e-6 * Math.abs(value),
              register.type.startsWith('float') ? 0 : Math.abs(register.scale ?? 1) / 2,
            ) + 1e-9,
          );
        compared += 1;
      }
      expect(compared).to.be.above(20);
      const setting = registers.find(({ name }) => name === limit)!;
      const value = limit === 'reserve' ? 25 : 400;
      await master.ask('write_value', {
        address: setting.address,
        value,
        type: types[setting.type]![1],
        word_order: wordOrder,
      });
      expect(await read(setting, wordOrder)).to.equal(value);
      expect((await valueOf(setting.point!)).value).to.equal(value * (setting.scale ?? 1));
    });
  }

  it('a battery follows a charge command, and refuses registers outside the map', async () => {
    await start('Batt-3Phase', 'hybrid-little-word-order');
    await master.ask('write_value', { address: 1301, value: 2000, type: 'FLOAT32', word_order: 'little' });
    await master.ask('write_one', { address: 1300, value: 1 });
    await step(30);
    expect(
      await master.ask('read_value', {
        table: 'holding',
        address: 1100,
        count: 2,
        type: 'FLOAT32',
        word_order: 'little',
      }),
    ).to.be.closeTo(-2000, 10);
    expect(await master.exceptionOf('write_one', { address: 1300, value: 5 })).to.equal(3);
    expect(await master.exceptionOf('read_input', { address: 1100, count: 2 })).to.equal(2);
  });
});
