/** Names and values of registers, for readers of the wire log. */
import { Buffer } from 'node:buffer';
import type { RegisterNames } from '../../core/wire/modbus.ts';
import { ignoresWrites, memoPerLayout, noSlot } from '../map/layout.ts';
import type { Layout, PointSlot } from '../map/layout.ts';
import { pointName, readPoint } from '../map/view.ts';

/** Registers by PDU address. */
interface Span {
  readonly address: number;
  readonly count: number;
}

/** An image of the map as a buffer for decoding; only the words just copied into it are valid. */
const imageOf = memoPerLayout((layout) => Buffer.alloc(2 * layout.imageSize));

/** Points of registers in ascending order, without pads. */
function slotsIn({ base, size, slotAt, slots }: Layout, { address, count }: Span): PointSlot[] {
  const namedSlots: PointSlot[] = [];
  const end = Math.min(address + count, base + size);
  for (let at = Math.max(address, base); at < end; at += 1) {
    const index = slotAt[at - base] ?? noSlot;
    const slot = index === noSlot ? undefined : slots[index];
    if (slot !== undefined && slot !== namedSlots.at(-1)) namedSlots.push(slot);
  }
  return namedSlots.filter(({ def }) => def.type !== 'pad');
}

type Values = Record<string, number | string | null>;

function valuesIn(layout: Layout, { address, count }: Span, words: Buffer): Values {
  const { base, size } = layout;
  const image = imageOf(layout);
  const from = Math.max(address, base);
  const to = Math.min(address + count, base + size);
  if (to <= from) return {};
  words.copy(image, 2 * (from - base), 2 * (from - address), 2 * (to - address));
  const values: Values = {};
  for (const slot of slotsIn(layout, { address, count })) {
    if (slot.address < from || slot.address + slot.def.size > to) continue;
    const value = readPoint(layout, image, slot);
    values[pointName(slot)] = typeof value === 'number' && !Number.isFinite(value) ? null : value;
  }
  return values;
}

/**
 * Points that ignore writes and that a write skips; empty if it covers no other points, since such a write is refused.
 */
function ignoredIn(slots: readonly PointSlot[]): readonly PointSlot[] {
  const ignored = slots.filter(ignoresWrites);
  return ignored.length === slots.length ? [] : ignored;
}

/** Addresses of the points as in the request, which has the real spans end to end. */
function addressesOf(slots: readonly PointSlot[], requested: Span, spans: readonly Span[]): readonly number[] {
  return slots.map(({ address, def: { size } }) => {
    let at = requested.address;
    for (const span of spans) {
      if (address < span.address + span.count && address + size > span.address) return at + address - span.address;
      at += span.count;
    }
    return address;
  });
}

/**
 * Names of the registers of a request. Structure faults shift registers: `real` has their places in the map.
 * @param requested registers of a request
 * @param real their spans in the map itself; null: the same addresses. Registers that a fault separates have no values
 */
export function namesInLayout(layout: Layout, requested: Span, real: readonly Span[] | null): RegisterNames {
  const spans = real ?? [requested];
  const [whole = requested] = spans;
  const isContiguous = spans.length === 1 && whole.count === requested.count;
  const slots = [...new Set(spans.flatMap((span) => slotsIn(layout, span)))];
  return {
    points: slots.map(pointName),
    addresses: addressesOf(slots, requested, spans),
    ignored: ignoredIn(slots).map(pointName),
    values: (words) => (isContiguous ? valuesIn(layout, whole, words) : {}),
  };
}
