import type { ErrorCode, Issue } from '../../core/errors.ts';
import { SimError, shortageOf } from '../../core/errors.ts';
import type { ProblemCode, ProblemIssue } from '../../core/http/problem.ts';

/** The problem with which HTTP answers each failure of the simulator. */
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
  SHORTAGE: 'shortage',
  STORE_FULL: 'internal',
  PEER_ERROR: 'upstream-error',
  PEER_TIMEOUT: 'upstream-timeout',
  NOT_CONNECTED: 'not-connected',
  STOPPING: 'stopping',
  INTERNAL: 'internal',
};

/** A request that is refused by the interface itself. */
export class HttpProblem extends Error {
  readonly code: ProblemCode;
  readonly issues: readonly ProblemIssue[] | undefined;
  /** the connection cannot be used any further */
  readonly close: boolean;
  /** further headers of the answer */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ProblemCode,
    detail: string,
    options: { issues?: readonly ProblemIssue[]; close?: boolean; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(detail);
    this.name = 'HttpProblem';
    this.code = code;
    this.issues = options.issues;
    this.close = options.close ?? false;
    this.headers = options.headers ?? {};
  }
}

/** The refusal of an operation that private keys travel with. */
export function notPrivate(): HttpProblem {
  return new HttpProblem(
    'not-private',
    'Private keys travel only within this machine or over TLS: call 127.0.0.1, for example through an SSH tunnel.',
  );
}

/** One invalid member. */
export function invalid(
  where: ProblemIssue['in'],
  name: string,
  detail: string,
  allowed?: readonly (string | number)[],
): HttpProblem {
  return invalidAll([{ in: where, name, detail, ...(allowed && { allowed }) }]);
}

/** Issues listed in an answer: a body can have thousands. */
export const maxIssues = 100;
/** issues named in the detail */
const namedIssues = 5;

/**
 * Several invalid members: the first 100 are listed, the first five are named in the detail.
 * @param count of all issues, where `issues` are only the first ones
 */
export function invalidAll(issues: readonly ProblemIssue[], count = issues.length): HttpProblem {
  const namedText = issues
    .slice(0, namedIssues)
    .map((issue) => `${issue.name === '' ? issue.in : issue.name}: ${issue.detail}`)
    .join('; ');
  const detail = count > namedIssues ? `${namedText}; and ${count - namedIssues} more` : namedText;
  return new HttpProblem('validation', detail, { issues: issues.slice(0, maxIssues) });
}

const internalDetail = 'The simulator could not answer this request. The log has the reason under the request id.';

function bodyIssue(issue: Issue): ProblemIssue {
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
  readonly issues?: readonly ProblemIssue[];
  /** exception code that a remote Modbus device answered with */
  readonly modbusException?: number;
  readonly close: boolean;
}

/** Any thrown value as a problem. An internal failure does not reveal its cause. */
export function describeError(error: unknown): Described {
  if (error instanceof HttpProblem) {
    return {
      code: error.code,
      detail: error.message,
      close: error.close,
      ...(error.issues && { issues: error.issues }),
    };
  }
  if (error instanceof SimError) {
    const code = problemOf[error.code];
    if (code === 'internal') return { code, detail: internalDetail, close: false };
    if (code === 'upstream-error' && error.protocolCode !== undefined) {
      return { code, detail: error.message, modbusException: error.protocolCode, close: false };
    }
    if (code !== 'validation') return { code, detail: error.message, close: false };
    if (error.issues.length > 0) return describeError(invalidAll(error.issues.map(bodyIssue)));
    return { code, detail: error.message, issues: [{ in: 'body', name: '', detail: error.message }], close: false };
  }
  const shortage = shortageOf(error);
  if (shortage !== null) return { code: 'shortage', detail: shortage.message, close: false };
  // the router throws it for a path such as `/%ff`
  if (error instanceof URIError)
    return { code: 'malformed-request', detail: 'The path has an invalid escape.', close: false };
  return { code: 'internal', detail: internalDetail, close: false };
}
