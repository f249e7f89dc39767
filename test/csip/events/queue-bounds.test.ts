/** Bounds of the queue of responses, its journal, and a store that fails. */
import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import { createMemoryStore } from '../../../src/core/store.ts';
import type { JsonValue, Slot } from '../../../src/core/store.ts';
import { failed, owed, queueRig, sent } from './queue-rig.ts';

const other = 'https://server/other';

/** A slot that fails or waits as the test says, and counts what is written. */
class HandSlot implements Slot {
  readonly name = 'q';
  readonly #slot = createMemoryStore().slot('q');
  appended = 0;
  replaced = 0;
  before: () => Promise<void> = () => Promise.resolve();
  beforeReplace: () => Promise<void> = () => Promise.resolve();

  read(): Promise<readonly JsonValue[]> {
    return this.#slot.read();
  }

  async append(...values: readonly JsonValue[]): Promise<void> {
    this.appended += 1;
    await this.before();
    await this.#slot.append(...values);
  }

  async replace(values: readonly JsonValue[]): Promise<void> {
    this.replaced += 1;
    await this.beforeReplace();
    await this.#slot.replace(values);
  }
}

const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (reason: unknown) => reason,
  );
const many = (count: number, from = 0) => Array.from({ length: count }, (_, i) => owed(`E${from + i}`, 1));

describe('CSIP: bounds of the queue of responses', () => {
  it('1,000 wait; one more drops the oldest that is not under way, with the reason', async () => {
    const { queue, take } = await queueRig();
    await queue.put(many(1_000));
    expect(queue.waiting.length).to.equal(1_000);
    expect(take()).to.deep.equal(['E0 1']);
    await queue.put(many(1, 1_000));
    expect(queue.waiting.slice(0, 2).map(({ mrid }) => mrid)).to.deep.equal(['E0', 'E2']);
    expect(queue.waiting.length).to.equal(1_000);
    expect(queue.list('E1')).to.deep.equal([
      {
        ...owed('E1', 1),
        id: 2,
        result: 'dropped',
        sentAtMs: null,
        attempts: 0,
        httpStatus: null,
        lastError: 'more than 1000 responses were waiting',
      },
    ]);
  });

  it('responses that are dropped as they come are not sent after a restart either', async () => {
    const first = await queueRig();
    await first.queue.put(many(1_001));
    expect((await queueRig(first.slot)).queue.waiting[0]?.mrid).to.equal('E1');
    const { queue, slot } = await queueRig();
    await queue.put(many(1_300));
    expect(queue.waiting[0]?.mrid).to.equal('E300');
    expect(queue.list().length).to.equal(1_200);
    const again = (await queueRig(slot)).queue;
    expect(again.waiting.length).to.equal(1_000);
    expect(again.waiting[0]?.mrid).to.equal('E300');
    expect(again.list('E299')[0]).to.include({ result: 'dropped' });
  });

  it('200 that are done are kept, the newest ones; the journal has at most 300 lines too many', async () => {
    const { queue, slot } = await queueRig();
    const lines: number[] = [];
    for (let i = 0; i < 260; i += 1) {
      await queue.put([owed(`E${i}`, 1)]);
      for (const { id } of queue.take()) await queue.settle(id, sent);
      lines.push((await slot.read()).length);
    }
    expect(queue.list().map(({ mrid }) => mrid)).to.deep.equal(Array.from({ length: 200 }, (_, i) => `E${259 - i}`));
    // two lines for each, until the 501st line would be too many
    expect(lines.slice(0, 250)).to.deep.equal(Array.from({ length: 250 }, (_, i) => 2 * i + 2));
    expect(lines.slice(250)).to.deep.equal([200, 202, 204, 206, 208, 210, 212, 214, 216, 218]);
  });

  it('a line that another process wrote counts as well', async () => {
    const slot = new HandSlot();
    const entry = {
      ...owed('A', 1),
      id: 1,
      result: 'sent',
      sentAtMs: 0,
      attempts: 1,
      httpStatus: 201,
      lastError: null,
    };
    await slot.replace(Array.from({ length: 301 }, () => ({ ...entry })));
    slot.replaced = 0;
    const { queue } = await queueRig(slot);
    await queue.put([owed('B', 1)]);
    expect([slot.appended, slot.replaced]).to.deep.equal([1, 0]);
    await queue.put([owed('C', 1), owed('D', 1), owed('E', 1)]);
    expect([slot.appended, slot.replaced]).to.deep.equal([2, 0]);
    queue.take();
    await queue.settle(2, sent);
    expect([slot.appended, slot.replaced]).to.deep.equal([2, 1]);
    expect((await slot.read()).length).to.equal(5);
  });
});

