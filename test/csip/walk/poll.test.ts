import { strict as assert } from 'node:assert';
import { createRandom } from '../../../src/core/random.ts';
import { Poll } from '../../../src/csip/walk/poll.ts';
import type { PollResult } from '../../../src/csip/walk/poll.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

function pollOf(read: () => Promise<PollResult>) {
  const clock = new HandWall();
  const { later } = new HandTimers(clock);
  return new Poll({ clock, later, jitter: createRandom(1, 'poll'), read });
}

const dayMs = 86_400_000;

/** A poll whose readings have these results one after the other, each at once, and whose waits are the longest ones. */
async function waitsAfter(...results: readonly PollResult[]): Promise<readonly (number | null)[]> {
  const clock = new HandWall();
  const { later } = new HandTimers(clock);
  const rest = results.values();
  const read = () => Promise.resolve(rest.next().value ?? 'failed');
  const poll = new Poll({ clock, later, jitter: { next: () => 1 }, read });
  const waits: (number | null)[] = [];
  while (waits.length < results.length) {
    await poll.now();
    waits.push(poll.dueInMs);
  }
  return waits;
}

describe('csip/walk/poll', () => {
  it('reads once more after a reading under way, for what that may have missed', async () => {
    const begun: (() => void)[] = [];
    const poll = pollOf(() => new Promise((resolve) => begun.push(() => resolve({ rateS: 60 }))));
    const first = poll.now();
    assert.equal(poll.now(), first);
    const anew = [poll.anew(), poll.anew()];
    assert.equal(begun.length, 1);
    begun[0]?.();
    await first;
    await Promise.resolve();
    assert.equal(begun.length, 2);
    begun[1]?.();
    await Promise.all(anew);
    assert.equal(begun.length, 2);
  });

  it('waits longer after each failure, and never longer than its own rate', async () => {
    const failures = Array.from({ length: 12 }, () => 'failed' as const);
    const [, ...waits] = await waitsAfter({ rateS: 45 }, ...failures);
    assert.ok((waits[0] ?? Infinity) < 45_000);
    assert.deepEqual(
      waits,
      [...waits].sort((a, b) => (a ?? 0) - (b ?? 0)),
    );
    assert.equal(waits.at(-1), 45_000);
  });

  it('asks a server that wants to be left alone for years again after a day', async () => {
    assert.deepEqual(await waitsAfter({ retryAfterMs: dayMs - 1 }), [dayMs - 1]);
    assert.deepEqual(await waitsAfter({ retryAfterMs: dayMs }), [dayMs]);
    assert.deepEqual(await waitsAfter({ retryAfterMs: 366 * dayMs }), [dayMs]);
  });

  it('takes a rate of 0 as one second', async () => {
    assert.deepEqual(await waitsAfter({ rateS: 0 }, { rateS: 0 }, { rateS: 1 }), [1250, 1000, 1000]);
  });
});
