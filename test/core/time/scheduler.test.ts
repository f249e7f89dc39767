import { expect } from 'chai';
import fc from 'fast-check';
import { addSeconds, simTimeFromMs } from '../../../src/core/time/clock.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import { keptTimer, Scheduler } from '../../../src/core/time/scheduler.ts';
import type { Timer } from '../../../src/core/time/scheduler.ts';
import { throughFile } from '../../support/continuation.ts';
import { holds } from '../../support/property.ts';

const start = simTimeFromMs(Date.UTC(2030, 0, 1));
const after = (seconds: number): SimTime => addSeconds(start, seconds);

describe('scheduler', () => {
  it('is due never while it is empty', () => {
    const scheduler = new Scheduler();
    expect(scheduler.nextDue).to.equal(Infinity);
    scheduler.runDue(after(1e9));
    expect(scheduler.nextDue).to.equal(Infinity);
  });

  it('runs what is due, in the order of due times, and nothing sooner', () => {
    const scheduler = new Scheduler();
    const ran: number[] = [];
    for (const seconds of [3, 1, 2]) scheduler.at(after(seconds), () => ran.push(seconds));
    expect(scheduler.nextDue).to.equal(after(1));
    scheduler.runDue(after(0.999999));
    expect(ran).to.deep.equal([]);
    scheduler.runDue(after(2));
    expect(ran).to.deep.equal([1, 2]);
    expect(scheduler.nextDue).to.equal(after(3));
    scheduler.runDue(after(100));
    expect(ran).to.deep.equal([1, 2, 3]);
    expect(scheduler.nextDue).to.equal(Infinity);
  });

  it('equal due times run in the order in which they were set', () => {
    holds('equal due times keep their order', fc.array(fc.nat({ max: 4 }), { maxLength: 30 }), (dues) => {
      const scheduler = new Scheduler();
      const ran: (readonly [number, number])[] = [];
      dues.forEach((due, i) => scheduler.at(after(due), () => ran.push([due, i])));
      scheduler.runDue(after(4));
      expect(ran).to.deep.equal(dues.map((due, i) => [due, i] as const).sort((a, b) => a[0] - b[0] || a[1] - b[1]));
    });
  });

  it('each timer runs once', () => {
    const scheduler = new Scheduler();
    let runs = 0;
    scheduler.at(after(1), () => {
      runs += 1;
    });
    scheduler.runDue(after(1));
    scheduler.runDue(after(1));
    expect(runs).to.equal(1);
  });

  it('a timer says when it is due, and cancel ends it alone', () => {
    const scheduler = new Scheduler();
    const ran: string[] = [];
    const timers = ['a', 'b', 'c'].map((name) => scheduler.at(after(1), () => ran.push(name)));
    expect(timers[1]?.due).to.equal(after(1));
    scheduler.cancel(timers[1]!);
    scheduler.cancel(timers[1]!);
    scheduler.runDue(after(1));
    expect(ran).to.deep.equal(['a', 'c']);
    scheduler.cancel(timers[0]!);
  });

  it('a timer says whether it is still to fire', () => {
    const scheduler = new Scheduler();
    const [fired, cancelled, cleared] = [1, 2, 3].map((seconds) => scheduler.at(after(seconds), () => undefined));
    const waiting = () => [fired, cancelled, cleared].map((timer) => timer?.waiting);
    expect(waiting()).to.deep.equal([true, true, true]);
    scheduler.runDue(after(1));
    expect(waiting()).to.deep.equal([false, true, true]);
    scheduler.cancel(cancelled!);
    expect(waiting()).to.deep.equal([false, false, true]);
    scheduler.clear();
    expect(waiting()).to.deep.equal([false, false, false]);
  });

  it('after any additions, cancellations and runs it does what a sorted list would do', () => {
    const operation = fc.oneof(
      { weight: 4, arbitrary: fc.record({ add: fc.nat({ max: 20 }) }) },
      { weight: 3, arbitrary: fc.record({ cancel: fc.nat() }) },
      { weight: 1, arbitrary: fc.record({ runAfter: fc.nat({ max: 3 }) }) },
    );
    holds('a sorted list', fc.array(operation, { maxLength: 300 }), (operations) => {
      const scheduler = new Scheduler<number>();
      let [now, expected]: [number, { due: number; id: number }[]] = [0, []];
      const timers: Timer<number>[] = [];
      const [ran, wanted]: [number[], number[]] = [[], []];
      for (const each of operations) {
        if ('add' in each) {
          const [due, id] = [now + each.add, timers.length];
          timers.push(scheduler.at(due, () => ran.push(id)));
          expected.push({ due, id });
          expected.sort((a, b) => a.due - b.due || a.id - b.id);
        } else if ('cancel' in each) {
          const id = each.cancel % Math.max(1, timers.length);
          if (timers[id]) scheduler.cancel(timers[id]);
          expected = expected.filter((entry) => entry.id !== id);
        } else {
          now += each.runAfter;
          scheduler.runDue(now);
          wanted.push(...expected.filter(({ due }) => due <= now).map(({ id }) => id));
          expected = expected.filter(({ due }) => due > now);
        }
        expect(scheduler.nextDue).to.equal(expected[0]?.due ?? Infinity);
      }
      scheduler.runDue(Infinity);
      expect(ran).to.deep.equal([...wanted, ...expected.map(({ id }) => id)]);
      expect(timers.some(({ waiting }) => waiting)).to.equal(false);
    });
  });

  it('an action may cancel another that is due at the same instant', () => {
    const scheduler = new Scheduler();
    const ran: string[] = [];
    const later: Timer[] = [];
    scheduler.at(after(1), () => {
      ran.push('first');
      later.forEach((timer) => {
        scheduler.cancel(timer);
      });
    });
    later.push(
      scheduler.at(after(1), () => ran.push('same instant')),
      scheduler.at(after(2), () => ran.push('later')),
    );
    scheduler.at(after(2), () => ran.push('last'));
    scheduler.runDue(after(5));
    expect(ran).to.deep.equal(['first', 'last']);
  });

  it('an action may set timers; those already due run at once', () => {
    const scheduler = new Scheduler();
    const ran: string[] = [];
    scheduler.at(after(1), () => {
      ran.push('first');
      scheduler.at(after(0), () => ran.push('overdue'));
      scheduler.at(after(9), () => ran.push('later'));
    });
    scheduler.at(after(2), () => ran.push('second'));
    scheduler.runDue(after(2));
    expect(ran).to.deep.equal(['first', 'overdue', 'second']);
    expect(scheduler.nextDue).to.equal(after(9));
  });

  it('clear ends all, also from inside an action', () => {
    const scheduler = new Scheduler();
    const ran: number[] = [];
    scheduler.at(after(1), () => {
      ran.push(1);
      scheduler.clear();
    });
    scheduler.at(after(1), () => ran.push(2));
    scheduler.runDue(after(3));
    expect(ran).to.deep.equal([1]);
    expect(scheduler.nextDue).to.equal(Infinity);
  });

  it('an action that throws is done with; the others stay', () => {
    const scheduler = new Scheduler();
    const ran: string[] = [];
    scheduler.at(after(1), () => {
      throw new RangeError('action');
    });
    scheduler.at(after(1), () => ran.push('next'));
    expect(() => {
      scheduler.runDue(after(1));
    }).to.throw('action');
    scheduler.runDue(after(1));
    expect(ran).to.deep.equal(['next']);
  });

  it('keeps the order of timers that are set again after a restart', () => {
    holds('timers set again', fc.array(fc.nat({ max: 4 }), { maxLength: 30 }), (dues) => {
      const first = new Scheduler();
      const second = new Scheduler();
      second.at(after(1), () => expect.fail('a timer of the start'));
      const timers = dues.map((due) => first.at(after(due), () => undefined));
      second.kept().restore(throughFile(first.kept().save()));
      const ran: (readonly [number, number])[] = [];
      const again = (i: number) => second.again(keptTimer(timers[i]!), () => ran.push([dues[i]!, i]));
      // owners restore in their order
      [...dues.keys()].reverse().forEach(again);
      second.at(after(4), () => ran.push([4, dues.length]));
      second.runDue(after(4));
      const sorted = [...dues, 4].map((due, i) => [due, i] as const).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      expect(ran).to.deep.equal(sorted);
    });
  });
});
