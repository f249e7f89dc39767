import { expect } from 'chai';
import { addSeconds, simTimeFromMs } from '../../../src/core/time/clock.ts';
import type { GridPatch } from '../../../src/contract/environment.ts';
import type { Settings } from '../../../src/der/inverter/settings.ts';
import { TripTimers } from '../../../src/der/inverter/trip.ts';
import { byTest, quickEntry, Rig } from '../../support/rig.ts';

/** Default thresholds of category III (IEEE 1547-2018 Tables 13 and 18). */
const cases: readonly {
  name: string;
  patch: GridPatch;
  seconds: number;
  code: string;
  bit: number;
  curve: string;
  ceasesFirst?: true;
}[] = [
  {
    name: 'UV2',
    patch: { voltagePu: 0.49 },
    seconds: 2,
    code: 'ac_under_volt',
    bit: 11,
    curve: 'lv_trip',
    ceasesFirst: true,
  },
  { name: 'UV1', patch: { voltagePu: 0.87 }, seconds: 21, code: 'ac_under_volt', bit: 11, curve: 'lv_trip' },
  {
    name: 'OV1',
    patch: { voltagePu: 1.11 },
    seconds: 13,
    code: 'ac_over_volt',
    bit: 10,
    curve: 'hv_trip',
    ceasesFirst: true,
  },
  {
    name: 'OV2',
    patch: { voltagePu: 1.21 },
    seconds: 0.16,
    code: 'ac_over_volt',
    bit: 10,
    curve: 'hv_trip',
    ceasesFirst: true,
  },
  { name: 'UF2', patch: { frequencyHz: 56.4 }, seconds: 0.16, code: 'under_frequency', bit: 9, curve: 'lf_trip' },
  { name: 'UF1', patch: { frequencyHz: 58.4 }, seconds: 300, code: 'under_frequency', bit: 9, curve: 'lf_trip' },
  { name: 'OF1', patch: { frequencyHz: 61.3 }, seconds: 300, code: 'over_frequency', bit: 8, curve: 'hf_trip' },
  { name: 'OF2', patch: { frequencyHz: 62.1 }, seconds: 0.16, code: 'over_frequency', bit: 8, curve: 'hf_trip' },
];

const instant = 0.001;

