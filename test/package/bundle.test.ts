/** What the bundle of the program loads. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { packageFile } from '../../src/core/package-files.ts';

interface Bundler {
  readonly bundle: (entryPoints: Readonly<Record<string, string>>, folder: string) => Promise<string[]>;
}

describe('The bundle', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'derbench-bundle-'));
  });
  after(() => rm(folder, { recursive: true }));

  it('takes node:http without undici, which an import of all its exports loads', async () => {
    const { bundle } = (await import(packageFile('scripts/bundle.mjs'))) as Bundler;
    const entry = join(folder, 'entry.mjs');
    await writeFile(
      entry,
      `import { createServer, STATUS_CODES } from 'node:http';
      const isLoaded = process.moduleLoadList.some((name) => name.includes('undici'));
      console.log(typeof createServer, STATUS_CODES[404], isLoaded);`,
    );
    await bundle({ program: entry }, join(folder, 'out'));
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'out', 'program.js')]);
    expect(stdout).to.equal('function Not Found false\n');
  });
});
