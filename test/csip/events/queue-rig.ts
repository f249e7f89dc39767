import { silentLogger } from '../../../src/core/log/log.ts';
import { doubling } from '../../../src/core/net/back-off.ts';
import { createMemoryStore } from '../../../src/core/store.ts';
import type { Slot } from '../../../src/core/store.ts';
import type { OwedResponse, ResponseStatus } from '../../../src/csip/events/model.ts';
import { ResponseQueue } from '../../../src/csip/events/responses.ts';
import { HandWall } from '../../support/wall.ts';

export const owed = (mrid: string, status: ResponseStatus, replyTo = 'https://server/rsp'): OwedResponse => ({
  mrid,
  status,
  createdS: 1_000,
  replyTo,
});

/** A queue in a slot, with a wall clock that the test moves. `take` names mRID and status. */
export const queueRig = async (slot: Slot = createMemoryStore().slot('q')) => {
  const wall = new HandWall();
  const queue = await ResponseQueue.open({
    slot,
    log: silentLogger,
    wall,
    backOff: doubling({ firstMs: 1_000, maxMs: 300_000 }),
  });
  const take = () => queue.take().map(({ mrid, status }) => `${mrid} ${status}`);
  return { slot, wall, queue, take };
};

export const sent = { kind: 'sent', httpStatus: 201 } as const;
export const failed = { kind: 'failed', httpStatus: null, error: 'no connection' } as const;
