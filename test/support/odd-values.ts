/** Values of slots that no process writes: of an export that was edited, or of a file of another version. */
import fc from 'fast-check';
import type { JsonValue } from '../../src/core/store.ts';
import type { Contents } from '../../src/state/contents.ts';

/** Values that fit no slot; as text, since `1e999` is read as infinite. */
export const oddTexts: readonly string[] = [
  'null',
  '1e999',
  '[]',
  '{}',
  '"NaN"',
  '{"$":"NaN"}',
  '-1',
  '[[null]]',
  '{"form":99}',
];

/** Values in the place of a part of a value. */
const oddParts: readonly JsonValue[] = [null, -1, 0.5, 1e300, 'NaN', '', [], {}, { $: 'NaN' }, [[null]], true];

type Json = JsonValue | undefined;

const isObject = (value: JsonValue): value is { readonly [name: string]: JsonValue } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The places of all parts of a value, itself included. */
function placesIn(value: JsonValue): readonly (readonly string[])[] {
  const members = typeof value === 'object' && value !== null ? Object.entries(value as object) : [];
  return [[], ...members.flatMap(([name, member]) => placesIn(member as JsonValue).map((rest) => [name, ...rest]))];
}

/** The value with another part at a place. @param part undefined: without it */
function replacedAt(value: JsonValue, [name, ...rest]: readonly string[], part: Json): Json {
  if (name === undefined) return part;
  if (Array.isArray(value)) {
    const list = value as readonly JsonValue[];
    return list.flatMap((each, at) => (String(at) === name ? (replacedAt(each, rest, part) ?? []) : [each]));
  }
  if (!isObject(value)) return value;
  const { [name]: member, ...others } = value;
  const replaced = member === undefined ? undefined : replacedAt(member, rest, part);
  return replaced === undefined ? others : { ...others, [name]: replaced };
}

export interface OddSlot {
  readonly name: string;
  readonly texts: readonly string[];
}

/** The places of numbers, texts and other plain values, of lists the first two elements alone: the others are alike. */
function leavesIn(value: JsonValue): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [[]];
  const members = Object.entries(value as object).slice(0, Array.isArray(value) ? 2 : undefined);
  return members.flatMap(([name, member]) => leavesIn(member as JsonValue).map((rest) => [name, ...rest]));
}

/** Values in the place of a plain one. */
const oddLeafParts: readonly JsonValue[] = ['12', '', [], {}, { $: 'NaN' }, { $: 'Infinity' }, 1e308, 1e21, -1, null];

/** One of the slots, with one plain value deep inside that is odd. */
export function oddLeaves(contents: Contents): fc.Arbitrary<OddSlot & { readonly place: string }> {
  const slots = [...contents].map(([name, [text = 'null', ...rest]]) => {
    const value = JSON.parse(text) as JsonValue;
    return { name, value, rest, places: leavesIn(value) };
  });
  return fc.constantFrom(...slots.filter(({ places }) => places.length > 0)).chain(({ name, value, rest, places }) =>
    fc.record({ place: fc.constantFrom(...places), part: fc.constantFrom(...oddLeafParts) }).map(({ place, part }) => ({
      name,
      place: `${place.join('.')} = ${JSON.stringify(part)}`,
      texts: [JSON.stringify(replacedAt(value, place, part)), ...rest],
    })),
  );
}

/** One of the slots, with a part of a value that is missing or odd. */
export function oddContents(contents: Contents): fc.Arbitrary<OddSlot> {
  return fc
    .record({
      slot: fc.constantFrom(...contents.entries()),
      at: fc.nat(),
      place: fc.nat(),
      part: fc.constantFrom<Json>(undefined, ...oddParts),
    })
    .map(({ slot: [name, texts], at, place, part }) => {
      const which = at % texts.length;
      const value = JSON.parse(texts[which] ?? 'null') as JsonValue;
      const places = placesIn(value);
      const odd = replacedAt(value, places[place % places.length] ?? [], part);
      const oddText = odd === undefined ? [] : [JSON.stringify(odd)];
      return { name, texts: [...texts.slice(0, which), ...oddText, ...texts.slice(which + 1)] };
    });
}
