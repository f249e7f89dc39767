import { expect } from 'chai';
import type { PowerEvent } from '../../../src/contract/plant.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { secondsBetween, simTimeFromMs } from '../../../src/core/time/clock.ts';
import { DarkDevices } from '../../../src/der/device/device-context.ts';
import { rebootFault } from '../../../src/fault-kinds/device-effect.ts';
import { FaultyRig } from '../../support/faulty-rig.ts';
import { byTest } from '../../support/rig.ts';

/** the instant of every change */
const at = simTimeFromMs(0);

describe('Devices that go dark', () => {
  it('a listener hears of each change once; the set is the new one then', () => {
    const dark = new DarkDevices(silentLogger);
    const seen: [PowerEvent, number[]][] = [];
    const end = dark.onChange((event) => seen.push([event, [...dark.indexes]]));
    dark.set(3, false, at);
    dark.set(3, true, at);
    dark.set(3, true, at);
    dark.set(5, true, at);
    dark.set(3, false, at);
    dark.forget(5);
    end();
    dark.set(3, true, at);
    expect(seen).to.deep.equal([
      [{ index: 3, down: true, at }, [3]],
      [{ index: 5, down: true, at }, [3, 5]],
      [{ index: 3, down: false, at }, [5]],
    ]);
  });

  it('a failing listener is logged and stops no other', () => {
    const lines: string[] = [];
    const dark = new DarkDevices({ error: (message) => lines.push(message) });
    const seen: number[] = [];
    dark.onChange(() => {
      throw new Error('boom');
    });
    dark.onChange(({ index }) => seen.push(index));
    dark.set(1, true, at);
    expect([lines, seen]).to.deep.equal([['a listener of the power of devices failed: boom'], [1]]);
  });

  it('Plant.onPower: at the instants at which the fault reboot begins and ends, with the registers of then', async () => {
    const rig = await FaultyRig.sunny();
    const start = rig.plant.latest.sim;
    const seen: unknown[] = [];
    rig.plant.onPower(({ index, down }) => {
      const { at } = rig.device.trace.now;
      seen.push([index, down, [...rig.plant.silentDevices], rig.map.m704.WMaxLimPct, secondsBetween(start, at)]);
    });
    rig.set((tx) => {
      tx.m704.WMaxLimPct = 50;
    });
    rig.inject(rebootFault, { off_s: 40.25 });
    expect(seen).to.deep.equal([[0, true, [0], 100, 0]]);
    await rig.run(60);
    expect(seen.slice(1)).to.deep.equal([[0, false, [], 100, 40.25]]);
  });

  it('a reset brings a dark device back; one that leaves does not return', async () => {
    const rig = await FaultyRig.sunny({ types: ['PV-3Phase', 'PV-3Phase'] });
    const seen: PowerEvent[] = [];
    rig.plant.onPower((event) => seen.push(event));
    const { sim } = rig.plant.time;
    rig.inject(rebootFault, { off_s: 1000 });
    rig.device.command({ kind: 'reset', scope: 'device' }, byTest);
    await rig.plant.remove(1);
    await rig.run(2000);
    expect(seen).to.deep.equal([
      { index: 0, down: true, at: sim },
      { index: 1, down: true, at: sim },
      { index: 0, down: false, at: sim },
    ]);
  });
});
