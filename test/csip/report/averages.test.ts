import { expect } from 'chai';
import fc from 'fast-check';
import { Averager, FineEnergy, risen, mridOf, quantitiesOf } from '../../../src/csip/report/readings.ts';
import type { Sample } from '../../../src/csip/report/readings.ts';
import { holds } from '../../support/property.ts';

interface Shown {
  readonly w?: number;
  readonly q?: number;
  readonly inj?: number;
  readonly abs?: number;
  readonly v?: number;
  readonly hz?: number;
}

/** A sample at `s` seconds of both clocks. */
function at(s: number, { w = 0, q = 0, inj, abs = 0, v = 230, hz = 50 }: Shown, simS = s): Sample {
  return {
    atMs: s * 1000,
    simS,
    meter: {
      w,
      var: q,
      totals: inj === undefined ? null : { injectedWh: inj, absorbedWh: abs, injectedVarh: 0, absorbedVarh: 0 },
      countWh: 1,
      countVarh: 1,
      volts: new Map([[129, v]]),
      hz,
      storedWh: null,
    },
  };
}

describe('CSIP readings: averages over a period', () => {
  it('is the energy of the counters over the time', () => {
    // 100 Wh in 60 s are 6 kW, whatever the power at the ends of ticks says
    const averager = new Averager(at(0, { w: 0, inj: 1000 }), 60_000);
    const [period] = averager.add(at(60, { w: 0, inj: 1100, abs: 0 }));
    // a counter in whole Wh tells 100 Wh to one count: half a count is lost at each end
    expect(period?.injectedW).to.be.closeTo(6000, 60);
    expect(period?.absorbedW).to.equal(0);
    expect(period).to.include({ startMs: 0, endMs: 60_000 });
  });

  it('keeps directions apart: 600 W in for a minute, 1200 W out for another, 300 W net', () => {
    const averager = new Averager(at(0, { w: 1200 }), 120_000);
    averager.add(at(60, { w: 1200 }));
    averager.add(at(60.001, { w: -600 }));
    const [period] = averager.add(at(120, { w: -600 }));
    expect(period?.injectedW).to.be.closeTo(600, 0.1);
    expect(period?.absorbedW).to.be.closeTo(300, 0.1);
  });

  it('counts a ramp through zero exactly: from 1000 W to -1000 W both ways have a quarter', () => {
    const averager = new Averager(at(0, { w: 1000, q: -400 }), 60_000);
    const [period] = averager.add(at(60, { w: -1000, q: 400 }));
    expect(period?.injectedW).to.be.closeTo(250, 1e-9);
    expect(period?.absorbedW).to.be.closeTo(250, 1e-9);
    expect(period?.injectedVar).to.be.closeTo(100, 1e-9);
    expect(period?.absorbedVar).to.be.closeTo(100, 1e-9);
  });

  it('is finer than the counter while the power agrees with it', () => {
    // 1000 W for 15 s are 4.17 Wh: the counter alone would show 960 W or 1200 W
    const averager = new Averager(at(0, { w: 1000, inj: 0 }), 15_000);
    const averages: number[] = [];
    for (let s = 1.5; s <= 150; s += 1.5)
      for (const { injectedW } of averager.add(at(s, { w: 1000, inj: Math.round((1000 * s) / 3600) })))
        averages.push(injectedW);
    expect(averages).to.have.lengthOf(10);
    for (const average of averages) expect(average).to.be.closeTo(1000, 1e-6);
  });

  it('follows the counter where the power misses energy between ticks', () => {
    const energy = new FineEnergy();
    energy.add(0, 0, 1);
    for (let count = 1; count <= 50; count++) energy.add(0, count, 1);
    expect(energy.total).to.be.closeTo(50, 1);
  });

  it('stays within one count of any counter, whatever the power says', () => {
    const steps = fc.array(
      fc.record({ wh: fc.double({ min: 0, max: 5, noNaN: true }), seen: fc.double({ min: 0, max: 5, noNaN: true }) }),
      {
        minLength: 1,
        maxLength: 60,
      },
    );
    holds('fine energy follows the counter', steps, (list) => {
      const energy = new FineEnergy();
      energy.add(0, 0, 1);
      let truth = 0;
      for (const { wh, seen } of list) {
        truth += wh;
        energy.add(seen, Math.round(truth), 1);
        expect(Math.abs(energy.total - truth)).to.be.at.most(1.5);
      }
    });
  });

  it('goes on over a counter that goes round, and over one that begins again', () => {
    expect(risen(5, 9, 100)).to.equal(4);
    expect(risen(97, 3, 100)).to.equal(6);
    expect(risen(30, 3, 100)).to.equal(3);
    const energy = new FineEnergy();
    energy.add(0, 500, 1);
    energy.add(10, 510, 1);
    energy.add(4, 4, 1);
    expect(energy.total).to.be.closeTo(14, 1);
  });

  it('ends a period inside a tick where it is due, and shares the tick', () => {
    const averager = new Averager(at(0, { w: 1000 }), 60_000);
    expect(averager.add(at(50, { w: 1000 }))).to.deep.equal([]);
    const [first] = averager.add(at(70, { w: 2000 }));
    expect(first).to.include({ startMs: 0, endMs: 60_000 });
    // 50 s at 1000 W, and half of a ramp to 2000 W, whose energy is spread over its tick
    expect(first?.injectedW).to.be.closeTo((50 * 1000 + 10 * 1500) / 60, 1e-6);
    const [second] = averager.add(at(120, { w: 2000 }));
    expect(second).to.include({ startMs: 60_000, endMs: 120_000 });
    expect(second?.injectedW).to.be.closeTo((10 * 1500 + 50 * 2000) / 60, 1e-6);
  });

  it('begins at whole minutes where that is wanted, also after the clock was set and after a cut', () => {
    const averager = new Averager(at(61, { w: 100 }), 120_000, true);
    expect(averager.add(at(119, { w: 100 }))).to.deep.equal([]);
    const starts = [250, 371, 492].flatMap((s) => averager.add(at(s, { w: 100 })).map(({ startMs }) => startMs / 1000));
    expect(starts).to.deep.equal([120, 240, 360]);
    expect(averager.cut()).to.include({ startMs: 480_000, endMs: 492_000 });
    expect(averager.add(at(661, { w: 100 })).map(({ startMs }) => startMs)).to.deep.equal([540_000]);
    averager.add(at(90_005, { w: 100 }));
    expect(averager.add(at(90_150, { w: 100 })).map(({ startMs }) => startMs)).to.deep.equal([]);
    expect(averager.add(at(90_181, { w: 100 })).map(({ startMs }) => startMs)).to.deep.equal([90_060_000]);
    const quick = new Averager(at(1, { w: 100 }), 15_000, true);
    expect(quick.add(at(16, { w: 100 }))[0]?.startMs, 'parts of minutes').to.equal(1000);
  });

  it('ends several periods in one long tick', () => {
    const averager = new Averager(at(0, { w: 600 }), 10_000);
    const periods = averager.add(at(35, { w: 600 }));
    expect(periods.map(({ endMs }) => endMs)).to.deep.equal([10_000, 20_000, 30_000]);
    for (const { injectedW } of periods) expect(injectedW).to.be.closeTo(600, 1e-9);
  });

  it('takes power from simulated time and periods from remote time', () => {
    // at rate 60 a minute of the server is an hour of the devices
    const averager = new Averager(at(0, { w: 900, inj: 0 }, 0), 60_000);
    const [period] = averager.add(at(60, { w: 900, inj: 900 }, 3600));
    expect(period?.injectedW).to.be.closeTo(900, 0.5);
  });

  it('goes on with the present power while simulated time stands still', () => {
    const averager = new Averager(at(0, { w: -700 }, 5), 60_000);
    const [period] = averager.add(at(60, { w: -700 }, 5));
    expect(period?.absorbedW).to.equal(700);
    expect(period?.injectedW).to.equal(0);
  });

  it('means voltage and frequency over the ticks', () => {
    const averager = new Averager(at(0, { v: 230, hz: 50 }), 3000);
    averager.add(at(1, { v: 231, hz: 50.1 }));
    averager.add(at(2, { v: 233, hz: 50.2 }));
    const [period] = averager.add(at(3, { v: 238, hz: 49.7 }));
    expect(period?.volts.get(129)).to.be.closeTo(234, 1e-9);
    expect(period?.hz).to.be.closeTo(50, 1e-9);
  });

  it('obeys a new length for the period under way', () => {
    const averager = new Averager(at(0, { w: 10 }), 300_000);
    averager.add(at(100, { w: 10 }));
    averager.periodMs = 60_000;
    const periods = averager.add(at(160, { w: 10 }));
    expect(periods.map(({ startMs, endMs }) => [startMs, endMs])).to.deep.equal([
      [0, 100_000],
      [100_000, 160_000],
    ]);
  });

  it('ends the period early where the remote clock is set far ahead, and never has one that ends before it begins', () => {
    const averager = new Averager(at(0, { w: 10 }), 60_000);
    averager.add(at(30, { w: 10 }));
    const [cut] = averager.add(at(100_000, { w: 10 }, 31));
    expect(cut).to.include({ startMs: 0, endMs: 30_000 });
    averager.add(at(50_000, { w: 10 }, 32));
    const [after] = averager.add(at(50_060, { w: 10 }, 92));
    expect(after).to.include({ startMs: 50_000_000, endMs: 50_060_000 });
  });

  it('covers all of remote time once, and all of the energy', () => {
    const ticks = fc.array(
      fc.record({ ms: fc.integer({ min: 1, max: 40_000 }), w: fc.integer({ min: -5000, max: 5000 }) }),
      { minLength: 5, maxLength: 80 },
    );
    holds('all of time and energy, once', [ticks, fc.integer({ min: 1, max: 60 })], (list, seconds) => {
      let ms = 0;
      let w = 0;
      const averager = new Averager(at(0, { w }), seconds * 1000);
      let energy = 0;
      let given = 0;
      let endMs = 0;
      const take = ({
        startMs,
        endMs: end,
        injectedW,
        absorbedW,
      }: {
        startMs: number;
        endMs: number;
        injectedW: number;
        absorbedW: number;
      }) => {
        expect(startMs).to.equal(endMs);
        endMs = end;
        given += (injectedW - absorbedW) * (end - startMs);
      };
      for (const tick of list) {
        if (tick.ms >= 10 * seconds * 1000) continue;
        ms += tick.ms;
        energy += ((w + tick.w) / 2) * tick.ms;
        w = tick.w;
        averager.add(at(ms / 1000, { w })).forEach(take);
      }
      const rest = averager.cut();
      if (rest !== null) take(rest);
      expect(endMs).to.be.closeTo(ms, 1e-6);
      expect(given).to.be.closeTo(energy, 1e-6 * Math.abs(energy) + 1);
    });
  });
});

