/** Which events a master hears of, in which order and how often: the cases that a mutation of the source would change. */
import { expect } from 'chai';
import { EventBuffer } from '../../../src/dnp3/stack/outstation/events.ts';
import type { PointEvent } from '../../../src/dnp3/stack/outstation/types.ts';
import { Stack, spec } from '../rig/stack.ts';

const clearRestart = '02 50 01 00 07 07 00';
const writeTime = '02 32 01 07 01 00 68 e5 cf 8b 01';

/** @param isTimed whether a master has written the time */
function rig(isTimed = true): Stack {
  const stack = new Stack({
    specs: [
      ...[0, 1].map((index) => spec('binaryInput', index)),
      spec('doubleBit', 0, { class: 2 }),
      spec('counter', 0, { class: 3, eventVariation: 2 }),
      spec('analogInput', 0, { class: 2 }),
    ],
  });
  for (const index of [0, 1]) stack.set('binaryInput', index, 0);
  stack.set('doubleBit', 0, 0);
  stack.set('counter', 0, 0);
  stack.set('analogInput', 0, 0);
  stack.ask(`c0 ${clearRestart}`);
  if (isTimed) stack.ask(`c1 ${writeTime}`);
  return stack;
}

const time = '00 68 e5 cf 8b 01';

describe('events of DNP3', () => {
  it('of several classes come in the order in which they happened, whatever the order of the headers', () => {
    for (const request of ['3c 02 06 3c 03 06', '3c 03 06 3c 02 06']) {
      const stack = rig();
      stack.set('analogInput', 0, 1);
      stack.set('binaryInput', 1, 1);
      stack.set('analogInput', 0, 2);
      stack.set('binaryInput', 0, 1);
      expect(stack.ask(`c2 01 ${request}`)).to.deep.equal([
        `e2 81 00 00 20 01 28 01 00 00 00 01 01 00 00 00 02 02 28 01 00 01 00 81 ${time} ` +
          `20 01 28 01 00 00 00 01 02 00 00 00 02 02 28 01 00 00 00 81 ${time}`,
      ]);
    }
  });

  it('of kinds come in the order of the headers, after those of classes', () => {
    const stack = rig();
    stack.set('binaryInput', 0, 1);
    stack.set('analogInput', 0, 1);
    stack.set('counter', 0, 1);
    expect(stack.ask('c2 01 16 00 06 20 00 06 3c 02 06')).to.deep.equal([
      `e2 81 00 00 02 02 28 01 00 00 00 81 ${time} 16 02 28 01 00 00 00 01 01 00 20 01 28 01 00 00 00 01 01 00 00 00`,
    ]);
  });

  it('are as many as a count says, the oldest first', () => {
    const stack = rig();
    for (const value of [1, 0, 1]) stack.set('binaryInput', 0, value);
    expect(stack.ask('c2 01 02 01 07 02')).to.deep.equal(['e2 81 02 00 02 01 28 02 00 00 00 81 00 00 01']);
    expect(stack.ask('c3 01 3c 02 07 01')).to.deep.equal([`e3 81 02 00 02 02 28 01 00 00 00 81 ${time}`]);
    stack.ask('c3 00');
    expect(stack.ask('c4 01 02 01 08 09 00')).to.deep.equal(['e4 81 00 00 02 01 28 02 00 00 00 01 00 00 81']);
  });

  it('are told once, though two headers ask for them', () => {
    const stack = rig();
    stack.set('binaryInput', 0, 1);
    expect(stack.ask('c2 01 02 01 06 3c 02 06')).to.deep.equal(['e2 81 00 00 02 01 28 01 00 00 00 81']);
    stack.ask('c2 00');
    expect(stack.ask('c3 01 3c 02 06')).to.deep.equal(['c3 81 00 00']);
  });

  it('come in the variation that a master asks for, also before it has set the time', () => {
    const stack = rig(false);
    stack.clock.pass(0x1234);
    stack.set('doubleBit', 0, 1);
    stack.set('binaryInput', 0, 1);
    stack.set('counter', 0, 1);
    const [common, time] = ['33 02 07 01 34 12 00 00 00 00', '34 12 00 00 00 00'];
    expect(stack.ask('c2 01 04 02 06')).to.deep.equal([`e2 81 1a 00 04 02 28 01 00 00 00 41 ${time}`]);
    expect(stack.ask('c3 01 02 02 06')).to.deep.equal([`e3 81 1c 00 02 02 28 01 00 00 00 81 ${time}`]);
    expect(stack.ask('c7 01 02 03 06')).to.deep.equal([`e7 81 1c 00 ${common} 02 03 28 01 00 00 00 81 00 00`]);
    expect(stack.ask('c4 01 02 01 06')).to.deep.equal(['e4 81 1c 00 02 01 28 01 00 00 00 81']);
    expect(stack.ask('c5 01 16 02 06')).to.deep.equal(['e5 81 16 00 16 02 28 01 00 00 00 01 01 00']);
    expect(stack.ask('c6 01 16 06 06')[0]).to.equal('e6 81 16 00 16 06 28 01 00 00 00 01 01 00 34 12 00 00 00 00');
  });

  it('at most 65,535 ms after a common time share it', () => {
    for (const [laterMs, isShared] of [
      [0, true],
      [1, true],
      [0xffff, true],
      [0x1_0000, false],
    ] as const) {
      const stack = rig();
      stack.set('binaryInput', 0, 1);
      stack.clock.pass(laterMs);
      stack.set('binaryInput', 1, 1);
      const [answer = ''] = stack.ask('c2 01 02 03 06');
      expect(answer.match(/33 01 07 01/g), `${laterMs} ms`).to.have.length(isShared ? 1 : 2);
    }
  });

  it('of one answer do not share the common time of another', () => {
    const stack = rig();
    stack.set('binaryInput', 0, 1);
    for (const seq of [2, 3])
      expect(stack.ask(`c${seq} 01 02 03 06`)).to.deep.equal([
        `e${seq} 81 00 00 33 01 07 01 ${time} 02 03 28 01 00 00 00 81 00 00`,
      ]);
  });

  it('of which the latest is kept give way to a newer one that came while they waited for their confirm', () => {
    const stack = new Stack({ specs: [spec('analogInput', 0, { keeps: 'latest' })] });
    stack.set('analogInput', 0, 0);
    stack.set('analogInput', 0, 1);
    const { events } = stack.outstation.association(4)!;
    const answer = (value: string) => `20 01 28 01 00 00 00 01 ${value} 00 00 00`;
    expect(stack.ask('c2 01 3c 02 06')).to.deep.equal([`e2 81 90 00 ${answer('01')}`]);
    stack.set('analogInput', 0, 2);
    expect(events.size).to.equal(2);
    expect(stack.ask('c3 01 3c 02 06')).to.deep.equal([`e3 81 90 00 ${answer('02')}`]);
    expect(events.size).to.equal(1);
    // without a newer one it waits again
    expect(stack.ask('c4 01 3c 02 06')).to.deep.equal([`e4 81 90 00 ${answer('02')}`]);
    stack.ask('c4 00');
    expect(events.size).to.equal(0);
  });

  it('of which all are kept wait again, each', () => {
    const stack = rig();
    stack.set('analogInput', 0, 1);
    stack.ask('c2 01 3c 03 06');
    stack.set('analogInput', 0, 2);
    stack.ask('c3 17');
    expect(stack.outstation.association(4)!.events.size).to.equal(2);
  });
});

