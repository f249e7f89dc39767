import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createPathShortener } from '../../../src/core/log/install-path.ts';
import { createLogBook } from '../../../src/core/log/log.ts';

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

  it('ends whole paths only, and a program in the root directory has nothing to hide', () => {
    const shorten = createPathShortener('/app/');
    expect(shorten('open /app/dist/a.js, /srv/app/x, file:///app/b.js')).to.equal('open dist/a.js, /srv/app/x, b.js');
    expect(createPathShortener('/')('open /dist/a.js')).to.equal('open /dist/a.js');
  });
});
