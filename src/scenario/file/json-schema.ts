/** The JSON Schema of scenario files, for editors. */
import { z } from 'zod';
import { includeSchema, includedSchema, headSchema, repeatSchema, ruleSchema, stepSchema } from './schema.ts';
import { shortForms } from './short-forms.ts';

type Json = Record<string, unknown>;

/** A reference to a parameter, which may replace a value of any type. */
const parameter = { type: 'string', pattern: '\\$\\{[^{}]+\\}' };

/** Permits `${name}` in place of numbers, booleans and enumerations. */
function withParameters(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withParameters);
  if (typeof schema !== 'object' || schema === null) return schema;
  const node = schema as Json;
  const inner = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === 'enum' || key === 'default' ? value : withParameters(value),
    ]),
  );
  const types = [node['type'] ?? []].flat();
  const isNotText = types.some((type) => type === 'number' || type === 'integer' || type === 'boolean');
  if (!isNotText && node['enum'] === undefined) return inner;
  const { description, ...rest } = inner;
  return { ...(description !== undefined && { description }), anyOf: [rest, parameter] };
}

function jsonOf(schema: z.ZodType): Json {
  const json: Json = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input', unrepresentable: 'any' });
  delete json['$schema'];
  return withParameters(json) as Json;
}

/**
 * @param config schema of the settings
 * @param bodyOf JSON Schema of the body of an operation such as `POST /controls/grid`; null: no body
 */
export function scenarioJsonSchema(config: Json, bodyOf: (operation: string) => Json | null): object {
  const definitions: Json = {};
  /** Moves the definitions of a part to the root, where its references point. */
  const hoisted = ({ $defs = {}, ...part }: Json): Json => {
    Object.assign(definitions, withParameters($defs));
    return withParameters(part) as Json;
  };
  const step = jsonOf(stepSchema());
  const members = step['properties'] as Json;
  for (const [name, { operation, doc }] of Object.entries(shortForms)) {
    const body = operation === null ? null : bodyOf(operation);
    // `true`, a name alone or null may replace a body
    if (body !== null)
      members[name] = {
        description: doc,
        anyOf: [hoisted(body), { type: ['string', 'boolean', 'null'] }],
      };
  }
  const steps = { type: 'array', minItems: 1, items: { $ref: '#/$defs/entry' } };
  const withSteps = (schema: Json): Json => ({ ...schema, properties: { ...(schema['properties'] as Json), steps } });
  const head = jsonOf(headSchema());
  return {
    title: 'Scenario',
    description: 'Steps and assertions on simulated time.',
    ...head,
    properties: {
      $schema: { type: 'string' },
      ...(head['properties'] as Json),
      config: { anyOf: [{ type: 'string', description: 'A configuration file, or a bundled one.' }, hoisted(config)] },
      steps,
      rules: { type: 'array', items: withSteps(jsonOf(ruleSchema())) },
      finally: steps,
    },
    required: ['steps'],
    $defs: {
      ...definitions,
      entry: { anyOf: [step, withSteps(jsonOf(repeatSchema())), jsonOf(includeSchema())] },
      included: withSteps(jsonOf(includedSchema())),
    },
  };
}
