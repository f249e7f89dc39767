import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { createPathShortener, createLogBook } from '../../../src/core/log/log.ts';
import { packageFile } from '../../../src/core/package-files.ts';

describe('the place of the installation', () => {
  it('is not in the lines that clients can read; printed lines have it', () => {
    let printed = '';
    const book = createLogBook({
      write: (line) => {
        printed += line;
      },
    });
    const file = fileURLToPath(new URL('../../../config/profiles/a.yaml', import.meta.url));
    book.logger('Lab').warning(`EMFILE: too many open files, open '${file}' at file://${file}:1:2`);
    const [entry] = book.entries();
    expect(entry?.message).to.equal(
      "EMFILE: too many open files, open 'config/profiles/a.yaml' at config/profiles/a.yaml:1:2",
    );
    expect(printed).to.contain(file);
  });

  it('is the same in a build, whose files lie less deep', async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'derbench-path-')));
    try {
      const { bundle } = (await import(packageFile('scripts/bundle.mjs'))) as {
        bundle: (entries: Readonly<Record<string, string>>, folder: string) => Promise<unknown>;
      };
      await bundle({ built: 'src/core/log/log.ts' }, join(folder, 'dist'));
      await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
      const built = (await import(pathToFileURL(join(folder, 'dist', 'built.js')).href)) as {
        createPathShortener: typeof createPathShortener;
      };
      expect(built.createPathShortener()(`open '${folder}/config/a.yaml'`)).to.equal("open 'config/a.yaml'");
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('ends whole paths only, and a program in the root directory has nothing to hide', () => {
    const shorten = createPathShortener('/app/');
    expect(shorten('open /app/dist/a.js, /srv/app/x, file:///app/b.js')).to.equal('open dist/a.js, /srv/app/x, b.js');
    expect(createPathShortener('/')('open /dist/a.js')).to.equal('open /dist/a.js');
  });
});
