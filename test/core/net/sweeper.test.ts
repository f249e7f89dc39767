import { expect } from 'chai';
import { Sweeper } from '../../../src/core/net/sweeper.ts';

describe('The sweeper', () => {
  it('checks the others when one fails', () => {
    const failures: unknown[] = [];
    const sweeper = new Sweeper((error) => failures.push(error));
    const swept: string[] = [];
    const failure = new Error('a fault of the program');
    const all = [
      { sweep: () => void swept.push('first') },
      {
        sweep() {
          throw failure;
        },
      },
      { sweep: () => void swept.push('last') },
    ];
    for (const each of all) sweeper.add(each);
    sweeper.sweep();
    for (const each of all) sweeper.delete(each);
    expect([swept, failures]).to.deep.equal([['first', 'last'], [failure]]);
  });
});
