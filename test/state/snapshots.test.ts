import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { SimError } from '../../src/core/errors.ts';
import type { ErrorCode } from '../../src/core/errors.ts';
import type { Contents } from '../../src/state/contents.ts';
import { openFolder } from '../../src/state/files.ts';
import { Snapshots, snapshotVersion } from '../../src/state/snapshots.ts';
import { holdsAsync } from '../support/property.ts';
import { TestFolder } from '../support/state-folder.ts';

const nowMs = Date.parse('2026-06-21T12:00:00Z');

const snapshotsIn = (folder: TestFolder, limits?: { readonly maxSnapshots: number; readonly maxBytes: number }) =>
  new Snapshots({ folder, version: '1.2.3', nowMs: () => nowMs, ...(limits && { limits }) });

const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value));
const contentsArbitrary = fc
  .uniqueArray(
    fc.tuple(
      fc.constantFrom('a', 'plant/device/0/x', 'ocpp/CP%7C1/queue', '__proto__'),
      fc.array(json, { minLength: 1, maxLength: 3 }),
    ),
    { selector: ([slot]) => slot },
  )
  .map((entries): Contents => new Map(entries));

const one: Contents = new Map([['a', ['1']]]);
const two: Contents = new Map([['a', ['2']]]);

/** Code and words of a refusal. */
async function refusal(promise: Promise<unknown>): Promise<{ readonly code: ErrorCode; readonly words: string }> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof SimError) return { code: error.code, words: error.message };
    throw error;
  }
  throw new Error('expected a refusal');
}

