/** Files of a running simulator that others remove, replace or cut. */
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createStateControl } from '../../src/app/state-control.ts';
import { folderState } from '../../src/app/state.ts';
import type { State, StateFiles } from '../../src/app/state.ts';
import { SimError } from '../../src/core/errors.ts';
import { HistoryFiles } from '../../src/state/history-files.ts';
import { journalFile } from '../../src/state/journal.ts';
import { readState } from '../../src/state/folder-work.ts';
import { openFolder } from '../../src/state/files.ts';
import { HandTimers } from '../support/timers.ts';
import { HandWall } from '../support/wall.ts';

const codeOfRejection = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof SimError ? error.code : String(error)),
  );

describe('files of a running simulator in the hands of others', () => {
  let root: string;
  let path: string;
  let state: State;
  let files: StateFiles;
  let lines: string[];
  let failures: (string | null)[];
  /** timers of the state, by interval */
  let timers: (() => void)[];

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'derbench-hands-'));
    path = join(root, 'lab');
    [lines, failures, timers] = [[], [], []];
    const line = (text: string) => {
      lines.push(text);
    };
    const wall = new HandWall();
    state = folderState(path, {
      log: { debug: line, info: line, warning: line, error: line },
      wall,
      later: new HandTimers(wall).later,
      every(_ms, run) {
        timers.push(run);
        return () => {
          timers = timers.filter((each) => each !== run);
        };
      },
    });
    state.onFailure((reason) => {
      failures.push(reason);
    });
    await state.open();
    files = state.files!;
    await state.store.slot('a').replace([1]);
  });
  afterEach(async () => {
    await state.close();
    expect(timers).to.deep.equal([]);
    rmSync(root, { recursive: true });
  });

  const journal = () => join(path, journalFile);
  /** what a new process would find */
  const kept = () => readState(openFolder(path)).contents.get('a');
  const look = async (): Promise<void> => {
    for (const run of timers) run();
    await files.store.settled();
  };

  const controlOf = () =>
    createStateControl({
      state,
      owners: { save: () => undefined },
      wall: new HandWall(),
      log: { info: () => undefined },
      version: '1',
      onRestart: undefined,
    });

  const acts: Readonly<Record<string, () => void>> = {
    removed: () => {
      rmSync(journal());
    },
    'replaced by a copy': () => {
      writeFileSync(join(root, 'copy'), readFileSync(journal()));
      renameSync(join(root, 'copy'), journal());
    },
    cut: () => {
      truncateSync(journal(), 10);
    },
    'removed with its folder': () => {
      rmSync(path, { recursive: true });
    },
  };
  for (const [words, act] of Object.entries(acts))
    it(`a journal that is ${words} is there again after a look, with a warning and the alarm meanwhile`, async () => {
      await look();
      expect(lines).to.deep.equal([]);
      act();
      await look();
      expect(kept()).to.deep.equal(['1']);
      expect(readdirSync(path).sort()).to.deep.equal([journalFile, 'lock']);
      expect(failures).to.have.length(2);
      expect(failures[1]).to.equal(null);
      expect(lines.join()).to.include(`${journalFile} in ${path} `).and.to.include('not by this process');
      await state.store.slot('a').append(2);
      expect(kept()).to.deep.equal(['1', '2']);
      expect(failures).to.have.length(2);
    });

  it('a lock that is removed is placed again with a warning', async () => {
    rmSync(join(path, 'lock'));
    await look();
    expect(readdirSync(path).sort()).to.deep.equal([journalFile, 'lock']);
    expect(lines).to.deep.equal([
      `the lock of ${path} was removed or damaged, not by this process; it is placed again`,
    ]);
    expect(failures).to.deep.equal([]);
  });

  it('a folder whose lock another process has is left to it, snapshots and history included', async () => {
    const history = new HistoryFiles({
      folder: files.openFolder(join(path, 'history')),
      log: { info: () => undefined, warning: () => undefined },
      nowMs: () => 0,
      limits: { spanMs: 1e9, bytes: 1e9, segmentBytes: 1e9 },
      hasFolder: () => !files.store.report.isLost,
    });
    writeFileSync(join(path, 'lock'), '{"pid":7,"host":"elsewhere","started":null}');
    const before = readFileSync(journal());
    await look();
    expect(failures).to.deep.equal(['process 7 of elsewhere has the folder now']);
    await state.store.slot('a').append(2);
    await history.write(() => Buffer.from('x'));
    await history.close();
    expect(readFileSync(journal())).to.deep.equal(before);
    expect(readdirSync(path).sort()).to.deep.equal([journalFile, 'lock']);
    const control = createStateControl({
      state,
      owners: { save: () => undefined },
      wall: new HandWall(),
      log: { info: () => undefined },
      version: '1',
      onRestart: () => undefined,
    });
    expect(control.failure).to.equal('process 7 of elsewhere has the folder now');
    expect(await codeOfRejection(control.take('s', false))).to.equal('COMMAND_CONFLICT');
    expect(await codeOfRejection(control.prepare('s'))).to.equal('COMMAND_CONFLICT');
    await state.close();
    expect(readFileSync(join(path, 'lock'), 'utf8')).to.include('elsewhere');
  });

  for (const removed of ['history/00000001.segment', 'history', ''])
    it(`a segment of the history is followed by another one after the removal of ${removed || 'all'}`, async () => {
      const warnings: string[] = [];
      const options = {
        folder: files.openFolder(join(path, 'history')),
        log: { info: () => undefined, warning: (line: string) => warnings.push(line) },
        nowMs: () => 0,
        limits: { spanMs: 1e9, bytes: 1e9, segmentBytes: 1e9 },
      };
      const history = new HistoryFiles(options);
      const firsts: boolean[] = [];
      const write = (text: string) =>
        history.write((isFirst) => {
          firsts.push(isFirst);
          return Buffer.from(text);
        });
      await write('a');
      await write('b');
      rmSync(join(path, removed), { recursive: true });
      await write('c');
      await write('d');
      await history.close();
      expect(firsts).to.deep.equal([true, false, true, false]);
      expect(warnings).to.have.length(1);
      const read: string[] = [];
      await new HistoryFiles(options).read((batch) => read.push(batch.toString()));
      expect(read).to.deep.equal(['c', 'd']);
    });

  it('snapshots whose folder is removed are none, and new ones can be taken', async () => {
    const control = controlOf();
    await control.take('s', false);
    rmSync(join(path, 'snapshots'), { recursive: true });
    expect(await control.snapshots()).to.deep.equal([]);
    mkdirSync(join(path, 'snapshots'));
    rmSync(join(path, 'snapshots'), { recursive: true });
    expect(await control.take('t', false)).to.include({ name: 't' });
  });

  it('snapshots whose folder is a file are none, and taking one says why it cannot be', async () => {
    writeFileSync(join(path, 'snapshots'), '');
    const control = controlOf();
    expect(await control.snapshots()).to.deep.equal([]);
    expect(await codeOfRejection(control.take('s', false))).to.equal('COMMAND_CONFLICT');
  });

  it('a folder that has become a file is a failure, and no error of the report', async () => {
    rmSync(path, { recursive: true });
    writeFileSync(path, '');
    await look();
    const { report } = controlOf();
    expect(report).to.include({ lastSaveMs: null });
    expect(report.failure).to.include('EEXIST');
    rmSync(path);
  });

  it('a history whose folder is a file is one warning, and nothing more', async () => {
    writeFileSync(join(path, 'history'), '');
    const warnings: string[] = [];
    const history = new HistoryFiles({
      folder: files.openFolder(join(path, 'history')),
      log: { info: () => undefined, warning: (line: string) => warnings.push(line) },
      nowMs: () => 0,
      limits: { spanMs: 1e9, bytes: 1e9, segmentBytes: 1e9 },
    });
    await history.read(() => undefined);
    await history.write(() => Buffer.from('a'));
    await history.close();
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include('EEXIST').and.to.include('a restart would lose later samples');
  });
});
