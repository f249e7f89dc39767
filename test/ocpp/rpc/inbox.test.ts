import { expect } from 'chai';
import { Inbox } from '../../../src/ocpp/rpc/frames.ts';

/** An inbox with turns that a test begins. */
function inboxWith(take: (text: string, inbox: Inbox) => void = () => undefined) {
  let waiting: (() => void)[] = [];
  const told: string[] = [];
  const inbox: Inbox = new Inbox({
    take: (data, isEarly) => {
      told.push(`${data.toString()}${isEarly ? ' early' : ''}`);
      take(data.toString(), inbox);
    },
    pause: () => told.push('pause'),
    resume: () => told.push('resume'),
    turns: { wait: (work) => waiting.push(work) },
  });
  return {
    inbox,
    told,
    put: (...texts: readonly string[]) => {
      for (const text of texts) inbox.put(Buffer.from(text));
    },
    /** @returns whether there was anything to do */
    turn: () => {
      const due = waiting;
      waiting = [];
      for (const work of due) work();
      return due.length > 0;
    },
  };
}

describe('frames of a connection in turns', () => {
  it('one in each turn, in order, also those that come meanwhile; then no turn is asked for', () => {
    const { put, told, turn } = inboxWith();
    put('a', 'b');
    expect(told).to.deep.equal([]);
    turn();
    expect(told).to.deep.equal(['a']);
    put('c');
    turn();
    turn();
    expect(told).to.deep.equal(['a', 'b', 'c']);
    expect(turn()).to.equal(false);
    put('d');
    expect(turn()).to.equal(true);
    expect(told.at(-1)).to.equal('d');
  });

  it('early are those that were there when a call was taken, no others', () => {
    const { put, told, turn } = inboxWith((text, inbox) => {
      if (text.startsWith('call')) inbox.called();
    });
    put('answer', 'call 1', 'answer', 'call 2');
    turn();
    turn();
    put('call 3');
    for (let n = 0; n < 3; n += 1) turn();
    put('call 4');
    turn();
    expect(told).to.deep.equal(['answer', 'call 1', 'answer early', 'call 2 early', 'call 3 early', 'call 4']);
  });

  it('64 that wait are the last to be read until half of them are taken', () => {
    const { put, told, turn } = inboxWith();
    const texts = Array.from({ length: 70 }, (_, n) => String(n));
    put(...texts.slice(0, 63));
    expect(told).to.deep.equal([]);
    put(...texts.slice(63));
    expect(told).to.deep.equal(['pause']);
    while (told.at(-1) !== 'resume') turn();
    expect(told).to.have.length(2 + 39);
    while (turn());
    expect(told.filter((text) => !texts.includes(text))).to.deep.equal(['pause', 'resume']);
    expect(told).to.have.length(72);
  });

  it('the end comes behind what waits, once; at once where nothing waits', () => {
    const { inbox, put, told, turn } = inboxWith();
    const end = () => told.push('end');
    put('a', 'b');
    inbox.whenEmpty(end);
    while (turn());
    expect(told).to.deep.equal(['a', 'b', 'end']);
    inbox.whenEmpty(end);
    expect(told.splice(0)).to.deep.equal(['a', 'b', 'end', 'end']);
    put('c');
    turn();
    expect(told).to.deep.equal(['c']);
  });

  it('what is cleared is never taken, also by the frame in its turn, and is read on', () => {
    const { inbox, put, told, turn } = inboxWith((text, at) => {
      if (text === 'cut') at.clear();
    });
    put('cut', ...Array.from({ length: 70 }, () => 'more'));
    inbox.whenEmpty(() => told.push('end'));
    while (turn());
    expect(told).to.deep.equal(['pause', 'cut', 'resume', 'end']);
  });
});
