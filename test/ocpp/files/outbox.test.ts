import { expect } from 'chai';
import type { CallOutcome } from '../../../src/ocpp/rpc/model.ts';
import { createOutbox } from '../../../src/ocpp/files/outbox.ts';
import type { OutboxOptions } from '../../../src/ocpp/files/outbox.ts';
import { settled } from '../v16/fakes.ts';
import { upkeepRig } from '../v16/firmware-management/rig.ts';

const action = 'LogStatusNotification';

interface Report {
  readonly action: typeof action;
  readonly request: { readonly status: 'Uploading'; readonly requestId: number };
}

function outboxOn(options: Partial<OutboxOptions<Report>> = {}) {
  const s = upkeepRig();
  let changes = 0;
  const outbox = createOutbox<Report>({
    parts: s.parts,
    send: ({ request }) => s.parts.calls.send(action, request),
    capacity: 5,
    repeatMs: null,
    changed: () => {
      changes += 1;
    },
    ...options,
  });
  const report = (requestId: number): Report => ({ action, request: { status: 'Uploading', requestId } });
  return {
    ...s,
    outbox,
    report,
    push: (requestId: number) => {
      outbox.push(report(requestId));
    },
    sent: () => s.told(action).map(({ requestId }) => requestId),
    waiting: () => outbox.waiting.map(({ request }) => request.requestId),
    answer: (outcome: CallOutcome) => s.line.answers.set(action, () => outcome),
    get changes() {
      return changes;
    },
  };
}

describe('OCPP reports to the central system', () => {
  it('wait until the station is accepted, then go in order', async () => {
    const s = outboxOn();
    s.push(1);
    s.push(2);
    await settled();
    expect([s.sent(), s.waiting()]).to.deep.equal([[], [1, 2]]);
    await s.accept();
    expect([s.sent(), s.waiting(), s.changes]).to.deep.equal([[1, 2], [], 4]);
  });

  it('those of an earlier process go before the others', async () => {
    const s = outboxOn();
    s.push(2);
    s.outbox.restore([s.report(1)]);
    await s.accept();
    expect(s.sent()).to.deep.equal([1, 2]);
  });

  it('one at a time: the next waits for the answer', async () => {
    const s = outboxOn();
    await s.accept();
    let answer: (outcome: CallOutcome) => void = () => undefined;
    s.line.call = (name, payload, options = {}) => {
      s.line.calls.push({ action: name, payload, options });
      return new Promise((resolve) => {
        answer = resolve;
      });
    };
    s.push(1);
    s.push(2);
    await settled();
    expect(s.sent()).to.deep.equal([1]);
    answer({ kind: 'result', payload: {}, durationMs: 0 });
    await settled();
    expect(s.sent()).to.deep.equal([1, 2]);
    s.outbox.stop();
    answer({ kind: 'result', payload: {}, durationMs: 0 });
    await settled();
    // the end of the station comes before the answer: it is kept
    expect(s.waiting()).to.deep.equal([2]);
  });

  it('one that comes in the moment in which the last one was answered is sent at once', async () => {
    const s = outboxOn();
    await s.accept();
    for (let turns = 0; turns < 12; turns += 1) {
      s.push(2 * turns);
      // after so many turns of the queue of promises
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      s.push(2 * turns + 1);
      await settled();
      expect(s.waiting(), `after ${turns} turns`).to.deep.equal([]);
    }
    expect(s.sent()).to.deep.equal(Array.from({ length: 24 }, (_, n) => n));
  });

  it('a broken line keeps it; a time-out counts as sent, or is repeated', async () => {
    const s = outboxOn();
    await s.accept();
    s.answer({ kind: 'lost' });
    s.push(1);
    await settled();
    s.push(2);
    await settled();
    s.answer({ kind: 'timeout' });
    await s.accept();
    expect(s.waiting()).to.deep.equal([]);
    const t = outboxOn({ repeatMs: 1000 });
    await t.accept();
    t.answer({ kind: 'timeout' });
    t.push(1);
    await settled();
    t.answer({ kind: 'result', payload: {}, durationMs: 0 });
    await t.pass(0.9);
    expect(t.waiting()).to.deep.equal([1]);
    await t.pass(0.1);
    expect([t.sent(), t.waiting()]).to.deep.equal([[1, 1], []]);
  });

  it('too many: the oldest is lost, one that may be spared first; that is logged', () => {
    const s = outboxOn({ spare: ({ request }) => request.requestId % 2 === 0 });
    for (let n = 1; n <= 9; n += 1) s.push(n);
    expect(s.waiting()).to.deep.equal([1, 3, 5, 7, 9]);
    s.push(11);
    expect(s.waiting()).to.deep.equal([3, 5, 7, 9, 11]);
    expect(s.logged.at(-1)).to.equal('1 reports for the central system are lost: too many wait');
  });

  it('nothing goes out after the end', async () => {
    const s = outboxOn({ repeatMs: 1000 });
    await s.accept();
    s.answer({ kind: 'timeout' });
    s.push(1);
    await settled();
    s.outbox.stop();
    s.push(2);
    await s.accept();
    await s.pass(10);
    expect([s.sent(), s.timers.waiting]).to.deep.equal([[1], 0]);
  });
});
