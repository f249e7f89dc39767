/** A PV device on a day of clouds from a CSV, under any tick. */
import { expect } from 'chai';
import { parseSeries } from '../../../src/der/surroundings/series.ts';
import { weatherColumns } from '../../../src/der/surroundings/weather.ts';
import { KindRig, kindSpec } from './support.ts';

/** Seconds from midnight and W/m2; straight lines between. */
const clouds = [
  [0, 1000],
  [43_800, 1000],
  [44_240, 300],
  [44_580, 300],
  [45_020, 1000],
  [86_399, 1000],
] as const;
const ambientC = 20;
const noonS = 43_200;
const looksS = [600, 960, 1380, 1620, 1920] as const;

const series = parseSeries(
  `time_s,irradiance_w_m2,ambient_temperature_c,wind_speed_m_s\n${clouds.map((row) => `${row.join(',')},${ambientC},1`).join('\n')}`,
  { name: 'clouds', columns: weatherColumns, end: 'hold' },
);

function lightAt(s: number): number {
  const after = clouds.findIndex(([at]) => at > s);
  const [[s0, g0] = [0, 0], [s1, g1] = [1, 0]] = [clouds[after - 1], clouds[after]];
  return g0 + ((g1 - g0) * (s - s0)) / (s1 - s0);
}

/** A lag of 400 s behind a steady temperature in proportion to the light, in steps of 0.1 s. */
function lagged(startC: number): readonly number[] {
  const seen: number[] = [];
  const perLight = (startC - ambientC) / 1000;
  const keep = Math.exp(-0.1 / 400);
  let cellC = startC;
  for (let step = 1; step <= 10 * looksS[4]; step += 1) {
    const steadyC = ambientC + perLight * lightAt(noonS + (step - 0.5) / 10);
    cellC = steadyC + (cellC - steadyC) * keep;
    if (looksS.some((s) => 10 * s === step)) seen.push(cellC);
  }
  return seen;
}

async function course(tickS: number) {
  const rig = new KindRig({ ...kindSpec('pv'), weather: { series, name: 'clouds', timeScale: 1 } });
  const startC = rig.detail('pv').cellTemperatureC;
  const cellsC: number[] = [];
  for (const [i, s] of looksS.entries()) {
    await rig.watch(s - (looksS[i - 1] ?? 0), tickS, () => undefined);
    cellsC.push(rig.detail('pv').cellTemperatureC);
  }
  return { startC, cellsC, energyWh: Number(rig.map.m701.TotWhInj) };
}

describe('PV device: clouds of a CSV', () => {
  it('cells lag by 400 s at ticks of 0.1, 1 and 60 s, within 0.1 K, and the energy is the same within 0.2 %', async () => {
    const fine = await course(0.1);
    const expected = lagged(fine.startC);
    expect(Math.min(...expected)).to.be.below(fine.startC - 10);
    for (const { cellsC, energyWh } of [fine, await course(1), await course(60)]) {
      cellsC.forEach((cellC, i) => expect(cellC, `+${looksS[i]} s`).to.be.closeTo(expected[i] ?? NaN, 0.1));
      expect(energyWh / fine.energyWh).to.be.within(0.998, 1.002);
    }
  });
});
