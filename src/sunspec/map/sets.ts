/** Stored sets of the curve and control models (705-712): which points belong to the one in force, which ask for another. */
import type { PointSlot } from './layout.ts';

/** Whether a point lies in set 1: the set in force, read only on the wire. */
export function isInSet1(slot: PointSlot): boolean {
  return /^(Crv|Ctl)\[0\]/.test(slot.path);
}

/** Whether the write of a point asks for the adoption of a stored set. */
export function isAdoptionRequest({ def, path }: PointSlot): boolean {
  return def.effect === 'latch' && path.startsWith('Adpt');
}
