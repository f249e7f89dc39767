/**
 * Frames of OCPP-J against the schemas that the package ocpp-rpc carries, by ajv alone: nothing of the product takes part,
 * so that a mistake there cannot hide itself.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { ValidateFunction } from 'ajv';
import { Ajv } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';

type Side = 'req' | 'conf';

/** As `urn:Authorize.req` and `urn:Authorize.conf` name them. */
export type PublishedSchema = Readonly<Record<string, unknown>>;

/** Versions that the central system of the tests speaks. */
export const versions = ['ocpp1.6', 'ocpp2.0.1', 'ocpp2.1'] as const;
export type CentralVersion = (typeof versions)[number];

/** The version of a subprotocol; one that is none counts as 1.6. */
export function versionOf(subprotocol: string): CentralVersion {
  return versions.find((version) => version === subprotocol) ?? 'ocpp1.6';
}

const schemaFile = (version: CentralVersion) =>
  createRequire(import.meta.url).resolve(`ocpp-rpc/lib/schemas/${version.replaceAll('.', '_')}.json`);

/** The schemas of 2.1 are named by request and response, those of the other versions by `.req` and `.conf`. */
function nameOf({ $id }: PublishedSchema): string {
  const name = String($id).replace('urn:', '');
  if (name.endsWith('.req') || name.endsWith('.conf')) return name;
  if (name.endsWith('Request')) return `${name.slice(0, -'Request'.length)}.req`;
  return name.endsWith('Response') ? `${name.slice(0, -'Response'.length)}.conf` : `${name}.req`;
}

/** Content of the file of ocpp-rpc for a version, by `Authorize.req`. */
export function packagedSchemas(version: CentralVersion = 'ocpp1.6'): ReadonlyMap<string, PublishedSchema> {
  const schemas = JSON.parse(readFileSync(schemaFile(version), 'utf8')) as readonly PublishedSchema[];
  return new Map(schemas.map((schema) => [nameOf(schema), schema]));
}

/** OCPP-J 1.6 4.2.3, with the spelling that its errata keep. */
const errorCodes16 = [
  'NotImplemented',
  'NotSupported',
  'InternalError',
  'ProtocolError',
  'SecurityError',
  'FormationViolation',
  'PropertyConstraintViolation',
  'OccurenceConstraintViolation',
  'TypeConstraintViolation',
  'GenericError',
];

/** OCPP-J 2.0.1 and 2.1 4.3 */
const errorCodes2 = [
  'FormatViolation',
  'GenericError',
  'InternalError',
  'MessageTypeNotSupported',
  'NotImplemented',
  'NotSupported',
  'OccurrenceConstraintViolation',
  'PropertyConstraintViolation',
  'ProtocolError',
  'RpcFrameworkError',
  'SecurityError',
  'TypeConstraintViolation',
];

interface Known {
  readonly ajv: Ajv;
  readonly schemas: ReadonlyMap<string, PublishedSchema>;
  readonly validators: Map<string, ValidateFunction>;
}

/** Schemas and what is compiled of them; made at the first frame of a version. */
const known = new Map<CentralVersion, Known>();

function knownOf(version: CentralVersion): Known {
  const before = known.get(version);
  if (before !== undefined) return before;
  // most validators run a few times only: ajv would take longer to shorten their code than that saves
  const ajv = new Ajv({
    strict: false,
    logger: false,
    multipleOfPrecision: 6,
    code: { optimize: false },
    validateSchema: false,
  });
  for (const format of ['date-time', 'uri'] as const) ajv.addFormat(format, fullFormats[format]);
  const made = { ajv, schemas: packagedSchemas(version), validators: new Map() };
  known.set(version, made);
  return made;
}

function validatorOf(version: CentralVersion, name: string): ValidateFunction | null {
  const { ajv, schemas, validators } = knownOf(version);
  const schema = schemas.get(name);
  if (schema === undefined) return null;
  // ajv takes no URN without a namespace for an id
  const rules = Object.fromEntries(Object.entries(schema).filter(([member]) => member !== '$id'));
  const made = validators.get(name) ?? ajv.compile(rules);
  validators.set(name, made);
  return made;
}

