import { expect } from 'chai';
import fc from 'fast-check';
import { simTimeFromMs } from '../../../src/core/time/clock.ts';
import { joinMs, Timeline } from '../../../src/core/timeline/timeline.ts';
import type { Happening, TimelineEntry } from '../../../src/core/timeline/entry.ts';
import { holds } from '../../support/property.ts';
import { HandWall } from '../../support/wall.ts';

const write: Happening = {
  kind: 'peer',
  title: 'Registers written',
  text: 'Set a point to 5.',
  by: { source: 'modbus', peer: '10.0.0.21:50001' },
};

function rig(capacity?: number) {
  const wall = new HandWall();
  const sim = () => simTimeFromMs(wall.ms);
  return { wall, timeline: new Timeline({ wall, sim, ...(capacity !== undefined && { capacity }) }) };
}

const shown = (entries: readonly TimelineEntry[]) => entries.map(({ id, count }) => [id, count]);

describe('timeline: equal changes', () => {
  it('of one source within 5 s are one entry with a count and their devices', () => {
    const { wall, timeline } = rig();
    for (const deviceIndex of [3, 1, 3]) {
      timeline.add({ ...write, deviceIndex });
      wall.advance(1000);
    }
    const [entry] = timeline.list();
    expect(shown(timeline.list())).to.deep.equal([[1, 3]]);
    expect([...(entry?.devices ?? [])]).to.deep.equal([3, 1]);
  });

  it('5 s after the first one begin another entry, however close they follow each other', () => {
    const { wall, timeline } = rig();
    for (let i = 0; i < 6; i += 1) {
      timeline.add(write);
      wall.advance(joinMs / 5);
    }
    expect(shown(timeline.list())).to.deep.equal([
      [1, 5],
      [2, 1],
    ]);
  });

  it('keep the instants of the first one', () => {
    const { wall, timeline } = rig();
    const first = { ...timeline.add(write) };
    wall.advance(2000);
    timeline.add(write);
    expect(timeline.list()[0]).to.include({ at: first.at, wallMs: first.wallMs, count: 2 });
  });

  it('come from one source whatever the port of its connection', () => {
    const { timeline } = rig();
    for (const peer of ['10.0.0.21:1', '10.0.0.21:2', '10.0.0.22:1'])
      timeline.add({ ...write, by: { source: 'modbus', peer } });
    expect(shown(timeline.list())).to.deep.equal([
      [1, 2],
      [2, 1],
    ]);
  });

  it('differ in kind, level, source, title or text', () => {
    const { timeline } = rig();
    const others: readonly Partial<Happening>[] = [
      { kind: 'command' },
      { level: 'bad' },
      { by: { source: 'dnp3', peer: '10.0.0.21:50001' } },
      { title: 'other' },
      { text: 'other' },
    ];
    for (const other of [{}, ...others]) timeline.add({ ...write, ...other });
    expect(timeline.list().map(({ count }) => count)).to.deep.equal([1, 1, 1, 1, 1, 1]);
  });

  it('of an entry that has left the ring begin another one', () => {
    const { timeline } = rig(2);
    timeline.add(write);
    for (const text of ['a', 'b']) timeline.add({ ...write, text });
    timeline.add(write);
    expect(shown(timeline.list())).to.deep.equal([
      [3, 1],
      [4, 1],
    ]);
  });

  it('are told to listeners each time, and a listener that fails stops nobody', () => {
    const wall = new HandWall();
    const failures: unknown[] = [];
    const timeline = new Timeline({ wall, sim: () => simTimeFromMs(0), onFailure: (error) => failures.push(error) });
    const counts: number[] = [];
    timeline.onEntry(() => {
      throw new Error('no');
    });
    const end = timeline.onEntry(({ count }) => counts.push(count));
    timeline.add(write);
    timeline.add(write);
    end();
    timeline.add(write);
    expect(counts).to.deep.equal([1, 2]);
    expect(failures).to.have.length(3);
  });
});

describe('timeline: list', () => {
  it('filters by id, kind, device, level and simulated time, and keeps the newest of a limit', () => {
    const { wall, timeline } = rig();
    const levels = ['info', 'warn', 'bad'] as const;
    levels.forEach((level, i) => {
      timeline.add({ ...write, kind: i === 0 ? 'command' : 'peer', level, deviceIndex: i });
      wall.advance(1000);
    });
    const ids = (filter: Parameters<Timeline['list']>[0]) => timeline.list(filter).map(({ id }) => id);
    const second = timeline.list()[1]?.at;
    expect(ids({ afterId: 1 })).to.deep.equal([2, 3]);
    expect(ids({ kinds: ['peer'] })).to.deep.equal([2, 3]);
    expect(ids({ deviceIndex: 1 })).to.deep.equal([2]);
    expect(ids({ level: 'warn' })).to.deep.equal([2, 3]);
    expect(ids({ level: 'bad' })).to.deep.equal([3]);
    expect(ids({ ...(second !== undefined && { since: second }) })).to.deep.equal([2, 3]);
    expect(ids({ ...(second !== undefined && { until: second }) })).to.deep.equal([1, 2]);
    expect(ids({ limit: 2 })).to.deep.equal([2, 3]);
    expect(timeline.lastId).to.equal(3);
  });

  it('goes on with higher ids after a restart, and lists no entry of a number twice', () => {
    const { timeline } = rig(4);
    timeline.add(write);
    const { timeline: next } = rig(4);
    next.kept().restore(timeline.kept().save());
    expect(next.list()).to.deep.equal([]);
    expect(next.add(write).id).to.be.greaterThan(1);
    expect(next.list({ afterId: 1 })).to.have.length(1);
  });
});