describe('CSIP: addresses of the queue of responses', () => {
  it('the wait of one does not hold another; the shorter one is the next', async () => {
    const { queue, take, wall } = await queueRig();
    await queue.put([owed('A', 1), owed('B', 1, other)]);
    expect(take()).to.deep.equal(['A 1', 'B 1']);
    await queue.settle(1, { ...failed, retryAfterMs: 5_000 });
    await queue.settle(2, { ...failed, retryAfterMs: 3_000 });
    expect(queue.nextInMs).to.equal(3_000);
    wall.advance(4_000);
    expect(queue.nextInMs).to.equal(0);
    expect(take()).to.deep.equal(['B 1']);
    expect(queue.nextInMs).to.equal(1_000);
    queue.retryNow();
    expect(queue.nextInMs).to.equal(0);
    await queue.settle(2, failed);
    queue.retryNow();
    expect(take()).to.deep.equal(['A 1', 'B 1']);
    await queue.settle(1, failed);
    expect(queue.nextInMs, 'a first wait again').to.equal(1_000);
  });

  it('the end of a response to one leaves what is under way to another', async () => {
    const { queue, take } = await queueRig();
    await queue.put([owed('A', 1), owed('B', 1, other), owed('B', 2, other)]);
    take();
    await queue.settle(1, sent);
    expect(take()).to.deep.equal([]);
    await queue.settle(2, sent);
    expect(take()).to.deep.equal(['B 2']);
  });

  it('an address whose only response was dropped forgets its wait', async () => {
    const { queue, take } = await queueRig();
    await queue.put([owed('A', 1, other)]);
    take();
    await queue.settle(1, { ...failed, retryAfterMs: 60_000 });
    await queue.put(many(1_000));
    expect(queue.list('A')[0]?.result).to.equal('dropped');
    await queue.put([owed('B', 1, other)]);
    expect(take()).to.deep.equal(['E1 1', 'B 1']);
  });

  it('a second outcome of a response does not release the next one', async () => {
    const { queue, take } = await queueRig();
    await queue.put([owed('A', 1), owed('A', 2), owed('A', 3)]);
    take();
    await queue.settle(1, sent);
    expect(take()).to.deep.equal(['A 2']);
    await queue.settle(1, sent);
    expect(take()).to.deep.equal([]);
    expect(queue.list().at(-1)).to.include({ result: 'sent', attempts: 1 });
  });
});

describe('CSIP: outcomes in the queue of responses', () => {
  it('each with its attempts, its instant, its status and its error', async () => {
    const { queue, wall } = await queueRig();
    await queue.put([owed('A', 1), owed('A', 2), owed('A', 3)]);
    queue.take();
    await queue.settle(1, { kind: 'failed', httpStatus: 503, error: 'busy' });
    expect(queue.waiting[0]).to.include({ attempts: 1, httpStatus: 503, lastError: 'busy', sentAtMs: null });
    wall.advance(1_000);
    queue.take();
    await queue.settle(1, sent);
    queue.take();
    await queue.settle(2, { kind: 'refused', httpStatus: 400, error: 'bad' });
    queue.take();
    await queue.settle(3, { kind: 'dropped', error: 'a fault' });
    const shown = queue.list().map(({ result, attempts, httpStatus, lastError, sentAtMs }) => {
      return [result, attempts, httpStatus, lastError, sentAtMs];
    });
    expect(shown).to.deep.equal([
      ['dropped', 1, null, 'a fault', null],
      ['refused', 1, 400, 'bad', wall.nowMs()],
      ['sent', 2, 201, null, wall.nowMs()],
    ]);
  });

  it('both choices of the user are taken again after a restart', async () => {
    const first = await queueRig();
    await first.queue.put([owed('A', 4), owed('A', 5), owed('A', 2)]);
    const { queue } = await queueRig(first.slot);
    await queue.put([owed('A', 4), owed('A', 5), owed('A', 2)]);
    expect(queue.waiting.map(({ status }) => status)).to.deep.equal([4, 5, 2, 4, 5]);
  });

  it('of one control are listed alone', async () => {
    const { queue } = await queueRig();
    await queue.put([owed('A', 1), owed('B', 1), owed('A', 2)]);
    expect(queue.list('A').map(({ status }) => status)).to.deep.equal([2, 1]);
    expect(queue.list().map(({ id }) => id)).to.deep.equal([3, 2, 1]);
  });
});

describe('CSIP: the journal of the queue of responses', () => {
  it('is written before a response is sent', async () => {
    const slot = new HandSlot();
    const { queue, take } = await queueRig(slot);
    let release = (): void => undefined;
    slot.before = () => new Promise<void>((resolve) => (release = resolve));
    const put = queue.put([owed('A', 1)]);
    expect([take(), queue.nextInMs]).to.deep.equal([[], null]);
    release();
    await put;
    expect(queue.nextInMs).to.equal(0);
    expect(take()).to.deep.equal(['A 1']);
  });

  it('is not touched by nothing, nor by a failed attempt', async () => {
    const slot = new HandSlot();
    const { queue } = await queueRig(slot);
    await queue.put([]);
    expect(slot.appended).to.equal(0);
    await queue.put([owed('A', 1)]);
    queue.take();
    await queue.settle(1, failed);
    expect([slot.appended, slot.replaced]).to.deep.equal([1, 0]);
  });

  it('is written anew, with the last word on each response, where the store is full', async () => {
    const { queue, slot } = await queueRig(createMemoryStore({ maxEntries: 3 }).slot('q'));
    await queue.put([owed('A', 1), owed('A', 2)]);
    for (const id of [1, 2]) {
      queue.take();
      await queue.settle(id, sent);
    }
    expect(await slot.read()).to.deep.equal([...queue.list()].reverse());
  });

  it('that cannot be written for another reason passes the reason on, and the response is sent', async () => {
    const slot = new HandSlot();
    const { queue, take } = await queueRig(slot);
    for (const reason of [new Error('disk'), new SimError('INTERNAL', 'no JSON')]) {
      slot.before = () => Promise.reject(reason);
      expect(await rejection(queue.put([owed('A', 1)]))).to.equal(reason);
    }
    expect(slot.replaced).to.equal(0);
    expect(take()).to.deep.equal(['A 1']);
  });

  it('that is full in every way says that a restart forgets, and why', async () => {
    const slot = new HandSlot();
    const { queue } = await queueRig(slot);
    slot.before = () => Promise.reject(new SimError('STORE_FULL', 'full'));
    slot.beforeReplace = () => Promise.reject(new SimError('STORE_FULL', 'too full'));
    const error = await rejection(queue.put([owed('A', 1)]));
    expect(error).to.be.instanceOf(SimError).with.property('code', 'STORE_FULL');
    expect(String(error)).to.include('responses are not kept over a restart').and.to.include('too full');
  });
});
