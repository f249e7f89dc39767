import { expect } from 'chai';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { named } from '../../support/map.ts';
import { RawClient } from '../../support/modbus-client.ts';
import { testPlant } from '../../support/plant.ts';
import { prefix, Rest } from '../../support/rest.ts';
import { modbusEndpoint, startApp } from '../../support/running-app.ts';
import type { RunningApp } from '../../support/running-app.ts';

const limit = (pct: number) => ({ '704.WMaxLimPct': pct, '704.WMaxLimPctEna': 'ENABLED' });

describe('holds: a head-end over REST and a Modbus master', () => {
  let running: RunningApp;
  let master: RawClient;
  let registers: { readonly enable: number; readonly limit: number };

  beforeEach(async () => {
    running = await startApp();
    const { layout } = running.app.plant.device(0).bank;
    registers = {
      enable: named(layout, '704.WMaxLimPctEna').address,
      limit: named(layout, '704.WMaxLimPct').address,
    };
    master = await RawClient.open(modbusEndpoint(running.app, 0).port);
  });
  afterEach(async () => {
    master.destroy();
    await running.app.stop();
  });

  async function post(path: string, body: Json): Promise<Json> {
    const answer = await ask(running.port, `${prefix}${path}`, { body });
    expect(answer.status, answer.text).to.equal(200);
    return answer.json;
  }
  const record = async (id: string): Promise<Json> =>
    (await ask(running.port, `${prefix}/controls/holds`)).json.holds.find((each: Json) => each.id === id);
  const hex = (word: number) => word.toString(16).padStart(4, '0');
  /** FC6. */
  async function write(address: number, word: number): Promise<void> {
    const request = `00010000000601 06 ${hex(address)}${hex(word)}`.replaceAll(' ', '');
    expect(await master.request(request)).to.equal(request);
  }
  /** FC3 of one register. */
  async function read(address: number): Promise<number> {
    return parseInt((await master.request(`00020000000601 03 ${hex(address)}0001`.replaceAll(' ', ''))).slice(-4), 16);
  }
  /** 704.WMaxLimPct in percent and its enable, as the master sees them. */
  const seen = async () => [(await read(registers.limit)) / 100, await read(registers.enable)];
  const pass = (seconds: number) => post('/controls/time/step', { ticks: seconds / 1.5 });

  it('without the master: back to the value before', async () => {
    await write(registers.limit, 8000);
    await post('/controls/holds', { id: 'a', values: limit(30), duration_s: 60 });
    await pass(30);
    expect(await seen()).to.deep.equal([30, 1]);
    await pass(30);
    expect(await seen()).to.deep.equal([80, 0]);
    expect(await record('a')).to.deep.include({ reason: 'expired', left: [] });
  });

  it('a value that the master writes in between stays, and the answer says that one point was left', async () => {
    await post('/controls/holds', { id: 'a', values: limit(30), duration_s: 60 });
    await pass(30);
    await write(registers.limit, 5000);
    expect((await record('a')).points.map(({ name, overwritten }: Json) => [name, overwritten])).to.deep.equal([
      ['704.WMaxLimPct', true],
      ['704.WMaxLimPctEna', false],
      ['704.WMaxLimPctRvrtTms', false],
    ]);
    await pass(30);
    expect(await seen()).to.deep.equal([50, 0]);
    expect(await record('a')).to.deep.include({
      reason: 'expired',
      left: ['704.WMaxLimPct'],
      restored: ['704.WMaxLimPctEna', '704.WMaxLimPctRvrtTms'],
    });
  });

  it('a second hold that takes over goes back to the first base', async () => {
    await write(registers.limit, 8000);
    await post('/controls/holds', { id: 'a', values: limit(50), duration_s: 60 });
    await pass(30);
    await post('/controls/holds', { id: 'b', values: limit(30), duration_s: 60 });
    await pass(30);
    expect(await seen()).to.deep.equal([30, 1]);
    await pass(30);
    expect(await seen()).to.deep.equal([80, 0]);
  });
});

describe('holds at rates 1, 60 and 1000', () => {
  /** Two holds over a master's timer, with a write of the master in between. */
  async function day(
    rate: number,
  ): Promise<{ readonly holds: Json; readonly registers: string; readonly log: string[] }> {
    const plant = testPlant({ types: ['PV-3Phase', 'Batt-3Phase'], rate });
    // under a moving sun the voltage of a tracker (714.DCV) depends on the tick, by some 0.2 V, also without holds
    plant.setSurroundings({ irradianceWm2: 900, cellTemperatureC: 40 });
    const rest = await Rest.open(plant);
    const log: string[] = [];
    try {
      const { bank } = plant.device(0);
      const dump = () =>
        plant.devices.map(({ bank: each }) => each.read(each.layout.base, each.layout.size).toString('hex'));
      bank.onChange(({ at, by: { source }, points }) => {
        const words = points.map((slot) => bank.raw(slot).join(' ')).join();
        log.push(`${at} ${source} ${words}`);
      });
      const until = (time: string) => rest.post('/controls/time/step', { until: `2026-06-21T12:${time}Z` });
      await rest.post('/registers/704', {
        points: { WMaxLimPct: 60, WMaxLimPctEna: 'ENABLED', WMaxLimPctRvrtTms: 700 },
      });
      await until('00:10.300');
      await rest.post('/controls/holds', { id: 'a', values: limit(30), duration_s: 603.25 });
      await until('01:33.777');
      await rest.post('/controls/holds', {
        id: 'b',
        functions: {
          volt_var: {
            enabled: true,
            points: [
              { v_pct: 80, var_pct: 40 },
              { v_pct: 120, var_pct: 40 },
            ],
          },
        },
        until: '2026-06-21T12:20:00.001Z',
      });
      await rest.post('/controls/holds?device=1', { id: 'c', values: limit(20), duration_s: 1800 });
      await until('05:00.000');
      await rest.post('/registers/704', { points: { WRmp: 50 } });
      await until('50:00.000');
      const registers = dump().join();
      return { holds: (await rest.get('/controls/holds')).holds, registers, log };
    } finally {
      await rest.api.stop();
    }
  }

  it('begin and end at the same simulated instants, with the same registers', async () => {
    const [slow, ...faster] = [await day(1), await day(60), await day(1000)];
    const instants = ({ holds }: { holds: Json }) =>
      holds.map(({ id, begun_at, ended_at, reason }: Json) => [id, begun_at, ended_at, reason]);
    expect(instants(slow)).to.deep.equal([
      ['c', '2026-06-21T12:01:33.777Z', '2026-06-21T12:31:33.777Z', 'expired'],
      ['b', '2026-06-21T12:01:33.777Z', '2026-06-21T12:20:00.001Z', 'expired'],
      ['a', '2026-06-21T12:00:10.300Z', '2026-06-21T12:10:13.550Z', 'expired'],
    ]);
    // begin and end of a and b, three writes of the master, and its timer, which started anew at the end of a
    expect(slow.log.map((line) => line.split(' ')[1])).to.deep.equal([
      ...['rest', 'rest', 'rest', 'rest', 'reversion', 'reversion', 'reversion'],
    ]);
    for (const other of faster) {
      expect(instants(other)).to.deep.equal(instants(slow));
      expect(other.log).to.deep.equal(slow.log);
      expect(other.registers === slow.registers, 'registers').to.equal(true);
    }
  }).timeout(120_000);
});
