import { expect } from 'chai';
import fc from 'fast-check';
import { createLogBook } from '../../../src/core/log/log.ts';
import type { LogBook } from '../../../src/core/log/log.ts';
import { holds } from '../../support/property.ts';
import { HandWall } from '../../support/wall.ts';

interface Fixture {
  readonly book: LogBook;
  readonly lines: string[];
  readonly messages: () => string[];
  /** Moves the clock; a timer that is due by then fires at its time. */
  readonly advance: (ms: number) => void;
  readonly timers: () => number;
}

function make(): Fixture {
  const wall = new HandWall();
  const lines: string[] = [];
  const timers = new Map<() => void, number>();
  const book = createLogBook({
    write: (line) => {
      lines.push(line.trim().split('] ')[1] ?? '');
    },
    clock: wall,
    later(ms, run) {
      timers.set(run, wall.ms + ms);
      return () => {
        timers.delete(run);
      };
    },
  });
  return {
    book,
    lines,
    messages: () => book.entries().map(({ message }) => message),
    timers: () => timers.size,
    advance(ms) {
      const end = wall.ms + ms;
      for (const [run, at] of [...timers]) {
        if (at > end) continue;
        wall.ms = at;
        timers.delete(run);
        run();
      }
      wall.ms = end;
    },
  };
}

const repeat = (times: number, run: (i: number) => void) => {
  for (let i = 0; i < times; i += 1) run(i);
};

