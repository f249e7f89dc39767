import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createRandom } from '../../src/core/random.ts';
import { ask } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { startSimulator } from '../support/process.ts';
import { PythonPeer, describeWith } from './support/peers.ts';

const [startS, endS, everyS] = [8 * 3600, 14 * 3600, 600];
/** An array that its inverter never clips. */
const array = { series: 13, parallel: 3, acW: 10_000, efficiency: 0.96 };

/** A day of broken clouds in straight lines between rows at odd times, and one deep shadow of some minutes. */
function cloudyDay(): string {
  const random = createRandom(5, 'cloudy-day');
  const rows = ['time_s,irradiance_w_m2,ambient_temperature_c,wind_speed_m_s'];
  // beyond the end, where a series begins again
  for (let t = startS; t < endS + 200; ) {
    const clear = 1000 * Math.sin((Math.PI * (t - 5 * 3600)) / (16 * 3600));
    const light = clear * (random.next() < 0.5 ? 0.9 + 0.15 * random.next() : 0.15 + 0.4 * random.next());
    rows.push(
      [
        t,
        light.toFixed(1),
        (14 + (10 * (t - startS)) / (endS - startS)).toFixed(2),
        (1 + 4 * random.next()).toFixed(1),
      ].join(),
    );
    t += 20 + Math.round(100 * random.next());
    if (t > 43_800 && t < 44_900) {
      rows.push('43900,1000,20,1', '44340,300,20,1', '44680,300,20,1', '45120,1000,20,1');
      t = 45_300;
    }
  }
  return `${rows.join('\n')}\n`;
}

interface Course {
  readonly cellC: readonly number[];
  readonly dcV: readonly number[];
  readonly dcW: readonly number[];
  readonly dcWh: number;
  readonly acWh: number;
}

describeWith(['pvlib'], 'as a model of the array', () => {
  let directory: string;
  let expected: Course;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'derbench-'));
    const weather = join(directory, 'weather.csv');
    writeFileSync(weather, cloudyDay());
    writeFileSync(
      join(directory, 'site.json'),
      JSON.stringify({
        devices: [
          {
            device_type: 'PV-3Phase',
            dc_profile: 'weather.csv',
            profile: {
              models: { 702: { WMaxRtg: array.acW } },
              pv: {
                series: array.series,
                parallel: array.parallel,
                min_dc_voltage_v: 200,
                efficiency_nominal: array.efficiency,
              },
            },
          },
        ],
      }),
    );
    const model = new PythonPeer('pv_day', weather);
    const { series, parallel, acW: ac_w, efficiency } = array;
    const day = await model.ask('day', {
      start_s: startS,
      end_s: endS,
      every_s: everyS,
      series,
      parallel,
      ac_w,
      efficiency,
    });
    await model.stop();
    expected = { cellC: day.cell_c, dcV: day.dc_v, dcW: day.dc_w, dcWh: day.dc_wh, acWh: day.ac_wh };
  });
  after(() => {
    rmSync(directory, { recursive: true });
  });

  async function simulated(tickS: number): Promise<Course> {
    const simulator = await startSimulator([
      ...['--config', join(directory, 'site.json'), '--start_paused', 'yes', '--start_clock_time', '08:00:00'],
      ...['--tick', String(Math.min(tickS, 1)), '--time_rate', String(Math.max(tickS, 1))],
    ]);
    const get = async (path: string) => (await ask(simulator.httpPort, `/api/sim/${path}`)).json;
    const read = async (model: number) => {
      const { points } = await get(`registers/${model}`);
      return (name: string): number => points.find((point: Json) => point.name === name).value;
    };
    const [cellC, dcV, dcW]: [number[], number[], number[]] = [[], [], []];
    try {
      for (let t = startS; t < endS; t += everyS) {
        const body = { ticks: Math.round(everyS / tickS) };
        const step = await ask(simulator.httpPort, '/api/sim/controls/time/step', { method: 'POST', body });
        expect(step.status, step.text).to.equal(200);
        const dc = await read(714);
        const curve = await get('dc-iv');
        expect(curve, JSON.stringify(curve)).to.include.keys('cell_temperature_c');
        cellC.push(curve.cell_temperature_c);
        dcV.push(dc('Prt[0].DCV'));
        dcW.push(dc('Prt[0].DCW'));
      }
      const [ac, dc] = [await read(701), await read(714)];
      return { cellC, dcV, dcW, dcWh: dc('DCWhInj'), acWh: ac('TotWhInj') };
    } finally {
      await simulator.stop();
    }
  }

  const within = (found: readonly number[], wanted: readonly number[], tolerance: (value: number) => number) => {
    expect(found).to.have.length(wanted.length);
    found.forEach((value, i) => {
      expect(value, `${(i + 1) * everyS} s`).to.be.closeTo(wanted[i]!, tolerance(wanted[i]!));
    });
  };

  const courses: Course[] = [];
  for (const tickS of [0.1, 1, 60]) {
    it(`agrees over a cloudy day in ticks of ${tickS} s`, async () => {
      const found = await simulated(tickS);
      courses.push(found);
      within(found.cellC, expected.cellC, () => 0.25);
      within(found.dcV, expected.dcV, (volts) => 0.002 * volts);
      within(found.dcW, expected.dcW, (watts) => 0.002 * watts + 2);
      expect(found.dcWh).to.be.closeTo(expected.dcWh, 0.002 * expected.dcWh);
      expect(found.acWh).to.be.closeTo(expected.acWh, 0.002 * expected.acWh);
    }).timeout(120_000);
  }

  it('the registers are the same at each of these ticks', () => {
    expect(courses).to.have.length(3);
    const [first, ...others] = courses;
    for (const other of others) expect({ ...other, cellC: null }).to.deep.equal({ ...first!, cellC: null });
    for (const other of others) within(other.cellC, first!.cellC, () => 0.1);
  });
});
