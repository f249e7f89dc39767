import { expect } from 'chai';
import { Stack, spec } from '../rig/stack.ts';

/** Points with gaps between them. */
function rig(): Stack {
  const stack = new Stack({
    specs: [
      ...[5, 6, 9].map((index) => spec('analogInput', index, { class: 3 })),
      ...[0, 1, 2].map((index) => spec('counter', index, { class: 0 })),
      ...[0, 1, 2].map((index) => spec('frozenCounter', index, { class: 3 })),
    ],
  });
  for (const index of [5, 6, 9]) stack.set('analogInput', index, index);
  for (const index of [0, 1, 2]) stack.set('counter', index, 7);
  stack.ask('c0 02 50 01 00 07 07 00');
  stack.ask('c1 02 32 01 07 01 00 68 e5 cf 8b 01');
  return stack;
}

const [all, partly] = ['00', '04'];

describe('ranges of DNP3 points', () => {
  for (const [what, request, iin2, objects] of [
    ['a span of all', '1e 01 00 05 06', all, '1e 01 00 05 06 01 05 00 00 00 01 06 00 00 00'],
    ['a list of all', '1e 01 17 02 05 09', all, '1e 01 00 05 05 01 05 00 00 00 1e 01 00 09 09 01 09 00 00 00'],
    ['a span over a gap', '1e 01 00 06 09', partly, '1e 01 00 06 06 01 06 00 00 00 1e 01 00 09 09 01 09 00 00 00'],
    [
      'a list with a gap',
      '1e 01 17 03 06 07 09',
      partly,
      '1e 01 00 06 06 01 06 00 00 00 1e 01 00 09 09 01 09 00 00 00',
    ],
    ['a span beyond the end', '1e 01 01 09 00 0a 00', partly, '1e 01 00 09 09 01 09 00 00 00'],
    ['a list beyond the end', '1e 01 28 02 00 09 00 0a 00', partly, '1e 01 00 09 09 01 09 00 00 00'],
    ['a span in a gap', '1e 01 00 07 08', partly, ''],
    ['a list in a gap', '1e 01 17 02 07 08', partly, ''],
  ] as const)
    it(`8.23 ${what} has IIN2.2 if a point is missing, and the others`, () => {
      expect(rig().ask(`c2 01 ${request}`)).to.deep.equal([`c2 81 00 ${iin2} ${objects}`.trim()]);
    });

  for (const [what, range, iin2, objects] of [
    ['all', '06', all, '22 02 01 05 00 06 00 03 00 00 00 00 00 00 00 22 02 01 09 00 09 00 00 00 00 00'],
    ['a span', '00 05 06', all, '22 02 01 05 00 06 00 03 00 00 00 00 00 00 00'],
    ['a list', '17 01 05', all, '22 02 01 05 00 05 00 03 00 00 00'],
    ['a wide list', '28 02 00 05 00 09 00', all, '22 02 01 05 00 05 00 03 00 00 00 22 02 01 09 00 09 00 00 00 00 00'],
    ['a span that is partly missing', '00 09 0b', partly, '22 02 01 09 00 09 00 00 00 00 00'],
    ['a list that is partly missing', '17 02 07 09', partly, '22 02 01 09 00 09 00 00 00 00 00'],
  ] as const)
    it(`reads deadbands by ${what}`, () => {
      const stack = rig();
      stack.ask('c2 02 22 02 17 01 05 03 00 00 00');
      expect(stack.ask(`c3 01 22 00 ${range}`)).to.deep.equal([`c3 81 00 ${iin2} ${objects}`]);
    });

  it('8.17 marks frozen counters that no freeze has given a value with RESTART', () => {
    const stack = rig();
    const fresh = '02 00 00 00 00';
    expect(stack.ask('c2 01 15 00 00 00 01')).to.deep.equal([`c2 81 00 00 15 01 00 00 01 ${fresh} ${fresh}`]);
    stack.ask('c3 08 14 00 00 01 01');
    expect(stack.ask('c4 01 15 00 00 00 01')).to.deep.equal([`c4 81 08 00 15 01 00 00 01 ${fresh} 01 07 00 00 00`]);
  });

  it('8.17, 8.26 freeze and assign classes with IIN2.2 where a span has a gap', () => {
    const stack = rig();
    expect(stack.ask('c2 07 14 00 00 00 03')).to.deep.equal(['c2 81 08 04']);
    expect(stack.ask('c3 16 3c 02 06 1e 00 00 05 09')).to.deep.equal(['c3 81 08 04']);
    expect(stack.ask('c4 16 3c 02 06 1e 00 17 02 05 09')).to.deep.equal(['c4 81 08 00']);
    // a class can be assigned before the first freeze
    expect(rig().ask('c5 16 3c 02 06 15 00 06')).to.deep.equal(['c5 81 00 00']);
  });
});
