import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { createFileStore } from '../../src/state/file-store.ts';
import type { FileStore } from '../../src/state/file-store.ts';
import { journalFile } from '../../src/state/journal.ts';
import type { JournalLimits } from '../../src/state/journal.ts';
import { formatVersion } from '../../src/state/record.ts';
import type { JsonValue } from '../../src/core/store.ts';
import { codeOf } from '../support/map.ts';
import { holdsAsync } from '../support/property.ts';
import { TestFolder } from '../support/state-folder.ts';
import { HandTimers } from '../support/timers.ts';
import { HandWall } from '../support/wall.ts';

class Rig {
  readonly wall = new HandWall();
  readonly timers = new HandTimers(this.wall);
  readonly lines: string[] = [];
  readonly failures: (string | null)[] = [];
  readonly folder: TestFolder;
  readonly store: FileStore;

  /** the process that has the folder by now; null: this one */
  holder: string | null = null;
  /** called while the store asks for the holder of the folder */
  onHolderCheck: () => void = () => undefined;

  constructor(folder = new TestFolder(), limits: Partial<JournalLimits> = {}) {
    const log = (line: string) => {
      this.lines.push(line);
    };
    this.folder = folder;
    this.store = createFileStore({
      folder,
      log: { info: log, warning: log, error: log },
      later: this.timers.later,
      nowMs: () => this.wall.nowMs(),
      onFailure: (reason) => {
        this.failures.push(reason);
      },
      otherHolder: () => {
        this.onHolderCheck();
        return Promise.resolve(this.holder);
      },
      limits,
    });
  }

  static async open(folder?: TestFolder, limits?: Partial<JournalLimits>): Promise<Rig> {
    const rig = new Rig(folder, limits);
    await rig.store.open();
    return rig;
  }

  /** Values of the slots, those of empty slots included. */
  async contents(slots: readonly string[]): Promise<Record<string, readonly JsonValue[]>> {
    const lists = await Promise.all(slots.map(async (slot) => [slot, await this.store.slot(slot).read()] as const));
    return Object.fromEntries(lists);
  }
}

interface Operation {
  readonly slot: string;
  readonly replace: boolean;
  readonly values: readonly JsonValue[];
}

const slots = ['a', 'ocpp/CP%7C1/queue', 'c'];
const json = fc.jsonValue({ maxDepth: 2 }).filter((value) => !Object.is(value, -0)) as fc.Arbitrary<JsonValue>;
const operation = fc.record({
  slot: fc.constantFrom(...slots),
  replace: fc.boolean(),
  values: fc.array(json, { maxLength: 3 }),
});
const asText = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

const act = ({ store }: Rig, { slot, replace, values }: Operation) =>
  replace ? store.slot(slot).replace(values) : store.slot(slot).append(...values);

/** The contents after each number of operations, none first. */
function models(operations: readonly Operation[]): Record<string, readonly JsonValue[]>[] {
  const states = [Object.fromEntries(slots.map((slot): [string, readonly JsonValue[]] => [slot, []]))];
  for (const { slot, replace, values } of operations) {
    const before = states.at(-1) ?? {};
    states.push({ ...before, [slot]: replace ? values : [...(before[slot] ?? []), ...values] });
  }
  return states.map((state) => asText(state) as Record<string, readonly JsonValue[]>);
}

/** The operations that write a record: the same values again write none. */
function written(operations: readonly Operation[]): readonly Operation[] {
  const states = models(operations).map((state) => JSON.stringify(state));
  return operations.filter(({ replace }, at) => !replace || states[at] !== states[at + 1]);
}

