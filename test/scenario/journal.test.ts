import { expect } from 'chai';
import { Journal } from '../../src/scenario/run/journal.ts';
import type { MessageEvent } from '../../src/scenario/run/journal.ts';

const message = (id: number): MessageEvent => ({ kind: 'message', feed: 'ocpp ', id, message: undefined });

describe('the journal of a run', () => {
  it('keeps a message that comes while something else is looked at until it has been read', () => {
    const journal = new Journal();
    const reader = journal.reader(0);
    const [first, second] = [message(1), message(2)];
    journal.add(first);
    first.message = { id: 1 };
    journal.add(second);
    const isSecond = (event: unknown) => event === second && second.message !== undefined;
    expect(reader.next(isSecond)).to.equal(null);
    expect(reader.position).to.equal(1);
    second.message = { id: 2 };
    expect(reader.next(isSecond)).to.equal(second);
  });

  it('passes over messages that were gone before they could be read', () => {
    const journal = new Journal();
    const [gone, kept] = [message(1), message(2)];
    journal.add(gone);
    journal.add(kept);
    gone.message = null;
    kept.message = { id: 2 };
    expect(journal.reader(0).next((event) => event === kept)).to.equal(kept);
  });
});