describe('Must-trip (IEEE 1547-2018 6.4.1, 6.5.1)', () => {
  for (const { name, patch, seconds, code, bit, curve, ceasesFirst } of cases) {
    it(`${name} trips at ${seconds} s, neither before nor after`, async () => {
      const rig = await Rig.sunny();
      rig.plant.setGrid(patch);
      await rig.run(seconds - instant);
      expect(rig.state).to.match(/^on (running|throttled) connected$/);
      expect(rig.w > 0, 'output').to.equal(!ceasesFirst);
      expect([rig.device.startedTrips, rig.device.activeTrips]).to.deep.equal([[curve], []]);
      expect(rig.alarmBits).to.deep.equal([]);
      await rig.run(2 * instant);
      expect(rig.state).to.equal('off fault disconnected');
      expect([rig.w, rig.q]).to.deep.equal([0, 0]);
      expect(rig.device.activeTrips).to.deep.equal([curve]);
      expect(rig.alarmBits).to.deep.equal([bit]);
      expect(rig.alarmCodes).to.deep.equal([code]);
      expect(rig.device.alarms[0]).to.include({ source: 'ac', severity: 'error', latched: false, port: null });
    });
  }

  it('trips at the exact instant inside a long tick', async () => {
    for (const tickS of [1.5, 15, 150]) {
      const rig = await Rig.sunny();
      const before = rig.map.m701.TotWhInj!;
      rig.plant.setGrid({ frequencyHz: 62.1 });
      await rig.run(tickS);
      expect(rig.state).to.equal('off fault disconnected');
      // 0.16 s at 10 kW
      expect(rig.map.m701.TotWhInj! - before).to.be.within(0, 1);
    }
  });

  it('delivers exactly its clearing time worth of energy', async () => {
    const rig = await Rig.sunny();
    const counter = () => rig.map.m701.TotWhInj!;
    const before = counter();
    rig.plant.setGrid({ frequencyHz: 58 });
    await rig.run(360);
    // 10 kW for 300 s
    expect(counter() - before).to.be.closeTo((10_000 * 300) / 3600, 1);
  });

  it('resets its timer at once on return', async () => {
    const rig = await Rig.sunny();
    for (let i = 0; i < 5; i += 1) {
      rig.plant.setGrid({ voltagePu: 0.4 });
      await rig.run(1.9);
      expect(rig.device.startedTrips).to.deep.equal(['lv_trip']);
      rig.plant.setGrid({ voltagePu: 1 });
      await rig.run(0.01);
      expect(rig.device.startedTrips).to.deep.equal([]);
    }
    expect(rig.state).to.equal('on running connected');
  });

  it('stands while a threshold of its kind is exceeded, and no longer', async () => {
    const rig = await Rig.sunny();
    rig.plant.setGrid({ voltagePu: 0.4 });
    await rig.run(2.1);
    rig.plant.setGrid({ voltagePu: 0.8 });
    await rig.run(1);
    expect(rig.device.activeTrips).to.deep.equal(['lv_trip']);
    rig.plant.setGrid({ voltagePu: 1 });
    await rig.run(0.1);
    expect([rig.device.activeTrips, rig.device.enterService.state]).to.deep.equal([[], 'waiting']);
  });

  it('keeps the outer timer running while the inner threshold is left', async () => {
    const rig = await Rig.sunny();
    rig.plant.setGrid({ voltagePu: 0.4 });
    await rig.run(1);
    rig.plant.setGrid({ voltagePu: 0.8 });
    await rig.run(19.9);
    expect(rig.state).to.match(/^on/);
    await rig.run(0.2);
    expect(rig.state).to.equal('off fault disconnected');
  });

  for (const [phase, patch] of [
    ['A', { voltageAPu: 0.4 }],
    ['B', { voltageBPu: 0.4 }],
    ['C', { voltageCPu: 0.4 }],
  ] as const) {
    it(`trips on phase ${phase} alone, low and high`, async () => {
      const low = await Rig.sunny();
      low.plant.setGrid(patch);
      await low.run(2.01);
      expect(low.alarmCodes).to.deep.equal(['ac_under_volt']);
      const high = await Rig.sunny();
      high.plant.setGrid(Object.fromEntries(Object.keys(patch).map((key) => [key, 1.25])));
      await high.run(0.17);
      expect(high.alarmCodes).to.deep.equal(['ac_over_volt']);
    });
  }

  it('ignores phases that the device does not have', async () => {
    const single = await Rig.sunny({ types: ['PV-1Phase'] });
    single.plant.setGrid({ voltageBPu: 0, voltageCPu: 2 });
    await single.run(30);
    expect(single.state).to.equal('on running connected');
    const split = await Rig.sunny({ types: ['PV-2Phase'] });
    split.plant.setGrid({ voltageCPu: 0 });
    await split.run(30);
    expect(split.state).to.equal('on running connected');
    split.plant.setGrid({ voltageBPu: 0.4 });
    await split.run(2.01);
    expect(split.state).to.equal('off fault disconnected');
  });

  it('stays connected on its thresholds: 0.88 to 1.10 is continuous operation', async () => {
    for (const voltagePu of [1.1, 0.88]) {
      const rig = await Rig.sunny();
      rig.plant.setGrid({ voltagePu });
      await rig.run(360);
      expect(rig.state, `${voltagePu}`).to.match(/^on/);
      expect(rig.device.startedTrips).to.deep.equal([]);
    }
  });

  it('6.5.1: frequency does not trip below 30 % of nominal voltage; an outage is an under-voltage', async () => {
    const rig = await Rig.sunny();
    rig.plant.setGrid({ outage: true });
    await rig.run(1.999);
    expect([rig.device.startedTrips, rig.device.activeTrips]).to.deep.equal([['lv_trip'], []]);
    expect(rig.alarmCodes).to.deep.equal(['lvrt_active']);
    expect(rig.w).to.equal(0);
    await rig.run(0.002);
    expect(rig.alarmCodes).to.deep.equal(['ac_under_volt']);
    await rig.run(360);
    expect(rig.alarmCodes).to.deep.equal(['ac_under_volt']);
  });

  it('a lasting trip costs no more time than any other state', async () => {
    const rig = await Rig.sunny();
    rig.plant.setGrid({ voltagePu: 0.4 });
    // every sub-step of one microsecond would take minutes
    await rig.run(360);
    expect(rig.state).to.equal('off fault disconnected');
  });

  it('Ena DISABLED switches a function off, even while its timer runs', async () => {
    const rig = await Rig.sunny();
    rig.set((tx) => {
      tx.m707.Ena = 'DISABLED';
      tx.m709.Ena = 'DISABLED';
    });
    rig.plant.setGrid({ voltagePu: 0.4, frequencyHz: 50 });
    await rig.run(360);
    expect(rig.state).to.match(/^on/);
    rig.set((tx) => {
      tx.m707.Ena = 'ENABLED';
    });
    await rig.run(1.9);
    rig.set((tx) => {
      tx.m707.Ena = 'DISABLED';
    });
    await rig.run(10);
    expect(rig.state).to.match(/^on/);
  });

  it('an adopted set changes thresholds and times', async () => {
    const rig = await Rig.sunny();
    rig.set((tx) => {
      const set = tx.m708.Crv[1]!.MustTrip;
      set.ActPt = 1;
      Object.assign(set.Pt[0]!, { V: 105, Tms: 0.5 });
    });
    rig.plant.setGrid({ voltagePu: 1.06 });
    await rig.run(5);
    expect(rig.state).to.equal('on running connected');
    rig.set((tx) => {
      tx.m708.AdptCrvReq = 2;
    });
    expect(rig.map.m708.AdptCrvRslt).to.equal('COMPLETED');
    await rig.run(0.499);
    expect(rig.state).to.equal('on running connected');
    await rig.run(0.002);
    expect(rig.alarmCodes).to.deep.equal(['ac_over_volt']);
  });

  it('a set adopted while a timer runs shortens the time of a threshold that stays', async () => {
    const rig = await Rig.sunny();
    rig.set((tx) => {
      const set = tx.m707.Crv[1]!.MustTrip;
      set.ActPt = 1;
      Object.assign(set.Pt[0]!, { V: 88, Tms: 5 });
    });
    rig.plant.setGrid({ voltagePu: 0.8 });
    await rig.run(3);
    rig.set((tx) => {
      tx.m707.AdptCrvReq = 2;
    });
    await rig.run(1.999);
    expect(rig.state).to.match(/^on/);
    await rig.run(0.002);
    expect(rig.state).to.equal('off fault disconnected');
  });

  it('measures in percent of 702.VNom', async () => {
    const rig = await Rig.sunny();
    // 85 % of 480 V are 92.7 % of 440 V, 102 % are 111.3 %
    rig.set((tx) => {
      tx.m702.VNom = 440;
    });
    rig.plant.setGrid({ voltagePu: 0.85 });
    await rig.run(60);
    expect(rig.state).to.match(/^on/);
    rig.plant.setGrid({ voltagePu: 1.02 });
    await rig.run(14);
    expect(rig.alarmCodes).to.deep.equal(['ac_over_volt']);
  });

  it('category and nominal frequency set the defaults', async () => {
    const rig = await Rig.sunny({ nominalHz: 50, models: { 702: { AbnOpCatRtg: 'CAT_1' } } });
    rig.plant.setGrid({ voltagePu: 0.69 });
    await rig.run(1.999);
    expect(rig.state).to.match(/^on/);
    await rig.run(0.002);
    expect(rig.alarmCodes).to.deep.equal(['ac_under_volt']);
    const shifted = await Rig.sunny({ nominalHz: 50 });
    expect(shifted.map.m701.Hz).to.equal(50);
    expect(shifted.map.m709.Crv[0]!.MustTrip.Pt[0]!.Hz).to.equal(46.5);
    expect(shifted.map.m703.ESHzHi).to.equal(50.1);
    shifted.plant.setGrid({ frequencyHz: 52.1 });
    await shifted.run(0.161);
    expect(shifted.alarmCodes).to.deep.equal(['over_frequency']);
  });
});

