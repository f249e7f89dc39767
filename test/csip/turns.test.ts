/** Work on thousands of events has several turns of the event loop, and counts as a whole. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { LoopShare } from '../../src/core/turns.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import { createMemoryStore } from '../../src/core/store.ts';
import type { JsonValue, Slot } from '../../src/core/store.ts';
import type { ControlInForce, ControlOutcome, ControlTarget } from '../../src/csip/control/model.ts';
import { EndDevice } from '../../src/csip/end-device.ts';
import { restoreSchedule } from '../../src/csip/events/state.ts';
import { maxEvents } from '../../src/csip/events/receive.ts';
import type { ListedControl } from '../../src/csip/events/model.ts';
import type { FoundProgram } from '../../src/csip/walk/model.ts';
import { HandWall } from '../support/wall.ts';
import { applied, control } from './events/scene.ts';
import { remoteClock, ScriptedServer, settled, WalkRig } from './walk/scripted.ts';

/** A share of which each part has a turn, which the test begins. */
function handShare() {
  const turns: (() => void)[] = [];
  const share = new LoopShare({ budgetMs: 0, nextTurn: (run) => void turns.push(run) });
  return {
    share,
    /** Lets turns pass until none is left. @param between called after each */
    run: async (between: () => void = () => undefined): Promise<number> => {
      let count = 0;
      for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) {
        turn();
        await settled();
        between();
        count += 1;
      }
      return count;
    },
  };
}

/** An EndDevice on a device that carries out everything. */
function rig() {
  const server = new ScriptedServer();
  const { share, run } = handShare();
  const asked = { checks: 0, applies: 0 };
  /** what the device is like */
  const device = { category: 1, stamp: '', outcome: applied };
  const replaced: (readonly JsonValue[])[] = [];
  const slot: Slot = createMemoryStore().slot('events');
  const target: Partial<ControlTarget> = {
    get stamp() {
      return device.stamp;
    },
    check: (): ControlOutcome => {
      asked.checks += 1;
      return device.outcome;
    },
    apply: (inForce: readonly ControlInForce[]) => {
      asked.applies += 1;
      return new Map(inForce.map(({ id }) => [id, applied]));
    },
    onChange: () => () => undefined,
    close: () => undefined,
  };
  const clock = remoteClock(server, silentLogger);
  clock.sync(0, server.wall.monotonicMs());
  const statuses: number[] = [];
  /** writes in their order: statuses that are owed, and `saved` */
  const writes: (string | number)[] = [];
  const hooks: { owing: () => void } = { owing: () => undefined };
  const endDevice = new EndDevice({
    lfdi: 'A'.repeat(40),
    deviceIndices: () => [0],
    target: target as ControlTarget,
    remoteClock: clock,
    wall: new HandWall(),
    log: silentLogger,
    slot: {
      name: slot.name,
      read: () => slot.read(),
      append: (...values) => slot.append(...values),
      replace: (values) => {
        writes.push('saved');
        replaced.push(values);
        return slot.replace(values);
      },
    },
    deviceCategory: () => device.category,
    schedule: { pick: () => 0.5, supersededResponse: 'at_start', revision: '2018' },
    eventsChanged: () => undefined,
    owe: (responses) => {
      statuses.push(...responses.map(({ status }) => status));
      writes.push(...responses.map(({ status }) => status));
      hooks.owing();
      return Promise.resolve();
    },
    share,
  });
  const follow = (controls: readonly ListedControl[]) => {
    const listed = { key: 'P', href: 'https://s/p', description: null, primacy: 1, defaultControl: null, controls };
    endDevice.follow([{ listed } as unknown as FoundProgram]);
  };
  const close = async (forget: boolean) => {
    const progress = { isOpen: true };
    const closed = endDevice.close(forget).then(() => {
      progress.isOpen = false;
    });
    for (let turns = 0; progress.isOpen && turns < 1000; turns += 1) {
      await run();
      await nextTurn();
    }
    await closed;
  };
  return {
    endDevice,
    follow,
    run,
    close,
    asked,
    device,
    replaced,
    statuses,
    writes,
    hooks,
    pass: (s: number) => server.timers.pass(s * 1000),
  };
}

