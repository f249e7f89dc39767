import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { HistoryFiles } from '../../src/state/history-files.ts';
import type { HistoryLimits } from '../../src/state/history-files.ts';
import { TestFolder } from '../support/state-folder.ts';

const hourMs = 3_600_000;
const bigLimits: HistoryLimits = { spanMs: 24 * hourMs, bytes: 1e9, segmentBytes: 1e9 };

/** A text that compression does not shorten much. */
const long = (seed: number) => Array.from({ length: 600 }, (_, i) => ((seed + i) * 2654435761) % 4294967296).join(',');

describe('history in files', () => {
  let folder: TestFolder;
  let nowMs: number;
  let lines: string[];

  beforeEach(() => {
    folder = new TestFolder();
    nowMs = 1_000_000 * hourMs;
    lines = [];
  });

  const open = (limits: Partial<HistoryLimits> = {}) =>
    new HistoryFiles({
      folder,
      log: { info: (line) => lines.push(line), warning: (line) => lines.push(line) },
      nowMs: () => nowMs,
      limits: { ...bigLimits, ...limits },
    });

  async function batches(files = open()): Promise<string[]> {
    const taken: string[] = [];
    await files.read((batch) => taken.push(batch.toString()));
    return taken;
  }

  /** @returns for each text whether it was the first one of its segment in this process */
  async function write(files: HistoryFiles, ...texts: string[]): Promise<boolean[]> {
    const firsts: boolean[] = [];
    for (const text of texts)
      await files.write((isFirst) => {
        firsts.push(isFirst);
        return Buffer.from(text);
      });
    return firsts;
  }

  const names = async () => (await folder.names()).map((name) => Number.parseInt(name, 10));

  it('goes on in the segment of the process before, also after one that was killed', async () => {
    expect(await write(open(), 'a', 'b')).to.deep.equal([true, false]);
    folder = folder.afterKill();
    const second = open();
    expect(await batches(second)).to.deep.equal(['a', 'b']);
    expect(await write(second, 'c', 'd')).to.deep.equal([true, false]);
    await second.close();
    folder = folder.afterPowerLoss();
    expect(await batches()).to.deep.equal(['a', 'b', 'c', 'd']);
    expect(await names()).to.deep.equal([1]);
    expect(lines).to.deep.equal([]);
  });

  it('begins a segment after its time or size, and removes the oldest beyond the span', async () => {
    const files = open({ spanMs: 24 * hourMs });
    for (let hour = 0; hour < 30; hour += 1) {
      expect(await write(files, `${hour}`, `${hour}b`)).to.deep.equal([true, false]);
      nowMs += hourMs;
    }
    const kept = await batches();
    expect(kept.at(-1)).to.equal('29b');
    // the last write was at hour 29: the segment of hour 5 ends 24 h before
    expect(kept[0]).to.equal('4');
    expect(kept).to.have.length(2 * 26);
  });

  it('removes the oldest segments beyond the octets, also those of earlier processes', async () => {
    const limits = { bytes: 60_000, segmentBytes: 10_000 };
    const texts = Array.from({ length: 60 }, (_, i) => long(i));
    await write(open(limits), ...texts);
    const total = async () => (await folder.names()).reduce((sum, name) => sum + folder.octets(name).length, 0);
    expect(await total()).to.be.within(45_000, 60_000);
    const before = await batches();
    expect(texts.slice(-before.length)).to.deep.equal(before);
    const second = open(limits);
    await batches(second);
    await write(second, ...texts);
    expect(await total()).to.be.within(45_000, 60_000);
    expect(lines).to.deep.equal([]);
  });

  it('a write that did not end is cut off without a word, wherever it ended', async () => {
    await write(open(), 'a', 'b');
    const [name = ''] = await folder.names();
    const whole = folder.octets(name);
    const second = open();
    await batches(second);
    await write(second, 'c');
    const longer = folder.octets(name);
    for (let length = whole.length + 1; length < longer.length; length += 1) {
      folder = new TestFolder();
      folder.put(name, longer.subarray(0, length));
      const files = open();
      expect(await batches(files), `${length} octets`).to.deep.equal(['a', 'b']);
      await write(files, 'd');
      expect(await batches(), `${length} octets`).to.deep.equal(['a', 'b', 'd']);
    }
    folder.put(name, Buffer.concat([whole, Buffer.alloc(500)]));
    expect(await batches(), 'octets that were not on the disk').to.deep.equal(['a', 'b']);
    expect(lines).to.deep.equal([]);
  });

  it('a damaged segment is left out with one warning, and the others are read', async () => {
    const files = open({ segmentBytes: 1 });
    await write(files, 'a', 'b', 'c');
    const [, damaged = ''] = await folder.names();
    const octets = Buffer.from(folder.octets(damaged));
    octets[12]! ^= 1;
    folder.put(damaged, octets);
    const next = open();
    expect(await batches(next)).to.deep.equal(['a', 'c']);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/segment 00000002\.segment of the history in \/state is left out/);
    await write(next, 'd');
    expect(await names(), 'a damaged segment makes no other one old').to.deep.equal([1, 2, 3]);
  });

  for (const [words, octets] of [
    ['other octets', Buffer.alloc(200, 0xa5)],
    ['zeros', Buffer.alloc(200)],
  ] as const)
    it(`a segment of ${words} is left out with one warning, and is followed by another one`, async () => {
      folder.put('00000003.segment', octets);
      const files = open();
      expect(await batches(files)).to.deep.equal([]);
      expect(lines).to.deep.equal([
        'the segment 00000003.segment of the history in /state is left out: it has no head',
      ]);
      await write(files, 'a');
      expect(await names()).to.deep.equal([3, 4]);
      expect(await batches()).to.deep.equal(['a']);
    });

  it('a segment of a newer form is left out with one warning, and stays as it is', async () => {
    const head = Buffer.from(JSON.stringify({ derbench_history: 2, from_ms: nowMs }));
    const prefix = Buffer.alloc(8);
    prefix.writeUInt32LE(head.length, 0);
    prefix.writeUInt32LE(crc32(head), 4);
    const octets = Buffer.concat([prefix, head]);
    folder.put('00000001.segment', octets);
    const files = open();
    expect(await batches(files)).to.deep.equal([]);
    expect(lines).to.deep.equal([
      'the segment 00000001.segment of the history in /state is left out: form 2, and this version reads form 1',
    ]);
    await write(files, 'a');
    expect(folder.octets('00000001.segment')).to.deep.equal(octets);
    expect(await names()).to.deep.equal([1, 2]);
  });

  it('a folder in the place of a segment is left out with one warning, and its name is not used', async () => {
    await write(open(), 'a');
    folder.folders = () => Promise.resolve(['00000002.segment', 'others']);
    const files = open({ segmentBytes: 1 });
    expect(await batches(files)).to.deep.equal(['a']);
    expect(lines).to.deep.equal(['the segment 00000002.segment of the history in /state is left out: it is a folder']);
    await write(files, 'b');
    expect(await names()).to.deep.equal([1, 3]);
  });

  it('a damaged last segment is not written on', async () => {
    await write(open(), 'a', 'b', 'c');
    const [name = ''] = await folder.names();
    const octets = Buffer.from(folder.octets(name));
    octets[12]! ^= 1;
    folder.put(name, octets);
    const next = open();
    expect(await batches(next)).to.deep.equal([]);
    expect(await write(next, 'd')).to.deep.equal([true]);
    expect(await batches()).to.deep.equal(['d']);
  });

  it('a folder whose files cannot be listed is one warning, and no file in it is touched', async () => {
    await write(open(), 'a');
    const files = open();
    const list = folder.names.bind(folder);
    folder.names = () => Promise.reject(new Error('EIO: i/o error'));
    expect(await batches(files)).to.deep.equal([]);
    expect(await write(files, 'b')).to.deep.equal([]);
    folder.names = list;
    expect(await batches()).to.deep.equal(['a']);
    expect(lines).to.deep.equal(['the history in /state cannot be read: EIO: i/o error; no samples are kept']);
  });

  it('a disk that fails is one warning, and is tried again after a minute in a new segment', async () => {
    const files = open();
    await write(files, 'a');
    folder.failure = 'ENOSPC: no space left on device';
    expect(await write(files, 'b', 'c')).to.deep.equal([false]);
    nowMs += 60_000;
    expect(await write(files, 'd', 'e'), 'the disk takes no segment').to.deep.equal([]);
    folder.failure = null;
    expect(await write(files, 'f')).to.deep.equal([]);
    nowMs += 60_000;
    expect(await write(files, 'g')).to.deep.equal([true]);
    expect(lines).to.have.length(2);
    expect(lines[0]).to.include('the history cannot be written to /state: ENOSPC');
    expect(lines[1]).to.equal('the history is written to /state again');
    expect(await batches()).to.deep.equal(['a', 'g']);
  });
});
