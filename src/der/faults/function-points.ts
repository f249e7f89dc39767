/** Which points belong to one function of a device: the one that switches it, and those that say what it does. */
import type { Commit } from '../../sunspec/map/commit.ts';
import { memoPerLayout } from '../../sunspec/map/layout.ts';
import type { Layout, PointSlot } from '../../sunspec/map/layout.ts';
import { adoptionPoints, isAdoptionRequest, isInSet1 } from '../../sunspec/map/sets.ts';
import { m64414 } from '../../sunspec/models/m64414.ts';

export interface FunctionPoints {
  readonly enable: PointSlot;
  /** of a curve function those of set 1 */
  readonly setPoints: readonly PointSlot[];
}

/** Functions that can be switched on and have something to set, in order of their enable points. */
export const functionsOf = memoPerLayout((layout): readonly FunctionPoints[] =>
  layout.slots
    .filter((slot) => slot.writable && slot.def.name.endsWith('Ena') && !slot.path.includes('.'))
    .map((enable) => ({ enable, setPoints: setPointsOf(layout, enable) }))
    .filter(({ setPoints }) => setPoints.length > 0),
);

function setPointsOf(layout: Layout, enable: PointSlot): PointSlot[] {
  const ofModel = layout.slots.filter(
    ({ modelId, def, implemented }) => modelId === enable.modelId && implemented && def.access === 'RW',
  );
  const stem = enable.path.slice(0, -'Ena'.length);
  if (stem === '') return ofModel.filter(isInSet1);
  // WSet, WSetMod and WSetPct of WSetEna, and not what they revert to
  return ofModel.filter(
    ({ path }) => path.startsWith(stem) && !path.startsWith(`${stem}Ena`) && !path.includes('Rvrt'),
  );
}

/** Whether a point is one of a device, and not of the simulation around it. */
export const isOfDevice = ({ modelId }: PointSlot) => modelId !== m64414.id;

const set1Of = (layout: Layout, { modelId }: PointSlot) =>
  layout.slots.filter(
    (slot) => slot.modelId === modelId && isInSet1(slot) && slot.implemented && slot.def.access === 'RW',
  );

/** The points that a commit changes for physics: a completed adoption changes set 1. */
export function changedBy(layout: Layout, commit: Commit): readonly PointSlot[] {
  const own = commit.points.filter(isOfDevice);
  if (!own.some(isAdoptionRequest)) return own;
  return own.flatMap((slot) => {
    if (!isAdoptionRequest(slot)) return [slot];
    const points = adoptionPoints(layout, slot.modelId);
    return points && commit.value(points.result) === 'COMPLETED' ? [slot, ...set1Of(layout, slot)] : [slot];
  });
}

/** Points that a target means, where the request of an adoption stands for the set that it changes; null: all. */
export function meantPoints(layout: Layout, target: ReadonlySet<PointSlot> | null): ReadonlySet<PointSlot> | null {
  if (target === null) return null;
  return new Set([...target].flatMap((slot) => (isAdoptionRequest(slot) ? [slot, ...set1Of(layout, slot)] : [slot])));
}

/** Points among those that a fault in what a write does can strike; null: all that can be written. */
export function canBeWritten(slots: ReadonlySet<PointSlot> | null): boolean {
  return (
    slots === null ||
    [...slots].some(
      (slot) => isOfDevice(slot) && slot.implemented && slot.def.access === 'RW' && (slot.writable || isInSet1(slot)),
    )
  );
}
