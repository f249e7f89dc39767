/** Names and values of registers, for people who read the messages of the wire. */
import { Buffer } from 'node:buffer';
import type { RegisterNames } from '../../core/wire/modbus-messages.ts';
import { ignoresWrites } from '../map/classic.ts';
import { memoPerLayout, noSlot } from '../map/layout.ts';
import type { Layout, PointSlot } from '../map/layout.ts';
import { pointName, readPoint } from '../map/view.ts';

/** Registers by PDU address. */
interface Span {
  readonly address: number;
  readonly count: number;
}

/** An image of the map into which words are put to be decoded; what stands around them is never read. */
const imageOf = memoPerLayout((layout) => Buffer.alloc(2 * layout.imageSize));

/** The points that registers belong to, in the order of addresses; pads have no name. */
function slotsIn({ base, size, slotAt, slots }: Layout, { address, count }: Span): PointSlot[] {
  const found: PointSlot[] = [];
  const end = Math.min(address + count, base + size);
  for (let at = Math.max(address, base); at < end; at += 1) {
    const index = slotAt[at - base] ?? noSlot;
    const slot = index === noSlot ? undefined : slots[index];
    if (slot !== undefined && slot !== found.at(-1)) found.push(slot);
  }
  return found.filter(({ def }) => def.type !== 'pad');
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

/** The points that a write leaves as they are; none where it has no others, since it is refused then. */
function ignoredIn(slots: readonly PointSlot[]): readonly PointSlot[] {
  const ignored = slots.filter(ignoresWrites);
  return ignored.length === slots.length ? [] : ignored;
}

/** Where the points begin for the master: the spans stand one behind the other in its request. */
function addressesOf(slots: readonly PointSlot[], asked: Span, spans: readonly Span[]): readonly number[] {
  return slots.map(({ address, def: { size } }) => {
    let at = asked.address;
    for (const span of spans) {
      if (address < span.address + span.count && address + size > span.address) return at + address - span.address;
      at += span.count;
    }
    return address;
  });
}

/**
 * @param asked registers of a request
 * @param real where these stand in the map itself; null: at the same addresses. Registers that structure faults have
 *   torn apart have names and no values
 */
export function namesInLayout(layout: Layout, asked: Span, real: readonly Span[] | null): RegisterNames {
  const spans = real ?? [asked];
  const [whole = asked] = spans;
  const together = spans.length === 1 && whole.count === asked.count;
  const slots = [...new Set(spans.flatMap((span) => slotsIn(layout, span)))];
  return {
    points: slots.map(pointName),
    addresses: addressesOf(slots, asked, spans),
    ignored: ignoredIn(slots).map(pointName),
    values: (words) => (together ? valuesIn(layout, whole, words) : {}),
  };
}
