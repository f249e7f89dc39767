/** What the bundle of the program loads. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { packageFile } from '../../src/core/package-files.ts';

interface Bundler {
  readonly bundle: (entryPoints: Readonly<Record<string, string>>, folder: string) => Promise<string[]>;
}

async function bundled(entryPoints: Readonly<Record<string, string>>, folder: string): Promise<readonly string[]> {
  const { bundle } = (await import(packageFile('scripts/bundle.mjs'))) as Bundler;
  await bundle(entryPoints, folder);
  return readdir(folder);
}

describe('The bundle', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'derbench-bundle-'));
  });
  after(() => rm(folder, { recursive: true }));

  it('takes node:http without undici, which an import of all its exports loads', async () => {
    const entry = join(folder, 'entry.mjs');
    await writeFile(
      entry,
      `import { createServer, STATUS_CODES } from 'node:http';
      const isLoaded = process.moduleLoadList.some((name) => name.includes('undici'));
      console.log(typeof createServer, STATUS_CODES[404], isLoaded);`,
    );
    await bundled({ program: entry }, join(folder, 'out'));
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'out', 'program.js')]);
    expect(stdout).to.equal('function Not Found false\n');
  });

  it('makes `require` only in a file that uses it', async () => {
    const library = join(folder, 'library.cjs');
    await writeFile(library, `module.exports = __filename;`);
    await writeFile(join(folder, 'plain.mjs'), `#!/usr/bin/env node\nconsole.log('plain');`);
    await writeFile(
      join(folder, 'using.mjs'),
      `#!/usr/bin/env node\nimport name from './library.cjs'; console.log(name);`,
    );
    const out = join(folder, 'require');
    await bundled({ plain: join(folder, 'plain.mjs'), using: join(folder, 'using.mjs') }, out);
    expect(await readFile(join(out, 'plain.js'), 'utf8')).not.to.contain('createRequire');
    const { stdout } = await promisify(execFile)(process.execPath, [join(out, 'using.js')]);
    expect(stdout).to.equal(`${join(out, 'using.js')}\n`);
  });

  it('has one file for each part of the start if each imports the earlier ones', async () => {
    const texts = {
      first: `globalThis.first = true;`,
      shared: `globalThis.shared = true;`,
      second: `import './shared.mjs'; globalThis.second = true;`,
      third: `import './shared.mjs'; globalThis.third = true;`,
      main: `import './first.mjs'; import './second.mjs'; import './third.mjs';`,
    };
    const pathOf = (name: string) => join(folder, `${name}.mjs`);
    await Promise.all(Object.entries(texts).map(([name, text]) => writeFile(pathOf(name), text)));
    const order = ['first', 'second', 'third'].map(pathOf);
    const parts = Object.fromEntries(
      order.map((_, at) => [`part-${at}`, `several:${order.slice(0, at + 1).join(',')}`]),
    );
    const files = await bundled({ main: pathOf('main'), ...parts }, join(folder, 'parts'));
    expect(files.filter((file) => file.startsWith('chunk-'))).to.have.length(3);
  });
});
