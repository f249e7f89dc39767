import type { Origin, Provenance } from '../../core/device.ts';
import type { SimTime } from '../../core/clock.ts';
import type { Layout, PointSlot } from './layout.ts';

/** One committed write: every point it touched, who wrote, when. */
export interface Change {
  readonly points: readonly PointSlot[];
  readonly by: Origin;
  readonly at: SimTime;
}

/** The registers of one device. Reads are slices of the truth; writes are all or nothing. */
export interface Bank {
  readonly layout: Layout;
  /**
   * A view (no copy) of `count` registers from `address`, big-endian bytes. Copy before the next tick.
   * @throws SimError MAP_ILLEGAL_ADDRESS
   */
  read(address: number, count: number): Buffer;
  /**
   * Writes whole registers; validated on a candidate copy, then committed with one change event.
   * @param words big-endian bytes, two per register
   * @throws SimError MAP_ILLEGAL_ADDRESS, MAP_READ_ONLY, MAP_NOT_IMPLEMENTED, MAP_PARTIAL_POINT, MAP_BAD_VALUE, MAP_NOT_SUPPORTED
   */
  write(address: number, words: Buffer, by: Origin): void;
  /** Last writer of a point; undefined when it still holds its start value. */
  provenance(slot: PointSlot): Provenance | undefined;
  /** Called after each commit; the returned function ends it. */
  onChange(listener: (change: Change) => void): () => void;
}