describe('an event buffer', () => {
  const at = { localMs: 0, dateMs: 0 };
  const event = (kind: 'binaryInput' | 'analogInput', of: 1 | 2 | 3): PointEvent => ({
    spec: spec(kind, 0, { class: of }),
    class: of,
    state: { value: 1, flags: 1 },
    stamp: 0,
  });
  /** Class 1 of both kinds, and class 2, in turn. */
  function filled(): EventBuffer {
    const buffer = new EventBuffer(10);
    for (const [kind, of] of [
      ['analogInput', 1],
      ['binaryInput', 2],
      ['binaryInput', 1],
      ['analogInput', 1],
    ] as const)
      buffer.add(event(kind, of), at);
    return buffer;
  }
  const numbers = (buffer: EventBuffer, selection: Parameters<EventBuffer['select']>[0]) =>
    buffer.select(selection).map(({ number }) => number);

  it('gives out the events of a kind, of a class and of both, oldest first', () => {
    const buffer = filled();
    expect(numbers(buffer, {})).to.deep.equal([1, 2, 3, 4]);
    expect(numbers(buffer, { class: 1 })).to.deep.equal([1, 3, 4]);
    expect(numbers(buffer, { kind: 'binaryInput' })).to.deep.equal([2, 3]);
    expect(numbers(buffer, { kind: 'analogInput', class: 1 })).to.deep.equal([1, 4]);
    expect(numbers(buffer, { kind: 'counter' })).to.deep.equal([]);
  });

  it('gives out none that is sent, and does not count it as waiting', () => {
    const buffer = filled();
    for (const each of buffer.select({ class: 1 })) each.isSent = true;
    expect(numbers(buffer, {})).to.deep.equal([2]);
    expect(numbers(buffer, { class: 1 })).to.deep.equal([]);
    expect(buffer.waiting()).to.deep.equal({ 1: 0, 2: 1, 3: 0 });
    expect([buffer.hasWaiting(1), buffer.hasWaiting(2), buffer.hasWaiting(3)]).to.deep.equal([false, true, false]);
    expect([buffer.size, buffer.added, buffer.lost]).to.deep.equal([4, 4, 0]);
  });

  it('keeps what is not confirmed', () => {
    const buffer = filled();
    buffer.confirm(buffer.select({ kind: 'analogInput' }));
    expect(numbers(buffer, {})).to.deep.equal([2, 3]);
    buffer.confirm([]);
    expect(buffer.size).to.equal(2);
  });
});
