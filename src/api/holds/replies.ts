import type { Plant } from '../../contract/plant.ts';
import { secondsBetween } from '../../core/time/clock.ts';
import { isoOrNull } from '../common/schemas.ts';
import { writerReply } from '../common/writer-replies.ts';
import type { HoldRecord } from './book.ts';
import type { HoldReply } from './schemas.ts';

/** One hold as the interface shows it; instants as dates of the simulated clock. */
export function holdReply(
  plant: Plant,
  { id, deviceIndex, points, begunBy, endsAt, waiting, end }: HoldRecord,
): HoldReply {
  const iso = (at: HoldRecord['endsAt']) => new Date(plant.dateMs(at)).toISOString();
  return {
    id,
    device_index: deviceIndex,
    state: end ? 'ended' : waiting ? 'waiting' : 'active',
    points: [...points],
    begun_at: iso(begunBy.at),
    ends_at: iso(endsAt),
    remaining_s: end ? null : Math.max(0, secondsBetween(plant.time.sim, endsAt)),
    writer: writerReply(plant, begunBy),
    reason: end?.reason ?? null,
    ended_at: isoOrNull(end && plant.dateMs(end.at)),
    ended_by: writerReply(plant, end?.by),
    restored: end && [...end.restored],
    left: end && [...end.left],
    handed_over: end && [...end.handedOver],
  };
}
