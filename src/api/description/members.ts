import { glossary, unitEndings } from './glossary.ts';

type Node = Readonly<Record<string, unknown>>;

/** Keys whose values are data, not schemas. */
const dataKeys = new Set(['example', 'examples', 'default', 'enum', 'const']);
const annotations = new Set(['type', 'description', 'example']);

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A reference with its own description. The generator writes it as `allOf`, with the description (and for a nullable
 * reference the type) in the second schema; null satisfies no such `allOf`, and generated types become intersections.
 */
function plainReference(node: Node): Node {
  const { allOf, ...rest } = node;
  if (!Array.isArray(allOf) || allOf.length !== 2) return node;
  const [reference, more] = allOf as unknown[];
  if (!isNode(reference) || !('$ref' in reference) || !isNode(more)) return node;
  if (Object.keys(more).some((key) => !annotations.has(key))) return node;
  const { type, ...words } = more;
  const nullable = Array.isArray(type) && type.includes('null');
  return nullable ? { ...rest, anyOf: [reference, { type: 'null' }], ...words } : { ...rest, ...reference, ...words };
}

/** Description of a member by the glossary or by the unit in its name; undefined without either. */
function meaningOf(schema: string, member: string): string | undefined {
  const said = glossary[`${schema}.${member}`] ?? glossary[member];
  if (said !== undefined) return said;
  if (/^\d+$/.test(member)) return `Points of model ${member}, by name.`;
  const unit = unitEndings.find(([ending]) => member.endsWith(ending))?.[1];
  return unit === undefined ? undefined : `Unit: ${unit}.`;
}

function refersElsewhere(node: Node): boolean {
  return (
    '$ref' in node || (Array.isArray(node['anyOf']) && node['anyOf'].some((each) => isNode(each) && '$ref' in each))
  );
}

/** True if no value is valid: the member exists only to give the reason of its refusal, and the object is closed. */
function isRefused(node: unknown): boolean {
  return isNode(node) && isNode(node['not']) && Object.keys(node['not']).length === 0;
}

function describeMembers(properties: Node, schema: string): Node {
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([, node]) => !isRefused(node))
      .map(([member, node]) => {
        const finished = finish(node, schema);
        if (!isNode(finished) || finished['description'] !== undefined || refersElsewhere(finished))
          return [member, finished];
        const description = meaningOf(schema, member);
        return [member, description === undefined ? finished : { ...finished, description }];
      }),
  );
}

function finish(node: unknown, schema: string): unknown {
  if (Array.isArray(node)) return node.map((each: unknown) => finish(each, schema));
  if (!isNode(node)) return node;
  return Object.fromEntries(
    Object.entries(plainReference(node)).map(([key, value]) => {
      if (dataKeys.has(key)) return [key, value];
      if (key === 'properties' && isNode(value)) return [key, describeMembers(value, schema)];
      return [key, finish(value, schema)];
    }),
  );
}

/** The generator's schemas by name, with plain references and a description of every known member. */
export function finishSchemas(schemas: Node): Node {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, finish(schema, name)]));
}
