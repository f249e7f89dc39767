import { expect } from 'chai';
import { dealt, spread } from './choice.ts';
import { drawn } from './random.ts';

describe('choices of cases', () => {
  const list = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

  it('dealt gives each member to one hand', () => {
    expect([0, 1, 2].map((hand) => dealt(list, 3, hand).join(''))).to.deep.equal(['adg', 'be', 'cf']);
    expect([4, -2].map((hand) => dealt(list, 3, hand))).to.deep.equal([
      ['b', 'e'],
      ['b', 'e'],
    ]);
    expect(dealt(list, 1, 5)).to.deep.equal(list);
  });

  it('drawn takes so many, each once, in their order, and others for another name', () => {
    const draws = ['x', 'y', 'z', 'u', 'v', 'w'].map((name) => drawn(name, list, 3).join(''));
    for (const draw of draws) expect(draw).to.match(/^(?=.{3}$)a?b?c?d?e?f?g?$/);
    expect(new Set(draws).size).to.be.above(1);
    expect(drawn('x', list, 3).join('')).to.equal(draws[0]);
    expect(drawn('x', list, 9)).to.deep.equal(list);
  });

  it('spread takes both ends and even steps, each member once', () => {
    expect(spread(list, 3)).to.deep.equal(['a', 'd', 'g']);
    expect(spread(list, 1)).to.deep.equal(['a']);
    expect(spread(list, 7)).to.deep.equal(list);
    expect(spread(list, 9)).to.deep.equal(list);
    for (let count = 2; count < 100; count += 1) {
      const numbers = spread(
        Array.from({ length: 100 }, (_, i) => i),
        count,
      );
      expect([new Set(numbers).size, numbers[0], numbers.at(-1)]).to.deep.equal([count, 0, 99]);
    }
  });
});