describe('snapshots', () => {
  it('give back what was taken, also to another process, and say when and by which version', async () => {
    await holdsAsync('contents of a snapshot', [contentsArbitrary], async (contents) => {
      const folder = new TestFolder();
      const taken = await snapshotsIn(folder).take('before.test-1', contents);
      const other = snapshotsIn(folder);
      expect([...(await other.read('before.test-1'))]).to.deep.equal([...contents]);
      expect(await other.list()).to.deep.equal([taken]);
      expect(taken).to.deep.equal({
        name: 'before.test-1',
        takenAtMs: nowMs,
        octets: folder.octets('before.test-1.json').length,
        version: '1.2.3',
        damage: null,
      });
    });
  });

  it('are JSON documents', async () => {
    const folder = new TestFolder();
    await snapshotsIn(folder).take('x', one);
    expect(JSON.parse(folder.octets('x.json').toString())).to.include({
      derbench_snapshot: snapshotVersion,
      name: 'x',
    });
  });

  it('survive a loss of power whole once they are taken; one under way leaves the one before', async () => {
    await holdsAsync(
      'snapshots after a loss of power',
      [fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 300 })],
      async (stopStep, luckyBytes) => {
        const folder = new TestFolder();
        await snapshotsIn(folder).take('x', one);
        let [steps, lost] = [0, null as TestFolder | null];
        folder.beforeStep = () => {
          if (steps === stopStep) lost = folder.afterPowerLoss(luckyBytes);
          steps += 1;
          return Promise.resolve();
        };
        await snapshotsIn(folder).take('x', two, true);
        const after = snapshotsIn(lost ?? folder.afterPowerLoss());
        expect(await after.list()).to.have.length(1);
        const contents = await after.read('x');
        expect(contents.get('a')).to.be.deep.oneOf(lost === null ? [['2']] : [['1'], ['2']]);
        // what was not whole is gone
        expect(await (lost ?? folder).names()).to.deep.equal(['x.json']);
      },
    );
  });

  it('that have changed on disk are shown as damaged and never restored', async () => {
    await holdsAsync(
      'a changed octet',
      [contentsArbitrary, fc.nat(), fc.integer({ min: 0, max: 7 })],
      async (contents, place, bit) => {
        const folder = new TestFolder();
        await snapshotsIn(folder).take('x', contents);
        const octets = Buffer.from(folder.octets('x.json'));
        const at = place % octets.length;
        octets[at] = (octets[at] ?? 0) ^ (1 << bit);
        folder.put('x.json', octets);
        const after = snapshotsIn(folder);
        const [info] = await after.list();
        expect(info)
          .to.include({ name: 'x', takenAtMs: null, octets: octets.length })
          .and.have.property('damage')
          .that.is.a('string');
        expect((await refusal(after.read('x'))).code).to.equal('COMMAND_CONFLICT');
        await after.remove('x');
        expect(await folder.names()).to.deep.equal([]);
      },
    );
  });

  it('of a newer form are refused, and those of the form before are restored', async () => {
    const folder = new TestFolder();
    const snapshots = snapshotsIn(folder);
    const inForm = (form: number) => {
      const body = `{"derbench_snapshot":${form},"taken_at":"2026-06-21T12:00:00Z","derbench":"1","slots":{"a":[1]}`;
      const sum = crc32(body).toString(16).padStart(8, '0');
      folder.put('x.json', Buffer.from(`${body},"crc32":"${sum}"}\n`));
    };
    inForm(snapshotVersion - 1);
    expect([...(await snapshots.read('x'))]).to.deep.equal([...one]);
    inForm(snapshotVersion + 1);
    const [next, last] = [snapshotVersion + 1, snapshotVersion];
    expect(await refusal(snapshots.read('x'))).to.deep.equal({
      code: 'COMMAND_CONFLICT',
      words: `the snapshot x was written by a newer derbench (form ${next}; this one reads up to ${last})`,
    });
  });

  it('keep their names; overwrite is asked for, and replaces the file alone', async () => {
    const folder = new TestFolder();
    const snapshots = snapshotsIn(folder);
    await snapshots.take('x', one);
    expect(await refusal(snapshots.take('x', two))).to.include({ code: 'COMMAND_CONFLICT' });
    expect((await snapshots.read('x')).get('a')).to.deep.equal(['1']);
    await snapshots.take('x', two, true);
    expect((await snapshots.read('x')).get('a')).to.deep.equal(['2']);
    const { code, words } = await refusal(snapshots.take('X', one, true));
    expect(code).to.equal('COMMAND_CONFLICT');
    expect(words).to.include('case of letters');
    expect(await snapshots.list()).to.have.length(1);
  });

  for (const name of ['', '.', '..', '.x', '-x', 'a/b', 'a\\b', 'ä', 'a b', 'x'.repeat(65), 'a\n'])
    it(`refuse the name ${JSON.stringify(name)}`, async () => {
      const folder = new TestFolder();
      const snapshots = snapshotsIn(folder);
      for (const work of [snapshots.take(name, one), snapshots.read(name), snapshots.remove(name)])
        expect(await refusal(work)).to.include({ code: 'COMMAND_BAD_VALUE' });
      expect(await folder.names()).to.deep.equal([]);
    });

  it('stay within their number and octets; one that is overwritten makes its own room', async () => {
    const folder = new TestFolder();
    const { octets } = await snapshotsIn(new TestFolder()).take('a', one);
    const few = snapshotsIn(folder, { maxSnapshots: 2, maxBytes: Infinity });
    await few.take('a', one);
    await few.take('b', one);
    expect(await refusal(few.take('c', one))).to.include({ code: 'COMMAND_CONFLICT' });
    await few.take('b', two, true);
    const small = (maxBytes: number) => snapshotsIn(folder, { maxSnapshots: 9, maxBytes });
    expect(await refusal(small(3 * octets - 1).take('c', one))).to.include({ code: 'COMMAND_CONFLICT' });
    await small(2 * octets).take('a', two, true);
    await small(3 * octets).take('c', one);
    expect((await few.list()).map(({ name }) => name)).to.deep.equal(['a', 'b', 'c']);
  });

  it('of calls at one time are taken one after the other', async () => {
    const snapshots = snapshotsIn(new TestFolder(), { maxSnapshots: 2, maxBytes: Infinity });
    const results = await Promise.allSettled(['a', 'b', 'c'].map((name) => snapshots.take(name, one)));
    expect(results.map(({ status }) => status)).to.deep.equal(['fulfilled', 'fulfilled', 'rejected']);
  });

  it('that the disk refuses leave no file, and the next one is taken', async () => {
    const folder = new TestFolder();
    const snapshots = snapshotsIn(folder);
    folder.failure = 'ENOSPC: no space left on device';
    const { code, words } = await refusal(snapshots.take('x', one));
    expect(code).to.equal('COMMAND_CONFLICT');
    expect(words).to.include('ENOSPC');
    expect(await snapshots.list()).to.deep.equal([]);
    folder.failure = null;
    await snapshots.take('x', one);
    expect(await snapshots.list()).to.have.length(1);
  });

  it('there is not are refused', async () => {
    const snapshots = snapshotsIn(new TestFolder());
    expect(await refusal(snapshots.read('x'))).to.include({ code: 'UNKNOWN_RESOURCE' });
    expect(await refusal(snapshots.remove('x'))).to.include({ code: 'UNKNOWN_RESOURCE' });
  });

  it('say the truth about a file that has changed since the last list', async () => {
    const folder = new TestFolder();
    const snapshots = snapshotsIn(folder);
    await snapshots.take('x', one);
    const damage = async () => (await snapshots.list())[0]?.damage;
    expect(await damage()).to.equal(null);
    const octets = Buffer.from(folder.octets('x.json'));
    folder.put('x.json', Buffer.concat([octets, Buffer.from(' ')]));
    expect(await damage()).to.include('damaged');
    folder.put('x.json', octets);
    expect(await damage()).to.equal(null);
    // the same time and size, as after a failure of the disk
    const stamp = folder.stamp('x.json');
    folder.stamp = () => stamp;
    const turned = Buffer.from(octets);
    turned[5] = (turned[5] ?? 0) ^ 1;
    folder.put('x.json', turned);
    expect((await refusal(snapshots.read('x'))).code).to.equal('COMMAND_CONFLICT');
    expect(await damage(), 'after a refused restore').to.include('damaged');
  });

  it('a folder in the place of one is shown as damaged, and neither restored nor deleted', async () => {
    const root = mkdtempSync(join(tmpdir(), 'derbench-snapshots-'));
    try {
      mkdirSync(join(root, 'x.json'));
      const snapshots = new Snapshots({ folder: openFolder(root), version: '1.2.3', nowMs: () => nowMs });
      const [info, ...others] = await snapshots.list();
      expect(others).to.deep.equal([]);
      expect(info).to.include({ name: 'x', takenAtMs: null, octets: 0 });
      expect(info?.damage).to.include('cannot be read');
      expect((await refusal(snapshots.read('x'))).code).to.equal('COMMAND_CONFLICT');
      expect((await refusal(snapshots.remove('x'))).code).to.equal('COMMAND_CONFLICT');
      expect(existsSync(join(root, 'x.json'))).to.equal(true);
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});
