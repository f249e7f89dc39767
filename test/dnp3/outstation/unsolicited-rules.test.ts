/** When unsolicited responses go out, and under which number: the cases that a mutation of the source would change. */
import { expect } from 'chai';
import { association, class1, class2, class3, event, settled, unsolicited } from '../rig/classes.ts';
import { Stack, spec } from '../rig/stack.ts';

describe('rules of unsolicited responses of DNP3', () => {
  const enabled = (stack: Stack) => association(stack).unsolicited.classes;

  it('are enabled and disabled by class, whatever is wrong with other headers', () => {
    const stack = unsolicited();
    expect(association(stack).unsolicited.nullConfirmed).to.equal(true);
    expect(stack.ask(`c2 14 ${class3} ${class1}`)).to.deep.equal(['c2 81 00 00']);
    expect(enabled(stack)).to.deep.equal([1, 3]);
    expect(stack.ask(`c3 15 ${class3}`)).to.deep.equal(['c3 81 00 00']);
    expect(enabled(stack)).to.deep.equal([1]);
    for (const wrong of ['3c 01 06', '3c 05 06', '3c 03 07 01', '3c 03 00 00 01', '1e 03 06'])
      expect(stack.ask(`c4 14 ${wrong} ${class3}`), wrong).to.deep.equal(['c4 81 00 04']);
    expect(enabled(stack)).to.deep.equal([1, 3]);
    for (const wrong of ['', '3c 02', '3c 02 99'])
      expect(stack.ask(`c5 14 ${wrong}`), wrong).to.deep.equal(['c5 81 00 04']);
    expect(stack.ask('c6 15')).to.deep.equal(['c6 81 00 04']);
    expect(enabled(stack)).to.deep.equal([1, 3]);
  });

  it('tell what waited before its class was enabled', () => {
    const stack = unsolicited();
    stack.set('binaryInput', 1, 1);
    stack.clock.pass(10_000);
    expect(stack.sent()).to.deep.equal([]);
    stack.ask(`c2 14 ${class2}`);
    stack.clock.pass(0);
    expect(stack.sent()).to.deep.equal([`f1 82 00 00 ${event('01')}`]);
    stack.ask('d1 00');
    stack.ask(`c3 15 ${class2}`);
    stack.set('binaryInput', 1, 0);
    stack.clock.pass(10_000);
    expect(stack.sent()).to.deep.equal([]);
  });

  it('go on after their confirm with what has come since, under the next number', () => {
    const stack = unsolicited();
    stack.ask(`c2 14 ${class1} ${class2}`);
    stack.set('binaryInput', 0, 1);
    stack.clock.pass(0);
    stack.set('binaryInput', 1, 1);
    stack.clock.pass(100);
    expect(stack.sent()).to.deep.equal([`f1 82 00 00 ${event('00')}`]);
    // of another number, and one that is not of an unsolicited response
    stack.ask('d0 00');
    stack.ask('c1 00');
    expect(association(stack).unsolicited.isPending).to.equal(true);
    stack.ask('d1 00');
    stack.clock.pass(0);
    expect(stack.sent()).to.deep.equal([`f2 82 00 00 ${event('01')}`]);
    expect(association(stack).counters).to.include({ unsolicited: 3, confirmTimeouts: 0 });
    stack.clock.pass(5000);
    expect(association(stack).counters).to.include({ unsolicited: 3, confirmTimeouts: 1 });
    stack.clock.pass(5000);
    expect(association(stack).counters).to.include({ unsolicited: 4, confirmTimeouts: 1 });
  });

  it('come with an event alone, when nothing else happens', () => {
    const stack = unsolicited();
    stack.ask(`c2 14 ${class1}`);
    stack.clock.pass(60_000);
    expect(stack.sent()).to.deep.equal([]);
    stack.set('binaryInput', 0, 1);
    stack.clock.pass(0);
    expect(stack.sent()).to.deep.equal([`f1 82 00 00 ${event('00')}`]);
    // nothing follows the confirm
    expect(stack.ask('d1 00')).to.deep.equal([]);
    stack.clock.pass(60_000);
    expect(stack.sent()).to.deep.equal([]);
  });

  it('come behind the last fragment of an answer, though nobody confirms it', () => {
    const stack = new Stack({
      specs: [
        spec('binaryInput', 0, { eventVariation: 1 }),
        ...Array.from({ length: 60 }, (_, i) => spec('analogInput', i)),
      ],
      limits: { fragmentBytes: 249 },
      unsolicited: true,
    });
    stack.set('binaryInput', 0, 0);
    stack.clock.pass(0);
    stack.ask('d0 00');
    stack.ask(`c1 14 ${class1}`);
    stack.clock.pass(0);
    expect(stack.ask('c2 01 1e 01 06')[0]).to.match(/^a2 /);
    stack.set('binaryInput', 0, 1);
    stack.clock.pass(1000);
    expect(stack.sent()).to.deep.equal([]);
    expect(stack.ask('c2 00')[0]).to.match(/^43 /);
    stack.clock.pass(0);
    expect(stack.sent()).to.deep.equal([`f1 82 90 00 ${event('00')}`]);
  });

  it('count from 15 on to 0', () => {
    const stack = unsolicited();
    stack.ask(`c2 14 ${class1}`);
    const firsts = Array.from({ length: 16 }, (_, n) => {
      stack.set('binaryInput', 0, (n + 1) % 2);
      stack.clock.pass(0);
      const first = stack.sent()[0]?.slice(0, 2) ?? '';
      stack.ask(`d${first.slice(1)} 00`);
      return first;
    });
    expect(firsts).to.deep.equal(Array.from({ length: 16 }, (_, n) => `f${((n + 1) & 0xf).toString(16)}`));
  });

  it('wait for a connection, and come again over the next one', () => {
    const stack = unsolicited();
    stack.ask(`c2 14 ${class1}`);
    stack.disconnect();
    stack.set('binaryInput', 0, 1);
    stack.clock.pass(20_000);
    expect(association(stack).counters).to.include({ unsolicited: 1, confirmTimeouts: 0 });
    stack.connect();
    stack.clock.pass(0);
    expect(stack.sent()).to.deep.equal([`f1 82 00 00 ${event('00')}`]);
    stack.disconnect();
    expect(association(stack).unsolicited.isPending).to.equal(false);
    stack.clock.pass(20_000);
    expect(association(stack).counters).to.include({ unsolicited: 2, confirmTimeouts: 0 });
    stack.connect();
    stack.clock.pass(0);
    expect(stack.sent()).to.deep.equal([`f1 82 00 00 ${event('00')}`]);
  });

  it('wait for the confirm of an answer, and come at once behind it', () => {
    const stack = unsolicited();
    stack.ask(`c2 14 ${class1}`);
    stack.set('binaryInput', 1, 1);
    stack.clock.pass(0);
    stack.ask(`c3 01 ${class2}`);
    stack.set('binaryInput', 0, 1);
    stack.clock.pass(1000);
    expect(stack.sent()).to.deep.equal([]);
    stack.ask('c3 00');
    stack.clock.pass(0);
    expect(stack.sent()).to.deep.equal([`f1 82 00 00 ${event('00')}`]);
  });

  it('have another number when they tell something else than the attempt before', () => {
    const stack = unsolicited();
    stack.ask(`c2 14 ${class1}`);
    const analog = (value: string) => `20 01 28 01 00 00 00 01 ${value} 00 00 00`;
    const next = (...values: readonly number[]) => {
      for (const value of values) stack.set('analogInput', 0, value);
      stack.clock.pass(10_000);
      return stack.sent();
    };
    stack.set('analogInput', 0, 1);
    stack.clock.pass(0);
    expect(stack.sent()).to.deep.equal([`f1 82 00 00 ${analog('01')}`]);
    expect(next()).to.deep.equal([`f1 82 00 00 ${analog('01')}`]);
    expect(next(2)).to.deep.equal([`f2 82 00 00 ${analog('02')}`]);
    // another event, though its octets are the same
    expect(next(3, 2)).to.deep.equal([`f3 82 00 00 ${analog('02')}`]);
  });

  it('are not waited for where none has been sent', () => {
    const stack = settled({ unsolicited: true });
    stack.ask('d0 00');
    expect(association(stack).unsolicited.nullConfirmed).to.equal(false);
    stack.clock.pass(0);
    expect(stack.sent()).to.deep.equal(['f0 82 00 00']);
  });
});
