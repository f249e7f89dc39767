/** Arbitrary documents of IEEE 2030.5, made from the tables of the codec. */
import fc from 'fast-check';
import type { BuildOptions } from '../../../src/csip/xml/codec.ts';
import type { DocumentName, OutgoingDocument } from '../../../src/csip/xml/schema.ts';
import { isNotifiable } from '../../../src/csip/xml/schema.ts';
import { documentNames, scalars, types } from '../../../src/csip/xml/tables.ts';
import type { Row, ScalarFacts } from '../../../src/csip/xml/tables.ts';
import { codePoint } from '../../support/arbitrary.ts';

function hexOf(octets: number): fc.Arbitrary<string> {
  return fc
    .uint8Array({ minLength: 1, maxLength: octets })
    .map((bytes) => Buffer.from(bytes).toString('hex'))
    .chain((hex) => fc.constantFrom(hex, hex.toUpperCase()));
}

/** Characters that XML has, with those that need care more often. */
const character = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...Array.from('<>&"\' \t\n\r;]é€😀')) },
  { weight: 5, arbitrary: fc.string({ minLength: 1, maxLength: 1 }) },
  fc
    .integer({ min: 0x20, max: 0x10ffff })
    .filter((point) => (point < 0xd800 || point > 0xdfff) && point !== 0xfffe && point !== 0xffff)
    .map((point) => String.fromCodePoint(point)),
);

/** Of a path of a URL (RFC 3986, 3.3). */
const pathCharacter = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...Array.from("///azAZ09-._~!$&'()*+,;=:@")) },
  { weight: 1, arbitrary: codePoint.map(encodeURIComponent) },
);

export function scalarArbitrary({ kind, min = 0, max = 0 }: ScalarFacts): fc.Arbitrary<unknown> {
  if (kind === 'boolean') return fc.boolean();
  if (kind === 'integer')
    return fc.oneof(
      fc.integer({ min: Math.max(min, -100), max: 100 }),
      fc.bigInt({ min: BigInt(min), max: BigInt(max) }).map(Number),
      fc.constantFrom(min, max),
    );
  if (kind === 'hex') return hexOf(max);
  if (kind === 'text') return fc.array(character, { maxLength: max }).map((characters) => characters.join(''));
  return fc.array(pathCharacter, { maxLength: 40 }).map((parts) => parts.join('').replace(/^\/*/u, '/'));
}

export function isAdmitted(since: Row[3], { revision, aus }: BuildOptions): boolean {
  if (since === undefined) return true;
  if (since === '2023') return revision === '2023';
  return since === 'aus 1.2' ? aus !== null : aus === '1.3';
}

function valueOf(type: string, options: BuildOptions, notified: readonly DocumentName[]): fc.Arbitrary<unknown> {
  const scalar = scalars[type];
  if (scalar) return scalarArbitrary(scalar);
  if (type === 'Resource') {
    return fc
      .constantFrom(...notified)
      .chain((name) => valueOf(name, options, notified).map((value) => ({ name, value })));
  }
  const rows = (types[type] ?? []).filter(([, , , since]) => isAdmitted(since, options));
  const members = rows.map(([name, child, occurs]): [string, fc.Arbitrary<unknown>] => {
    const value = valueOf(child, options, notified);
    const many = (minLength: number, maxLength: number) => fc.array(value, { minLength, maxLength });
    return [name.replace('@', ''), occurs === '*' ? many(1, 3) : occurs === '1..10' ? many(1, 10) : value];
  });
  const required = rows
    .filter(([, , occurs]) => occurs === '1' || occurs === '1..10')
    .map(([name]) => name.replace('@', ''));
  return fc.record(Object.fromEntries(members), { requiredKeys: required });
}

/** Documents that the codec writes with these options, of one name or of any. */
export function documentArbitrary(
  options: BuildOptions,
  names: readonly DocumentName[] = documentNames,
): fc.Arbitrary<OutgoingDocument> {
  const possible = names.filter((name) => name !== 'ConnectionPoint' || options.aus !== null);
  const notified = documentNames.filter(isNotifiable);
  return fc
    .constantFrom(...possible)
    .chain((name) => valueOf(name, options, notified).map((value) => ({ name, value }) as unknown as OutgoingDocument));
}