describe('Reset of trips', () => {
  async function tripped(): Promise<Rig> {
    const rig = await Rig.sunny();
    quickEntry(rig, { delayS: 10, rampS: 10 });
    rig.plant.setGrid({ voltagePu: 1.25 });
    await rig.run(1);
    expect(rig.state).to.equal('off fault disconnected');
    return rig;
  }

  it('leaves a device in fault while the cause persists; then it returns through enter service', async () => {
    const rig = await tripped();
    rig.device.command({ kind: 'reset', scope: 'alarms' }, byTest);
    await rig.run(1);
    expect(rig.state).to.equal('off fault disconnected');
    expect(rig.alarmCodes).to.deep.equal(['ac_over_volt']);
    // below the trip threshold, above the window
    rig.plant.setGrid({ voltagePu: 1.08 });
    await rig.run(1);
    expect(rig.state).to.equal('off standby disconnected');
    expect(rig.alarmCodes).to.deep.equal([]);
    expect(rig.snapshot.status.message).to.equal('waiting for the grid');
    rig.plant.setGrid({ voltagePu: 1 });
    await rig.run(9.9);
    expect(rig.state).to.equal('off standby disconnected');
    await rig.run(0.2);
    expect(rig.state).to.equal('on starting connected');
  });

  it('by 715.AlarmReset, which reads back as done', async () => {
    const rig = await tripped();
    rig.set((tx) => {
      tx.m715.AlarmReset = 1;
    });
    expect(rig.map.m715.AlarmReset).to.equal(0);
    await rig.run(0.1);
    expect(rig.state).to.equal('off fault disconnected');
    rig.plant.setGrid({ voltagePu: 1 });
    await rig.run(0.1);
    expect(rig.state).to.equal('off standby disconnected');
  });

  it('permit service while the cause persists does not end the trip (703.ES)', async () => {
    const rig = await tripped();
    for (const ES of ['DISABLED', 'ENABLED', 'DISABLED', 'ENABLED'] as const) {
      rig.set((tx) => {
        tx.m703.ES = ES;
      });
      await rig.run(30);
      expect([rig.state, rig.w]).to.deep.equal(['off fault disconnected', 0]);
      expect(rig.alarmCodes).to.deep.equal(['ac_over_volt']);
    }
    rig.plant.setGrid({ voltagePu: 1 });
    await rig.run(9.9);
    expect(rig.state).to.equal('off standby disconnected');
    await rig.run(0.2);
    expect(rig.state).to.equal('on starting connected');
  });

  it('a start after a stop while the cause persists waits for the grid', async () => {
    const rig = await tripped();
    rig.device.command({ kind: 'stop' }, byTest);
    await rig.run(1);
    expect(rig.state).to.equal('off off disconnected');
    rig.device.command({ kind: 'start' }, byTest);
    await rig.run(60);
    expect([rig.map.m701.ConnSt, rig.w]).to.deep.equal(['DISCONNECTED', 0]);
  });

  it('a reset in service changes nothing', async () => {
    const rig = await Rig.sunny();
    rig.device.command({ kind: 'reset', scope: 'alarms' }, byTest);
    await rig.run(1);
    expect(rig.state).to.equal('on running connected');
    expect(rig.w).to.equal(10_000);
  });
});

