import { expect } from 'chai';
import { LoopQueue } from '../../../src/core/turns.ts';
import { Inbox } from '../../../src/dnp3/server/connection.ts';

describe('the inbox of a connection', () => {
  let nowMs: number;
  let turns: (() => void)[];
  let done: string[];
  let inbox: Inbox;
  const work =
    (name: string, ms = 1) =>
    () => {
      nowMs += ms;
      done.push(name);
    };
  /** Runs the turns that were asked for; not the ones that these ask for. */
  const turn = () => {
    for (const run of turns.splice(0)) run();
  };

  beforeEach(() => {
    nowMs = 0;
    turns = [];
    done = [];
    inbox = new Inbox({
      turns: new LoopQueue({ nowMs: () => nowMs, nextTurn: (run) => turns.push(run) }),
      monotonicMs: () => nowMs,
      pause: () => done.push('pause'),
      resume: () => done.push('resume'),
    });
  });

  it('carries out at once what takes little time', () => {
    inbox.add(work('a', 0), work('b', 0));
    expect(done).to.deep.equal(['a', 'b']);
  });

  it('leaves the rest to later turns, in order, and reads no more until then', () => {
    inbox.add(...['a', 'b', 'c', 'd', 'e'].map((name) => work(name)));
    expect(done).to.deep.equal(['a', 'b', 'pause']);
    inbox.add(work('f'));
    turn();
    expect(done.slice(3)).to.deep.equal(['c', 'd', 'pause']);
    turn();
    turn();
    expect(done.slice(6)).to.deep.equal(['e', 'f', 'resume']);
  });

  it('puts the parts of work under way before all that waits', () => {
    inbox.add(() => inbox.split([work('a', 2), work('b', 2)]), work('c', 2));
    for (let i = 0; i < 4; i += 1) turn();
    expect(done.filter((each) => each.length === 1)).to.deep.equal(['a', 'b', 'c']);
  });

  it('drops what waits when the connection ends', () => {
    inbox.add(work('a', 5), work('b', 5));
    inbox.clear();
    turn();
    expect(done).to.deep.equal(['a', 'pause', 'resume']);
  });
});
