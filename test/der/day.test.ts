import { expect } from 'chai';
import { pick } from '../support/depth.ts';
import { detailOf } from '../support/detail.ts';
import { Rig } from '../support/rig.ts';
import type { TestPlantOptions } from '../support/plant.ts';

interface Sample {
  readonly hour: number;
  readonly state: string;
  readonly w: number;
  readonly mppt: string;
  readonly dcV: number;
}

/** From the night to the next one. */
const { time, startHour, endHour } = pick({
  quick: { time: '02:45:00', startHour: 2.75, endHour: 22.25 },
  ci: { time: '00:00:00', startHour: 0, endHour: 24 },
});

/** One simulated day in ticks of 30 s. */
async function day(options: TestPlantOptions): Promise<{ rig: Rig; samples: Sample[] }> {
  const rig = new Rig({ time, ...options });
  const samples: Sample[] = [];
  let seconds = startHour * 3600;
  await rig.watch(endHour * 3600 - seconds, 30, () => {
    seconds += 30;
    const { mpptState } = detailOf(rig.device, 'pv');
    samples.push({ hour: seconds / 3600, state: rig.state, w: rig.w, mppt: mpptState, dcV: rig.map.m714.Prt[0]!.DCV! });
  });
  return { rig, samples };
}

/** States in their order, repetitions left out, and the start of a few seconds that a sample may meet. */
const course = (samples: readonly Sample[]) =>
  samples
    .map((sample) => sample.state)
    .filter((state) => state !== 'on starting connected')
    .filter((state, i, all) => state !== all[i - 1]);

describe('Course of a day', () => {
  for (const [name, options] of [
    ['bundled clear day', {}],
    ['clear sky by date and place', { weatherSource: 'clear_sky', pv: { latitudeDeg: 40, longitudeDeg: 0 } }],
    ['50 Hz, single phase', { types: ['PV-1Phase'], nominalHz: 50 }],
  ] as const) {
    it(`sleeps, wakes, peaks about noon and sleeps again: ${name}`, async () => {
      const { rig, samples } = await day(options);
      expect(course(samples)).to.deep.equal(['on sleeping connected', 'on running connected', 'on sleeping connected']);
      const rated = rig.map.m702.WMaxRtg!;
      const night = samples.filter(({ hour }) => hour < 3 || hour > 22);
      expect(night.every(({ w }) => w === -0.0002 * rated)).to.equal(true);
      const peak = samples.reduce((best, sample) => (sample.w > best.w ? sample : best));
      expect(peak.hour).to.be.within(10.5, 14);
      expect(peak.w).to.be.within(0.7 * rated, rated);
      // a summer day of a well-sized array
      expect(rig.map.m701.TotWhInj).to.be.within(5 * rated, 9 * rated);
      expect(rig.map.m701.Hz).to.equal('nominalHz' in options ? 50 : 60);
    });
  }

  it('at dawn the array goes through its start sequence before it delivers', async () => {
    const rig = new Rig({ time: '04:00:00' });
    expect(rig.state).to.equal('on sleeping connected');
    let guard = 0;
    while (detailOf(rig.device, 'pv').mpptState === 'off') {
      guard += 1;
      if (guard > 10_000) throw new Error('no dawn');
      await rig.run(1);
    }
    expect(detailOf(rig.device, 'pv').mpptState).to.equal('start');
    expect(rig.w).to.equal(0);
    // above 1.1 times the lower end of the DC window
    expect(rig.device.dcCurve(undefined, 20).vOcV).to.be.at.least(220);
    const seen = new Set<string>();
    await rig.watch(12, 1, () => seen.add(detailOf(rig.device, 'pv').mpptState));
    expect([...seen]).to.deep.equal(['start', 'track']);
    await rig.run(1800);
    expect(rig.w).to.be.above(0);
    expect(rig.state).to.equal('on running connected');
  });

  it('a limit during the day is throttled only while it binds', async () => {
    const { samples } = await day({ models: { 704: { WMaxLimPctEna: 'ENABLED', WMaxLimPct: 50 } } });
    expect(course(samples)).to.deep.equal([
      'on sleeping connected',
      'on running connected',
      'on throttled connected',
      'on running connected',
      'on sleeping connected',
    ]);
    expect(Math.max(...samples.map(({ w }) => w))).to.equal(5000);
    const noon = samples.find(({ hour }) => hour === 12)!;
    const morning = samples.find(({ state }) => state === 'on throttled connected')!;
    expect(noon.mppt).to.equal('limit');
    expect(noon.dcV).to.be.above(morning.dcV);
  });
});
