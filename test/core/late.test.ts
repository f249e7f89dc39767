import { expect } from 'chai';
import { Late } from '../../src/core/lazy.ts';

class Counter {
  #count = 0;
  get count(): number {
    return this.#count;
  }
  add(by: number): void {
    this.#count += by;
  }
}

describe('an object that comes late', () => {
  it('has a stand-in until it is there; references from before reach it', () => {
    const [standIn, counter] = [new Counter(), new Counter()];
    const late = new Late(standIn);
    const { proxy } = late;
    proxy.add(1);
    expect([proxy.count, standIn.count]).to.deep.equal([1, 1]);
    late.set(counter);
    proxy.add(2);
    expect([proxy.count, counter.count, standIn.count]).to.deep.equal([2, 2, 1]);
  });

  it('without a stand-in is not used before it is there', () => {
    const late = new Late<Counter>();
    expect(() => late.proxy.count).to.throw('count is used before its object is set');
  });
});
