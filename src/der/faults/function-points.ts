/** The points of one function of a device: its enable point and its set-points. */
import type { Commit } from '../../sunspec/map/commit.ts';
import { memoPerLayout, adoptionPoints, isAdoptionRequest, isInSet1 } from '../../sunspec/map/layout.ts';
import type { Layout, PointSlot } from '../../sunspec/map/layout.ts';
import { twinsOf } from '../classic/faces.ts';
import { m64414 } from '../../sunspec/models/m64414.ts';

export interface FunctionPoints {
  readonly enable: PointSlot;
  /** for a curve function points of set 1 */
  readonly setPoints: readonly PointSlot[];
}

/** Functions with an enable point and set-points, in order of their enable points. */
export const functionsOf = memoPerLayout((layout): readonly FunctionPoints[] =>
  layout.slots
    // classic enable points are other faces of current ones
    .filter((slot) => slot.writable && slot.modelId > 700 && slot.def.name.endsWith('Ena') && !slot.path.includes('.'))
    .map((enable) => ({ enable, setPoints: setPointsOf(layout, enable) }))
    .filter(({ setPoints }) => setPoints.length > 0),
);

function setPointsOf(layout: Layout, enable: PointSlot): PointSlot[] {
  const ofModel = layout.slots.filter(
    ({ modelId, def, implemented }) => modelId === enable.modelId && implemented && def.access === 'RW',
  );
  const stem = enable.path.slice(0, -'Ena'.length);
  if (stem === '') return ofModel.filter(isInSet1);
  // WSet, WSetMod and WSetPct of WSetEna, without their reversion values
  return ofModel.filter(
    ({ path }) => path.startsWith(stem) && !path.startsWith(`${stem}Ena`) && !path.includes('Rvrt'),
  );
}

/** True if a point belongs to the device, not to the simulation around it. */
export const isOfDevice = ({ modelId }: PointSlot) => modelId !== m64414.id;

const set1Of = (layout: Layout, { modelId }: PointSlot) =>
  layout.slots.filter(
    (slot) => slot.modelId === modelId && isInSet1(slot) && slot.implemented && slot.def.access === 'RW',
  );

/** Points changed by a commit for physics: a completed adoption changes set 1. */
export function changedBy(layout: Layout, commit: Commit): readonly PointSlot[] {
  const devicePoints = commit.points.filter(isOfDevice);
  if (!devicePoints.some(isAdoptionRequest)) return devicePoints;
  return devicePoints.flatMap((slot) => {
    if (!isAdoptionRequest(slot)) return [slot];
    const points = adoptionPoints(layout, slot.modelId);
    return points && commit.value(points.result) === 'COMPLETED' ? [slot, ...set1Of(layout, slot)] : [slot];
  });
}

/** Points of a target, with set 1 of an adoption request and the other faces of each point. null: all points. */
export function targetedPoints(layout: Layout, target: ReadonlySet<PointSlot> | null): ReadonlySet<PointSlot> | null {
  if (target === null) return null;
  const twins = twinsOf(layout);
  return new Set(
    [...target].flatMap((slot) => [
      slot,
      ...(isAdoptionRequest(slot) ? set1Of(layout, slot) : []),
      ...(twins.get(slot) ?? []),
    ]),
  );
}

/** True if a fault can strike writes of any of these points. @param slots null: all */
export function canBeWritten(slots: ReadonlySet<PointSlot> | null): boolean {
  return (
    slots === null ||
    [...slots].some(
      (slot) => isOfDevice(slot) && slot.implemented && slot.def.access === 'RW' && (slot.writable || isInSet1(slot)),
    )
  );
}
