import { expect } from 'chai';
import { derValueSchemas } from '../../../src/api/charge-points/der-values.ts';
import { z } from '../../../src/api/description/zod.ts';
import { derControlMembers } from '../../../src/contract/ocpp-der.ts';
import type { DerControlMember } from '../../../src/contract/ocpp-der.ts';
import { readSchemas } from '../../../src/ocpp/rpc/schemas.ts';
import { request, testedTypes } from '../../ocpp/v201/der/rig.ts';

type Node = Readonly<Record<string, unknown>>;

/** What a JSON Schema says about members, types, enumerations and lengths; ranges of numbers apart. */
function plain(node: Node, definitions: Readonly<Record<string, Node>>): unknown {
  const { $ref } = node;
  if (typeof $ref === 'string') return plain(definitions[$ref.split('/').at(-1) ?? ''] ?? {}, definitions);
  const { type, enum: words, items, minItems, maxItems, properties, required, additionalProperties } = node;
  if (type === 'array') return { items: plain(items as Node, definitions), minItems, maxItems };
  if (type !== 'object') return words ?? type;
  return {
    closed: additionalProperties === false,
    required: [...((required as string[] | undefined) ?? [])].sort(),
    members: Object.fromEntries(
      Object.entries(properties as Readonly<Record<string, Node>>)
        .map(([name, each]) => [name, plain(each, definitions)] as const)
        .sort(([a], [b]) => a.localeCompare(b)),
    ),
  };
}

describe('OpenAPI: values of DER controls', () => {
  const official = JSON.parse(readSchemas('ocpp2.1').get('SetDERControl')?.request ?? '{}') as {
    readonly properties: Readonly<Record<string, Node>>;
    readonly definitions: Readonly<Record<string, Node>>;
  };
  const { properties, definitions } = official;

  it('have a member of SetDERControl for each type of control', () => {
    const types = definitions['DERControlEnumType']?.['enum'] as readonly string[];
    expect(Object.keys(derControlMembers)).to.have.members([...types]);
  });

  for (const [member, schema] of Object.entries(derValueSchemas))
    it(`${member} is as in the official schema`, () => {
      const described = z.toJSONSchema(schema(), { reused: 'inline' }) as Node;
      expect(plain(described, {})).to.deep.equal(plain(properties[member] ?? {}, definitions));
    });

  for (const type of testedTypes)
    it(`a control of the type ${type} fits`, () => {
      const member: DerControlMember = derControlMembers[type];
      const { [member]: values } = request('C', type);
      expect(derValueSchemas[member]().safeParse(values)).to.include({ success: true });
    });
});
