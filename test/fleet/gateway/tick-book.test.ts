import { expect } from 'chai';
import { TickBook } from '../../../src/fleet/gateway/tick-book.ts';
import type { ShardTick } from '../../../src/fleet/gateway/tick-book.ts';
import { ticksOf } from '../support/ticks.ts';

/** A book, and the ticks that it has shown. */
function opened() {
  const shown: ShardTick[] = [];
  const book = new TickBook({ nowMs: () => 7, onTick: (tick) => shown.push(tick) });
  const take = (...messages: readonly Uint8Array[]) => {
    for (const message of messages) book.take('a', message);
  };
  return { book, shown, take, ticks: () => shown.map(({ head }) => head.tick) };
}

describe('fleet/gateway: the newest tick of each shard', () => {
  it('is shown when all of its parts have come, in any order', () => {
    const { shown, take } = opened();
    const parts = ticksOf({ tick: 3 }, [4, 5, 6], 1);
    expect(parts).to.have.length(3);
    take(...[2, 0].flatMap((at) => parts[at] ?? []));
    expect(shown).to.have.length(0);
    take(...parts.slice(1, 2));
    expect(shown.flatMap((tick) => tick.parts.flatMap(({ index }) => [...index]))).to.deep.equal([4, 5, 6]);
    expect(shown[0]).to.include({ shard: 'a', arrivedMs: 7 });
  });

  it('counts ticks that did not come, and those of which a part did not come', () => {
    const { book, take, ticks } = opened();
    take(...ticksOf({ tick: 1 }, [0]), ...ticksOf({ tick: 4 }, [0]));
    expect(book.counts('a')).to.include({ ticks: 2, missed: 2 });
    take(...ticksOf({ tick: 5 }, [0, 1], 1).slice(0, 1), ...ticksOf({ tick: 6 }, [0, 1], 1));
    expect(book.counts('a')).to.include({ ticks: 3, missed: 3 });
    expect(ticks()).to.deep.equal([1, 4, 6]);
  });

  it('misses no slots that a late shard has joined in one tick', () => {
    const { book, take } = opened();
    take(...ticksOf({ tick: 1, unused: 2 }, [0]), ...ticksOf({ tick: 5, unused: 5 }, [0]));
    expect(book.counts('a').missed).to.equal(0);
    take(...ticksOf({ tick: 8, unused: 6, lateSlots: 60 }, [0]));
    expect(book.counts('a').missed).to.equal(1);
  });

  it('shows no tick twice, and none behind a newer one', () => {
    const { book, take, ticks } = opened();
    const parts = ticksOf({ tick: 2 }, [0, 1], 1);
    take(...parts.slice(0, 1), ...parts, ...parts, ...ticksOf({ tick: 1 }, [0]));
    expect(ticks()).to.deep.equal([2]);
    expect(book.counts('a')).to.include({ repeated: 4, missed: 0 });
  });

  it('drops what a former holder of the shard sends, also before the news of the lease', () => {
    const { book, take, ticks } = opened();
    take(...ticksOf({ tick: 90, epoch: 1, session: 'old' }, [0]));
    take(...ticksOf({ tick: 1, epoch: 5, session: 'new' }, [0]));
    take(...ticksOf({ tick: 91, epoch: 1, session: 'old' }, [0]));
    expect(ticks()).to.deep.equal([90, 1]);
    expect(book.counts('a')).to.include({ fenced: 1, missed: 0 });
    book.fence('a', 6);
    take(...ticksOf({ tick: 2, epoch: 5, session: 'new' }, [0]));
    expect(book.counts('a').fenced).to.equal(2);
    expect(book.newest('a')?.head.tick).to.equal(1);
  });

  it('counts messages that do not add up, and goes on', () => {
    const { book, take, ticks } = opened();
    const [first = Buffer.alloc(0)] = ticksOf({ tick: 1 }, [0, 1]);
    const twice = ticksOf({ tick: 2 }, [3, 4], 1).slice(0, 1);
    take(first.subarray(0, 20), Buffer.alloc(3), ...twice, ...ticksOf({ tick: 2 }, [2, 3], 1).slice(1));
    expect(book.counts('a')).to.include({ broken: 3, ticks: 0 });
    take(...ticksOf({ tick: 3 }, [0]));
    expect(ticks()).to.deep.equal([3]);
  });
});
