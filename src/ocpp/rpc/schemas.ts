/** Checks payloads of OCPP against the schemas of their version. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type * as ajv from 'ajv';
import type { ErrorObject } from 'ajv';
import type * as ajvFormats from 'ajv-formats/dist/formats.js';
import { pointerStep, SimError, checkDescriptorsToRequire } from '../../core/errors.ts';
import { memo } from '../../core/lazy.ts';
import { packageFile, runsFromBuild } from '../../core/package-files.ts';
import { errorCode } from './frames.ts';
import type { ErrorSituation } from './frames.ts';
import type { OcppSubprotocol, PayloadChecks, PayloadIssue, PayloadSide } from './model.ts';

// The schemas of one version, from the unmodified files of the package ocpp-rpc.

/** A JSON Schema of draft 06 or 07. */
type PayloadSchema = Readonly<Record<string, unknown>>;

/** The schemas of an action as JSON texts: a text takes a small part of the memory of its objects. */
type SchemaTexts = ReadonlyMap<string, { readonly [Side in PayloadSide]?: string }>;

const fileNames: Readonly<Record<OcppSubprotocol, string>> = {
  'ocpp1.6': 'ocpp1_6.json',
  'ocpp2.0.1': 'ocpp2_0_1.json',
  'ocpp2.1': 'ocpp2_1.json',
};

/** Absolute path of the file of a version: an installed package has a copy beside its bundle. */
function schemaFile(version: OcppSubprotocol): string {
  const folder = runsFromBuild ? 'dist/ocpp-schemas' : 'node_modules/ocpp-rpc/lib/schemas';
  return packageFile(`${folder}/${fileNames[version]}`);
}

/**
 * Ids are `urn:Authorize.req` and `.conf`, in 2.1 `urn:AuthorizeRequest`, `...Response`, and a bare name for a SEND.
 */
function nameOf(id: string): { readonly action: string; readonly side: PayloadSide } {
  const [, action = '', suffix] = /^urn:(\w+?)(\.req|\.conf|Request|Response)?$/.exec(id) ?? [];
  if (action === '') throw new SimError('INTERNAL', `no schema of OCPP has the id ${id}`);
  return { action, side: suffix === '.conf' || suffix === 'Response' ? 'reply' : 'request' };
}

/**
 * Remarks in a schema. A payload member may have such a name: its value is then a schema, not a text, and stays.
 */
const remarks: readonly string[] = ['$schema', 'description', 'comment', 'javaType'];

/** @throws SimError SHORTAGE; the error of the file system */
export function readSchemas(version: OcppSubprotocol): SchemaTexts {
  checkDescriptorsToRequire();
  const schemas = JSON.parse(readFileSync(schemaFile(version), 'utf8')) as readonly PayloadSchema[];
  const texts = new Map<string, { [Side in PayloadSide]?: string }>();
  for (const { $id, ...schema } of schemas) {
    const { action, side } = nameOf(String($id));
    const sides = texts.get(action) ?? {};
    texts.set(action, sides);
    sides[side] = JSON.stringify(schema, (name, value: unknown) =>
      typeof value === 'string' && remarks.includes(name) ? undefined : value,
    );
  }
  return texts;
}

// A violation of a schema in words: the place and the rule, never the value.