describe('log: the same line again and again', () => {
  it('is written ten times in a second, and then counted', () => {
    const { book, lines, messages, advance } = make();
    repeat(25, () => {
      book.logger('Modbus').warning('broken frame', 2);
    });
    expect(messages()).to.deep.equal(Array.from({ length: 10 }, () => 'broken frame'));
    advance(1000);
    expect(messages().slice(10)).to.deep.equal(['broken frame ... repeated 15 more times']);
    expect(lines).to.deep.equal(messages());
    expect(book.entries().at(-1)).to.include({ level: 'warning', module: 'Modbus', deviceIndex: 2, id: 11 });
  });

  it('passes freely up to ten times, with no count after it and no timer', () => {
    const { book, messages, advance, timers } = make();
    repeat(10, () => {
      book.logger('AC').info('x');
    });
    expect(timers()).to.equal(0);
    advance(5000);
    expect(messages()).to.deep.equal(Array.from({ length: 10 }, () => 'x'));
  });

  it('begins anew each second', () => {
    const { book, messages, advance } = make();
    repeat(3, () => {
      repeat(11, () => {
        book.logger('AC').info('x');
      });
      advance(1000);
    });
    expect(messages()).to.have.lengthOf(33);
    expect(messages().filter((text) => text === 'x ... repeated 1 more time')).to.have.lengthOf(3);
  });

  it('is counted before the next line when a second has gone without the timer', () => {
    const wall = new HandWall();
    const book = createLogBook({ write: () => undefined, clock: wall, later: () => () => undefined });
    repeat(12, () => {
      book.logger('AC').info('x');
    });
    wall.advance(1000);
    book.logger('AC').info('y');
    expect(
      book
        .entries()
        .slice(10)
        .map(({ message }) => message),
    ).to.deep.equal(['x ... repeated 2 more times', 'y']);
  });

  it('is the same only with the same module, level, device and text', () => {
    const { book, messages, timers } = make();
    repeat(10, (i) => {
      book.logger('AC').info('x');
      book.logger('DC').info('x');
      book.logger('AC').error('x');
      book.logger('AC').info('x', 0);
      book.logger('AC').info('x', 1);
      book.logger('AC').info(`x ${i}`);
    });
    expect(messages()).to.have.lengthOf(60);
    expect(timers()).to.equal(0);
  });

  it('leaves room for its count within 4 KiB', () => {
    const { book, advance } = make();
    repeat(12, () => {
      book.logger('OCPP').info('m'.repeat(9000));
    });
    advance(1000);
    const last = book.entries().at(-1)?.message ?? '';
    expect(last.endsWith('m… ... repeated 2 more times')).to.equal(true);
    expect(Buffer.byteLength(last)).to.be.at.most(4096);
  });

  it('is counted at the end, and the timer is gone', () => {
    const { book, messages, timers } = make();
    repeat(11, () => {
      book.logger('Lab').info('x');
    });
    expect(timers()).to.equal(1);
    book.flush();
    expect(timers()).to.equal(0);
    expect(messages().at(-1)).to.equal('x ... repeated 1 more time');
    book.flush();
    expect(messages()).to.have.lengthOf(11);
  });

  it('does not hide other lines, however many, and is counted behind any number of them', () => {
    const { book, messages, advance } = make();
    repeat(3000, (i) => {
      book.logger('WS').info(`client ${i}`);
    });
    repeat(500, () => {
      book.logger('WS').info('same');
    });
    expect(messages()).to.have.lengthOf(3000 + 10);
    advance(1000);
    expect(messages().at(-1)).to.equal('same ... repeated 490 more times');
  });

  it('that nobody has said for a thousand others gives way, with its count', () => {
    const { book, messages } = make();
    repeat(12, () => {
      book.logger('WS').info('old');
    });
    repeat(999, (i) => {
      book.logger('WS').info(`client ${i}`);
    });
    expect(messages().filter((text) => text.startsWith('old'))).to.have.lengthOf(10);
    book.logger('WS').info('one more');
    expect(messages().slice(-2)).to.deep.equal(['old ... repeated 2 more times', 'one more']);
  });

  it('is written at most ten times in any second, and never held back at ten in a second', () => {
    const moves = fc.array(
      fc.record({ times: fc.integer({ min: 1, max: 30 }), ms: fc.integer({ min: 1, max: 1200 }) }),
      { minLength: 1, maxLength: 40 },
    );
    holds(
      'ten a second at most',
      moves,
      (all) => {
        const { book, advance } = make();
        for (const { times, ms } of all) {
          repeat(times, () => {
            book.logger('AC').info('x');
          });
          advance(ms);
        }
        const at = book
          .entries()
          .filter(({ message }) => message === 'x')
          .map(({ timeMs }) => timeMs);
        at.forEach((timeMs, i) => {
          expect(timeMs - (at[i - 10] ?? -Infinity)).to.be.at.least(1000);
        });
      },
      { runs: 200 },
    );
    const { book, messages, advance } = make();
    repeat(200, () => {
      book.logger('AC').info('x');
      advance(100);
    });
    expect(messages()).to.have.lengthOf(200);
  });

  it('is not let through again where a second ends', () => {
    const { book, messages, advance } = make();
    book.logger('Lab').info('first');
    advance(995);
    repeat(50, () => {
      book.logger('Lab').info('same');
    });
    advance(6);
    repeat(50, () => {
      book.logger('Lab').info('same');
    });
    expect(messages().filter((text) => text === 'same')).to.have.lengthOf(10);
    advance(1000);
    expect(messages().at(-1)).to.equal('same ... repeated 90 more times');
  });

  it('never loses a line without counting it', () => {
    const steps = fc.array(
      fc.record({
        text: fc.constantFrom('a', 'b', 'c'),
        times: fc.integer({ min: 1, max: 40 }),
        ms: fc.integer({ min: 0, max: 700 }),
      }),
      { maxLength: 30 },
    );
    holds(
      'no line is lost without a count',
      steps,
      (all) => {
        const { book, advance, messages } = make();
        const said: Record<string, number> = {};
        for (const { text, times, ms } of all) {
          repeat(times, () => {
            book.logger('AC').info(text);
          });
          said[text] = (said[text] ?? 0) + times;
          advance(ms);
        }
        book.flush();
        const counted: Record<string, number> = {};
        for (const message of messages()) {
          const [text = '', more] = message.split(' ... repeated ');
          counted[text] = (counted[text] ?? 0) + (more === undefined ? 1 : parseInt(more, 10));
        }
        expect(counted).to.deep.equal(said);
      },
      { runs: 200 },
    );
  });
});
