/** Error codes of CALLERROR: what each situation is called in each version. */
import type { OcppSubprotocol } from './model.ts';

/** Code by version. OCPP-J 1.6 4.2.3 with its errata; OCPP-J 2.0.1 and 2.1 4.3. */
interface Codes {
  readonly v16: string;
  readonly v2: string;
}

/** 1.6 spells `Occurence` with one r, which its errata keep on purpose. */
const situations = {
  /** the version has no such action */
  unknownAction: { v16: 'NotImplemented', v2: 'NotImplemented' },
  /** the version has it, the station does not */
  unsupportedAction: { v16: 'NotSupported', v2: 'NotSupported' },
  /** no frame of OCPP-J */
  frame: { v16: 'FormationViolation', v2: 'RpcFrameworkError' },
  /** the message id is that of a call which is still being answered */
  duplicateId: { v16: 'GenericError', v2: 'RpcFrameworkError' },
  /** a number of a message type that the version does not have */
  messageType: { v16: 'GenericError', v2: 'MessageTypeNotSupported' },
  /** payload absent or no object */
  structure: { v16: 'FormationViolation', v2: 'FormatViolation' },
  /** a member that the schema does not have */
  extraMember: { v16: 'FormationViolation', v2: 'FormatViolation' },
  /** a required member is missing, or a list has too few or too many entries */
  occurrence: { v16: 'OccurenceConstraintViolation', v2: 'OccurrenceConstraintViolation' },
  /** wrong JSON type */
  type: { v16: 'TypeConstraintViolation', v2: 'TypeConstraintViolation' },
  /** right type, wrong value: enumeration, range, length, format */
  value: { v16: 'PropertyConstraintViolation', v2: 'PropertyConstraintViolation' },
  /** before the registration is accepted */
  security: { v16: 'SecurityError', v2: 'SecurityError' },
  internal: { v16: 'InternalError', v2: 'InternalError' },
  generic: { v16: 'GenericError', v2: 'GenericError' },
} as const satisfies Readonly<Record<string, Codes>>;

export type ErrorSituation = keyof typeof situations;

export function errorCode(version: OcppSubprotocol, situation: ErrorSituation): string {
  const { v16, v2 } = situations[situation];
  return version === 'ocpp1.6' ? v16 : v2;
}

/** In no situation of the table above, but permitted: the payload is incomplete. */
const incomplete = 'ProtocolError';

const known = {
  v16: new Set<string>([incomplete, ...Object.values(situations).map(({ v16 }) => v16)]),
  v2: new Set<string>([incomplete, ...Object.values(situations).map(({ v2 }) => v2)]),
};

/** Whether a version has a code: the central system may send no other. */
export function isErrorCode(version: OcppSubprotocol, code: string): boolean {
  return known[version === 'ocpp1.6' ? 'v16' : 'v2'].has(code);
}
