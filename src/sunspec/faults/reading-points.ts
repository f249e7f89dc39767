/** Points changed by a reading fault. */
import { Buffer } from 'node:buffer';
import type { Issue } from '../../core/errors.ts';
import type { FaultTarget } from '../../core/faults/kinds.ts';
import { mapTargetOf } from '../../fault-kinds/targets.ts';
import { numberCodec } from '../map/codec.ts';
import { memoPerLayout, memoPerLayoutAndKey } from '../map/layout.ts';
import type { Layout, PointSlot } from '../map/layout.ts';
import type { GroupDef } from '../map/types.ts';
import { slotNamed } from './condition.ts';
import { slotsNamed, slotsUnder } from './targets.ts';

/** types of measured, counted and set quantities, as opposed to enumerations, bits and texts */
const quantities: ReadonlySet<string> = new Set([
  'int16',
  'uint16',
  'acc16',
  'int32',
  'uint32',
  'acc32',
  'int64',
  'uint64',
  'acc64',
  'float32',
  'float64',
]);

export function isQuantity({ def }: PointSlot): boolean {
  return quantities.has(def.type);
}

export function isBitField({ def }: PointSlot): boolean {
  return def.type === 'bitfield16' || def.type === 'bitfield32';
}

/** Number of a bit given by number or name; null: no such bit. The highest bit is reserved. */
export function bitNumber({ def }: PointSlot, bit: number | string): number | null {
  const number = typeof bit === 'number' ? bit : own(def.symbols, bit);
  return number !== undefined && number < 16 * def.size - 1 ? number : null;
}

/** The reason why a field cannot show a bit, without a pointer; null: it can. */
export function bitIssue(slot: PointSlot, bit: number | string): Omit<Issue, 'name'> | null {
  if (bitNumber(slot, bit) !== null) return null;
  const { def } = slot;
  return typeof bit === 'number'
    ? { detail: `${slot.modelId}.${slot.path} has bits 0 to ${16 * def.size - 2}` }
    : { detail: `${slot.modelId}.${slot.path} has no bit ${bit}`, allowed: Object.keys(def.symbols ?? {}) };
}

const own = (symbols: PointSlot['def']['symbols'], name: string) =>
  symbols !== undefined && Object.hasOwn(symbols, name) ? symbols[name] : undefined;

/** Names of the points that count groups; where the length decides, N. */
function countsOf(groups: readonly GroupDef[] = []): string[] {
  return groups.flatMap((group) => [
    ...(typeof group.count === 'string' ? [group.count] : group.count === 0 ? ['N'] : []),
    ...countsOf(group.groups),
  ]);
}

/** Points needed to read the others: headers, repetitions, scale factors, pads. */
const frameOf = memoPerLayout(
  (layout): ReadonlySet<PointSlot> =>
    new Set(
      layout.models.flatMap(({ def, slots }) => {
        const paths = new Set(['ID', 'L', ...countsOf(def.groups)]);
        return slots.filter((slot) => paths.has(slot.path) || slot.def.type === 'sunssf' || slot.def.type === 'pad');
      }),
    ),
);

/** Points that hold data; all faults without a target share the array. */
const allContents = memoPerLayout((layout) => layout.slots.filter((slot) => !frameOf(layout).has(slot)));

/**
 * Points of a target, in map order. A whole model or group, or no target, means its data points; headers, scale factors
 * and pads only if they or their registers are named.
 */
export const targetedPoints = memoPerLayoutAndKey((layout, target: FaultTarget): readonly PointSlot[] => {
  const { points, registers } = mapTargetOf(target);
  const frame = frameOf(layout);
  const contents = (slots: readonly PointSlot[]) => slots.filter((slot) => !frame.has(slot));
  if (points === undefined && registers === undefined) return allContents(layout);
  const meant = new Set(
    (points ?? []).flatMap((name) => {
      const point = slotNamed(layout, name);
      return point === undefined ? contents(slotsNamed(layout, name)) : [point];
    }),
  );
  if (registers !== undefined)
    for (const slot of slotsUnder(layout, registers.address, registers.count)) meant.add(slot);
  return [...meant].sort((a, b) => a.index - b.index);
});

/** Value shown by a `value` fault. */
export interface ShownValue {
  readonly value?: number | string | undefined;
  readonly raw?: readonly number[] | undefined;
  readonly extreme?: string | undefined;
}

/** The reason why a point cannot show a value; null: it can. */
export function valueIssue({ def }: PointSlot, { value, raw }: ShownValue): string | null {
  if (raw !== undefined) return raw.length === def.size ? null : `has ${def.size} registers, not ${raw.length}`;
  if (typeof value !== 'string') return numberCodec(def.type) === undefined ? 'is no number' : null;
  if (def.symbols !== undefined && def.type.startsWith('enum'))
    return Object.hasOwn(def.symbols, value) ? null : `has no value ${JSON.stringify(value)}`;
  if (def.type !== 'string') return 'is no text';
  return Buffer.byteLength(value) <= 2 * def.size ? null : `has room for ${2 * def.size} bytes of text`;
}

/** Points changed by a `value` fault; of a whole model or group only points that can show the value. */
export function valuePoints(layout: Layout, target: FaultTarget, shown: ShownValue): readonly PointSlot[] {
  const named = new Set((mapTargetOf(target).points ?? []).map((name) => slotNamed(layout, name)));
  const number = shown.extreme !== undefined || typeof shown.value === 'number';
  return targetedPoints(layout, target).filter(
    (slot) => valueIssue(slot, shown) === null && (!number || named.has(slot) || isQuantity(slot)),
  );
}
