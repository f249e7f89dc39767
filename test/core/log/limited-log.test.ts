import { expect } from 'chai';
import { LimitedLog, onceEach } from '../../../src/core/log/limited-log.ts';
import type { Logger } from '../../../src/core/log/log.ts';
import { HandWall } from '../../support/wall.ts';

interface Fixture {
  readonly log: LimitedLog;
  readonly wall: HandWall;
  readonly lines: unknown[][];
  /** runs what waits, at its time */
  readonly pass: () => void;
}

function make(): Fixture {
  const wall = new HandWall();
  const lines: unknown[][] = [];
  const write =
    (level: string) =>
    (...given: unknown[]) => {
      lines.push([level, ...given.filter((each) => each !== undefined)]);
    };
  const logger: Logger = {
    debug: write('debug'),
    info: write('info'),
    warning: write('warning'),
    error: write('error'),
  };
  let due: (() => void) | null = null;
  const log = new LimitedLog(logger, wall, 'masters', (ms, run) => {
    due = () => {
      wall.advance(ms);
      run();
    };
    return () => {
      due = null;
    };
  });
  return {
    log,
    wall,
    lines,
    pass: () => {
      due?.();
    },
  };
}

const repeat = (times: number, run: (i: number) => void) => {
  for (let i = 0; i < times; i += 1) run(i);
};

describe('log: lines that somebody outside can cause at will', () => {
  it('ten in a second, then their number, though all differ', () => {
    const { log, lines, pass } = make();
    repeat(14, (i) => {
      log.info(`master ${i} closed`, i);
    });
    expect(lines).to.deep.equal(Array.from({ length: 10 }, (_, i) => ['info', `master ${i} closed`, i]));
    pass();
    expect(lines.slice(10)).to.deep.equal([['info', '4 more lines about masters were left out']]);
    log.info('next');
    expect(lines.at(-1)).to.deep.equal(['info', 'next']);
  });

  it('a flood at one level hides nothing at another', () => {
    const { log, lines } = make();
    repeat(50, (i) => {
      log.info(`master ${i}`);
    });
    log.warning('slow', 1);
    log.error('failed', undefined, 'stack');
    expect(lines.slice(10)).to.deep.equal([
      ['warning', 'slow', 1],
      ['error', 'failed', 'stack'],
    ]);
  });

  it('makes the text of a line only when the line is written', () => {
    const { log, lines } = make();
    let made = 0;
    repeat(14, () => {
      log.info(() => `text ${(made += 1)}`, 3);
    });
    expect(made).to.equal(10);
    expect(lines.at(-1)).to.deep.equal(['info', 'text 10', 3]);
  });

  it('debug passes freely', () => {
    const { log, lines } = make();
    repeat(30, () => {
      log.debug('frame', 0);
    });
    expect(lines).to.have.lengthOf(30);
  });

  it('a flush writes the count, once', () => {
    const { log, lines, pass } = make();
    repeat(11, () => {
      log.error('x');
    });
    log.flush();
    expect(lines.slice(10)).to.deep.equal([['error', '1 more line about masters was left out']]);
    log.flush();
    pass();
    expect(lines).to.have.lengthOf(11);
  });

  it('is counted before the next line when the timer is late', () => {
    const { log, lines, wall } = make();
    repeat(12, () => {
      log.info('x');
    });
    wall.advance(1000);
    log.info('y');
    expect(lines.slice(10)).to.deep.equal([
      ['info', '2 more lines about masters were left out'],
      ['info', 'y'],
    ]);
  });
});

describe('onceEach', () => {
  it('passes each message on once, and at most 1000 messages', () => {
    const lines: string[] = [];
    const log = onceEach((message) => lines.push(message));
    repeat(2, () => {
      log('a');
      log('b');
    });
    expect(lines).to.deep.equal(['a', 'b']);
    for (let number = 0; number < 1000; number += 1) log(`line ${number}`);
    expect(lines.length).to.equal(1000);
    expect(lines.at(-1)).to.equal('line 997');
  });
});