const row = (length: number, startS = 100) =>
  Array.from({ length }, (_, index) => control(`M${index}`, { startS: startS + index * 10, durationS: 10 }));

describe('CSIP: thousands of events', () => {
  it('are asked about in parts of 25, and count all together when the last part is done', async () => {
    const { endDevice, follow, run, close, asked } = rig();
    follow(row(maxEvents));
    const seen = new Set([endDevice.controls.length]);
    expect(asked.checks).to.be.at.most(25);
    let before = asked.checks;
    const turns = await run(() => {
      expect(asked.checks - before).to.be.at.most(25);
      before = asked.checks;
      seen.add(endDevice.controls.length);
    });
    expect(turns).to.be.at.least(maxEvents / 25 - 1);
    expect([...seen]).to.deep.equal([0, maxEvents]);
    // the step has found its answers
    expect(asked.checks).to.equal(maxEvents);
    await close(true);
  });

  it('a reading that comes during the preparation of another counts after it, and only the latest one', async () => {
    const { endDevice, follow, run, close } = rig();
    const count = () => endDevice.controls.filter(({ state }) => state === 'scheduled').length;
    const counts = new Set<number>();
    follow(row(1000));
    follow(row(3));
    follow([...row(1000), control('LATER', { startS: 1 })]);
    await run(() => counts.add(count()));
    expect([...counts]).to.deep.equal([0, 1000, 1001]);
    await close(true);
  });

  it('a reading that is being prepared when the walk ends has no effect', async () => {
    const { endDevice, follow, run, close, statuses } = rig();
    follow(row(1000));
    follow(row(3));
    endDevice.ceaseReading();
    await run();
    expect([endDevice.controls, statuses]).to.deep.equal([[], []]);
    follow(row(3));
    expect(endDevice.controls).to.have.lengthOf(3);
    await close(true);
  });

  describe('while the devices change', () => {
    const invalid: ControlOutcome = { state: 'invalid', leftOut: [], overwritten: false };
    const refused = (statuses: readonly number[]) => statuses.filter((status) => status === 253).length;

    it('are asked about again, in parts, so that no answer from before the change counts', async () => {
      const { follow, run, close, asked, device, statuses } = rig();
      follow(row(600));
      let [turns, before] = [0, asked.checks];
      await run(() => {
        expect(asked.checks - before).to.be.at.most(25);
        before = asked.checks;
        turns += 1;
        if (turns === 10) Object.assign(device, { stamp: 'other', outcome: invalid });
      });
      await close(true);
      expect(refused(statuses)).to.equal(600);
    });

    it('are those that concern the devices of the end', async () => {
      const { endDevice, follow, run, close, device } = rig();
      follow([...row(60), ...row(300).map((each) => ({ ...each, mrid: `B${each.mrid}`, deviceCategory: 2 }))]);
      let turns = 0;
      await run(() => {
        turns += 1;
        if (turns === 5) device.category = 3;
      });
      expect(turns).to.be.greaterThan(5);
      expect(endDevice.controls).to.have.lengthOf(360);
      await close(true);
    });

    it('count after three attempts, with the answers of that turn', async () => {
      const { endDevice, follow, run, close, asked, device, statuses } = rig();
      follow(row(200));
      let turns = 0;
      const counts = new Set<number>();
      await run(() => {
        turns += 1;
        device.stamp = String(turns);
        if (turns === 20) device.outcome = invalid;
        counts.add(endDevice.controls.length);
      });
      expect([...counts].filter((count) => count > 0)).to.deep.equal([200]);
      expect(turns).to.be.greaterThan(20);
      await close(true);
      expect(refused(statuses)).to.equal(200);
      expect(asked.checks).to.equal(800);
    });
  });

  it('the last step before the end is stored, and its responses are queued', async () => {
    const { endDevice, follow, run, close, replaced, writes } = rig();
    follow(row(600));
    await run();
    endDevice.opt('M5', false);
    await close(false);
    const [saved = null] = replaced.at(-1) ?? [];
    expect(restoreSchedule(saved).events.get('M5')?.optedOut).to.equal(true);
    expect(writes.slice(0, 600)).to.deep.equal(Array.from({ length: 600 }, () => 1));
    expect(writes.slice(600)).to.deep.equal([4, 'saved']);
  });

  it('a step that comes while responses are queued is stored with its own responses', async () => {
    const { endDevice, follow, run, close, replaced, writes, hooks } = rig();
    follow(row(600));
    await run();
    hooks.owing = () => {
      hooks.owing = () => undefined;
      endDevice.opt('M6', false);
    };
    endDevice.opt('M5', false);
    for (let turns = 0; writes.length === 0 && turns < 100; turns += 1) {
      await run();
      await nextTurn();
    }
    await close(false);
    const optedOut = replaced.map(([saved = null]) => restoreSchedule(saved).events.get('M6')?.optedOut);
    expect(optedOut).to.deep.equal([false, true]);
    expect(writes.filter((each) => each !== 1)).to.deep.equal([4, 'saved', 4, 'saved']);
  });

  it('an event that starts and ends in one turn was carried out', async () => {
    const { follow, run, close, statuses, pass } = rig();
    follow(row(600));
    await run();
    pass(125);
    await close(false);
    expect(statuses.filter((status) => status !== 1)).to.deep.equal([2, 3, 2, 3, 2]);
  });

  it('what happens during a reading stays, and the reading counts on top of it', async () => {
    const { endDevice, follow, run, close } = rig();
    follow(row(600, 1000));
    await run();
    let turns = 0;
    follow([...row(600, 1000), control('NEW', { startS: 1 })]);
    await run(() => {
      turns += 1;
      if (turns === 3) endDevice.opt('M5', false);
    });
    expect(turns).to.be.at.least(5);
    const [fifth, last] = [endDevice.controls[5], endDevice.controls.at(-1)];
    expect([fifth?.listed.mrid, fifth?.optedOut]).to.deep.equal(['M5', true]);
    expect(last?.listed.mrid).to.equal('NEW');
    await close(false);
  });

  it('an EndDevice that closes meanwhile takes nothing in', async () => {
    const { endDevice, follow, run, replaced } = rig();
    follow(row(1000));
    await endDevice.close(false);
    await run();
    await nextTurn();
    expect([endDevice.controls, replaced]).to.deep.equal([[], []]);
  });

  it('the outcome of a control and the save come in later turns; both are complete', async () => {
    const { endDevice, follow, run, close, asked, replaced, statuses } = rig();
    follow(row(600, 0));
    await run();
    // applied in the turn of the step, and known to the schedule in a later one
    expect(asked.applies).to.be.at.least(1);
    expect([statuses.includes(2), replaced.length]).to.deep.equal([false, 0]);
    expect(endDevice.controls[0]).to.include({ state: 'active', started: false });
    for (let turns = 0; (replaced.length === 0 || !statuses.includes(2)) && turns < 20; turns += 1) {
      await nextTurn();
      await run();
    }
    expect(statuses).to.include(2);
    const [saved = null] = replaced.at(-1) ?? [];
    expect(restoreSchedule(saved).events.size).to.equal(600);
    await close(false);
  });

  it('few events have their whole effect in the turn of their reading', () => {
    const { endDevice, follow, statuses } = rig();
    follow(row(50, 0));
    expect(endDevice.controls).to.have.lengthOf(50);
    expect(endDevice.controls[0]).to.include({ state: 'active', started: true });
    expect(statuses).to.deep.equal([]);
  });
});

describe('CSIP: a list of thousands of controls', () => {
  it('is looked at in parts of 50, and told as a whole', async () => {
    const { share, run } = handShare();
    const walk = new WalkRig({ share });
    const items = Array.from({ length: 1000 }, (_, index) => ({
      mRID: index.toString(16).padStart(32, '0'),
      interval: { start: index, duration: 1 },
    }));
    walk.server.controls('/derp/1', items);
    const started = walk.start();
    await settled();
    expect(walk.programs).to.deep.equal([]);
    const turns = await run();
    await started;
    expect(turns).to.be.at.least(1000 / 50 - 1);
    expect(walk.programs).to.have.lengthOf(1);
    expect(walk.controls).to.have.lengthOf(1000);
  });
});
