import { expect } from 'chai';
import { reasons } from '../../soak/figures.ts';
import { kills } from '../../soak/kills.ts';
import { bookNames } from '../../soak/options.ts';
import { programCommand } from '../support/process.ts';
import { seedOf } from '../support/random.ts';

describe('a simulator with a state folder that is killed again and again', () => {
  it('starts each time, and has what it has promised', async () => {
    const seed = seedOf('kills');
    const figures = await kills({ kills: 10, seed, devices: 4, books: new Set(bookNames), command: programCommand });
    expect(reasons(figures)).to.deep.equal([]);
  });
});
