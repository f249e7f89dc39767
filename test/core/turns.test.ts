import { expect } from 'chai';
import { LoopQueue, LoopShare, Turns } from '../../src/core/turns.ts';

describe('work in turns', () => {
  it('begins at once when nothing is under way, and keeps the order in which it was asked for', async () => {
    const turns = new Turns();
    const course: string[] = [];
    const work = (name: string) =>
      turns.take(async () => {
        course.push(`${name} begins`);
        await new Promise(setImmediate);
        course.push(`${name} ends`);
      });
    const all = ['a', 'b', 'c'].map(work);
    expect(course).to.deep.equal(['a begins']);
    await all[0];
    // asked for later, though nothing may seem to be under way at this moment
    all.push(work('d'));
    await Promise.all(all);
    expect(course).to.deep.equal(['a', 'b', 'c', 'd'].flatMap((name) => [`${name} begins`, `${name} ends`]));
  });

  it('goes on after a failure, which is that of the caller', async () => {
    const turns = new Turns();
    const failed = turns.take(() => Promise.reject(new Error('no'))).catch((error: unknown) => error);
    expect(await turns.take(() => Promise.resolve(7))).to.equal(7);
    expect(await failed)
      .to.be.an('error')
      .with.property('message', 'no');
  });

  it('can refuse those that wait; the one under way ends as it would', async () => {
    const turns = new Turns();
    const nextTurn = () => new Promise(setImmediate);
    const first = turns.take(() => nextTurn().then(() => 1));
    const rest = [2, 3].map((n) => turns.take(() => Promise.resolve(n)).catch((error: unknown) => error));
    expect(turns.waiting).to.equal(2);
    const why = new Error('closed');
    turns.refuseWaiting(why);
    expect(turns.waiting).to.equal(0);
    expect(await Promise.all([first, ...rest])).to.deep.equal([1, why, why]);
    expect(await turns.take(() => Promise.resolve(4))).to.equal(4);
  });

  it('are settled when all that was asked for before has ended', async () => {
    const turns = new Turns();
    const ended: string[] = [];
    for (const name of ['a', 'b']) void turns.take(() => new Promise(setImmediate).then(() => ended.push(name)));
    await turns.settled();
    expect(ended).to.deep.equal(['a', 'b']);
  });
});

describe('a share of the event loop', () => {
  /** Continuations of promises run before the next turn. */
  const settled = () => new Promise(setImmediate);

  /** A loop whose turns end by hand, and a clock that only work moves. */
  function loop(budgetMs: number) {
    let nowMs = 0;
    const next: (() => void)[] = [];
    const share = new LoopShare({ budgetMs, nowMs: () => nowMs, nextTurn: (run) => next.push(run) });
    const course: string[] = [];
    return {
      share,
      course,
      pending: () => next.length,
      part: (name: string, costMs: number) => {
        course.push(name);
        nowMs += costMs;
      },
      work: (name: string, costMs: number) =>
        share.run(() => {
          course.push(name);
          nowMs += costMs;
          return name;
        }),
      turn: () => {
        course.push('|');
        for (const run of next.splice(0)) run();
      },
    };
  }

  it('work begins within the call while the share lasts; what comes then waits for later turns in its order', async () => {
    const { share, course, work, turn } = loop(5);
    const all = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => work(name, 3));
    expect(course.join('')).to.equal('ab');
    expect(share.waiting).to.equal(4);
    turn();
    // behind what waits, although the share of this turn would suffice
    all.push(work('g', 1));
    turn();
    turn();
    expect(course.join('')).to.equal('ab|cd|ef|g');
    expect(await Promise.all(all)).to.deep.equal(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  });

  it('at least one piece of work runs in each turn, however long it takes', () => {
    const { course, work, turn } = loop(5);
    for (const name of 'abc') void work(name, 50);
    turn();
    turn();
    expect(course.join('')).to.equal('a|b|c');
  });

  it('work in parts gives other work a turn after each part that uses the share up', async () => {
    const { share, course, work, turn, part } = loop(5);
    const parts = share.runInParts(
      (function* (): Generator<undefined, string> {
        for (const name of ['a', 'b', 'c']) {
          part(name, 3);
          yield;
        }
        return 'done';
      })(),
    );
    await settled();
    const other = work('x', 1);
    for (let n = 0; n < 3; n += 1) {
      turn();
      await settled();
    }
    expect(course.join('')).to.equal('ab|cx||');
    expect(await Promise.all([parts, other])).to.deep.equal(['done', 'x']);
  });

  it('asks for no turn when there is nothing to do', () => {
    const { work, turn, pending } = loop(5);
    expect(pending()).to.equal(0);
    void work('a', 1);
    void work('b', 1);
    expect(pending(), 'one for both').to.equal(1);
    turn();
    expect(pending()).to.equal(0);
  });

  it('a failure is that of the caller alone', async () => {
    const { share, work, turn } = loop(0);
    const failed = share
      .run(() => {
        throw new Error('no');
      })
      .catch((error: unknown) => error);
    const next = work('next', 0);
    turn();
    expect(await failed)
      .to.be.an('error')
      .with.property('message', 'no');
    expect(await next).to.equal('next');
  });
});

describe('a queue for a share of the event loop', () => {
  /** A loop whose turns end by hand, and a clock that only work moves. */
  function loop() {
    let nowMs = 0;
    const next: (() => void)[] = [];
    const queue = new LoopQueue({ budgetMs: 5, lightMs: 1, nowMs: () => nowMs, nextTurn: (run) => next.push(run) });
    const course: string[] = [];
    const does =
      (name: string, costMs: number, times = 1) =>
      () => {
        course.push(name);
        nowMs += costMs;
        queue.spent(costMs);
        if (times > 1) queue.wait(does(name, costMs, times - 1));
      };
    const turn = () => {
      course.push('|');
      for (const run of next.splice(0)) run();
    };
    return { queue, course, does, turn, pending: () => next.length };
  }

  it('what has had enough for once goes behind the others, and each turn has its share', () => {
    const { queue, course, does, turn, pending } = loop();
    for (const name of ['a', 'b', 'c']) queue.wait(does(name, 2, 3));
    expect(pending(), 'one turn for all').to.equal(1);
    while (pending() > 0) turn();
    // three of 2 ms end the share
    expect(course.join('')).to.equal('|abc|abc|abc|');
    course.length = 0;
    for (const name of ['a', 'b', 'c', 'd']) queue.wait(does(name, 3, 2));
    while (pending() > 0) turn();
    expect(course.join('')).to.equal('|ab|cd|ab|cd|');
  });

  it('what callers did outside counts until the next turn; light work neither counts nor asks for a turn', () => {
    const { queue, does, turn, pending } = loop();
    for (let i = 0; i < 100; i += 1) queue.spent(0.5);
    expect([queue.isUsedUp, pending()]).to.deep.equal([false, 0]);
    queue.spent(4);
    expect([queue.isUsedUp, pending()]).to.deep.equal([false, 1]);
    queue.spent(1);
    expect([queue.isUsedUp, pending()]).to.deep.equal([true, 1]);
    turn();
    expect([queue.isUsedUp, pending()]).to.deep.equal([false, 0]);
    // what ran from the queue leaves the sockets of this turn the rest only
    queue.wait(does('a', 6));
    turn();
    expect([queue.isUsedUp, pending()]).to.deep.equal([true, 1]);
    turn();
    expect([queue.isUsedUp, pending()]).to.deep.equal([false, 0]);
  });
});