describe('store in files', () => {
  it('a new process has the slots of the one before', async () => {
    await holdsAsync(
      'contents after several processes',
      [fc.array(fc.array(operation, { maxLength: 6 }), { maxLength: 4 }), fc.integer({ min: 0, max: 400 })],
      async (processes, compactBytes) => {
        let rig = await Rig.open(undefined, { compactBytes });
        for (const operations of processes) {
          for (const one of operations) await act(rig, one);
          await rig.store.close();
          rig = await Rig.open(rig.folder, { compactBytes });
          expect(rig.lines).to.deep.equal([]);
        }
        expect(await rig.contents(slots)).to.deep.equal(models(processes.flat()).at(-1));
      },
    );
  });

  it('a loss of power at any step takes no change whose promise has resolved, and halves none', async () => {
    await holdsAsync(
      'contents after a loss of power',
      [
        fc.array(operation, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 0, max: 200 }),
        fc.integer({ min: 0, max: 60 }),
        fc.integer({ min: 0, max: 60 }),
      ],
      async (operations, compactBytes, stopStep, luckyBytes) => {
        const rig = await Rig.open(undefined, { compactBytes });
        let [steps, resolved] = [0, 0];
        const losses: { readonly folder: TestFolder; readonly resolved: number }[] = [];
        rig.folder.beforeStep = () => {
          if (steps === stopStep) losses.push({ folder: rig.folder.afterPowerLoss(luckyBytes), resolved });
          steps += 1;
          return Promise.resolve();
        };
        // without waits in between, so that changes meet writes that run
        await Promise.all(
          operations.map(async (one) => {
            await act(rig, one);
            resolved += 1;
          }),
        );
        const { folder, resolved: before } = losses[0] ?? { folder: rig.folder.afterPowerLoss(), resolved };
        const after = await (await Rig.open(folder)).contents(slots);
        expect(models(operations).slice(before)).to.deep.include(after);
      },
    );
  });

  it('a journal that is cut at any octet gives the changes that were whole, and goes on', async () => {
    const operations: Operation[] = [
      { slot: 'a', replace: false, values: [1, 'zwölf'] },
      { slot: 'a', replace: false, values: [{ x: null }] },
      { slot: 'ocpp/CP%7C1/queue', replace: true, values: ['€'] },
    ];
    const rig = await Rig.open();
    for (const one of operations) await act(rig, one);
    await rig.store.close();
    const whole = rig.folder.octets(journalFile);
    const ends = [...whole].flatMap((octet, i) => (octet === 10 ? [i + 1] : []));
    expect(ends).to.have.length(4);
    const states = models(operations);
    for (let length = 0; length <= whole.length; length += 1) {
      const folder = new TestFolder();
      folder.put(journalFile, whole.subarray(0, length));
      const after = await Rig.open(folder);
      const lines = ends.filter((end) => end <= length).length;
      expect(await after.contents(slots), `${length} octets`).to.deep.equal(states[Math.max(0, lines - 1)]);
      expect(after.lines, `${length} octets`).to.have.length(ends.includes(length) ? 0 : 1);
      await after.store.slot('a').append('more');
      const again = await Rig.open(folder);
      expect(again.lines).to.deep.equal([]);
      expect((await again.store.slot('a').read()).at(-1)).to.equal('more');
    }
  });

  it('a changed bit loses what follows it at most, and the damaged file is kept', async () => {
    await holdsAsync(
      'contents after a changed bit',
      [fc.array(operation, { minLength: 2, maxLength: 6 }), fc.nat(), fc.integer({ min: 0, max: 7 })],
      async (operations, place, bit) => {
        const rig = await Rig.open();
        for (const one of operations) await act(rig, one);
        await rig.store.close();
        const octets = Buffer.from(rig.folder.octets(journalFile));
        const at = place % octets.length;
        octets[at] = (octets[at] ?? 0) ^ (1 << bit);
        const folder = new TestFolder();
        folder.put(journalFile, octets);
        const after = await Rig.open(folder);
        const lines = [...rig.folder.octets(journalFile).subarray(0, at)].filter((octet) => octet === 10).length;
        const states = models(written(operations));
        expect(await after.contents(slots)).to.deep.equal(states[Math.max(0, lines - 1)]);
        expect(after.lines).to.have.length(1);
        const aside = (await folder.names()).filter((name) => name.includes('.corrupt-'));
        // the last record alone could also be one that was not written whole; without its end the one before is part of it
        const last = rig.folder.octets(journalFile)[at] === 10 ? lines + 1 : lines;
        if (lines === 0 || last < states.length - 1) expect(folder.octets(aside[0] ?? '')).to.deep.equal(octets);
        else expect(aside).to.have.length(0);
      },
    );
  });

  it('the same values again, and the same text, write nothing', async () => {
    const rig = await Rig.open();
    const { store } = rig;
    await store.slot('a').replace([1, { b: 2 }]);
    store.write('c', '{"d":0}');
    await rig.store.durable();
    const octets = rig.folder.octets(journalFile).length;
    await store.slot('a').replace([1, { b: 2 }]);
    store.write('c', '{"d":0}');
    await rig.store.durable();
    expect(rig.folder.octets(journalFile)).to.have.length(octets);
    await store.slot('a').replace([1, { b: 3 }]);
    store.write('c', '{"d":1}');
    await rig.store.durable();
    expect(await (await Rig.open(rig.folder)).contents(['a', 'c'])).to.deep.equal({ a: [1, { b: 3 }], c: [{ d: 1 }] });
  });

  it('a file that is no journal is kept aside, and the process begins anew', async () => {
    const folder = new TestFolder();
    folder.put(journalFile, Buffer.from('\u0000\u0001 not ours\n'));
    const rig = await Rig.open(folder);
    expect(rig.lines.join()).to.include('damaged').and.to.include('.corrupt-');
    await rig.store.slot('a').append(1);
    expect(await (await Rig.open(folder)).contents(['a'])).to.deep.equal({ a: [1] });
  });

  const unreadable: Readonly<Record<string, string>> = {
    'a cut object': '"value":{',
    'a cut list': '"append":[1',
    'a text in place of a list': '"append":"abc"',
    'null in place of a list': '"replace":null',
    'a value that is nested too deep': `"value":${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  };
  for (const [words, change] of Object.entries(unreadable))
    it(`${words} with a checksum that fits is damage, and counts with no change of its group or after it`, async () => {
      const lines = [
        `"derbench_state":${formatVersion}`,
        '"slot":"a","append":[1]',
        '"more":1,"slot":"a","append":[2]',
        `"slot":"b",${change}`,
        '"slot":"a","append":[3]',
      ].map((members, n) => {
        const text = `{"n":${n},${members}}`;
        return `${crc32(text).toString(16).padStart(8, '0')} ${text}\n`;
      });
      const folder = new TestFolder();
      folder.put(journalFile, Buffer.from(lines.join('')));
      const rig = await Rig.open(folder);
      expect(await rig.contents(['a', 'b'])).to.deep.equal({ a: [1], b: [] });
      expect(rig.lines.join()).to.include('the state of its first 2 records is used').and.to.include('.corrupt-');
    });

  it('a journal of no octets is one warning, and none where there was no journal', async () => {
    const folder = new TestFolder();
    folder.put(journalFile, Buffer.alloc(0));
    expect((await Rig.open(folder)).lines).to.deep.equal(['the journal in /state is empty: no state is there']);
    expect((await Rig.open()).lines).to.deep.equal([]);
  });

  it('a head of form 0 is damage: no version has written it', async () => {
    const text = '{"n":0,"derbench_state":0}';
    const folder = new TestFolder();
    folder.put(journalFile, Buffer.from(`${crc32(text).toString(16).padStart(8, '0')} ${text}\n`));
    expect((await Rig.open(folder)).lines.join())
      .to.include('damaged')
      .and.to.include('.corrupt-');
  });

  it('a head with members of a later version is no damage', async () => {
    const before = await Rig.open();
    await before.store.slot('a').append(1);
    await before.store.close();
    const [head = '', ...lines] = before.folder.octets(journalFile).toString().split('\n');
    const text = `${head.slice(9, -1)},"later":{"a":[1]}}`;
    const later = `${crc32(text).toString(16).padStart(8, '0')} ${text}`;
    before.folder.put(journalFile, Buffer.from([later, ...lines].join('\n')));
    const { lines: said, store } = await Rig.open(before.folder.afterKill());
    expect(await store.slot('a').read()).to.deep.equal([1]);
    expect(said).to.deep.equal([]);
  });

  it('what is forgotten leaves the folder, and whoever holds it writes nothing any more', async () => {
    const { store, folder } = await Rig.open();
    const [gone, stays] = [store.slot('ocpp/CP/a'), store.slot('ocpp/CP2/a')];
    await gone.append(1);
    await stays.append(2);
    store.forget((name) => name.startsWith('ocpp/CP/'));
    await gone.append(3);
    await gone.replace([4]);
    expect(await gone.read()).to.deep.equal([]);
    await store.slot('ocpp/CP/a').append(5);
    await store.settled();
    const again = await Rig.open(folder.afterKill());
    expect(await again.contents(['ocpp/CP/a', 'ocpp/CP2/a'])).to.deep.equal({ 'ocpp/CP/a': [5], 'ocpp/CP2/a': [2] });
  });

  it('refuses the journal of a newer version, and leaves it as it is', () => {
    const text = `{"n":0,"derbench_state":${formatVersion + 1}}`;
    const head = `${crc32(text).toString(16).padStart(8, '0')} ${text}\n`;
    const folder = new TestFolder();
    folder.put(journalFile, Buffer.from(head));
    expect(codeOf(() => new Rig(folder))).to.equal('CONFIG_INVALID');
    expect(folder.octets(journalFile).toString()).to.equal(head);
  });

  it('changes of one turn share a synchronisation', async () => {
    const rig = await Rig.open();
    const before = rig.folder.syncs;
    const changes = Array.from({ length: 100 }, (_, i) => rig.store.slot(`slot${i}`).append(i));
    await Promise.all(changes);
    expect(rig.folder.syncs - before).to.equal(1);
    expect(rig.store.durable()).to.equal(null);
  });

  it('durable waits for what has been changed before, not for what follows', async () => {
    const rig = await Rig.open();
    expect(rig.store.durable()).to.equal(null);
    void rig.store.slot('a').append(1);
    const wait = rig.store.durable();
    expect(wait).to.be.a('promise');
    let follows = true;
    // a change in each step: a wait for the last of them would never end
    rig.folder.beforeStep = () => {
      if (follows) void rig.store.slot('b').append(1);
      return Promise.resolve();
    };
    await wait;
    follows = false;
    expect(rig.folder.octets(journalFile).toString()).to.include('"slot":"a"');
    await rig.store.close();
  });

  it('the file stays within twice its contents', async () => {
    const rig = await Rig.open(undefined, { compactBytes: 1000 });
    let longest = 0;
    for (let i = 0; i < 500; i += 1) {
      await rig.store.slot('a').replace([i, 'x'.repeat(200)]);
      longest = Math.max(longest, rig.folder.octets(journalFile).length);
    }
    expect(longest).to.be.within(500, 1000);
    expect(rig.store.report.bytes).to.equal(rig.folder.octets(journalFile).length);
    expect(rig.store.report.compactions).to.be.greaterThan(100);
    expect(await (await Rig.open(rig.folder)).contents(['a'])).to.deep.equal({ a: [499, 'x'.repeat(200)] });
  });

  it('a closed store never writes again, also after a failure of the disk', async () => {
    const rig = await Rig.open();
    await rig.store.slot('a').append(1);
    rig.folder.failure = 'EIO: i/o error';
    void rig.store.slot('a').append(2);
    await rig.store.close();
    rig.folder.failure = null;
    // the folder may belong to another process, or to a restored state
    const before = rig.folder.octets(journalFile);
    rig.timers.pass(120_000);
    await rig.store.settled();
    await rig.store.slot('a').append(3);
    expect(rig.folder.octets(journalFile)).to.deep.equal(before);
    expect(await rig.folder.names()).to.deep.equal([journalFile]);
  });

  it('a disk that fails stops nothing; when it takes writes again everything is kept', async () => {
    const rig = await Rig.open();
    await rig.store.slot('a').append(1);
    rig.folder.failure = 'ENOSPC: no space left on device';
    await rig.store.slot('a').append(2);
    await rig.store.slot('a').append(3);
    expect(rig.failures).to.deep.equal(['ENOSPC: no space left on device']);
    expect(rig.store.report.failure).to.equal('ENOSPC: no space left on device');
    expect(rig.store.durable()).to.equal(null);
    expect(await rig.contents(['a'])).to.deep.equal({ a: [1, 2, 3] });
    // each wait is twice the one before, up to a minute
    const waits: number[] = [];
    for (let i = 0; i < 8; i += 1) {
      waits.push(rig.timers.nextMs);
      rig.timers.pass(rig.timers.nextMs);
      await rig.store.settled();
    }
    expect(waits).to.deep.equal([1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000]);
    expect(rig.lines).to.have.length(1);
    rig.folder.failure = null;
    rig.timers.pass(60_000);
    await rig.store.settled();
    expect(rig.failures).to.deep.equal(['ENOSPC: no space left on device', null]);
    expect(rig.store.report.failure).to.equal(null);
    await rig.store.slot('a').append(4);
    expect(await (await Rig.open(rig.folder.afterPowerLoss())).contents(['a'])).to.deep.equal({ a: [1, 2, 3, 4] });
  });

  const byOthers: readonly (readonly [words: string, act: (folder: TestFolder) => void])[] = [
    ['was removed', (folder) => void folder.remove(journalFile)],
    ['was replaced', (folder) => folder.put(journalFile, Buffer.from(folder.octets(journalFile)))],
    ['has 9 octets in place of', (folder) => folder.cut(journalFile, 9)],
    ['in place of', (folder) => folder.put(journalFile, Buffer.alloc(1000))],
  ];
  for (const [at, [words, act]] of byOthers.entries())
    for (const how of ['the next change', 'a look'] as const)
      it(`a journal that ${words} (${at}) is written anew with ${how}`, async () => {
        const rig = await Rig.open();
        await rig.store.slot('a').append(1, 2);
        act(rig.folder);
        if (how === 'a look') rig.store.check();
        else await rig.store.slot('a').append(3);
        await rig.store.settled();
        expect(rig.lines).to.have.length(1);
        expect(rig.lines[0])
          .to.match(at === 3 ? /was replaced/ : new RegExp(words))
          .and.to.include('written anew');
        expect(rig.failures).to.have.length(2);
        expect(rig.failures[0]).to.match(/^journal.jsonl (was|has)/);
        expect(rig.failures[1]).to.equal(null);
        await rig.store.slot('a').append(4);
        const after = how === 'a look' ? [1, 2, 4] : [1, 2, 3, 4];
        expect(await (await Rig.open(rig.folder.afterPowerLoss())).contents(['a'])).to.deep.equal({ a: after });
        expect(rig.lines).to.have.length(1);
      });

  const rewrites: readonly (readonly [how: string, begin: (rig: Rig) => void])[] = [
    ['a compaction', (rig) => void rig.store.slot('b').append('x'.repeat(1000))],
    [
      'the mending at a look',
      (rig) => {
        rig.folder.cut(journalFile, 9);
        rig.store.check();
      },
    ],
    [
      'the mending at a change',
      (rig) => {
        rig.folder.cut(journalFile, 9);
        void rig.store.slot('b').append(1);
      },
    ],
    [
      'a new attempt after a failure',
      (rig) => {
        rig.timers.pass(rig.timers.nextMs);
      },
    ],
  ];
  for (const [how, begin] of rewrites)
    for (const succeeds of [true, false])
      it(`a change that meets ${how}, which ${succeeds ? 'succeeds' : 'fails'}, is kept once`, async () => {
        const rig = await Rig.open(undefined, { compactBytes: 500 });
        await rig.store.slot('a').append(1);
        if (how === 'a new attempt after a failure') rig.folder.failure = 'EIO: i/o error';
        await rig.store.slot('a').append(2);
        rig.folder.failure = null;
        let change: Promise<unknown> = Promise.resolve();
        rig.onHolderCheck = () => {
          rig.onHolderCheck = () => undefined;
          // while the disk counts as failed no change waits for it
          const waits = rig.store.report.failure === null;
          change = rig.store
            .slot('a')
            .append(3)
            .then(() => (waits ? rig.folder.afterPowerLoss() : null));
          if (!succeeds) rig.folder.failure = 'EIO: i/o error';
        };
        begin(rig);
        await rig.store.settled();
        const folders = [await change, rig.folder];
        if (!succeeds) {
          expect(rig.store.report.failure).to.equal('EIO: i/o error');
          folders.shift();
          rig.folder.failure = null;
          rig.timers.pass(rig.timers.nextMs);
          await rig.store.settled();
        }
        expect(rig.store.durable()).to.equal(null);
        for (const folder of folders)
          if (folder instanceof TestFolder)
            expect(await (await Rig.open(folder.afterPowerLoss())).contents(['a'])).to.deep.equal({ a: [1, 2, 3] });
      });

  it('a look at a journal that is in order writes nothing', async () => {
    const rig = await Rig.open();
    await rig.store.slot('a').append(1);
    const [before, syncs] = [rig.folder.octets(journalFile), rig.folder.syncs];
    rig.store.check();
    await rig.store.settled();
    expect([rig.folder.octets(journalFile), rig.folder.syncs]).to.deep.equal([before, syncs]);
    expect([rig.lines, rig.failures]).to.deep.equal([[], []]);
  });

  for (const how of ['a look', 'a changed journal'] as const)
    it(`a folder that another process has by now gets no more octets, which ${how} shows`, async () => {
      const rig = await Rig.open();
      await rig.store.slot('a').append(1);
      rig.holder = 'process 7 of lab';
      rig.folder.put(journalFile, Buffer.from('of the other process'));
      if (how === 'a look') rig.store.check();
      else await rig.store.slot('a').append(2);
      await rig.store.settled();
      expect(rig.failures).to.deep.equal(['process 7 of lab has the folder now']);
      expect(rig.lines).to.have.length(1);
      expect(rig.store.report).to.include({ isLost: true, failure: 'process 7 of lab has the folder now' });
      // for good: what the other process has kept since is newer
      rig.holder = null;
      rig.timers.pass(200_000);
      await rig.store.settled();
      rig.store.check();
      await rig.store.slot('a').append(3);
      await rig.store.close();
      expect(await rig.folder.names()).to.deep.equal([journalFile]);
      expect(rig.folder.octets(journalFile).toString()).to.equal('of the other process');
    });

  it('a look at the lock that fails stops the writing until one succeeds', async () => {
    const rig = await Rig.open();
    await rig.store.slot('a').append(1);
    rig.onHolderCheck = () => {
      throw new Error('the lock cannot be read');
    };
    rig.store.check();
    await rig.store.settled();
    await rig.store.slot('a').append(2);
    rig.onHolderCheck = () => undefined;
    rig.timers.pass(rig.timers.nextMs);
    await rig.store.settled();
    expect(rig.failures).to.deep.equal(['the lock cannot be read', null]);
    expect(await (await Rig.open(rig.folder.afterPowerLoss())).contents(['a'])).to.deep.equal({ a: [1, 2] });
  });

  it('a folder that another process takes while the disk fails is not written when the disk is back', async () => {
    const rig = await Rig.open();
    rig.folder.failure = 'EIO: i/o error';
    await rig.store.slot('a').append(1);
    rig.folder.failure = null;
    rig.holder = 'process 7 of lab';
    const before = rig.folder.octets(journalFile);
    rig.timers.pass(1000);
    await rig.store.settled();
    expect(rig.failures).to.deep.equal(['EIO: i/o error', 'process 7 of lab has the folder now']);
    await rig.store.close();
    expect(rig.folder.octets(journalFile)).to.deep.equal(before);
  });
});
