/** Checks payloads of OCPP against the schemas of their version. */
import { createRequire } from 'node:module';
import type * as ajv from 'ajv';
import type * as ajvFormats from 'ajv-formats/dist/formats.js';
import { memo } from '../../../core/memo.ts';
import { checkDescriptorsToRequire } from '../../../core/shortage.ts';
import { errorCode } from '../errors.ts';
import type { ErrorSituation } from '../errors.ts';
import type { OcppSubprotocol, PayloadChecks, PayloadIssue, PayloadSide } from '../model.ts';
import { readSchemas } from './files.ts';
import type { PayloadSchema, SchemaTexts } from './files.ts';
import { violationOf } from './words.ts';

const require = createRequire(import.meta.url);

/** Longest errorDescription of 2.x. */
const maxDescription = 255;

type Validator = ajv.ValidateFunction;

/**
 * The first violation is all that a description names. Currents and powers are multiples of 0.1, which binary numbers
 * miss by less than the tolerance. Ids and versions are taken away, so that equal ids of versions never meet.
 */
const compiler = memo(() => {
  checkDescriptorsToRequire();
  const { Ajv } = require('ajv') as typeof ajv;
  const { fullFormats } = require('ajv-formats/dist/formats.js') as typeof ajvFormats;
  const made = new Ajv({
    strict: false,
    logger: false,
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    multipleOfPrecision: 6,
  });
  for (const name of ['date-time', 'uri'] as const) made.addFormat(name, fullFormats[name]);
  return made;
});

interface VersionChecks {
  readonly texts: SchemaTexts;
  /** compiled, by side and action */
  readonly validators: Readonly<Record<PayloadSide, Map<string, Validator>>>;
}

/** Null: an answer to a message that has none. */
function validator({ texts, validators }: VersionChecks, action: string, side: PayloadSide): Validator | null {
  const known = validators[side].get(action);
  if (known !== undefined) return known;
  const text = texts.get(action)?.[side];
  if (text === undefined) return null;
  const made = compiler().compile(JSON.parse(text) as PayloadSchema);
  validators[side].set(action, made);
  return made;
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
  const made = new Map<OcppSubprotocol, VersionChecks>();
  const versionChecks = (version: OcppSubprotocol): VersionChecks => {
    const known = made.get(version);
    if (known !== undefined) return known;
    const checks = { texts: read(version), validators: { request: new Map(), reply: new Map() } };
    made.set(version, checks);
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
      const [first] = fits.errors ?? [];
      if (first === undefined) return issue(version, 'generic', 'the payload does not fit its schema');
      const { situation, place, words } = violationOf(first);
      return issue(version, situation, `${place} ${words}`, place);
    },
  };
}

/** Those of the process: all stations share what is compiled. */
export const payloadChecks: PayloadChecks = createPayloadChecks();