describe('Trip timers', () => {
  const start = simTimeFromMs(1_000_000);
  const off = { enabled: false, points: [] };
  const trips = (points: readonly { limit: number; seconds: number }[]): Settings['trips'] => ({
    lowVoltage: { enabled: true, points },
    highVoltage: off,
    lowFrequency: off,
    highFrequency: off,
  });
  const input = (lowestVoltagePct: number) => ({ lowestVoltagePct, highestVoltagePct: 100, hz: 60 });

  it('give the next instant, never a past one', () => {
    const timers = new TripTimers();
    const setting = trips([
      { limit: 50, seconds: 2 },
      { limit: 88, seconds: 21 },
    ]);
    expect(timers.update(start, input(40), setting)).to.equal(null);
    expect(timers.nextDue(start)).to.equal(addSeconds(start, 2));
    const due = addSeconds(start, 2);
    expect(timers.update(due, input(40), setting)).to.equal('lowVoltage');
    expect(timers.nextDue(due)).to.equal(addSeconds(start, 21));
    expect(timers.nextDue(addSeconds(start, 21))).to.equal(Infinity);
    timers.clear();
    expect(timers.pending()).to.deep.equal([]);
  });

  it('a clearing time of zero trips at once', () => {
    expect(new TripTimers().update(start, input(40), trips([{ limit: 50, seconds: 0 }]))).to.equal('lowVoltage');
  });
});
