import { expect } from 'chai';
import { Stack, spec } from '../rig/stack.ts';

const clearRestart = '02 50 01 00 07 07 00';
const enable = (classes: string) => `14 ${classes}`;
const [class1, class2] = ['3c 02 06', '3c 03 06'];

/** An outstation whose response without objects is confirmed, as unsolicited response 0; no time is written. */
function begun(): Stack {
  const stack = new Stack({
    specs: [spec('binaryInput', 0), spec('binaryInput', 1, { class: 2 }), spec('analogOutput', 88)],
    unsolicited: true,
  });
  for (const index of [0, 1]) stack.set('binaryInput', index, 0);
  stack.set('analogOutput', 88, 0);
  stack.clock.pass(0);
  expect(stack.sent()).to.deep.equal(['f0 82 90 00']);
  stack.ask('d0 00');
  stack.clock.pass(0);
  stack.ask(`c0 ${clearRestart}`);
  stack.ask('c1 02 32 01 07 01 00 68 e5 cf 8b 01');
  return stack;
}

/** g2v2 of one point. */
const event = (index: string, time = '00 68 e5 cf 8b 01') => `02 02 28 01 00 ${index} 00 81 ${time}`;

describe('unsolicited responses of DNP3', () => {
  it('8.11 begin with one without objects, whose retries keep their number', () => {
    const stack = new Stack({ specs: [spec('binaryInput', 0)], unsolicited: true });
    stack.clock.pass(0);
    expect(stack.sent()).to.deep.equal(['f0 82 90 00']);
    for (let n = 0; n < 3; n += 1) {
      stack.clock.pass(10_000);
      expect(stack.sent()).to.deep.equal(['f0 82 90 00']);
    }
    // the confirm of any of them will do
    stack.ask('d0 00');
    stack.clock.pass(60_000);
    expect(stack.sent()).to.deep.equal([]);
  });

  it('8.11 have events of enabled classes; a retry with the same events keeps its number, another takes the next', () => {
    const stack = begun();
    expect(stack.ask(`c2 ${enable(class1)}`)).to.deep.equal(['c2 81 00 00']);
    stack.set('binaryInput', 0, 1);
    stack.clock.pass(0);
    expect(stack.sent()).to.deep.equal([`f1 82 00 00 ${event('00')}`]);
    stack.clock.pass(10_000);
    expect(stack.sent()).to.deep.equal([`f1 82 00 00 ${event('00')}`]);
    stack.set('binaryInput', 0, 0);
    stack.clock.pass(10_000);
    // 10 s later: 0x2710 ms
    const second = '00 00 01 10 8f e5 cf 8b 01';
    expect(stack.sent()).to.deep.equal([`f2 82 00 00 ${event('00').replace('01 00 00', '02 00 00')} ${second}`]);
    // a late confirm of what was sent before does nothing
    stack.ask('d1 00');
    expect(stack.outstation.association(4)?.events.size).to.equal(2);
    stack.ask('d2 00');
    expect(stack.outstation.association(4)?.events.size).to.equal(0);
  });

  it('8.11 a READ waits for the confirm or its time-out, the last one alone', () => {
    const stack = begun();
    stack.ask(`c2 ${enable(class1)}`);
    stack.set('binaryInput', 0, 1);
    stack.clock.pass(0);
    stack.sent();
    expect(stack.ask('c3 01 28 00 06')).to.deep.equal([]);
    expect(stack.ask('c4 01 28 00 06')).to.deep.equal([]);
    expect(stack.ask('d1 00')).to.deep.equal(['c4 81 00 00 28 01 00 58 58 01 00 00 00 00']);
    stack.set('binaryInput', 0, 0);
    stack.clock.pass(0);
    stack.sent();
    expect(stack.ask('c5 01 28 00 06')).to.deep.equal([]);
    stack.clock.pass(4999);
    expect(stack.sent()).to.deep.equal([]);
    stack.clock.pass(1);
    // the event waits again
    expect(stack.sent()).to.deep.equal(['c5 81 02 00 28 01 00 58 58 01 00 00 00 00']);
  });

  for (const [what, request, cast] of [
    ['another request', 'c4 17', 'unicast'],
    ['a request without an answer', 'c4 06 29 01 17 01 58 01 00 00 00 00', 'unicast'],
    ['a broadcast', 'c4 17', 'broadcast-no-confirm'],
  ] as const)
    it(`8.11 a READ that waits is over with ${what}`, () => {
      const stack = begun();
      stack.ask(`c2 ${enable(class1)}`);
      stack.set('binaryInput', 0, 1);
      stack.clock.pass(0);
      stack.sent();
      expect(stack.ask('c3 01 28 00 06')).to.deep.equal([]);
      stack.ask(request, 4, cast);
      expect(stack.ask('d1 00')).to.deep.equal([]);
      stack.clock.pass(60_000);
      expect(stack.sent()).to.deep.equal([]);
    });

  for (const [what, request, cast] of [
    ['another request', 'c4 17', 'unicast'],
    ['a request without an answer', 'c4 06 29 01 17 01 58 01 00 00 00 00', 'unicast'],
    ['a repeated READ', 'c4 01 28 00 06', 'unicast'],
    ['a broadcast', 'c4 17', 'broadcast-no-confirm'],
    ['no confirm in time', null, 'unicast'],
  ] as const)
    it(`8.11 go on when ${what} ends an answer that waits for its confirm`, () => {
      const stack = begun();
      stack.ask(`c2 ${enable(class1)}`);
      stack.set('binaryInput', 1, 1);
      stack.clock.pass(1);
      expect(stack.ask(`c3 01 ${class2}`)).to.deep.equal([`e3 81 00 00 ${event('01')}`]);
      stack.set('binaryInput', 0, 1);
      stack.clock.pass(10);
      expect(stack.sent()).to.deep.equal([]);
      if (request === null) stack.clock.pass(5000);
      else stack.ask(request, 4, cast);
      stack.clock.pass(0);
      const [first = ''] = stack.sent();
      expect(first).to.match(/^f1 82 0[45] 00 02 02 28 01 00 00 00 81 01 68 e5/);
    });

  it('8.6.4 leave the indication of a broadcast that came after them', () => {
    const stack = begun();
    stack.ask(`c2 ${enable(class1)}`);
    stack.set('binaryInput', 0, 1);
    stack.clock.pass(0);
    stack.sent();
    stack.ask(`c3 ${clearRestart}`, 4, 'broadcast-confirm');
    stack.ask('d1 00');
    expect(stack.ask('c4 17')).to.deep.equal(['e4 81 01 00 34 02 07 01 00 00']);
    stack.ask('c4 00');
    expect(stack.ask('c5 17')).to.deep.equal(['c5 81 00 00 34 02 07 01 00 00']);
  });

  it('8.6.4 tell of a broadcast, and their confirm ends it', () => {
    const stack = begun();
    stack.ask(`c2 ${enable(class1)}`);
    stack.ask(`c3 ${clearRestart}`, 4, 'broadcast-confirm-optional');
    stack.set('binaryInput', 0, 1);
    stack.clock.pass(0);
    expect(stack.sent()).to.deep.equal([`f1 82 01 00 ${event('00')}`]);
    stack.ask('d1 00');
    expect(stack.ask('c5 17')).to.deep.equal(['c5 81 00 00 34 02 07 01 00 00']);
  });

  it('8.11 are unknown functions without the ability, whatever their objects', () => {
    const stack = new Stack({ specs: [spec('binaryInput', 0)] });
    for (const request of ['14 3c 02 06', '14 3c 02 99', '15 3c 02', '14'])
      expect(stack.ask(`c1 ${request}`), request).to.deep.equal(['c1 81 90 01']);
  });
});
