import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { SimError } from '../../src/core/errors.ts';
import { takeLock } from '../../src/state/lock.ts';
import { codeOf } from '../support/map.ts';

const nowMs = Date.parse('2026-06-21T12:00:00Z');
const never = () => () => undefined;

describe('lock of a state folder', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-lock-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  const take = () => takeLock(folder, never, () => nowMs);
  const leave = (holder: unknown, ageS = 0) => {
    const path = join(folder, 'lock');
    writeFileSync(path, typeof holder === 'string' ? holder : JSON.stringify(holder));
    const at = new Date(nowMs - ageS * 1000);
    utimesSync(path, at, at);
  };

  it('is for one process at a time, whose number the refusal names', () => {
    const lock = take();
    try {
      take();
      expect.fail('a second lock');
    } catch (error) {
      expect(error).to.be.instanceOf(SimError);
      expect(String(error)).to.include(`process ${process.pid}`).and.to.include(folder);
    }
    lock.release();
    take().release();
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('of a process that has ended is taken over at once, also if its number is in use again', () => {
    // the same number with another start, as after a restart of a container
    leave({ pid: process.pid, host: hostname(), started: 'boot/1' });
    take().release();
    leave({ pid: process.pid, host: hostname(), started: null });
    take().release();
    leave({ pid: 2 ** 22 + 1, host: hostname(), started: null });
    take().release();
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('of a dead process that cannot be removed is an error of the disk, and names no process', () => {
    leave({ pid: 2 ** 22 + 1, host: hostname(), started: null });
    mkdirSync(join(folder, `lock.${process.pid}`));
    expect(take).to.throw(/^(EISDIR|EPERM|ENOTEMPTY)\b.*rename/);
    expect(readdirSync(folder)).to.include('lock');
  });

  it('that is a folder belongs to no process, and each refusal has its path', async () => {
    const path = join(folder, 'lock');
    const lock = take();
    rmSync(path);
    mkdirSync(path);
    expect(take).to.throw(SimError, `${path} is no file`);
    const words = await lock.check().catch((error: unknown) => String(error));
    expect(words).to.include(`${path} cannot be read: EISDIR`);
    lock.release();
  });

  it('of another machine counts for 20 s after its last sign of life', () => {
    leave({ pid: process.pid, host: 'elsewhere', started: null }, 19);
    expect(codeOf(take)).to.equal('CONFIG_INVALID');
    leave({ pid: process.pid, host: 'elsewhere', started: null }, 21);
    take().release();
  });

  it('that is half written counts as one of another machine', () => {
    leave('{"pid": 1', 1);
    expect(codeOf(take)).to.equal('CONFIG_INVALID');
    leave('{"pid": 1', 21);
    take().release();
  });

  it('gives signs of life', () => {
    let beat: () => void = () => undefined;
    const lock = takeLock(
      folder,
      (ms, run) => {
        expect(ms).to.be.lessThan(10_000);
        beat = run;
        return () => {
          beat = () => undefined;
        };
      },
      () => nowMs,
    );
    expect(beat).to.not.throw();
    lock.release();
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('is looked at: held, removed by others and placed again, or taken by another process', async () => {
    const lock = take();
    const path = join(folder, 'lock');
    expect(await lock.check()).to.deep.equal({ holder: null, wasRemoved: false });
    rmSync(folder, { recursive: true });
    expect(await lock.check()).to.deep.equal({ holder: null, wasRemoved: true });
    expect(await lock.check()).to.deep.equal({ holder: null, wasRemoved: false });
    rmSync(path);
    leave({ pid: 7, host: 'elsewhere', started: null });
    expect(await lock.check()).to.deep.equal({ holder: 'process 7 of elsewhere', wasRemoved: false });
    const left = readFileSync(path, 'utf8');
    lock.release();
    expect(readFileSync(path, 'utf8'), 'the lock of the other process stays').to.equal(left);
  });

  for (const text of ['', '{"pid": 1'])
    it(`with the text '${text}' is unclear for 20 s, as one that another process writes, then placed again`, async () => {
      const lock = take();
      leave(text, 19);
      const error = await lock.check().then(String, (reason: unknown) => String(reason));
      expect(error).to.include(folder).and.to.include('cannot be read');
      expect(readFileSync(join(folder, 'lock'), 'utf8')).to.equal(text);
      leave(text, 21);
      expect(await lock.check()).to.deep.equal({ holder: null, wasRemoved: true });
      expect(await lock.check()).to.deep.equal({ holder: null, wasRemoved: false });
      lock.release();
      expect(readdirSync(folder)).to.deep.equal([]);
    });

  it('of another process gets no signs of life', async () => {
    let beat: () => void = () => undefined;
    const lock = takeLock(
      folder,
      (_ms, run) => {
        beat = run;
        return never();
      },
      () => nowMs,
    );
    leave({ pid: 7, host: 'elsewhere', started: null });
    const path = join(folder, 'lock');
    const before = statSync(path).mtimeMs;
    beat();
    // a sign of life would take two steps on the disk, each of these takes three
    for (let i = 0; i < 5; i += 1) await lock.check();
    expect(statSync(path).mtimeMs).to.equal(before);
    lock.release();
  });
});
