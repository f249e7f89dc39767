import { expect } from 'chai';
import type { GridPatch } from '../../../src/contract/environment.ts';
import { quickEntry, Rig } from '../../support/rig.ts';
import type { TestPlantOptions } from '../../support/plant.ts';

/** A rig that has tripped on voltage and waits for a good grid. */
async function outOfService(times: Parameters<typeof quickEntry>[1], options: TestPlantOptions = {}): Promise<Rig> {
  const rig = await Rig.sunny(options);
  quickEntry(rig, times);
  rig.plant.setGrid({ frequencyHz: 70 });
  await rig.run(1);
  expect(rig.state).to.equal('off fault disconnected');
  return rig;
}

/** Seconds from now until the device is connected, to the millisecond. */
async function secondsToEntry(rig: Rig, limitS: number): Promise<number> {
  const delay = rig.device.enterService.delayRemainingS;
  await rig.run(Math.max(0.001, Math.min(limitS, delay) - 0.001));
  expect(rig.map.m701.ConnSt).to.equal('DISCONNECTED');
  await rig.run(0.002);
  expect(rig.map.m701.ConnSt).to.equal('CONNECTED');
  return delay;
}

describe('Enter service (IEEE 1547-2018 4.10.2, 4.10.3)', () => {
  it('starts with the defaults of Table 4', () => {
    const { m703 } = new Rig().map;
    expect([
      m703.ESVHi,
      m703.ESVLo,
      m703.ESHzHi,
      m703.ESHzLo,
      m703.ESDlyTms,
      m703.ESRndTms,
      m703.ESRmpTms,
      m703.ES,
    ]).to.deep.equal([105, 91.7, 60.1, 59.5, 300, 0, 300, 'ENABLED']);
  });

  for (const [name, delayS, rampS] of [
    ['300 s and 300 s', 300, 300],
    ['600 s and 1000 s', 600, 1000],
    ['0 s and 1 s', 0, 1],
  ] as const) {
    it(`delay and ramp of ${name}`, async () => {
      const rig = await outOfService({ delayS, rampS });
      rig.plant.setGrid({ frequencyHz: 60 });
      if (delayS > 0) {
        await rig.run(delayS - 0.001);
        expect(rig.state).to.equal('off standby disconnected');
        expect(rig.map.m703.ESDlyRemTms).to.equal(1);
        await rig.run(0.001);
      }
      await rig.run(rampS / 4);
      expect(rig.state).to.equal('on starting connected');
      expect(rig.w).to.be.closeTo(2500, 2);
      expect([...rig.device.activeFunctions]).to.deep.equal(['enter_service']);
      await rig.run(rampS / 2);
      expect(rig.w).to.be.closeTo(7500, 2);
      await rig.run(rampS / 4 - 0.001);
      expect(rig.state).to.equal('on starting connected');
      await rig.run(0.002);
      expect(rig.state).to.equal('on running connected');
      expect(rig.w).to.equal(10_000);
    });
  }

  it('the ramp is a ceiling in percent of rated power: a 60 % source is there after 60 % of the time', async () => {
    const rig = await outOfService({ rampS: 100 });
    rig.set((tx) => {
      tx.m704.WMaxLimPctEna = 'ENABLED';
      tx.m704.WMaxLimPct = 60;
    });
    rig.plant.setGrid({ frequencyHz: 60 });
    await rig.run(30);
    expect(rig.w).to.be.closeTo(3000, 2);
    await rig.run(30);
    expect(rig.w).to.be.closeTo(6000, 2);
    await rig.run(20);
    expect(rig.w).to.equal(6000);
    expect([...rig.device.activeFunctions]).to.deep.equal(['max_power']);
  });

  const leaving: readonly [string, GridPatch, GridPatch][] = [
    ['above ESVHi', { voltagePu: 1.06 }, { voltagePu: 1 }],
    ['below ESVLo', { voltagePu: 0.91 }, { voltagePu: 1 }],
    ['one phase below ESVLo', { voltageBPu: 0.91 }, { voltageBPu: 1 }],
    ['above ESHzHi', { frequencyHz: 60.11 }, { frequencyHz: 60 }],
    ['below ESHzLo', { frequencyHz: 59.49 }, { frequencyHz: 60 }],
  ];
  for (const [name, leave, back] of leaving) {
    it(`leaving the window restarts the delay: ${name}`, async () => {
      const rig = await outOfService({ delayS: 60 });
      rig.plant.setGrid({ frequencyHz: 60 });
      await rig.run(59);
      rig.plant.setGrid(leave);
      await rig.run(0.02);
      expect(rig.map.m703.ESDlyRemTms).to.equal(0);
      rig.plant.setGrid(back);
      await rig.run(59.999);
      expect(rig.map.m701.ConnSt).to.equal('DISCONNECTED');
      await rig.run(0.002);
      expect(rig.map.m701.ConnSt).to.equal('CONNECTED');
    });
  }

  it('a good instant between two ticks does not count as a whole delay', async () => {
    const rig = await outOfService({ delayS: 10 });
    rig.plant.setGrid({ frequencyHz: 60, durationS: 9.5 });
    await rig.run(60);
    expect(rig.state).to.match(/^off (standby|fault) disconnected$/);
  });

  it('the edges of the window belong to it', async () => {
    for (const patch of [{ voltagePu: 1.05 }, { voltagePu: 0.917 }, { frequencyHz: 60.1 }, { frequencyHz: 59.5 }]) {
      const rig = await outOfService({ delayS: 1 });
      rig.plant.setGrid({ voltagePu: 1, frequencyHz: 60, ...patch });
      await rig.run(1.1);
      expect(rig.map.m701.ConnSt, JSON.stringify(patch)).to.equal('CONNECTED');
    }
  });

  it('permit service taken back in the delay restarts it', async () => {
    const rig = await outOfService({ delayS: 60 });
    rig.plant.setGrid({ frequencyHz: 60 });
    await rig.run(50);
    rig.set((tx) => {
      tx.m703.ES = 'DISABLED';
    });
    await rig.run(30);
    expect(rig.map.m703.ESDlyRemTms).to.equal(0);
    rig.set((tx) => {
      tx.m703.ES = 'ENABLED';
    });
    await rig.run(59.9);
    expect(rig.map.m701.ConnSt).to.equal('DISCONNECTED');
    await rig.run(0.2);
    expect(rig.map.m701.ConnSt).to.equal('CONNECTED');
  });

  it('a shorter delay counts at once', async () => {
    const rig = await outOfService({ delayS: 300 });
    rig.plant.setGrid({ frequencyHz: 60 });
    await rig.run(20);
    rig.set((tx) => {
      tx.m703.ESDlyTms = 30;
    });
    await rig.run(9.9);
    expect(rig.map.m701.ConnSt).to.equal('DISCONNECTED');
    await rig.run(0.2);
    expect(rig.map.m701.ConnSt).to.equal('CONNECTED');
  });

  it('thresholds are in percent of 702.VNom', async () => {
    const rig = await outOfService({ delayS: 1 });
    rig.set((tx) => {
      tx.m702.VNom = 440;
    });
    rig.plant.setGrid({ frequencyHz: 60 });
    await rig.run(10);
    expect(rig.state).to.match(/^off/);
    rig.plant.setGrid({ voltagePu: 440 / 480 });
    await rig.run(1.1);
    expect(rig.map.m701.ConnSt).to.equal('CONNECTED');
  });

  it('a window wider than the trip thresholds does not make it enter while one is exceeded', async () => {
    const rig = await outOfService({});
    rig.set((tx) => {
      tx.m703.ESVHi = 120;
    });
    rig.plant.setGrid({ frequencyHz: 60, voltagePu: 1.15 });
    await rig.run(12);
    const seen = new Set<string>();
    await rig.watch(30, 0.1, () => seen.add(rig.map.m701.ConnSt!));
    expect([...seen].at(-1)).to.equal('DISCONNECTED');
    expect(rig.w).to.equal(0);
  });

  it('the random delay comes from the seed, within 703.ESRndTms, new for each entry and each device', async () => {
    async function delays(seed: number): Promise<number[]> {
      const rig = await outOfService({ randomS: 100 }, { seed });
      const seen: number[] = [];
      for (let i = 0; i < 4; i += 1) {
        rig.plant.setGrid({ frequencyHz: 60 });
        await rig.run(0.001);
        seen.push(await secondsToEntry(rig, 100));
        rig.plant.setGrid({ frequencyHz: 70 });
        await rig.run(1);
      }
      return seen;
    }
    const first = await delays(7);
    expect(await delays(7)).to.deep.equal(first);
    expect(await delays(8)).not.to.deep.equal(first);
    expect(new Set(first).size).to.equal(4);
    for (const delay of first) expect(delay).to.be.within(0, 100);

    const fleet = await outOfService({ randomS: 100 }, { types: ['PV', 'PV', 'PV'] });
    for (const device of fleet.plant.devices) {
      device.bank.transact({ source: 'rest' }, (tx) => {
        Object.assign(tx.m703, { ESDlyTms: 0, ESRndTms: 100, ESRmpTms: 0 });
      });
    }
    fleet.plant.setGrid({ frequencyHz: 60 });
    await fleet.run(0.001);
    expect(new Set(fleet.plant.devices.map((device) => device.enterService.delayRemainingS)).size).to.equal(3);
  });

  it('delay and random delay add up', async () => {
    const rig = await outOfService({ delayS: 20, randomS: 10 });
    rig.plant.setGrid({ frequencyHz: 60 });
    await rig.run(0.001);
    expect(await secondsToEntry(rig, 30)).to.be.within(19.9, 30);
  });

  it('a trip during the ramp ends it; the next entry ramps from zero again', async () => {
    const rig = await outOfService({ rampS: 100 });
    rig.plant.setGrid({ frequencyHz: 60 });
    await rig.run(50);
    rig.plant.setGrid({ frequencyHz: 70, durationS: 1 });
    await rig.run(1);
    expect(rig.state).to.equal('off fault disconnected');
    await rig.run(10);
    expect(rig.w).to.be.closeTo(1000, 2);
  });
});
