import { expect } from 'chai';
import { createLogBook } from '../../../src/core/log/log.ts';
import type { LogBook } from '../../../src/core/log/log.ts';
import { throughFile } from '../../support/continuation.ts';

const silentBook = () => createLogBook({ write: () => undefined });

/** Writes lines that differ, and returns the number of the last one. */
function write(book: LogBook, count: number): number {
  const log = book.logger('AC');
  for (let i = 0; i < count; i += 1) log.info(`line ${i} of ${count}`);
  return book.entries({ limit: 1 })[0]!.id;
}

describe('the numbers of log lines over a restart', () => {
  it('go on above all lines of the earlier process, also those after its last save', () => {
    const first = silentBook();
    write(first, 3);
    const saved = throughFile(first.kept().save());
    const last = write(first, 8000);
    const second = silentBook();
    write(second, 2);
    second.kept().restore(saved);
    expect(write(second, 1)).to.be.above(last);
    expect(
      second
        .entries()
        .map(({ id }) => id)
        .slice(0, 2),
    ).to.deep.equal([1, 2]);
  });

  it('rise from process to process', () => {
    let last = 0;
    let saved = throughFile(silentBook().kept().save());
    for (let start = 0; start < 5; start += 1) {
      const book = silentBook();
      book.kept().restore(saved);
      const next = write(book, 1);
      expect(next).to.be.above(last);
      last = next;
      saved = throughFile(book.kept().save());
    }
  });

  it('are saved anew a thousand lines later, not with each line', () => {
    const book = silentBook();
    const saved = JSON.stringify(book.kept().save());
    write(book, 900);
    expect(JSON.stringify(book.kept().save())).to.equal(saved);
    write(book, 200);
    expect(JSON.stringify(book.kept().save())).to.not.equal(saved);
  });
});