function payloadIssue(version: CentralVersion, action: string, side: Side, payload: unknown): string | null {
  const validate = validatorOf(version, `${action}.${side}`);
  if (validate === null) return `there is no ${action}`;
  if (validate(payload)) return null;
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`).join('; ');
}

type Direction = 'in' | 'out';

const opposite = (direction: Direction): Direction => (direction === 'in' ? 'out' : 'in');

/** What is wrong with the frames of one connection; answers are judged by the action of their call. */
export class FrameJudge {
  readonly #version: CentralVersion;
  readonly #errorCodes: ReadonlySet<unknown>;
  readonly #asked: Readonly<Record<Direction, Map<string, string>>> = { in: new Map(), out: new Map() };
  /** ids of the results that a side has sent (2.1: the other side may refuse them) */
  readonly #results: Readonly<Record<Direction, Set<string>>> = { in: new Set(), out: new Set() };

  constructor(version: CentralVersion = 'ocpp1.6') {
    this.#version = version;
    this.#errorCodes = new Set(version === 'ocpp1.6' ? errorCodes16 : errorCodes2);
  }

  /** @returns null: it is a frame, and its payload fits the schema */
  issue(direction: Direction, frame: readonly unknown[] | null): string | null {
    if (frame === null) return 'it is no JSON list';
    const [type, id, ...rest] = frame;
    if (typeof id !== 'string' || id.length === 0 || id.length > 36) return 'its id is no text of 1 to 36 characters';
    if (type === 2) return this.#call(direction, id, rest);
    if (type === 3 || type === 4) return this.#answer(direction, type, id, rest);
    if (this.#version === 'ocpp2.1' && type === 5) return this.#refusal(direction, id, rest);
    if (this.#version === 'ocpp2.1' && type === 6) return this.#send(direction, rest);
    return `it has the type ${String(type)}`;
  }

  #call(direction: Direction, id: string, [action, payload, ...more]: readonly unknown[]): string | null {
    if (typeof action !== 'string' || more.length > 0) return 'it has not four members';
    this.#asked[direction].set(id, action);
    return payloadIssue(this.#version, action, 'req', payload);
  }

  #answer(direction: Direction, type: 3 | 4, id: string, rest: readonly unknown[]): string | null {
    // 2.x: what has no readable id is answered with this one
    if (type === 4 && id === '-1' && this.#version !== 'ocpp1.6') return this.#error(rest);
    const asked = this.#asked[opposite(direction)];
    const action = asked.get(id);
    if (action === undefined) return 'it answers no call';
    asked.delete(id);
    if (type === 4) return this.#error(rest);
    this.#results[direction].add(id);
    return rest.length === 1 ? payloadIssue(this.#version, action, 'conf', rest[0]) : 'it has not three members';
  }

  #error(rest: readonly unknown[]): string | null {
    const [code, description, details] = rest;
    if (rest.length !== 3) return 'it has not five members';
    if (!this.#errorCodes.has(code)) return `${String(code)} is no error code of ${this.#version.slice(4)}`;
    if (typeof description !== 'string') return 'its description is no text';
    if (this.#version !== 'ocpp1.6' && description.length > 255) return 'its description is too long';
    return typeof details === 'object' && details !== null && !Array.isArray(details) ? null : 'its details are none';
  }

  /** CALLRESULTERROR */
  #refusal(direction: Direction, id: string, rest: readonly unknown[]): string | null {
    return this.#results[opposite(direction)].delete(id) ? this.#error(rest) : 'it refuses no answer';
  }

  /** SEND, which a station sends and nobody answers */
  #send(direction: Direction, [action, payload, ...more]: readonly unknown[]): string | null {
    if (direction === 'out') return 'a central system sends none';
    if (typeof action !== 'string' || more.length > 0) return 'it has not four members';
    if (action !== 'NotifyPeriodicEventStream') return `${action} is no SEND`;
    return payloadIssue(this.#version, action, 'req', payload);
  }
}
