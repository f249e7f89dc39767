import { expect } from 'chai';
import fc from 'fast-check';
import { documentSchema } from '../../../src/api/csip-client/documents.ts';
import { buildDocument } from '../../../src/csip/xml/codec.ts';
import type { BuildOptions } from '../../../src/csip/xml/codec.ts';
import type { OutgoingDocument } from '../../../src/csip/xml/schema.ts';
import { types } from '../../../src/csip/xml/tables.ts';
import { documentArbitrary } from '../../csip/xml/arbitrary.ts';
import { holds } from '../../support/property.ts';

const names = ['DERCapability', 'DERSettings', 'DERStatus', 'DERAvailability'] as const;
const variants: readonly BuildOptions[] = [
  { revision: '2018', aus: null },
  { revision: '2018', aus: '1.3' },
  { revision: '2023', aus: '1.2' },
];

type Members = Record<string, unknown>;

const without = (members: Members, ...dropped: readonly string[]): Members =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !dropped.includes(name)));

/** Attributes are those of resources of a server. */
function withoutAttributes({ name, value }: OutgoingDocument): OutgoingDocument {
  return { name, value: without(value as unknown as Members, 'href', 'subscribable') } as unknown as OutgoingDocument;
}

const fits = ({ name, value }: OutgoingDocument) => documentSchema(name)().safeParse(value).success;

function isWritten(document: OutgoingDocument, options: BuildOptions): boolean {
  try {
    buildDocument(document, options);
    return true;
  } catch {
    return false;
  }
}

/** A document with one thing about it changed, which the writer may refuse. */
const changed = (document: OutgoingDocument): fc.Arbitrary<OutgoingDocument> => {
  const members = document.value as unknown as Members;
  const put = (name: string, value: unknown) =>
    ({ name: document.name, value: { ...members, [name]: value } }) as unknown as OutgoingDocument;
  const drop = (name: string) =>
    ({ name: document.name, value: without(members, name) }) as unknown as OutgoingDocument;
  const name = fc.constantFrom(
    ...Object.keys(members),
    ...(types[document.name] ?? []).map(([row]) => row.replace('@', '')),
  );
  const odd = fc.constantFrom<unknown>(-1, 65_536, 2 ** 40, 0.5, 'x', 'AB', '', true, null, {}, { multiplier: 0 }, []);
  return fc.oneof(
    name.map(drop),
    fc.tuple(name, odd).map(([member, value]) => put(member, value)),
    odd.map((value) => put('unheardOf', value)),
  );
};

describe('schemas of the documents of a DER', () => {
  it('accept each document that the tables let a client write', () => {
    for (const options of variants)
      holds(
        `a document of ${options.revision}, CSIP-AUS ${options.aus ?? 'off'}`,
        documentArbitrary(options, names).map(withoutAttributes),
        (document) => {
          const { error } = documentSchema(document.name)().safeParse(document.value);
          expect(error, JSON.stringify(document)).to.equal(undefined);
        },
        { runs: 30 },
      );
  }).timeout(30_000);

  it('refuse what they do not let it write', () => {
    const options: BuildOptions = { revision: '2023', aus: '1.3' };
    holds(
      'a changed document fits only if it can be written',
      documentArbitrary(options, names).map(withoutAttributes).chain(changed).map(withoutAttributes),
      (document) => {
        if (fits(document)) {
          // what one extension requires may be absent with another
          const required = { doeModesSupported: '00', ...(document.value as unknown as Members) };
          const whole = document.name === 'DERCapability' ? { ...document, value: required } : document;
          expect(isWritten(whole as unknown as OutgoingDocument, options), JSON.stringify(document)).to.equal(true);
        }
      },
      { runs: 200 },
    );
  }).timeout(30_000);

  it('have no open maps: a member that the standard lacks is refused at each level', () => {
    const body = { readingTime: 0, statWAvail: { multiplier: 0, value: 1 } };
    expect(fits({ name: 'DERAvailability', value: body })).to.equal(true);
    for (const value of [
      { ...body, more: 1 },
      { ...body, statWAvail: { multiplier: 0, value: 1, more: 1 } },
      { ...body, href: '/der/1' },
      { statWAvail: body.statWAvail },
    ])
      expect(fits({ name: 'DERAvailability', value } as unknown as OutgoingDocument), JSON.stringify(value)).to.equal(
        false,
      );
  });
});
