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
});
