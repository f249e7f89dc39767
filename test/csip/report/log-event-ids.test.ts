import { expect } from 'chai';
import { LogEvents } from '../../../src/csip/report/log-events.ts';
import { LogEventIds } from '../../../src/csip/report/log-event-ids.ts';
import { FakeServer, settled } from './fake-server.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import type { Slot } from '../../../src/core/store.ts';
import { createMemoryStore } from '../../../src/core/store.ts';

describe('ids of LogEvents', () => {
  it('go on after a restart, and begin again after 16 bits', async () => {
    const slot = createMemoryStore().slot('log-events');
    const before = await LogEventIds.open(slot, silentLogger);
    expect([before.next(), before.next()]).to.deep.equal([0, 1]);
    const after = await LogEventIds.open(slot, silentLogger);
    expect(after.next()).to.equal(2);
    await slot.replace([0xffff]);
    const last = await LogEventIds.open(slot, silentLogger);
    expect([last.next(), last.next()]).to.deep.equal([0xffff, 0]);
  });
});

describe('LogEvents over a restart', () => {
  const open = async (slot: Slot, server = new FakeServer()) => {
    const wall = new HandWall();
    const timers = new HandTimers(wall);
    const events = new LogEvents({
      exchange: server,
      wall,
      later: timers.later,
      jitter: { next: () => 0.5 },
      log: silentLogger,
      onLost: () => undefined,
      logEventIds: await LogEventIds.open(slot, silentLogger),
    });
    const sent = () => server.sent('LogEvent').map(({ logEventCode, logEventID }) => `${logEventCode} ${logEventID}`);
    return { events, server, sent };
  };

  it('an alarm that lasts is announced once, and its end by the next process', async () => {
    const slot = createMemoryStore().slot('log-events');
    const before = await open(slot);
    before.events.follow('https://s/lel');
    before.events.updateAlarms(0, new Set([1, 4]), 1000);
    await settled();
    expect(before.sent()).to.deep.equal(['2 0', '8 1']);
    const after = await open(slot);
    after.events.follow('https://s/lel');
    after.events.updateAlarms(0, new Set([4]), 2000);
    after.events.updateAlarms(1, new Set([4]), 2000);
    await settled();
    expect(after.sent()).to.deep.equal(['3 2', '8 3']);
  });

  it('an event that waits is sent by the next process with its id, and what was sent is not', async () => {
    const slot = createMemoryStore().slot('log-events');
    const before = await open(slot);
    before.events.follow('https://s/lel');
    await before.events.request(0, 1000, { code: 6 });
    before.server.down = true;
    await before.events.request(0, 1001, { code: 7 });
    before.events.stop();
    const after = await open(slot);
    after.events.follow('https://s/lel');
    await settled();
    expect(after.sent()).to.deep.equal(['7 1']);
    expect(after.server.sent('LogEvent')[0]).to.include({ createdDateTime: 1001 });
    const [event] = after.events.events;
    expect(event).to.include({ result: 'sent' });
    expect((await open(slot)).events.events).to.deep.equal([]);
  });

  it('an event leaves only when it is stored', async () => {
    const slot = createMemoryStore().slot('log-events');
    const stored: (() => void)[] = [];
    const slow: Slot = {
      name: slot.name,
      read: () => slot.read(),
      append: (...values) => slot.append(...values),
      replace: (values) => slot.replace(values).then(() => new Promise<void>((done) => stored.push(done))),
    };
    const { events, sent } = await open(slow);
    events.follow('https://s/lel');
    void events.request(0, 1000, { code: 6 });
    await settled();
    expect(sent()).to.deep.equal([]);
    for (const done of stored) done();
    await settled();
    expect(sent()).to.deep.equal(['6 0']);
    for (const done of stored) done();
  });
});
