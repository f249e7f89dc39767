import { expect } from 'chai';
import { Turns } from '../../src/core/turns.ts';

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
