import { expect } from 'chai';
import { Stack, spec } from '../rig/stack.ts';

/** An outstation with room for few events of each kind and class, its restart cleared and its time written. */
function small(eventsPerKind: number): Stack {
  const stack = new Stack({
    specs: [
      ...[0, 1].map((index) => spec('binaryInput', index)),
      spec('binaryInput', 2, { class: 2 }),
      spec('analogInput', 0, { class: 2 }),
    ],
    limits: { eventsPerKind },
  });
  for (const index of [0, 1, 2]) stack.set('binaryInput', index, 0);
  stack.set('analogInput', 0, 0);
  stack.ask('c0 02 50 01 00 07 07 00');
  stack.ask('c1 02 32 01 07 01 00 68 e5 cf 8b 01');
  return stack;
}

function change(stack: Stack, index: number, times: number): void {
  for (let n = 1; n <= times; n += 1) stack.set('binaryInput', index, n % 2);
}
const eventsOf = (stack: Stack) => stack.outstation.association(4)!.events;
const iin2 = (answer: string | undefined) => answer?.slice(9, 11);

describe('event buffers of DNP3', () => {
  it('8.6 full of binary events drop the oldest and set IIN2.3, until what is left is confirmed', () => {
    const stack = small(3);
    change(stack, 0, 3);
    expect(stack.ask('c2 17')).to.deep.equal(['c2 81 02 00 34 02 07 01 00 00']);
    change(stack, 1, 2);
    expect(stack.ask('c3 17')).to.deep.equal(['c3 81 02 08 34 02 07 01 00 00']);
    // the third change of point 0, and both of point 1
    expect(stack.ask('c4 01 02 01 06')).to.deep.equal(['e4 81 00 08 02 01 28 03 00 00 00 81 01 00 81 01 00 01']);
    // not before the confirm
    expect(stack.ask('c5 17')).to.deep.equal(['c5 81 02 08 34 02 07 01 00 00']);
    expect(iin2(stack.ask('c6 01 3c 02 06')[0])).to.equal('08');
    stack.ask('c6 00');
    expect(stack.ask('c7 17')).to.deep.equal(['c7 81 00 00 34 02 07 01 00 00']);
    expect(eventsOf(stack).lost).to.equal(2);
  });

  it('8.6 full of analog events do the same', () => {
    const stack = small(2);
    for (const value of [1, 2, 3]) stack.set('analogInput', 0, value);
    const events = '20 01 28 02 00 00 00 01 02 00 00 00 00 00 01 03 00 00 00';
    expect(stack.ask('c2 01 20 01 06')).to.deep.equal([`e2 81 00 08 ${events}`]);
    stack.ask('c2 00');
    expect(stack.ask('c3 01 20 01 06')).to.deep.equal(['c3 81 00 00']);
  });

  it('8.6 tell of a loss that came after the response which is confirmed', () => {
    const stack = small(5);
    change(stack, 0, 5);
    expect(iin2(stack.ask('c2 01 02 02 07 02')[0])).to.equal('00');
    change(stack, 1, 3);
    stack.ask('c2 00');
    expect(iin2(stack.ask('c3 01 3c 02 06')[0])).to.equal('08');
    stack.ask('c3 00');
    expect(iin2(stack.ask('c4 01 3c 02 06')[0])).to.equal('00');
  });

  it('8.6 tell of a second loss that came after the response which told of the first', () => {
    const stack = small(3);
    change(stack, 0, 4);
    expect(iin2(stack.ask('c2 01 3c 02 06')[0])).to.equal('08');
    change(stack, 1, 1);
    stack.ask('c2 00');
    expect(iin2(stack.ask('c3 01 3c 02 06')[0])).to.equal('08');
    stack.ask('c3 00');
    expect(iin2(stack.ask('c4 17')[0])).to.equal('00');
  });

  it('8.6 keep IIN2.3 while a buffer is full, whatever else is confirmed', () => {
    const stack = small(3);
    change(stack, 0, 4);
    change(stack, 2, 1);
    expect(iin2(stack.ask('c2 01 3c 03 06')[0])).to.equal('08');
    stack.ask('c2 00');
    expect(iin2(stack.ask('c3 17')[0])).to.equal('08');
  });

  it('have a bound for each kind of point and class', () => {
    const stack = small(3);
    change(stack, 2, 1);
    stack.set('analogInput', 0, 1);
    change(stack, 0, 100);
    expect(eventsOf(stack).waiting()).to.deep.equal({ 1: 3, 2: 2, 3: 0 });
    expect(eventsOf(stack).lost).to.equal(97);
    expect(stack.ask('c2 01 3c 03 06')[0]).to.include('02 02 28 01 00 02 00 81').and.include('20 01 28 01 00 00 00 01');
  });

  it('keep the latest event of a point in one place when its class changes', () => {
    const stack = new Stack({ specs: [spec('analogInput', 0, { class: 2, keeps: 'latest' })] });
    for (const value of [0, 1]) stack.set('analogInput', 0, value);
    stack.ask('c0 16 3c 02 06 1e 00 06');
    stack.set('analogInput', 0, 2);
    expect(eventsOf(stack).waiting()).to.deep.equal({ 1: 1, 2: 0, 3: 0 });
  });
});
