import { silentLogger } from '../../../src/core/log/log.ts';
import { expect } from 'chai';
import fc from 'fast-check';
import { createMemoryStore } from '../../../src/core/store.ts';
import type { Slot } from '../../../src/core/store.ts';
import { EventLog } from '../../../src/dnp3/memory/event-log.ts';
import { NamedValues } from '../../../src/dnp3/memory/values.ts';
import { PointDatabase } from '../../../src/dnp3/stack/outstation/database.ts';
import { EventBuffer } from '../../../src/dnp3/stack/outstation/events.ts';
import type { QueuedEvent } from '../../../src/dnp3/stack/outstation/events.ts';
import { holdsAsync } from '../../support/property.ts';
import { HandClock, MasterTime, spec } from '../rig/stack.ts';

const specs = [
  spec('binaryInput', 0),
  spec('binaryInput', 1, { class: 3 }),
  spec('frozenCounter', 0),
  spec('analogInput', 0, { class: 2, keeps: 'latest' }),
  spec('analogInput', 7, { class: 2, keeps: 'latest' }),
  spec('octetString', 2),
];

type Act =
  | { readonly kind: 'event'; readonly point: number; readonly value: number; readonly class: 1 | 2 | 3 }
  | { readonly kind: 'send'; readonly count: number }
  | { readonly kind: 'confirm' | 'release' | 'report' | 'time' | 'flush' };

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('event' as const),
      point: fc.nat(specs.length - 1),
      value: fc.oneof(fc.integer({ min: -5, max: 5 }), fc.constantFrom(NaN, 0.1, -0)),
      class: fc.constantFrom(1 as const, 2 as const, 3 as const),
    }),
  },
  fc.record({ kind: fc.constant('send' as const), count: fc.nat(6) }),
  fc.record({ kind: fc.constantFrom('confirm', 'release', 'report', 'time', 'flush') }),
);

/** A buffer with its log in a slot. */
class Rig {
  readonly clock = new HandClock();
  readonly time = new MasterTime(this.clock);
  readonly buffer: EventBuffer;
  readonly log: EventLog;
  readonly database = new PointDatabase({ specs });
  #sent: readonly QueuedEvent[] = [];

  constructor(slot: Slot, capacity = 4) {
    this.buffer = new EventBuffer(capacity);
    const { buffer, time, database } = this;
    this.log = new EventLog({ slot, log: silentLogger, buffer, time, database, changed: () => undefined });
  }

  act(each: Act): void {
    const { buffer, clock, time } = this;
    clock.pass(7);
    if (each.kind === 'event') {
      const { point, class: eventClass } = each;
      const pointSpec = specs[point] ?? spec('binaryInput', 0);
      const value = pointSpec.kind === 'octetString' ? Buffer.from([each.value & 0xff]) : each.value;
      const event = { spec: pointSpec, class: eventClass, state: { value, flags: point }, stamp: 0 };
      buffer.add(event, time.instantOf());
    } else if (each.kind === 'send') {
      this.#sent = buffer.select({}).slice(0, each.count);
      for (const event of this.#sent) event.isSent = true;
    } else this.#simple(each.kind);
  }

  #simple(kind: 'confirm' | 'release' | 'report' | 'time' | 'flush'): void {
    const { buffer, clock, log, time } = this;
    if (kind === 'confirm') buffer.confirm(this.#sent);
    else if (kind === 'release') buffer.release(this.#sent);
    else if (kind === 'report') buffer.overflowReported(buffer.lost);
    else if (kind === 'time') {
      time.sync(1_700_000_000_000 + clock.nowMs, clock.nowMs);
      log.timeChanged();
    } else void log.flush();
    if (kind === 'confirm' || kind === 'release') this.#sent = [];
  }

  seen(): unknown {
    const { buffer, time } = this;
    return {
      overflow: buffer.isOverflown,
      events: buffer.all.map(({ number, spec: { kind, index }, class: eventClass, state, at }) => [
        number,
        kind,
        index,
        eventClass,
        state,
        Math.round(time.timeOf(at).ms),
      ]),
    };
  }
}

describe('the log of the events of a DNP3 master', () => {
  it('gives a new process the events of the buffer, whatever has happened to them', () =>
    holdsAsync(
      'log of events',
      [fc.array(act, { maxLength: 60 })],
      async (acts) => {
        const slot = createMemoryStore().slot('events');
        const first = new Rig(slot);
        for (const each of acts) first.act(each);
        await first.log.flush();
        const second = new Rig(slot);
        await second.log.restore();
        expect(second.seen()).to.deep.equal(first.seen());
        // numbers go on behind those of the restored events
        second.act({ kind: 'event', point: 0, value: 9, class: 1 });
        expect(second.buffer.all.at(-1)?.state.value).to.equal(9);
      },
      { runs: 100 },
    ));

  it('writes nothing where nothing has changed, and the slot anew before it grows without end', async () => {
    const slot = createMemoryStore().slot('events');
    const rig = new Rig(slot);
    expect(rig.log.flush()).to.equal(null);
    for (let n = 0; n < 1000; n += 1) {
      rig.act({ kind: 'event', point: 3, value: n, class: 2 });
      await rig.log.flush();
      expect((await slot.read()).length).to.be.at.most(256);
    }
    const second = new Rig(slot);
    await second.log.restore();
    expect(second.seen()).to.deep.equal(rig.seen());
  });

  it('goes on in a slot without room for one more entry', async () => {
    const slot = createMemoryStore({ maxEntries: 2 }).slot('events');
    const rig = new Rig(slot);
    for (let n = 0; n < 5; n += 1) {
      rig.act({ kind: 'event', point: 0, value: n, class: 1 });
      await rig.log.flush();
    }
    const second = new Rig(slot);
    await second.log.restore();
    expect(second.seen()).to.deep.equal(rig.seen());
  });

  it('leaves out events of points that the outstation no longer has, and those beyond a smaller capacity', async () => {
    const slot = createMemoryStore().slot('events');
    const rig = new Rig(slot);
    for (const value of [1, 2, 3]) rig.act({ kind: 'event', point: 0, value, class: 1 });
    const event = { spec: spec('binaryInput', 99), class: 1, state: { value: 1, flags: 1 }, stamp: 0 } as const;
    rig.buffer.add(event, rig.time.instantOf());
    await rig.log.flush();
    const second = new Rig(slot, 2);
    await second.log.restore();
    expect(second.buffer.all.map(({ state }) => state.value)).to.deep.equal([2, 3]);
    expect(second.buffer.isOverflown).to.equal(true);
  });
});

describe('named values in a slot', () => {
  it('are the last ones of each name, and the slot stays short', async () => {
    const slot = createMemoryStore().slot('values');
    const values = new NamedValues(slot, silentLogger);
    for (let n = 0; n < 300; n += 1) await values.put({ [`part ${n % 3}`]: n, last: n });
    expect((await slot.read()).length).to.be.at.most(65);
    const expected = { 'part 0': 297, 'part 1': 298, 'part 2': 299, last: 299 };
    expect(Object.fromEntries(await new NamedValues(slot, silentLogger).read())).to.deep.equal(expected);
    await values.clear();
    expect([...(await new NamedValues(slot, silentLogger).read())]).to.deep.equal([]);
  });

  it('are written whole in a slot without room for one more entry', async () => {
    const slot = createMemoryStore({ maxEntries: 1 }).slot('values');
    const values = new NamedValues(slot, silentLogger);
    await values.put({ a: 1, b: 1 });
    await values.put({ b: 2 });
    expect(await slot.read()).to.deep.equal([{ a: 1, b: 2 }]);
  });
});
