import { expect } from 'chai';
import { SimError } from '../../../src/core/errors.ts';
import { createMemoryStore } from '../../../src/core/store.ts';
import { failed, owed, queueRig as rig, sent } from './queue-rig.ts';

describe('CSIP: queue of responses', () => {
  it('sends one at a time to an address, in the order in which they were owed', async () => {
    const { queue, take } = await rig();
    await queue.put([owed('L', 7), owed('W', 2)]);
    expect(queue.nextInMs).to.equal(0);
    expect(take()).to.deep.equal(['L 7']);
    expect(take()).to.deep.equal([]);
    expect(queue.nextInMs).to.equal(null);
    await queue.settle(1, sent);
    expect(take()).to.deep.equal(['W 2']);
    await queue.settle(2, sent);
    expect(queue.waiting).to.deep.equal([]);
    expect(queue.nextInMs).to.equal(null);
  });

  it('sends to several addresses at once', async () => {
    const { queue, take } = await rig();
    await queue.put([owed('A', 1), owed('A', 2), owed('B', 1, 'https://server/other')]);
    expect(take()).to.deep.equal(['A 1', 'B 1']);
  });

  it('tries again after a wait that doubles, keeps the time of the response, and lets nothing overtake it', async () => {
    const { queue, take, wall } = await rig();
    await queue.put([owed('A', 1), owed('A', 2)]);
    for (const waitMs of [1_000, 2_000, 4_000]) {
      expect(take()).to.deep.equal(['A 1']);
      await queue.settle(1, failed);
      expect(queue.nextInMs).to.equal(waitMs);
      wall.advance(waitMs - 1);
      expect(take()).to.deep.equal([]);
      wall.advance(1);
    }
    expect(queue.take()[0]).to.include({ createdS: 1_000, attempts: 3, lastError: 'no connection' });
    await queue.settle(1, sent);
    expect(take()).to.deep.equal(['A 2']);
    await queue.settle(2, failed);
    expect(queue.nextInMs).to.equal(1_000);
  });

  it('waits as long as the server asks for', async () => {
    const { queue } = await rig();
    await queue.put([owed('A', 1)]);
    queue.take();
    await queue.settle(1, { kind: 'failed', httpStatus: 503, error: 'busy', retryAfterMs: 60_000 });
    expect(queue.nextInMs).to.equal(60_000);
    queue.retryNow();
    expect(queue.nextInMs).to.equal(0);
  });

  it('does not repeat what the server refuses, or a fault drops', async () => {
    const { queue, take } = await rig();
    await queue.put([owed('A', 1), owed('A', 2), owed('A', 3)]);
    queue.take();
    await queue.settle(1, { kind: 'refused', httpStatus: 404, error: 'not found' });
    queue.take();
    await queue.settle(2, { kind: 'dropped', error: 'csip.response_missing' });
    expect(take()).to.deep.equal(['A 3']);
    expect(queue.list('A').map(({ result, httpStatus }) => [result, httpStatus])).to.deep.equal([
      ['queued', null],
      ['dropped', null],
      ['refused', 404],
    ]);
    expect(queue.list('B')).to.deep.equal([]);
  });

  it('survives a restart: what waits is sent, what was sent is not', async () => {
    const first = await rig();
    await first.queue.put([owed('A', 1), owed('A', 2), owed('A', 3)]);
    first.queue.take();
    await first.queue.settle(1, sent);
    first.queue.take();
    const second = await rig(first.slot);
    expect(second.queue.waiting.map(({ status }) => status)).to.deep.equal([2, 3]);
    expect(second.take()).to.deep.equal(['A 2']);
    await second.queue.settle(2, sent);
    await second.queue.put([owed('B', 1)]);
    expect(second.queue.waiting.map(({ id, mrid }) => [id, mrid])).to.deep.equal([
      [3, 'A'],
      [4, 'B'],
    ]);
  });

  it('takes no response of an earlier process a second time, but each choice of the user', async () => {
    const first = await rig();
    await first.queue.put([owed('A', 1), owed('A', 4)]);
    const { queue } = await rig(first.slot);
    await queue.put([owed('A', 1), owed('A', 2), owed('A', 4)]);
    expect(queue.waiting.map(({ status }) => status)).to.deep.equal([1, 4, 2, 4]);
    // its program left and came back: the event is a new one
    await queue.put([owed('A', 1)]);
    expect(queue.waiting.map(({ status }) => status)).to.deep.equal([1, 4, 2, 4, 1]);
  });

  it('without room in the store still sends', async () => {
    const { queue, take } = await rig(createMemoryStore({ maxEntries: 1 }).slot('q'));
    await queue.put([owed('A', 1)]);
    const error: unknown = await queue.put([owed('A', 2)]).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(SimError).with.property('code', 'STORE_FULL');
    expect(take()).to.deep.equal(['A 1']);
    expect(queue.waiting).to.have.length(2);
  });

  it('an answer for a response that is gone or done changes nothing', async () => {
    const { queue } = await rig();
    await queue.put([owed('A', 1)]);
    queue.take();
    await queue.settle(1, sent);
    await queue.settle(1, failed);
    await queue.settle(99, sent);
    expect(queue.list().map(({ id, result }) => [id, result])).to.deep.equal([[1, 'sent']]);
  });
});
