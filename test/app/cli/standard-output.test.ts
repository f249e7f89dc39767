import { execFileSync } from 'node:child_process';
import { closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { writeWhole } from '../../../src/app/cli/standard-output.ts';
import { skip } from '../../support/skip.ts';

/** Words of the failure; null: none. */
const failureOf = (work: Promise<void>) =>
  work.then(
    () => null,
    (error: unknown) => (error as Error).message,
  );

describe('standard output', () => {
  /** the stream of a full pipe */
  const full = {
    write: (_text: unknown, end?: unknown) => {
      const error = Object.assign(new Error('ENOSPC: no space left on device, write'), { syscall: 'write' });
      if (typeof end === 'function') (end as (error: Error) => void)(error);
      return true;
    },
  };

  it('as a file gets all octets without its stream, which loses those that a full disk refuses', async function () {
    const root = mkdtempSync(join(tmpdir(), 'derbench-output-'));
    const path = join(root, 'x');
    const file = openSync(path, 'w');
    try {
      expect(await failureOf(writeWhole('a', full, file))).to.equal(null);
      expect(await failureOf(writeWhole('ä', full, file))).to.equal(null);
      expect(readFileSync(path, 'utf8')).to.equal('aä');
    } finally {
      closeSync(file);
      rmSync(root, { recursive: true });
    }
    if (!existsSync('/dev/full')) skip(this, 'this machine has no /dev/full');
    const device = openSync('/dev/full', 'w');
    expect(await failureOf(writeWhole('a', full, device))).to.equal(
      'standard output cannot be written: no space left on device',
    );
    closeSync(device);
  });

  it('as a pipe is written by its stream, whose failure counts', async function () {
    if (process.platform === 'win32') skip(this, 'named pipes of files');
    const root = mkdtempSync(join(tmpdir(), 'derbench-output-'));
    const path = join(root, 'pipe');
    execFileSync('mkfifo', [path]);
    const pipe = openSync(path, constants.O_RDWR);
    try {
      expect(await failureOf(writeWhole('a', full, pipe))).to.include('no space left on device');
    } finally {
      closeSync(pipe);
      rmSync(root, { recursive: true });
    }
  });
});
