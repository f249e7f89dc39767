import { expect } from 'chai';
import { createLogBook } from '../../../src/core/log/log.ts';
import { FleetLog } from '../../../src/fleet/gateway/logs.ts';

const line = (over: object) =>
  Buffer.from(
    JSON.stringify({
      session: 's1',
      number: 1,
      level: 'info',
      module: 'Lab',
      deviceIndex: null,
      message: 'text',
      timeMs: 1000,
      simMs: null,
      ...over,
    }),
  );

const shown = (log: FleetLog) =>
  log.entries().map((entry) => [entry.id, 'shard' in entry ? entry.shard : null, entry.message]);

describe('fleet/gateway: the log', () => {
  it('has its own lines and those of the shards, numbered anew', () => {
    const book = createLogBook({ write: () => undefined });
    book.logger('Lab').info('before');
    const log = new FleetLog();
    log.follow(book);
    log.take('a', line({ number: 7 }));
    book.logger('Lab').info('after');
    log.take('b', line({ message: 'a\nb' }));
    expect(shown(log)).to.deep.equal([
      [1, null, 'before'],
      [2, 'a', 'text'],
      [3, null, 'after'],
      [4, 'b', 'a\\x0ab'],
    ]);
  });

  it('counts lines that did not come, by shard and process', () => {
    const log = new FleetLog();
    for (const number of [5, 6, 9]) log.take('a', line({ number }));
    log.take('b', line({ number: 3 }));
    log.take('a', line({ number: 1, session: 's2' }));
    expect(log.lost).to.equal(2);
  });

  it('leaves out what is no line', () => {
    const log = new FleetLog();
    const wrong = [
      { level: 'loud' },
      { module: 'X' },
      { message: 1 },
      { timeMs: 1e20 },
      { deviceIndex: -1 },
      { number: 'a' },
    ];
    for (const over of wrong) log.take('a', line(over));
    for (const text of ['', 'null', '[1]', '{']) log.take('a', Buffer.from(text));
    expect(log.entries()).to.have.length(0);
  });
});