/** One change of a made-up course: a text, a device, and the time since the one before. */
const step = fc.record({
  text: fc.constantFrom('a', 'b', 'c'),
  deviceIndex: fc.integer({ min: 0, max: 4 }),
  afterMs: fc.constantFrom(0, 1, 999, 2500, 4999, 5000, 5001),
});

describe('timeline: any course of changes', () => {
  it('gives the entries of a plain list', () => {
    holds(
      'timeline of a plain list',
      [fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 6 })],
      (steps, capacity) => {
        const { wall, timeline } = rig(capacity);
        const model: { text: string; startMs: number; devices: Set<number>; count: number; id: number }[] = [];
        for (const { text, deviceIndex, afterMs } of steps) {
          wall.advance(afterMs);
          timeline.add({ ...write, text, deviceIndex });
          const nowMs = wall.monotonicMs();
          const kept = model.slice(-capacity);
          const open = kept.findLast((each) => each.text === text);
          if (open && nowMs - open.startMs < joinMs) {
            open.count += 1;
            open.devices.add(deviceIndex);
          } else {
            model.push({ text, startMs: nowMs, devices: new Set([deviceIndex]), count: 1, id: model.length + 1 });
          }
        }
        expect(
          timeline.list().map(({ id, text, count, devices }) => ({ id, text, count, devices: [...devices] })),
        ).to.deep.equal(
          model.slice(-capacity).map(({ id, text, count, devices }) => ({ id, text, count, devices: [...devices] })),
        );
        expect(timeline.lastId).to.equal(model.length);
      },
    );
  });
});

/** A change by one of some origins, with a sentence of its own. */
const origins: readonly (readonly [part: string, host: string, Partial<Happening>])[] = [
  ['command rest', '10.0.0.1', { kind: 'command', by: { source: 'rest', peer: '10.0.0.1:5' } }],
  ['command rest', '10.0.0.2', { kind: 'command', by: { source: 'rest', peer: '10.0.0.2:5' } }],
  ['peer modbus', '10.0.0.1', { kind: 'peer', by: { source: 'modbus', peer: '10.0.0.1:5' } }],
  ['service', '', { kind: 'service', by: undefined }],
];
const parts = new Set(origins.map(([part]) => part)).size;

describe('timeline: a client that writes ever new values', () => {
  it('displaces its own entries: those of other kinds and sources stay, and those of other hosts', () => {
    const { timeline } = rig(90);
    const add = (origin: number, text: string) =>
      timeline.add({ ...write, by: undefined, ...origins[origin]![2], text });
    for (let i = 0; i < 20; i += 1) for (const origin of [1, 2, 3]) add(origin, `${i}`);
    for (let i = 0; i < 1000; i += 1) add(0, `new ${i}`);
    const of = (kind: string, host?: string) =>
      timeline.list().filter(({ kind: each, by }) => each === kind && (host === undefined || by?.peer === host)).length;
    expect([of('service'), of('peer'), of('command', '10.0.0.2:5')]).to.deep.equal([20, 20, 20]);
    expect(timeline.list().at(-1)?.text).to.equal('new 999');
    expect(timeline.list()).to.have.length(90);
  });

  it('a source whose changes have an address each displaces its own', () => {
    const { timeline } = rig(10);
    for (let i = 0; i < 4; i += 1) timeline.add({ ...write, kind: 'service', by: undefined, text: `${i}` });
    for (let i = 0; i < 50; i += 1) timeline.add({ ...write, by: { source: 'csip', peer: `mrid ${i}` } });
    expect(timeline.list().filter(({ kind }) => kind === 'service')).to.have.length(4);
    expect(timeline.list().at(-1)?.by?.peer).to.equal('mrid 49');
    expect(timeline.list()[4]?.by?.peer).to.equal('mrid 44');
  });

  it('any course: the list is full, each part keeps its newest, and none falls below its share', () => {
    holds(
      'shares of the timeline',
      [fc.array(fc.nat({ max: origins.length - 1 }), { maxLength: 120 }), fc.integer({ min: 1, max: 24 })],
      (course, capacity) => {
        const { timeline } = rig(capacity);
        for (const [i, origin] of course.entries())
          timeline.add({ ...write, by: undefined, ...origins[origin]![2], text: `${i}` });
        const kept = timeline.list().map(({ text }) => Number(text));
        expect(kept).to.have.length(Math.min(capacity, course.length));
        expect(kept).to.deep.equal(kept.toSorted((a, b) => a - b));
        for (const [part, host] of origins) {
          const ids = (isOfShare: (origin: (typeof origins)[number]) => boolean) =>
            course.flatMap((origin, i) => (isOfShare(origins[origin]!) ? [i] : []));
          const ofPart = ids(([each]) => each === part);
          const ofHost = ids(([each, address]) => each === part && address === host);
          const keptOf = (list: readonly number[]) => kept.filter((i) => list.includes(i));
          const share = Math.floor(capacity / parts);
          expect(keptOf(ofPart).length).to.be.at.least(Math.min(ofPart.length, share));
          expect(keptOf(ofHost)).to.deep.equal(ofHost.slice(ofHost.length - keptOf(ofHost).length));
          expect(keptOf(ofHost).length).to.be.at.least(Math.min(ofHost.length, Math.floor(share / 2)));
        }
      },
    );
  });
});
