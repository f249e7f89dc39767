import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import type { JsonValue, Slot } from '../../../src/core/store.ts';
import type { QueuedMessage } from '../../../src/ocpp/rpc/model.ts';
import { createMemoryStore } from '../../../src/core/store.ts';
import { calm, message, QueueRig, refusal, result } from './queue-rig.ts';

const ready = async (options = {}) => {
  const rig = new QueueRig(options);
  await rig.queue.load();
  return rig;
};

/** Counts what a slot is asked to write. */
const counting = (slot: Slot) => {
  const written = { values: 0, operations: 0 };
  return {
    written,
    slot: {
      name: slot.name,
      read: () => slot.read(),
      append(...values: readonly JsonValue[]) {
        written.values += values.length;
        written.operations += 1;
        return slot.append(...values);
      },
      replace(values: readonly JsonValue[]) {
        written.values += values.length;
        written.operations += 1;
        return slot.replace(values);
      },
    },
  };
};

describe('the queue of transaction messages (OCPP 1.6 3.7.1 and 4.1, 2.x E04)', () => {
  it('sends in order, one at a time, each only when the one before was answered', async () => {
    const rig = await ready();
    for (const n of [1, 2, 3]) rig.queue.push(message(n));
    expect(rig.queue.length).to.equal(3);
    await rig.connect();
    expect(rig.numbers).to.deep.equal([1]);
    await rig.last.answer(result);
    expect(rig.numbers).to.deep.equal([1, 2]);
    await rig.last.answer(result);
    await rig.last.answer(result);
    await rig.queue.settled();
    expect(rig.answered).to.deep.equal([1, 2, 3]);
    expect(await rig.slot.read()).to.deep.equal([]);
  });

  it('keeps a message in the store before it is sent', async () => {
    const rig = new QueueRig();
    const real = rig.slot;
    let finish = () => undefined as unknown;
    const slow: Slot = {
      name: real.name,
      read: () => real.read(),
      replace: (values) => real.replace(values),
      append: (...values) =>
        new Promise((resolve) => {
          finish = () => {
            resolve(real.append(...values));
          };
        }),
    };
    rig.slot = slow;
    rig.make();
    await rig.queue.load();
    await rig.connect();
    rig.queue.push(message(1, 'start'));
    await calm();
    expect(rig.sent).to.deep.equal([]);
    finish();
    await calm();
    expect(rig.numbers).to.deep.equal([1]);
    expect(await real.read()).to.have.length(1);
  });

  it('repeats after the interval times the transmissions so far, and gives up after the last attempt', async () => {
    const rig = await ready();
    rig.queue.push(message(1, 'start'));
    rig.queue.push(message(2, 'end'));
    await rig.connect();
    await rig.last.answer(refusal);
    rig.timers.pass(59_999);
    await calm();
    expect(rig.numbers).to.deep.equal([1]);
    rig.timers.pass(1);
    await calm();
    expect(rig.numbers).to.deep.equal([1, 1]);
    await rig.last.answer({ kind: 'timeout' });
    rig.timers.pass(119_999);
    await calm();
    expect(rig.numbers).to.deep.equal([1, 1]);
    rig.timers.pass(1);
    await calm();
    await rig.last.answer(refusal);
    expect(rig.dropped).to.deep.equal(['1 attempts']);
    expect(rig.lines).to.deep.equal([
      'StartTransaction was given up after 3 attempts: the central system answered InternalError',
    ]);
    expect(rig.numbers).to.deep.equal([1, 1, 1, 2]);
  });

  it('a lost connection costs no attempt; the message in flight stays the first', async () => {
    const rig = await ready();
    rig.queue.push(message(1, 'start'));
    rig.queue.push(message(2));
    for (let n = 0; n < 10; n += 1) {
      await rig.connect();
      await rig.cut();
    }
    expect(rig.queue.length).to.equal(2);
    await rig.connect();
    await rig.last.answer(result);
    expect(rig.numbers).to.deep.equal([...Array<number>(11).fill(1), 2]);
    expect(rig.dropped).to.deep.equal([]);
  });

  it('an outcome of the earlier connection does not hold up the next one', async () => {
    const rig = await ready();
    rig.queue.push(message(1));
    await rig.connect();
    const [first] = rig.sent;
    rig.queue.pause();
    rig.queue.resume();
    await first?.answer({ kind: 'lost' });
    expect(rig.numbers).to.deep.equal([1, 1]);
  });

  it('the wait for the next attempt goes on while the line is down', async () => {
    const rig = await ready();
    rig.queue.push(message(1));
    await rig.connect();
    await rig.last.answer(refusal);
    await rig.cut();
    await rig.connect();
    expect(rig.numbers).to.deep.equal([1]);
    rig.timers.pass(60_000);
    await calm();
    expect(rig.numbers).to.deep.equal([1, 1]);
  });

  it('a message that breaks its schema leaves after its attempts', async () => {
    const rig = await ready({ policy: () => ({ attempts: 1, intervalS: 60 }) });
    rig.queue.push(message(1, 'end'));
    rig.queue.push(message(2));
    await rig.connect();
    await rig.last.answer({ kind: 'unsent', why: '/idTag must have at most 20 characters' });
    expect(rig.lines).to.deep.equal([
      'StopTransaction was given up after 1 attempt: /idTag must have at most 20 characters',
    ]);
    expect(rig.numbers).to.deep.equal([1, 2]);
  });

  it('a message that was not sent because the line is down costs nothing', async () => {
    const rig = await ready({ policy: () => ({ attempts: 1, intervalS: 60 }) });
    rig.queue.push(message(1));
    await rig.connect();
    rig.isOpen = false;
    await rig.last.answer({ kind: 'unsent', why: 'no connection' });
    expect(rig.numbers).to.deep.equal([1]);
    await rig.connect();
    expect(rig.numbers).to.deep.equal([1, 1]);
  });

  it('each transmission has a new id, in 2.1 a repeat keeps it', async () => {
    const plain = await ready();
    plain.queue.push(message(1));
    await plain.connect();
    expect(plain.last.messageId).to.equal(undefined);
    let made = 0;
    const kept = await ready({
      newMessageId: () => {
        made += 1;
        return `id-${made}`;
      },
    });
    kept.queue.push(message(1));
    kept.queue.push(message(2));
    await kept.connect();
    await kept.cut();
    await kept.connect();
    await kept.last.answer(result);
    expect(kept.sent.map(({ messageId }) => messageId)).to.deep.equal(['id-1', 'id-1', 'id-2']);
  });

  it('fills in what is known only at the sending, and once more at a repeat', async () => {
    let transactionId = 7;
    const rig = await ready({
      fill: ({ payload }: { payload: object }) => ({ ...payload, transactionId }),
    });
    rig.queue.push(message(1));
    await rig.connect();
    await rig.cut();
    transactionId = 8;
    await rig.connect();
    expect(rig.sent.map(({ payload }) => payload)).to.deep.equal([
      { n: 1, transactionId: 7 },
      { n: 1, transactionId: 8 },
    ]);
  });

  it('what cannot be filled in leaves without being sent', async () => {
    const rig = await ready({ fill: ({ payload }: QueuedMessage) => (payload['n'] === 1 ? null : payload) });
    rig.queue.push(message(1, 'end'));
    rig.queue.push(message(2, 'start'));
    await rig.connect();
    expect(rig.numbers).to.deep.equal([2]);
    expect(rig.dropped).to.deep.equal([]);
  });

  it('over the cap drops the 1st, 3rd, 5th ... in-between message of each transaction, never start or end', async () => {
    const rig = await ready({ cap: 12 });
    rig.queue.push(message(0, 'start'));
    for (let n = 1; n <= 5; n += 1) rig.queue.push(message(n));
    rig.queue.push(message(6, 'end'));
    rig.queue.push(message(10, 'start', 'T2'));
    for (let n = 11; n <= 14; n += 1) rig.queue.push(message(n, 'middle', 'T2'));
    expect(rig.queue.length).to.equal(12);
    rig.queue.push(message(15, 'end', 'T2'));
    expect(rig.dropped).to.deep.equal(['1 cap', '3 cap', '5 cap', '11 cap', '13 cap']);
    expect(rig.lines).to.deep.equal(['the queue of transaction messages is full: 5 in-between messages were dropped']);
    expect(rig.queue.droppedMiddles).to.equal(5);
    expect([rig.queue.lengthOf('T1'), rig.queue.lengthOf('T2'), rig.queue.lengthOf('T3')]).to.deep.equal([4, 4, 0]);
    await rig.queue.settled();
    await rig.make({ cap: 12 }).load();
    await rig.connect();
    for (let n = 0; n < 8; n += 1) await rig.last.answer(result);
    expect(rig.numbers).to.deep.equal([0, 2, 4, 6, 10, 12, 14, 15]);
  });

  it('starts and ends stay though they alone are more than the cap', async () => {
    const rig = await ready({ cap: 4 });
    for (let n = 0; n < 20; n += 1) rig.queue.push(message(n, n % 2 === 0 ? 'start' : 'end', `T${n >> 1}`));
    expect(rig.queue.length).to.equal(20);
    expect(rig.queue.droppedMiddles).to.equal(0);
  });

  it('a failure counts over a restart as well', async () => {
    const rig = await ready();
    rig.queue.push(message(1));
    rig.queue.push(message(2));
    await rig.connect();
    await rig.last.answer(refusal);
    rig.queue.stop();
    await rig.make().load();
    rig.queue.push(message(3));
    expect(rig.queue.length).to.equal(3);
    await rig.connect();
    await rig.last.answer(refusal);
    rig.timers.pass(120_000);
    await calm();
    await rig.last.answer(refusal);
    expect(rig.dropped).to.deep.equal(['1 attempts']);
    await rig.last.answer(result);
    await rig.last.answer(result);
    expect(rig.answered).to.deep.equal([2, 3]);
  });

  it('what is pushed before the restored messages are read comes after them', async () => {
    const rig = await ready();
    rig.queue.push(message(1));
    await rig.queue.settled();
    rig.make();
    rig.queue.push(message(2));
    await rig.queue.load();
    await rig.connect();
    await rig.last.answer(result);
    await rig.last.answer(result);
    expect(rig.answered).to.deep.equal([1, 2]);
  });

  it('a store that fails costs no message and one line', async () => {
    const rig = new QueueRig();
    const real = rig.slot;
    let isFull = true;
    const fail = () => Promise.reject(new SimError('STORE_FULL', 'the disk is full'));
    rig.slot = {
      name: real.name,
      read: () => real.read(),
      append: (...values) => (isFull ? fail() : real.append(...values)),
      replace: (values) => (isFull ? fail() : real.replace(values)),
    };
    rig.make();
    await rig.queue.load();
    for (let n = 1; n <= 20; n += 1) {
      rig.queue.push(message(n));
      await calm();
    }
    expect(rig.lines).to.deep.equal([
      'transaction messages cannot be stored: the disk is full; a restart would lose those that are queued',
    ]);
    expect(rig.queue.length).to.equal(20);
    isFull = false;
    for (let n = 21; n <= 40; n += 1) {
      rig.queue.push(message(n));
      await calm();
    }
    await rig.make().load();
    expect(rig.queue.length).to.equal(40);
  });

  it('a store that cannot be read costs its messages and one line, and nothing is written to it', async () => {
    const rig = new QueueRig();
    const real = rig.slot;
    await real.append({ number: 1, message: message(1) as unknown as JsonValue });
    rig.slot = {
      name: real.name,
      read: () => Promise.reject(new Error('the disk is broken')),
      append: (...values) => real.append(...values),
      replace: (values) => real.replace(values),
    };
    rig.make();
    await rig.queue.load();
    rig.queue.push(message(2));
    await rig.queue.settled();
    expect(rig.lines).to.deep.equal([
      'transaction messages of an earlier run cannot be read: the disk is broken; they are not sent, and a restart ' +
        'would lose those of this run',
    ]);
    expect(rig.queue.length).to.equal(1);
    expect(await real.read()).to.have.lengthOf(1);
  });

  it('what the store has that is no message is passed over', async () => {
    const rig = new QueueRig();
    const item = { number: 3, message: message(9) as unknown as JsonValue };
    await rig.slot.append(null, 'x', [], {}, { number: 1 }, { number: 2, message: { action: 'A' } }, item, {
      left: [77],
    });
    await rig.queue.load();
    expect(rig.queue.length).to.equal(1);
  });

  it('a long time without connection writes a few values for each message', async () => {
    const rig = new QueueRig({ cap: 5000 });
    const { written, slot } = counting(createMemoryStore().slot('long'));
    rig.slot = slot;
    rig.make();
    await rig.queue.load();
    for (let n = 0; n < 12_000; n += 1) {
      rig.queue.push(message(n));
      if (n % 10 === 0) await calm();
    }
    await rig.queue.settled();
    expect(rig.queue.length).to.be.within(2500, 5000);
    expect(written.values).to.be.lessThan(12_000 * 3);
    const before = written.values;
    const left = rig.queue.length;
    await rig.connect();
    while (rig.queue.length > 0) await rig.last.answer(result);
    expect(written.values - before).to.be.lessThan(left * 5);
    expect(await slot.read()).to.deep.equal([]);
  });

  it('a listener that throws does not stop the queue', async () => {
    const rig = await ready({
      answered: () => {
        throw new Error('oh');
      },
    });
    rig.queue.push(message(1));
    rig.queue.push(message(2));
    await rig.connect();
    await rig.last.answer(result);
    expect(rig.numbers).to.deep.equal([1, 2]);
    expect(rig.lines).to.deep.equal(['a listener of transaction messages failed: oh']);
  });

  it('nothing is sent after stop', async () => {
    const rig = await ready();
    rig.queue.push(message(1));
    await rig.connect();
    await rig.last.answer(refusal);
    rig.queue.stop();
    expect(rig.timers.waiting).to.equal(0);
    await rig.queue.settled();
    expect(rig.numbers).to.deep.equal([1]);
  });
});
