/** The faces of the settings of one map, by point slot. */
import { memoPerLayout } from '../../sunspec/map/layout.ts';
import type { Layout, PointSlot } from '../../sunspec/map/layout.ts';
import type { PointPath } from '../../sunspec/map/point-path.ts';
import type { AnyPointValue } from '../../sunspec/map/types.ts';
import { faces } from './faces.ts';
import type { Face, FaceRamp, PointValues, ReadPoint } from './faces.ts';

export interface BoundFace {
  readonly face: Face;
  readonly classic: ReadonlySet<PointSlot>;
  readonly current: ReadonlySet<PointSlot>;
  /** points that change the classic face: current ones, and those on which it depends */
  readonly sources: ReadonlySet<PointSlot>;
  /** random delay, s; null: writes act at once */
  readonly window: PointSlot | null;
  readonly ramp: (Pick<FaceRamp, 'power' | 'levelPct'> & { readonly time: PointSlot }) | null;
}

function slotOf(layout: Layout, point: PointPath): PointSlot | undefined {
  const dot = point.indexOf('.');
  const slot = layout.slot(Number(point.slice(0, dot)), point.slice(dot + 1));
  return slot?.implemented === true ? slot : undefined;
}

const slotsOf = (layout: Layout, points: readonly PointPath[]) =>
  new Set(points.flatMap((point) => slotOf(layout, point) ?? []));

function bind(layout: Layout, face: Face): BoundFace[] {
  if (face.oneSource && layout.slot(714, 'Prt[1].ID') !== undefined) return [];
  const classic = slotsOf(layout, face.classic);
  const current = slotsOf(layout, face.current);
  if (classic.size < face.classic.length || current.size < face.current.length) return [];
  const time = face.ramp && slotOf(layout, face.ramp.time);
  return [
    {
      face,
      classic,
      current,
      sources: new Set([...current, ...slotsOf(layout, face.basis ?? [])]),
      window: (face.window && slotOf(layout, face.window)) ?? null,
      ramp: face.ramp && time ? { power: face.ramp.power, levelPct: face.ramp.levelPct, time } : null,
    },
  ];
}

/** The faces of a map; empty without classic models. */
export const facesOf = memoPerLayout((layout): readonly BoundFace[] => faces.flatMap((face) => bind(layout, face)));

/** Points of the other face, by point. */
export const twinsOf = memoPerLayout((layout): ReadonlyMap<PointSlot, ReadonlySet<PointSlot>> => {
  const twins = new Map<PointSlot, Set<PointSlot>>();
  const add = (of: ReadonlySet<PointSlot>, others: ReadonlySet<PointSlot>) => {
    for (const slot of of) twins.set(slot, new Set([...(twins.get(slot) ?? []), ...others]));
  };
  for (const { classic, current } of facesOf(layout)) {
    add(classic, current);
    add(current, classic);
  }
  return twins;
});

/** Turns a reader of slots into a reader of names. */
export function readerOf(layout: Layout, valueOf: (slot: PointSlot) => AnyPointValue): ReadPoint {
  return (point) => {
    const slot = slotOf(layout, point);
    return slot ? valueOf(slot) : null;
  };
}

/** Calls `set` for each value whose point the map has. */
export function assignTo(
  layout: Layout,
  values: PointValues,
  set: (slot: PointSlot, value: AnyPointValue) => void,
): void {
  for (const [point, value] of values) {
    const slot = slotOf(layout, point);
    if (slot && value !== null) set(slot, value);
  }
}
