import { expect } from 'chai';
import { stringsOf } from '../../../src/api/battery.ts';
import { createReplyCache } from '../../../src/api/http/reply.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

/** Every number in a reply, with its path. */
function numbersIn(value: Json, path = ''): [string, number][] {
  if (typeof value === 'number') return [[path, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries<Json>(value).flatMap(([name, member]) => numbersIn(member, `${path}/${name}`));
}

describe('interface 6.1, 6.2: battery', () => {
  let rest: Rest;

  beforeEach(async () => {
    rest = await Rest.open(testPlant({ types: ['Batt-3Phase', 'PV-3Phase', 'HybridDC-3Phase'] }));
  });
  afterEach(() => rest.api.stop());

  const post = (body: unknown, query = '') => rest.post(`/controls/battery${query}`, body);
  const point = async (model: number, name: string): Promise<number> => {
    const { points } = await rest.get(`/registers/${model}`);
    return points.find((each: Json) => each.name === name).value;
  };

  it('goes as deep as it is asked, to the cells by default', async () => {
    const cells = await rest.get('/battery');
    expect(cells.strings).to.have.length(2);
    for (const string of cells.strings) {
      expect(string.modules).to.have.length(4);
      for (const module of string.modules) expect(module.cells).to.have.length(16);
    }
    expect(await rest.get('/battery?detail=cells')).to.deep.equal(cells);
    const modules = await rest.get('/battery?detail=modules');
    expect(modules.strings[1].modules[3]).to.include({ index: 3 }).and.not.have.property('cells');
    const strings = await rest.get('/battery?detail=strings');
    expect(strings.strings[1]).to.include({ index: 1, contactor: 'closed' }).and.not.have.property('modules');
    expect(await rest.get('/battery?detail=bank')).to.not.have.property('strings');
    await rest.refused('/battery?detail=cell', 422, 'validation');
  });

  it('lists the cells once for all clients that ask before something changes', () => {
    const device = rest.plant.device(0);
    let made = 0;
    const tree = device.storageTree.bind(device);
    device.storageTree = () => {
      made += 1;
      return tree();
    };
    const replyCache = createReplyCache(rest.plant, { ...systemClock, monotonicMs: () => 0 });
    for (let i = 0; i < 5; i += 1) stringsOf({ replyCache }, device, 'cells');
    expect(made).to.equal(1);
    replyCache.changed();
    stringsOf({ replyCache }, device, 'cells');
    expect(made).to.equal(2);
  });

  it('has the start values of the interface', async () => {
    expect(await rest.get('/battery?detail=bank')).to.include({
      soc_pct: 50,
      mode: 'idle',
      control: 'auto',
      power_kw: 0,
      chemistry: 'nmc',
      capacity_kwh: 15,
      energy_available_kwh: 7.5,
      inhibit: 'none',
      soc_min_pct: 10,
      soc_max_pct: 90,
      soc_reserve_min_pct: 10,
      soc_reserve_max_pct: 90,
      cycle_count: 0,
    });
  });

  it('shows the registers, and levels that hold together', async () => {
    await post({ mode: 'discharge', power_kw: 4 });
    await rest.plant.step(40);
    const reply = await rest.get('/battery');
    expect(reply).to.include({ mode: 'discharge', control: 'forced', power_kw: 4 });
    const same: [string, number, string, number][] = [
      ['soc_pct', 713, 'SoC', 1],
      ['soc_pct', 802, 'SoC', 1],
      ['soh_pct', 713, 'SoH', 1],
      ['energy_available_kwh', 713, 'WHAvail', 1000],
      ['power_kw', 802, 'W', 1000],
      ['dc_voltage_v', 802, 'V', 1],
      ['dc_current_a', 802, 'A', 1],
      ['cell_voltage_min_v', 802, 'CellVMin', 1],
      ['cell_voltage_max_v', 802, 'CellVMax', 1],
      ['cell_voltage_avg_v', 802, 'CellVAvg', 1],
      ['soc_reserve_max_pct', 802, 'SocRsvMax', 1],
      ['capacity_kwh', 802, 'WHRtg', 1000],
      ['cycle_count', 802, 'NCyc', 1],
    ];
    for (const [member, model, name, scale] of same)
      expect(reply[member], member).to.equal((await point(model, name)) / scale);
    for (const string of reply.strings) {
      expect(string.voltage_v).to.be.closeTo(reply.dc_voltage_v, 0.06);
      const cellsV = string.modules.flatMap((module: Json) => module.cells).map((cell: Json) => cell.voltage_v);
      expect(cellsV.reduce((sum: number, v: number) => sum + v, 0)).to.be.closeTo(string.voltage_v, 0.01);
      expect(Math.min(...cellsV)).to.be.closeTo(string.cell_voltage_min_v, 1e-6);
    }
    const currentA = reply.strings.reduce((sum: number, string: Json) => sum + Number(string.current_a), 0);
    expect(currentA).to.be.closeTo(reply.dc_current_a, 0.2);
    for (const [path, value] of numbersIn(reply)) expect(Number.isFinite(value), path).to.equal(true);
  });

  it('forces a mode for a time of the simulated clock', async () => {
    const taken = await post({ mode: 'discharge', power_kw: 5, duration_s: 60 });
    expect(taken)
      .to.include({
        mode: 'idle',
        control: 'forced',
        requested_mode: 'discharge',
        requested_power_kw: 5,
        clamped_power_kw: 5,
        remaining_s: 60,
      })
      .and.not.have.property('strings');
    await rest.plant.step(20);
    const running = await rest.get('/controls/battery');
    expect(running).to.include({ mode: 'discharge', requested_mode: 'discharge', power_kw: 5, remaining_s: 30 });
    expect((await rest.get('/overview')).metrics.power_kw).to.be.within(4.7, 4.9);
    await rest.plant.step(21);
    expect(await rest.get('/controls/battery')).to.include({
      mode: 'idle',
      control: 'auto',
      power_kw: 0,
      requested_mode: 'auto',
      requested_power_kw: null,
      clamped_power_kw: null,
      remaining_s: null,
    });
  });

  it('clamps a power to the limits of the moment and shows both', async () => {
    const clamped = await post({ mode: 'charge', power_kw: 50 });
    expect(clamped).to.include({
      requested_power_kw: 50,
      clamped_power_kw: 10.5,
      max_charge_kw: 10.5,
      remaining_s: null,
    });
    expect(await post({ mode: 'charge' })).to.include({ requested_power_kw: 10.5, clamped_power_kw: 10.5 });
    expect(await post({ power_kw: 2 })).to.include({ control: 'forced', requested_power_kw: 2 });
    expect(await post({ mode: 'auto' })).to.include({ control: 'auto', requested_power_kw: null });
  });

  it('sets the state of charge at once, cells included, and the floor inhibits', async () => {
    expect(await post({ soc_pct: 80 })).to.include({ soc_pct: 80, energy_available_kwh: 12 });
    expect(await point(713, 'SoC')).to.equal(80);
    const { strings } = await rest.get('/battery?detail=modules');
    for (const { modules } of strings) for (const { soc_pct } of modules) expect(soc_pct).to.be.closeTo(80, 1);
    const low = await post({ soc_pct: 5, mode: 'discharge', power_kw: 3 });
    expect(low).to.include({
      soc_pct: 5,
      inhibit: 'soc_floor',
      max_discharge_kw: 0,
      requested_power_kw: 3,
      clamped_power_kw: 0,
    });
    await rest.plant.step(2);
    expect(await rest.get('/battery?detail=bank')).to.include({ power_kw: 0, state: 'soc_protection' });
  });

  it('opens and closes strings', async () => {
    const opened = await post({ strings: [{ index: 1, contactor: 'open' }] });
    expect(opened.max_charge_kw).to.equal(5.25);
    await rest.plant.step(2);
    expect((await rest.get('/battery')).strings.map(({ contactor }: Json) => contactor)).to.deep.equal([
      'closed',
      'open',
    ]);
    await post({ strings: [{ index: 0, contactor: 'open' }] });
    await rest.plant.step(2);
    expect(await rest.get('/battery?detail=bank')).to.include({ state: 'disconnected', dc_voltage_v: 0 });
    await post({
      strings: [
        { index: 0, contactor: 'closed' },
        { index: 1, contactor: 'closed' },
      ],
    });
    await rest.plant.step(4);
    expect((await rest.get('/battery')).strings.map(({ contactor }: Json) => contactor)).to.deep.equal([
      'closed',
      'closed',
    ]);
  });

  const invalid: readonly [string, unknown, string][] = [
    ['an empty body', {}, ''],
    ['an unknown member', { mode: 'idle', power_w: 3 }, '/power_w'],
    ['a mode that there is not', { mode: 'rest' }, '/mode'],
    ['a negative power', { mode: 'charge', power_kw: -1 }, '/power_kw'],
    ['a state of charge above 100 %', { soc_pct: 100.1 }, '/soc_pct'],
    ['no time at all', { mode: 'idle', duration_s: 0 }, '/duration_s'],
    ['a power for rest', { mode: 'idle', power_kw: 5 }, '/power_kw'],
    ['a power for no forced mode', { mode: 'auto', power_kw: 5 }, '/power_kw'],
    ['a time for no forced mode', { mode: 'auto', duration_s: 60 }, '/duration_s'],
    ['no strings', { strings: [] }, '/strings'],
    [
      'a string that there is not',
      {
        mode: 'charge',
        strings: [
          { index: 0, contactor: 'open' },
          { index: 2, contactor: 'open' },
        ],
      },
      '/strings/1/index',
    ],
    [
      'a string twice',
      {
        mode: 'charge',
        strings: [
          { index: 0, contactor: 'open' },
          { index: 0, contactor: 'closed' },
        ],
      },
      '/strings/1/index',
    ],
    ['a contactor on its way', { strings: [{ index: 0, contactor: 'closing' }] }, '/strings/0/contactor'],
  ];
  for (const [name, body, pointer] of invalid) {
    it(`refuses ${name} and changes nothing`, async () => {
      const before = await rest.get('/battery');
      const problem = await rest.refused('/controls/battery', 422, 'validation', body);
      expect(problem.errors.map((each: Json) => each.name)).to.deep.equal([pointer]);
      expect(await rest.get('/battery')).to.deep.equal(before);
    });
  }

  it('takes power and duration only with a forced mode', async () => {
    for (const body of [{ power_kw: 3 }, { duration_s: 10 }]) {
      await rest.refused('/controls/battery', 409, 'conflict', { ...body, soc_pct: 20 });
    }
    expect(await rest.get('/controls/battery')).to.include({ soc_pct: 50, control: 'auto' });
    await post({ mode: 'idle', power_kw: 0, duration_s: 60 });
    await rest.refused('/controls/battery', 409, 'conflict', { power_kw: 3 });
    expect(await rest.get('/controls/battery')).to.include({ mode: 'idle', control: 'forced', remaining_s: 60 });
    // in any state: the request contradicts itself
    await rest.refused('/controls/battery', 422, 'validation', { mode: 'idle', power_kw: 3 });
    await post({ mode: 'charge', power_kw: 2 });
    await rest.refused('/controls/battery', 422, 'validation', { mode: 'auto', power_kw: 3 });
    expect(await post({ mode: 'auto', duration_s: null })).to.include({ control: 'auto' });
  });

  it('works on a hybrid, and on nothing else', async () => {
    expect(await rest.get('/battery?device=2&detail=bank')).to.include({ capacity_kwh: 15, soc_max_pct: 95 });
    expect(await post({ soc_pct: 60, mode: 'idle' }, '?device=2')).to.include({ soc_pct: 60, control: 'forced' });
    expect((await rest.get('/hybrid-dc?device=2')).battery.soc_pct).to.equal(60);
    await rest.refused('/battery?device=1', 404, 'not-applicable');
    await rest.refused('/controls/battery?device=1', 404, 'not-applicable');
    await rest.refused('/controls/battery?device=1', 404, 'not-applicable', { soc_pct: 20 });
    await rest.refused('/battery?device=3', 404, 'unknown-device');
  });
});
