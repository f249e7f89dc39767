import { expect } from 'chai';
import { createControlTarget } from '../../src/csip/control/control-bridge.ts';
import { EndDevice } from '../../src/csip/end-device.ts';
import type { ListedControl, OwedResponse } from '../../src/csip/events/model.ts';
import type { FoundProgram } from '../../src/csip/walk/model.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import { createMemoryStore } from '../../src/core/store.ts';
import { remoteClocks } from '../../src/core/time/remote-clock.ts';
import { testPlant } from '../support/plant.ts';
import { control } from '../support/csip-controls.ts';
import { HandTimers } from '../support/timers.ts';
import { HandWall } from '../support/wall.ts';

const lfdi = '3E4F45AB31EDFE5B67E343E5E4562E31984E23E5';

/** A device under control on a simulated remote clock; the wall clock stands still. */
function rig() {
  const wall = new HandWall();
  const timers = new HandTimers(wall);
  const plant = testPlant({ types: ['Batt-3Phase'], wall });
  const timeline = {
    sim: () => plant.time.sim,
    dateMs: (t: Parameters<typeof plant.dateMs>[0]) => plant.dateMs(t),
    rate: () => plant.time.rate,
    paused: () => plant.time.mode === 'paused',
    at: (...args: Parameters<typeof plant.at>) => plant.at(...args),
  };
  const remoteClock = remoteClocks({ mode: 'simulated', wall, later: timers.later, log: silentLogger, timeline })(
    silentLogger,
  );
  remoteClock.sync(1_800_000_000_000, wall.monotonicMs());
  const [device] = plant.devices;
  if (!device) throw new Error('the plant has no device');
  const owed: OwedResponse[] = [];
  const endDevice = new EndDevice({
    lfdi,
    deviceIndices: () => [0],
    target: createControlTarget({ devices: [device], plant, siteOwner: 'csip:0', revision: '2018', log: silentLogger }),
    remoteClock,
    wall,
    log: silentLogger,
    slot: createMemoryStore().slot('events'),
    deviceCategory: () => 1,
    schedule: { pick: () => 0.5, supersededResponse: 'at_start', revision: '2018' },
    eventsChanged: () => undefined,
    owe: (responses) => {
      owed.push(...responses);
      return Promise.resolve();
    },
  });
  const follow = (...controls: readonly ListedControl[]) => {
    const listed = { key: 'P', href: 'https://s/p', description: null, primacy: 1, defaultControl: null, controls };
    endDevice.follow([{ listed } as unknown as FoundProgram]);
  };
  const statuses = () => owed.map(({ status, createdS }) => [status, createdS - 1_800_000_000]);
  return { plant, device, endDevice, follow, statuses };
}

function limit(startInS: number, durationS: number): ListedControl {
  return {
    mrid: 'E1',
    href: null,
    description: null,
    version: null,
    creationS: 1_800_000_000,
    aheadS: 0,
    startS: 1_800_000_000 + startInS,
    durationS,
    randomizeStartS: 0,
    randomizeDurationS: 0,
    status: 'scheduled',
    statusS: null,
    potentiallySuperseded: false,
    deviceCategory: null,
    responseRequired: 3,
    replyTo: 'https://s/rsp',
    modes: ['opModMaxLimW'],
    control: control({ opModMaxLimW: 4000 }),
  };
}

describe('An EndDevice', () => {
  it('tries a control that waits each second of the clock of its events', async () => {
    const { plant, device, endDevice, follow, statuses } = rig();
    await plant.step(2);
    device.command({ kind: 'local', local: true }, { source: 'rest' });
    follow(limit(10, 60));
    await plant.step(10);
    expect(statuses()).to.deep.equal([[1, 3]]);
    device.command({ kind: 'local', local: false }, { source: 'rest' });
    await plant.step(2);
    await Promise.resolve();
    expect(statuses()).to.deep.equal([
      [1, 3],
      [2, 19],
    ]);
    await plant.step(50);
    expect(statuses().at(-1)).to.deep.equal([3, 70]);
    expect(device.bank.map.m704.WMaxLimPctEna).to.equal('DISABLED');
    await endDevice.close(true);
  });

  it('answers 253 at the start where a rating has changed since the receipt', async () => {
    const { plant, device, endDevice, follow, statuses } = rig();
    await plant.step(2);
    const event = limit(10, 60);
    follow({ ...event, modes: ['opModTargetW'], control: control({ opModTargetW: { multiplier: 3, value: 8 } }) });
    device.bank.transact({ source: 'rest' }, (tx) => {
      tx.m702.WMax = 5000;
    });
    await plant.step(10);
    expect(statuses().map(([status]) => status)).to.deep.equal([1, 253]);
    await endDevice.close(true);
  });
});
