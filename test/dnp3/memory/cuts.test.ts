/** The power fails at any step of the disk: what a master was promised is there in the next process. */
import { expect } from 'chai';
import fc from 'fast-check';
import { journalFile } from '../../../src/state/journal.ts';
import { TestFolder } from '../../support/state-folder.ts';
import { holdsAsync } from '../../support/property.ts';
import { binaryEvents, limitOf, limitSchedule, Process } from './rig.ts';
import type { SeenEvent } from './rig.ts';

type Act =
  | { readonly kind: 'limit' | 'window'; readonly value: number }
  | { readonly kind: 'enable'; readonly on: boolean }
  | { readonly kind: 'class'; readonly to: 1 | 2 | 3 }
  | { readonly kind: 'deadband'; readonly value: number }
  | { readonly kind: 'freeze' | 'read' | 'tick' }
  | { readonly kind: 'poll'; readonly confirms: boolean };

const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ kind: fc.constantFrom('limit' as const, 'window' as const), value: fc.integer({ min: 0, max: 1000 }) }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('enable' as const), on: fc.boolean() }) },
  fc.record({ kind: fc.constant('class' as const), to: fc.constantFrom(1 as const, 2 as const, 3 as const) }),
  fc.record({ kind: fc.constant('deadband' as const), value: fc.integer({ min: 0, max: 65_535 }) }),
  fc.record({ kind: fc.constantFrom('freeze' as const, 'read' as const, 'tick' as const) }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('poll' as const), confirms: fc.boolean() }) },
);

const u16 = (value: number) => {
  const octets = Buffer.alloc(2);
  octets.writeUInt16LE(value);
  return octets.toString('hex');
};
const u32 = (value: number) => u16(value & 0xffff) + u16(value >>> 16);

/** Function and objects of the request of an act. */
function requestOf(each: Act): readonly [functionCode: number, objects: string] {
  switch (each.kind) {
    case 'limit':
      return [5, `29 01 28 0100 5800 ${u32(each.value)} 00`];
    case 'window':
      return [5, `29 01 28 0100 1000 ${u32(each.value)} 00`];
    case 'enable':
      return [5, `0c 01 28 0100 1100 ${each.on ? '03' : '04'} 01 00000000 00000000 00`];
    case 'class':
      return [22, `3c 0${each.to + 1} 06 1e 00 00 95 95`];
    case 'deadband':
      return [2, `22 01 17 01 95 ${u16(each.value)}`];
    case 'freeze':
      return [7, '14 00 06'];
    default:
      return [1, each.kind === 'poll' ? '02 02 06' : '3c 04 06'];
  }
}

/** Settings as the outstation has them, in the names of the acts. */
function settingsOf(process: Process): Readonly<Record<string, unknown>> {
  const [view] = process.outstation.points.views({ type: 'AI', from: 149, to: 149 });
  return {
    limit: process.register(704, 'WMaxLimPct'),
    window: process.value('AO16'),
    enable: process.register(704, 'WMaxLimPctEna'),
    class: view?.class,
    deadband: view?.deadband,
    freeze: process.outstation.points.database
      .points('frozenCounter')
      .map(({ state: { value, flags } }) => [value, flags]),
  };
}

const keyOf = ({ index, state, ms }: SeenEvent) => `${index} ${state} ${ms}`;

/** What the master knows when the power fails. */
interface Book {
  /** settings after each request since the last one with a response */
  possible: Readonly<Record<string, unknown>>[];
  /** events that are durable and not confirmed */
  due: Set<string>;
  /** events whose confirm came before a later response */
  over: Set<string>;
}

/** One process with a master; the power fails at a step of its disk. */
class Run {
  readonly process: Process;
  readonly book: Book;
  /** what the disk has after the failure; null: the power is there */
  #left: TestFolder | null = null;
  #known: Book | null = null;
  #confirmed: readonly string[] = [];

  constructor(process: Process, cutAt: number, keepBytes: number) {
    this.process = process;
    this.book = { possible: [settingsOf(process)], due: new Set(), over: new Set() };
    let steps = 0;
    process.folder.beforeStep = () => {
      steps += 1;
      if (steps === cutAt) this.#cut(keepBytes);
      return Promise.resolve();
    };
  }

