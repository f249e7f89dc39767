/** The points that a write of consecutive registers sets, and those that it leaves as they are. */
import { SimError } from '../../core/errors.ts';
import { ignoresWrites } from './classic.ts';
import type { Layout, PointSlot } from './layout.ts';
import { notInMap } from './span-words.ts';
import { checkAccess } from './transaction.ts';
import { pointName } from './view.ts';

export interface WriteSpan {
  /** in the order of addresses; at least one */
  readonly points: readonly PointSlot[];
  /** read-only and unimplemented points of classic models, of which the span may have a part only */
  readonly ignored: readonly PointSlot[];
}

/**
 * Every register must belong to a point that the span has whole and that can be written, or that ignores writes. A span
 * of the latter alone is refused: a write that changes nothing is a mistake of its master.
 * @throws SimError MAP_ILLEGAL_ADDRESS, MAP_READ_ONLY (marker and end model too), MAP_NOT_IMPLEMENTED, MAP_PARTIAL_POINT
 */
export function writeSpan({ base, size, slots, slotAt }: Layout, address: number, count: number): WriteSpan {
  const end = address + count;
  if (address < base || count < 1 || end > base + size) throw notInMap(address, count);
  const points: PointSlot[] = [];
  const ignored: PointSlot[] = [];
  for (let at = address; at < end; ) {
    const slot = slots[slotAt[at - base] ?? slots.length];
    if (slot === undefined) throw new SimError('MAP_READ_ONLY', `register ${at} is part of the map's frame`);
    const next = slot.address + slot.def.size;
    if (ignoresWrites(slot)) {
      ignored.push(slot);
    } else {
      if (slot.address < address || next > end) throw partOf(slot);
      points.push(slot);
    }
    at = next;
  }
  for (const slot of points.length > 0 ? points : ignored) checkAccess(slot);
  return { points, ignored };
}

/** The refusal of a write of a part of a point. @throws SimError where the point could not be written whole either */
function partOf(slot: PointSlot): SimError {
  checkAccess(slot);
  return new SimError(
    'MAP_PARTIAL_POINT',
    `${pointName(slot)} spans ${slot.def.size} registers and must be written whole`,
  );
}
