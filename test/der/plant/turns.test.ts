import { expect } from 'chai';
import { Turns } from '../../../src/der/plant/turns.ts';

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
});
