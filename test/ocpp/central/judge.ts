/**
 * Frames of OCPP-J 1.6 against the schemas that the package ocpp-rpc carries, by ajv alone: nothing of the product takes
 * part, so that a mistake there cannot hide itself.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { ValidateFunction } from 'ajv';
import { Ajv } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';

type Side = 'req' | 'conf';

/** As `urn:Authorize.req` and `urn:Authorize.conf` name them. */
export type PublishedSchema = Readonly<Record<string, unknown>>;

const schemaFile = createRequire(import.meta.url).resolve('ocpp-rpc/lib/schemas/ocpp1_6.json');

/** Content of the file of ocpp-rpc for 1.6, by `Authorize.req`. */
export function packagedSchemas(): ReadonlyMap<string, PublishedSchema> {
  const schemas = JSON.parse(readFileSync(schemaFile, 'utf8')) as readonly PublishedSchema[];
  return new Map(schemas.map((schema) => [String(schema['$id']).replace('urn:', ''), schema]));
}

/** OCPP-J 1.6 4.2.3, with the spelling that its errata keep. */
const errorCodes: ReadonlySet<unknown> = new Set([
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
]);

/** Schemas and what is compiled of them; made at the first frame. */
let known: { readonly ajv: Ajv; readonly schemas: ReturnType<typeof packagedSchemas> } | null = null;
const validators = new Map<string, ValidateFunction>();

function validatorOf(name: string): ValidateFunction | null {
  if (known === null) {
    const ajv = new Ajv({ strict: false, logger: false, multipleOfPrecision: 6 });
    for (const format of ['date-time', 'uri'] as const) ajv.addFormat(format, fullFormats[format]);
    known = { ajv, schemas: packagedSchemas() };
  }
  const schema = known.schemas.get(name);
  if (schema === undefined) return null;
  // ajv takes no URN without a namespace for an id
  const rules = Object.fromEntries(Object.entries(schema).filter(([member]) => member !== '$id'));
  const made = validators.get(name) ?? known.ajv.compile(rules);
  validators.set(name, made);
  return made;
}

function payloadIssue(action: string, side: Side, payload: unknown): string | null {
  const validate = validatorOf(`${action}.${side}`);
  if (validate === null) return `there is no ${action}`;
  if (validate(payload)) return null;
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`).join('; ');
}

/** What is wrong with the frames of one connection; answers are judged by the action of their call. */
export class FrameJudge {
  readonly #asked: Readonly<Record<'in' | 'out', Map<string, string>>> = { in: new Map(), out: new Map() };

  /** @returns null: it is a frame, and its payload fits the schema */
  issue(direction: 'in' | 'out', frame: readonly unknown[] | null): string | null {
    if (frame === null) return 'it is no JSON list';
    const [type, id, ...rest] = frame;
    if (typeof id !== 'string' || id.length === 0 || id.length > 36) return 'its id is no text of 1 to 36 characters';
    if (type === 2) return this.#call(direction, id, rest);
    if (type !== 3 && type !== 4) return `it has the type ${String(type)}`;
    const asked = this.#asked[direction === 'in' ? 'out' : 'in'];
    const action = asked.get(id);
    if (action === undefined) return 'it answers no call';
    asked.delete(id);
    if (type === 3) return rest.length === 1 ? payloadIssue(action, 'conf', rest[0]) : 'it has not three members';
    const [code, description, details] = rest;
    if (rest.length !== 3) return 'it has not five members';
    if (!errorCodes.has(code)) return `${String(code)} is no error code of 1.6`;
    if (typeof description !== 'string') return 'its description is no text';
    return typeof details === 'object' && details !== null && !Array.isArray(details) ? null : 'its details are none';
  }

  #call(direction: 'in' | 'out', id: string, [action, payload, ...more]: readonly unknown[]): string | null {
    if (typeof action !== 'string' || more.length > 0) return 'it has not four members';
    this.#asked[direction].set(id, action);
    return payloadIssue(action, 'req', payload);
  }
}