  /** Carries out an act. @returns false: the power has failed */
  async act(each: Act): Promise<boolean> {
    const { process } = this;
    if (each.kind === 'tick') await process.pass(1);
    else await this.#request(each);
    if (this.#left === null) this.book.due = new Set(this.#pending().map(keyOf));
    return this.#left === null;
  }

  async #request(each: Act): Promise<void> {
    const { process, book } = this;
    const [functionCode, objects] = requestOf(each);
    process.send(functionCode, objects);
    book.possible.push(settingsOf(process));
    // the state of a request that is neither answered nor durable may be lost
    await process.settled();
    const [response] = process.sent();
    if (this.#left !== null || response === undefined) return;
    book.possible = [settingsOf(process)];
    for (const event of this.#confirmed) book.over.add(event);
    this.#confirmed = [];
    if (each.kind !== 'poll' || !each.confirms || !response.startsWith('e')) return;
    this.#confirmed = binaryEvents(response).map(keyOf);
    // removed, though the next process may repeat it
    for (const event of this.#confirmed) book.due.delete(event);
    process.confirm(Number.parseInt(response.slice(1, 2), 16));
    await process.settled();
  }

  /** Events of binary inputs in the buffer. */
  #pending(): readonly SeenEvent[] {
    const { events, time } = this.process.association;
    return events.all
      .filter(({ spec }) => spec.kind === 'binaryInput')
      .map(({ spec, state, at }) => ({
        index: spec.index,
        state: state.value === 1,
        ms: Math.round(time.timeOf(at).ms),
      }));
  }

  #cut(keepBytes: number): void {
    this.#left = this.process.folder.afterPowerLoss(keepBytes);
    const { possible, due, over } = this.book;
    this.#known = { possible: [...possible, settingsOf(this.process)], due: new Set(due), over: new Set(over) };
  }

  /** The next process, and what it must have. */
  async next(): Promise<{ readonly process: Process; readonly book: Book }> {
    if (this.#left === null) this.#cut(0);
    const { process } = this;
    process.folder.beforeStep = () => Promise.resolve();
    return { process: await process.restarted(this.#left ?? new TestFolder()), book: this.#known ?? this.book };
  }
}

/** The folder after a loss of power that spares whole records of the journal which are not durable. */
function afterRecords(folder: TestFolder, records: number): TestFolder {
  const durableLength = folder.afterPowerLoss().octets(journalFile).length;
  const octets = folder.octets(journalFile);
  let end = durableLength;
  for (let n = 0; n < records; n += 1) end = octets.indexOf('\n', end) + 1 || octets.length;
  return folder.afterPowerLoss(end - durableLength);
}

describe('an outstation of DNP3 whose power fails at any step of the disk', () => {
  it('has in the next process what it has confirmed, and delivers the events that no confirm has removed', () =>
    holdsAsync(
      'outstation over a failure of power',
      [fc.array(act, { minLength: 5, maxLength: 30 }), fc.integer({ min: 1, max: 60 }), fc.nat(400)],
      async (acts, cutAt, keepBytes) => {
        const first = await Process.start();
        await first.pass(2);
        await first.ask(2, '50 01 00 07 07 00');
        await first.ask(2, '32 01 07 01 00 68 e5 cf 8b 01');
        const run = new Run(first, cutAt, keepBytes);
        for (const each of acts) if (!(await run.act(each))) break;
        const { process, book } = await run.next();
        const settings = settingsOf(process);
        for (const name of Object.keys(settings))
          expect(book.possible.map((each) => each[name])).to.deep.include(settings[name], name);
        const response = await process.ask(1, '02 02 06');
        expect(parseInt(response.slice(6, 8), 16) & 0x90).to.equal(0x90);
        const events = binaryEvents(response).map(keyOf);
        expect(new Set(events).size).to.equal(events.length);
        expect(events).to.include.members([...book.due]);
        expect(events.filter((event) => book.over.has(event))).to.deep.equal([]);
      },
      { runs: 45 },
    ));

  it('continues a schedule, and gives back at its end what was there before it', () =>
    holdsAsync(
      'schedule over a failure of power',
      [fc.integer({ min: 1, max: 24 }), fc.nat(4)],
      async (cutAt, records) => {
        const first = await Process.start(new TestFolder(), { savesTicks: false });
        await first.operate(['AO88', 900], ['BO17', true]);
        const startMs = first.wall.nowMs();
        await first.operate(
          ...limitSchedule(first, [
            [0, 500],
            [200, 300],
            [400, 0],
          ]).slice(0, -1),
        );
        let [left, leftMs, steps] = [first.folder, Infinity, 0];
        first.folder.beforeStep = () => {
          steps += 1;
          if (steps === cutAt) [left, leftMs] = [afterRecords(first.folder, records), first.wall.nowMs()];
          return Promise.resolve();
        };
        await first.operate(['BO42', true]);
        const isConfirmed = leftMs === Infinity;
        first.timers.pass(250_000);
        await first.settled();
        first.timers.pass(200_000);
        await first.settled();
        first.folder.beforeStep = () => Promise.resolve();
        const second = await (leftMs === Infinity ? first.restarted() : first.restarted(left, leftMs));
        const passedS = (second.wall.nowMs() - startMs) / 1000;
        const limit = passedS >= 400 ? 90 : passedS >= 200 ? 30 : 50;
        if (isConfirmed || second.value('BO42') === 1) expect(limitOf(second)).to.deep.equal(['ENABLED', limit]);
        second.timers.pass(400_000);
        await second.settled();
        expect([second.value('AI569'), ...limitOf(second)]).to.deep.equal([0, 'ENABLED', 90]);
      },
      { runs: 50 },
    ));
});