interface Violation {
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

/** Maximum of permitted words that a description lists. */
const maxListed = 12;
/** Maximum characters of a member's name in a description. */
const maxNameLength = 50;

const plural = (count: unknown, one: string, more: string) => `${String(count)} ${count === 1 ? one : more}`;
const entries = (count: unknown) => plural(count, 'entry', 'entries');
const characters = (count: unknown) => plural(count, 'character', 'characters');
const members = (count: unknown) => plural(count, 'member', 'members');

function oneOf(allowed: unknown): string {
  const words = (Array.isArray(allowed) ? allowed : []).map(String);
  return words.length <= maxListed ? `must be one of ${words.join(', ')}` : 'must be a word of its enumeration';
}

/** Rules by keyword of JSON Schema. */
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

/** JSON pointer step to a missing or additional member; empty: the violation is not about a member. */
function memberOf({ missingProperty, additionalProperty }: Parameters): string {
  const name = missingProperty ?? additionalProperty;
  if (typeof name !== 'string') return '';
  const shortName = name.length <= maxNameLength ? name : `${name.slice(0, maxNameLength)}...`;
  return pointerStep(shortName);
}

function violationOf({ keyword, instancePath, params }: ErrorObject): Violation {
  const parameters = params as Parameters;
  const { situation, words } = rules[keyword] ?? otherRule;
  return { situation, place: `${instancePath}${memberOf(parameters)}`, words: words(parameters) };
}

const require = createRequire(import.meta.url);

/** Longest errorDescription of 2.x. */
const maxDescription = 255;

type Validator = ajv.ValidateFunction;

const compiler = memo(() => {
  checkDescriptorsToRequire();
  const { Ajv } = require('ajv') as typeof ajv;
  const { fullFormats } = require('ajv-formats/dist/formats.js') as typeof ajvFormats;
  // `allErrors` stays off: a description names only the first violation. Schemas come without `$id` and `$schema`
  // (`readSchemas`): the ids of two versions of OCPP would collide here
  const validatorFactory = new Ajv({
    strict: false,
    logger: false,
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    // it would take longer to shorten the code of a check than that saves in hours of messages
    code: { optimize: false },
    // currents and powers are multiples of 0.1, which binary numbers miss by less than this
    multipleOfPrecision: 6,
  });
  for (const name of ['date-time', 'uri'] as const) validatorFactory.addFormat(name, fullFormats[name]);
  return validatorFactory;
});

interface VersionChecks {
  readonly texts: SchemaTexts;
  /** compiled, by side and action */
  readonly validators: Readonly<Record<PayloadSide, Map<string, Validator>>>;
}

/** null: the message has no answer */
function validator({ texts, validators }: VersionChecks, action: string, side: PayloadSide): Validator | null {
  const cachedValidator = validators[side].get(action);
  if (cachedValidator !== undefined) return cachedValidator;
  const text = texts.get(action)?.[side];
  if (text === undefined) return null;
  const compiled = compiler().compile(JSON.parse(text) as PayloadSchema);
  validators[side].set(action, compiled);
  return compiled;
}

function issue(version: OcppSubprotocol, situation: ErrorSituation, description: string, place?: string): PayloadIssue {
  return {
    code: errorCode(version, situation),
    description: description.slice(0, maxDescription),
    details: place === undefined ? {} : { place: place.slice(0, maxDescription) },
  };
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

export function createPayloadChecks(read: (version: OcppSubprotocol) => SchemaTexts = readSchemas): PayloadChecks {
  const byVersion = new Map<OcppSubprotocol, VersionChecks>();
  const versionChecks = (version: OcppSubprotocol): VersionChecks => {
    const cachedChecks = byVersion.get(version);
    if (cachedChecks !== undefined) return cachedChecks;
    const checks = { texts: read(version), validators: { request: new Map(), reply: new Map() } };
    byVersion.set(version, checks);
    return checks;
  };
  return {
    prepare(version) {
      versionChecks(version);
      compiler();
    },
    knows: (version, action) => versionChecks(version).texts.has(action),
    check(version, action, side, payload) {
      const checks = versionChecks(version);
      if (!checks.texts.has(action)) return issue(version, 'unknownAction', 'the action is unknown');
      if (!isObject(payload)) return issue(version, 'structure', 'the payload must be an object', '');
      const fits = validator(checks, action, side);
      if (fits === null) return issue(version, 'structure', 'the message has no answer');
      if (fits(payload)) return null;
      const [firstError] = fits.errors ?? [];
      if (firstError === undefined) return issue(version, 'generic', 'the payload does not fit its schema');
      const { situation, place, words } = violationOf(firstError);
      return issue(version, situation, `${place} ${words}`, place);
    },
  };
}

/** Checks of the process: all stations share the compiled schemas. */
export const payloadChecks: PayloadChecks = createPayloadChecks();

/** Maximum characters of a number quoted in an error. */
const maxNumberShown = 40;

/** The issue of a payload with a number that JavaScript cannot hold exactly; it is refused, since it would change. */
export function numberIssue(
  version: OcppSubprotocol,
  { changedNumber }: { readonly changedNumber?: string },
): PayloadIssue | null {
  if (changedNumber === undefined) return null;
  const description = `the number ${changedNumber.slice(0, maxNumberShown)} cannot be held exactly`;
  return { code: errorCode(version, 'value'), description, details: {} };
}
