import type { ErrorCode, Issue } from '../../core/errors.ts';
import { SimError } from '../../core/errors.ts';
import type { ProblemCode, ProblemFault } from '../../core/http/problem.ts';

/** How each failure of the simulator is answered over HTTP. */
export const problemOf: Readonly<Record<ErrorCode, ProblemCode>> = {
  MAP_ILLEGAL_ADDRESS: 'validation',
  MAP_UNKNOWN_POINT: 'validation',
  MAP_READ_ONLY: 'validation',
  MAP_NOT_IMPLEMENTED: 'validation',
  MAP_PARTIAL_POINT: 'validation',
  MAP_BAD_VALUE: 'validation',
  MAP_NOT_SUPPORTED: 'disabled',
  MAP_LOCAL_CONTROL: 'conflict',
  // HTTP knows no roles
  ACCESS_DENIED: 'internal',
  UNKNOWN_DEVICE: 'unknown-device',
  UNKNOWN_RESOURCE: 'unknown-resource',
  COMMAND_NOT_APPLICABLE: 'not-applicable',
  COMMAND_CONFLICT: 'conflict',
  COMMAND_BAD_VALUE: 'validation',
  COMMAND_QUEUE_FULL: 'too-many-requests',
  CONFIG_INVALID: 'internal',
  LISTEN_FAILED: 'internal',
  PEER_ERROR: 'upstream-error',
  PEER_TIMEOUT: 'upstream-timeout',
  NOT_CONNECTED: 'not-connected',
  STOPPING: 'stopping',
  INTERNAL: 'internal',
};

/** A request that is refused by the interface itself. */
export class HttpProblem extends Error {
  readonly code: ProblemCode;
  readonly faults: readonly ProblemFault[] | undefined;
  /** the connection cannot be used any further */
  readonly close: boolean;

  constructor(code: ProblemCode, detail: string, options: { faults?: readonly ProblemFault[]; close?: boolean } = {}) {
    super(detail);
    this.name = 'HttpProblem';
    this.code = code;
    this.faults = options.faults;
    this.close = options.close ?? false;
  }
}

/** One invalid member. */
export function invalid(
  where: ProblemFault['in'],
  name: string,
  detail: string,
  allowed?: readonly (string | number)[],
): HttpProblem {
  return invalidAll([{ in: where, name, detail, ...(allowed && { allowed }) }]);
}

/** A body can have tens of thousands of faults; nobody reads more than these. */
const maxFaults = 100;

/** Several invalid members, at most the first 100 one by one; the detail says them in words. */
export function invalidAll(faults: readonly ProblemFault[]): HttpProblem {
  const words = faults.map((fault) => `${fault.name === '' ? fault.in : fault.name}: ${fault.detail}`);
  const shown = words.slice(0, 5).join('; ');
  const detail = words.length > 5 ? `${shown}; and ${words.length - 5} more` : shown;
  return new HttpProblem('validation', detail, { faults: faults.slice(0, maxFaults) });
}

const internalDetail = 'The simulator could not answer this request. The log has the reason under the request id.';

function bodyFault(issue: Issue): ProblemFault {
  return {
    in: 'body',
    name: issue.name,
    detail: issue.detail,
    ...(issue.allowed && { allowed: issue.allowed }),
  };
}

interface Described {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly faults?: readonly ProblemFault[];
  /** exception code that a remote Modbus device answered with */
  readonly modbusException?: number;
  readonly close: boolean;
}

/** Any thrown value as a problem. Failures of ours say nothing of their cause. */
export function describeError(error: unknown): Described {
  if (error instanceof HttpProblem) {
    return {
      code: error.code,
      detail: error.message,
      close: error.close,
      ...(error.faults && { faults: error.faults }),
    };
  }
  if (error instanceof SimError) {
    const code = problemOf[error.code];
    if (code === 'internal') return { code, detail: internalDetail, close: false };
    if (code === 'upstream-error' && error.exceptionCode !== undefined) {
      return { code, detail: error.message, modbusException: error.exceptionCode, close: false };
    }
    if (code !== 'validation') return { code, detail: error.message, close: false };
    if (error.issues.length > 0) return describeError(invalidAll(error.issues.map(bodyFault)));
    return { code, detail: error.message, faults: [{ in: 'body', name: '', detail: error.message }], close: false };
  }
  // the router's own complaint about a path such as `/%ff`
  if (error instanceof URIError)
    return { code: 'malformed-request', detail: 'The path has an invalid escape.', close: false };
  return { code: 'internal', detail: internalDetail, close: false };
}
