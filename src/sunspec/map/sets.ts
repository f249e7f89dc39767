/** Stored sets of the curve and control models (705-712): the one in force, and the points that adopt another. */
import { isSet1Path, memoPerLayout } from './layout.ts';
import type { Layout, ModelPlace, PointSlot } from './layout.ts';

/** True if a point lies in set 1: the set in force, read only on the wire. */
export function isInSet1({ path }: PointSlot): boolean {
  return isSet1Path(path);
}

/** True if writing the point requests the adoption of a stored set. */
export function isAdoptionRequest({ def, path }: PointSlot): boolean {
  return def.effect === 'latch' && path.startsWith('Adpt');
}

/** The points by which one model adopts its stored sets. */
export interface AdoptionPoints {
  /** the number of the set, from 1 */
  readonly request: PointSlot;
  readonly result: PointSlot;
  /** the set that is adopted when the reversion time is over; absent: the model has no reversion */
  readonly reversion: PointSlot | undefined;
}

function pointsOf(layout: Layout, { def: { id } }: ModelPlace): AdoptionPoints | null {
  for (const sets of ['Crv', 'Ctl']) {
    const [request, result] = [layout.slot(id, `Adpt${sets}Req`), layout.slot(id, `Adpt${sets}Rslt`)];
    if (request && result) return { request, result, reversion: layout.slot(id, `Rvrt${sets}`) };
  }
  return null;
}

const pointsByModel = memoPerLayout(
  (layout) => new Map(layout.models.map((place) => [place.def.id, pointsOf(layout, place)])),
);

/** The adoption points of a model; null: it has no stored sets. */
export function adoptionPoints(layout: Layout, modelId: number): AdoptionPoints | null {
  return pointsByModel(layout).get(modelId) ?? null;
}
