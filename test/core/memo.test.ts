import { expect } from 'chai';
import { memo } from '../../src/core/lazy.ts';

describe('memo', () => {
  it('makes the value at its first use and once, and tries again after a failure', () => {
    let calls = 0;
    const value = memo(() => {
      calls += 1;
      if (calls === 1) throw new Error('not yet');
      return undefined;
    });
    expect(calls).to.equal(0);
    expect(value).to.throw('not yet');
    value();
    value();
    expect(calls).to.equal(2);
  });
});
