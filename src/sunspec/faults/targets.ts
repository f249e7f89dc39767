/** The points of a device that the target of a fault names. */
import { SimError } from '../../core/errors.ts';
import { pointName } from '../map/view.ts';
import type { Issue } from '../../core/errors.ts';
import { suggestions } from '../../core/nearest.ts';
import type { FaultTarget } from '../../core/faults/kinds.ts';
import { mapTargetOf } from '../../fault-kinds/targets.ts';
import { memoPerLayoutAndKey } from '../map/layout.ts';
import type { Layout, PointSlot } from '../map/layout.ts';

/** The points of a name: a point, a group (`705.Crv[1]`) or a model (`705`); empty: no such name. */
export function slotsNamed(layout: Layout, name: string): readonly PointSlot[] {
  const dot = name.indexOf('.');
  const model = layout.models.find(({ def }) => String(def.id) === (dot < 0 ? name : name.slice(0, dot)));
  if (model === undefined) return [];
  if (dot < 0) return model.slots;
  const path = name.slice(dot + 1);
  const point = layout.slot(model.def.id, path);
  return point === undefined ? model.slots.filter((slot) => slot.path.startsWith(`${path}.`)) : [point];
}

/** Whole points that a target names by point or register; null: no restriction. */
export const targetSlots = memoPerLayoutAndKey((layout, target: FaultTarget): ReadonlySet<PointSlot> | null => {
  const { points, registers } = mapTargetOf(target);
  if (points === undefined && registers === undefined) return null;
  return new Set([
    ...(points ?? []).flatMap((name) => slotsNamed(layout, name)),
    ...(registers === undefined ? [] : slotsUnder(layout, registers.address, registers.count)),
  ]);
});

/** Points wholly or partly in a span of registers, in their order. */
export function slotsUnder(layout: Layout, address: number, count: number): readonly PointSlot[] {
  const { base, size, slots, slotAt } = layout;
  const touchedSlots: PointSlot[] = [];
  const end = Math.min(size, address - base + count);
  for (let offset = Math.max(0, address - base); offset < end; ) {
    const slot = slots[slotAt[offset] ?? slots.length];
    if (slot !== undefined) touchedSlots.push(slot);
    offset = slot === undefined ? offset + 1 : slot.address - base + slot.def.size;
  }
  return touchedSlots;
}

/** Refuses points and registers that a device lacks. @throws SimError COMMAND_BAD_VALUE with an issue for each */
export function checkTarget(layout: Layout, target: FaultTarget = {}): void {
  const { points = [], registers } = mapTargetOf(target);
  const near = suggestions(() => layout.slots.map(pointName));
  const issues: Issue[] = points.flatMap((name, at) =>
    slotsNamed(layout, name).length > 0
      ? []
      : [{ name: `/target/points/${at}`, detail: `the device has no point, group or model ${name}${near(name)}` }],
  );
  const { base, size } = layout;
  if (
    registers !== undefined &&
    (registers.count < 1 || registers.address + registers.count <= base || registers.address >= base + size)
  ) {
    issues.push({
      name: '/target/registers',
      detail: `none of these is in the map, which has ${base}..${base + size - 1}`,
    });
  }
  if (issues.length > 0)
    throw new SimError('COMMAND_BAD_VALUE', 'the fault has a target that the device lacks', issues);
}
