/** Reading of what clients send, with a parser that knows nothing of the schema. */
import { XMLParser } from 'fast-xml-parser';
import type { Json } from '../../support/http.ts';

const parser = new XMLParser({
  removeNSPrefix: true,
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  parseAttributeValue: false,
  ignoreDeclaration: true,
  isArray: (name) => ['MirrorMeterReading', 'MirrorReadingSet', 'Reading', 'DERCurve'].includes(name),
});

/** Root and content; every text as it stands. @throws Error unless there is one root */
export function parsed(xml: string): { readonly root: string; readonly value: Json } {
  const document: Json = parser.parse(xml);
  const roots = Object.keys(document);
  if (roots.length !== 1) throw new Error(`${roots.length} roots`);
  return { root: roots[0] as string, value: document[roots[0] as string] };
}

/** A power of IEEE 2030.5 as a number: `{value, multiplier}`. */
export const amount = (quantity: Json): number => Number(quantity.value) * 10 ** Number(quantity.multiplier);
