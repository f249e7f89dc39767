/** A violation of a schema in words: the place and the rule, never the value. */
import type { ErrorObject } from 'ajv';
import { pointerStep } from '../../../core/errors.ts';
import type { ErrorSituation } from '../errors.ts';

export interface Violation {
  readonly situation: ErrorSituation;
  /** JSON pointer; empty: the payload itself */
  readonly place: string;
  /** `must be an integer` */
  readonly words: string;
}

type Parameters = Readonly<Record<string, unknown>>;

interface Rule {
  readonly situation: ErrorSituation;
  readonly words: (parameters: Parameters) => string;
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};

const formatWords: Readonly<Record<string, string>> = {
  'date-time': 'a date and time with zone (RFC 3339)',
  uri: 'a URI',
};

/** Lists of permitted words that fit into a description. */
const maxListed = 12;
/** Longest name of an unknown member that is repeated. */
const maxNameLength = 50;

const plural = (count: unknown, one: string, more: string) => `${String(count)} ${count === 1 ? one : more}`;
const entries = (count: unknown) => plural(count, 'entry', 'entries');
const characters = (count: unknown) => plural(count, 'character', 'characters');
const members = (count: unknown) => plural(count, 'member', 'members');

function oneOf(allowed: unknown): string {
  const words = (Array.isArray(allowed) ? allowed : []).map(String);
  return words.length <= maxListed ? `must be one of ${words.join(', ')}` : 'must be a word of its enumeration';
}

/** By keyword of JSON Schema. */
const rules: Readonly<Record<string, Rule>> = {
  type: {
    situation: 'type',
    words: ({ type }) =>
      `must be ${[type]
        .flat()
        .map((name) => typeWords[String(name)] ?? String(name))
        .join(' or ')}`,
  },
  required: { situation: 'occurrence', words: () => 'is missing' },
  minItems: { situation: 'occurrence', words: ({ limit }) => `must have at least ${entries(limit)}` },
  maxItems: { situation: 'occurrence', words: ({ limit }) => `must have at most ${entries(limit)}` },
  minProperties: { situation: 'occurrence', words: ({ limit }) => `must have at least ${members(limit)}` },
  maxProperties: { situation: 'occurrence', words: ({ limit }) => `must have at most ${members(limit)}` },
  additionalProperties: { situation: 'extraMember', words: () => 'is unknown' },
  enum: { situation: 'value', words: ({ allowedValues }) => oneOf(allowedValues) },
  const: { situation: 'value', words: () => 'has another value than the only one permitted' },
  minLength: { situation: 'value', words: ({ limit }) => `must have at least ${characters(limit)}` },
  maxLength: { situation: 'value', words: ({ limit }) => `must have at most ${characters(limit)}` },
  minimum: { situation: 'value', words: ({ limit }) => `must be at least ${String(limit)}` },
  maximum: { situation: 'value', words: ({ limit }) => `must be at most ${String(limit)}` },
  multipleOf: { situation: 'value', words: ({ multipleOf }) => `must be a multiple of ${String(multipleOf)}` },
  pattern: { situation: 'value', words: () => 'does not have the form that its schema requires' },
  format: {
    situation: 'value',
    words: ({ format }) => `must be ${formatWords[String(format)] ?? `a ${String(format)}`}`,
  },
};

const otherRule: Rule = { situation: 'generic', words: () => 'does not fit its schema' };

/** The member that a violation is about, where that is not the object it was found in. */
function memberOf({ missingProperty, additionalProperty }: Parameters): string {
  const name = missingProperty ?? additionalProperty;
  if (typeof name !== 'string') return '';
  const shown = name.length <= maxNameLength ? name : `${name.slice(0, maxNameLength)}...`;
  return pointerStep(shown);
}

export function violationOf({ keyword, instancePath, params }: ErrorObject): Violation {
  const parameters = params as Parameters;
  const { situation, words } = rules[keyword] ?? otherRule;
  return { situation, place: `${instancePath}${memberOf(parameters)}`, words: words(parameters) };
}