describe('CSIP readings: quantities', () => {
  const period = {
    startMs: 0,
    endMs: 60_000,
    injectedW: 1500.4,
    absorbedW: 0.2,
    injectedVar: 0,
    absorbedVar: 300,
    volts: new Map([[129, 230.14]] as const),
    hz: 49.9876,
    storedWh: null,
  };
  const meter = (...phases: (129 | 65 | 33)[]) => ({
    volts: new Map(phases.map((phase) => [phase, 230] as const)),
    storedWh: null,
  });
  const shown = (flow: 'net' | 'split', positive: 'import' | 'export') =>
    quantitiesOf({ flow, positive }, meter(129)).map(({ type: { uom, flowDirection, phase }, value }) => [
      uom,
      flowDirection,
      phase,
      value(period),
    ]);

  it('has one signed reading per power: positive is import, or export', () => {
    expect(shown('net', 'import')).to.deep.equal([
      [38, 1, undefined, -1500],
      [63, 1, undefined, 300],
      [29, 0, 129, 2301],
      [33, 0, undefined, 49_988],
    ]);
    expect(shown('net', 'export').slice(0, 2)).to.deep.equal([
      [38, 19, undefined, 1500],
      [63, 19, undefined, -300],
    ]);
  });

  it('has a reading for each direction, never negative', () => {
    expect(shown('split', 'import').slice(0, 4)).to.deep.equal([
      [38, 1, undefined, 0],
      [38, 19, undefined, 1500],
      [63, 1, undefined, 300],
      [63, 19, undefined, 0],
    ]);
  });

  it('has the energy in a storage at the end of the period', () => {
    const stored = quantitiesOf({ flow: 'net', positive: 'import' }, { ...meter(129), storedWh: 5000 }).at(-1);
    expect(stored?.type).to.include({ uom: 72, kind: 12, dataQualifier: 0, flowDirection: 0 });
    expect(stored?.value({ ...period, storedWh: 6000.4 })).to.equal(6000);
    const sample = (s: number, storedWh: number) => {
      const made = at(s, { w: 1000 });
      return { ...made, meter: { ...made.meter, storedWh } };
    };
    const averager = new Averager(sample(0, 5000), 60_000);
    expect(averager.add(sample(60, 4983))[0]?.storedWh).to.equal(4983);
  });

  it('never writes -0, nor what the meter does not show', () => {
    const still = { ...period, injectedW: 0, absorbedW: 0, hz: null, volts: new Map() };
    const values = quantitiesOf({ flow: 'net', positive: 'import' }, meter(129)).map(({ value }) => value(still));
    expect(Object.is(values[0], 0)).to.equal(true);
    expect(values.slice(2)).to.deep.equal([null, null]);
  });

  it('are averages of electricity, with texts of at most 32 characters', () => {
    for (const flow of ['net', 'split'] as const)
      for (const { type, description } of quantitiesOf({ flow, positive: 'export' }, meter(129, 65, 33))) {
        expect(type).to.include({ dataQualifier: 2, commodity: 1, accumulationBehaviour: 12 });
        expect(description.length).to.be.at.most(32);
      }
  });

  it('have mRIDs of 128 bits that end with the enterprise number, and stay what they are', () => {
    expect(mridOf('00009F1C', 'LFDI', 'device', 'W')).to.match(/^[0-9A-F]{24}00009F1C$/);
    expect(mridOf('00009F1C', 'LFDI', 'device', 'W')).to.equal(mridOf('00009F1C', 'LFDI', 'device', 'W'));
    expect(mridOf('00009F1C', 'LFDI', 'device', 'W')).not.to.equal(mridOf('00009F1C', 'LFDI', 'site', 'W'));
  });
});
