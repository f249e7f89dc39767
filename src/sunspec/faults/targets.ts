/** The points that the target of a fault names, and its conditions on the registers. */
import { SimError } from '../../core/errors.ts';
import type { Issue } from '../../core/errors.ts';
import { pointName } from '../map/view.ts';
import { suggestions, didYouMean, givenText } from '../../core/nearest.ts';
import type { FaultTarget, FaultCondition } from '../../core/faults/kinds.ts';
import { mapTargetOf } from '../../fault-kinds/rows.ts';
import { memoPerLayoutAndKey } from '../map/layout.ts';
import type { Layout, PointSlot } from '../map/layout.ts';
import type { PointBank } from '../map/bank.ts';

/**
 * The points of a name: a point, a group (`705.Crv[1]`) or a model (`705`, `203:2` for its second place); empty: no
 * such name.
 */
export function slotsNamed(layout: Layout, name: string): readonly PointSlot[] {
  const dot = name.indexOf('.');
  const model = layout.models.find((place) => place.name === (dot < 0 ? name : name.slice(0, dot)));
  if (model === undefined) return [];
  if (dot < 0) return model.slots;
  const point = layout.named(name);
  return point === undefined ? model.slots.filter((slot) => pointName(slot).startsWith(`${name}.`)) : [point];
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
      detail: `none of these registers is in the map, which has ${base}..${base + size - 1}`,
    });
  }
  if (issues.length > 0)
    throw new SimError('COMMAND_BAD_VALUE', 'the fault has a target that the device lacks', issues);
}

/**
 * True if a condition is met by the true registers, or is null. False for a point that is missing or not implemented.
 */
export function holds(bank: PointBank, when: FaultCondition | null): boolean {
  if (when === null) return true;
  const slot = bank.layout.named(when.point);
  if (slot === undefined) return false;
  const value = bank.value(slot);
  if (value === null) return false;
  const { below, above, equals } = when;
  if (below !== undefined && !(typeof value === 'number' && value < below)) return false;
  if (above !== undefined && !(typeof value === 'number' && value > above)) return false;
  return (
    equals === undefined || value === equals || (typeof equals === 'number' && slot.def.symbols?.[value] === equals)
  );
}

/** The reason why a condition does not fit the layout, at the pointer of the member; null: it fits. */
export function conditionIssue(layout: Layout, when: FaultCondition): Issue | null {
  const slot = layout.named(when.point);
  if (slot === undefined) return { name: '/when/point', detail: `the device has no point ${when.point}` };
  if (!slot.implemented)
    return {
      name: '/when/point',
      detail: `the device does not implement ${when.point}, so that the condition could never hold`,
    };
  const { below, above, equals } = when;
  if (below === undefined && above === undefined && equals === undefined) {
    return { name: '/when', detail: 'needs one of below, above, equals' };
  }
  if (below !== undefined && above !== undefined && above >= below) {
    return { name: '/when/above', detail: `no value is above ${above} and below ${below}` };
  }
  if (!isOrdered(slot) && (below !== undefined || above !== undefined)) {
    return {
      name: below === undefined ? '/when/above' : '/when/below',
      detail: `${when.point} is not a number that has an order; equals compares it`,
    };
  }
  return equals === undefined ? null : equalsIssue(slot, equals);
}

const isEnumeration = ({ def }: PointSlot) => def.symbols !== undefined && def.type.startsWith('enum');

/** types whose value is text */
const texts: readonly string[] = ['string', 'ipv6addr', 'eui48'];

function isOrdered(slot: PointSlot): boolean {
  return !isEnumeration(slot) && !texts.includes(slot.def.type);
}

function equalsIssue(slot: PointSlot, equals: string | number): Issue | null {
  const name = '/when/equals';
  if (isEnumeration(slot)) {
    const { symbols = {} } = slot.def;
    const isSymbol =
      typeof equals === 'number' ? Object.values(symbols).includes(equals) : Object.hasOwn(symbols, equals);
    return isSymbol
      ? null
      : {
          name,
          detail: `${givenText(equals)} is not one of its values${didYouMean(String(equals), Object.keys(symbols))}`,
          allowed: Object.keys(symbols),
        };
  }
  const valueType = texts.includes(slot.def.type) ? 'string' : 'number';
  return typeof equals === valueType
    ? null
    : { name, detail: valueType === 'string' ? 'must be text' : 'must be a number' };
}
