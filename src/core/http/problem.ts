import type { Duplex } from 'node:stream';
import { STATUS_CODES } from 'node:http';
import { unreadLimitMs, whenAnswered } from './connections.ts';

/** Status and fixed title of every problem that HTTP and the stream's handshake can answer (RFC 9457). */
export const problemTable = {
  'malformed-json': { status: 400, title: 'The body is not JSON' },
  'malformed-request': { status: 400, title: 'The request is not valid HTTP' },
  'cross-origin': { status: 403, title: 'Requests of another origin are not served' },
  'not-private': { status: 403, title: 'This is for clients of this machine, or over TLS' },
  'settings-locked': { status: 403, title: 'The settings can only be read' },
  'not-found': { status: 404, title: 'No such path' },
  'unknown-device': { status: 404, title: 'No such device' },
  'unknown-resource': { status: 404, title: 'No such resource' },
  'not-applicable': { status: 404, title: 'This kind of device does not have that' },
  'method-not-allowed': { status: 405, title: 'The path does not have this method' },
  'request-timeout': { status: 408, title: 'The request did not arrive in time' },
  conflict: { status: 409, title: 'The device is not in a state that permits this' },
  disabled: { status: 409, title: 'The function or protocol is switched off' },
  'not-connected': { status: 409, title: 'There is no connection' },
  'too-large': { status: 413, title: 'The body is too large' },
  'uri-too-long': { status: 414, title: 'The address is too long' },
  'unsupported-media-type': { status: 415, title: 'The body must be JSON' },
  'misdirected-host': { status: 421, title: 'This host name is not served here' },
  validation: { status: 422, title: 'The request has members that are not valid' },
  'too-many-requests': { status: 429, title: 'Too many requests are waiting' },
  'headers-too-large': { status: 431, title: 'The headers are too large' },
  internal: { status: 500, title: 'The simulator failed' },
  'fleet-member': { status: 409, title: 'The gateway of the fleet does that' },
  'fleet-unsupported': { status: 501, title: 'The gateway of a fleet does not do that yet' },
  'upstream-error': { status: 502, title: 'The remote peer answered with an error' },
  'fleet-offline': { status: 503, title: 'The fleet cannot be reached' },
  'shard-lost': { status: 503, title: 'The process of the device does not answer' },
  shortage: { status: 503, title: 'The simulator is short of file descriptors' },
  stopping: { status: 503, title: 'The simulator is stopping' },
  'too-many-clients': { status: 503, title: 'Too many clients are connected' },
  'upstream-timeout': { status: 504, title: 'The remote peer did not answer' },
} as const;

export type ProblemCode = keyof typeof problemTable;
export const problemCodes = Object.keys(problemTable) as readonly ProblemCode[];

export interface ProblemIssue {
  readonly in: 'body' | 'query' | 'path';
  /** JSON pointer or parameter name */
  readonly name: string;
  readonly detail: string;
  readonly allowed?: readonly (string | number)[];
}

/** The body of every error answer. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: ProblemCode;
  readonly request_id: string;
  readonly errors?: readonly ProblemIssue[];
  readonly modbus_exception?: number;
}

/**
 * Header lines of every answer: no caching, no sniffing of the type, no embedding or framing by pages of other origins.
 * The documentation pages replace the policy with a wider one.
 */
export const commonHeaders = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

const maxInstanceLength = 1024;

/** The problem body of one occurrence. `instance` is the request path with query, cut where it is very long. */
export function createProblem(
  code: ProblemCode,
  detail: string,
  request: { readonly instance: string; readonly id: string },
  errors?: readonly ProblemIssue[],
  modbusException?: number,
): Problem {
  const { status, title } = problemTable[code];
  return {
    type: `urn:derbench:problem:${code}`,
    title,
    status,
    detail,
    instance: request.instance.slice(0, maxInstanceLength),
    code,
    request_id: request.id,
    ...(errors && { errors }),
    ...(modbusException !== undefined && { modbus_exception: modbusException }),
  };
}

/** Header lines that every error answer carries. */
export function problemHeaders(problem: Problem): Record<string, string> {
  return {
    'Content-Type': 'application/problem+json',
    ...commonHeaders,
    'X-Request-Id': problem.request_id,
  };
}

/** limit of sockets for which `limitUnread` was not called, ms */
const defaultUnreadMs = 30_000;
/** sockets that a refusal or `closeAnswered` closes */
const ending = new WeakSet<Duplex>();

function writeRefusal(socket: Duplex, problem: Problem, extra: Readonly<Record<string, string>>): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = `${JSON.stringify(problem)}\n`;
  const headers = {
    ...problemHeaders(problem),
    ...extra,
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  };
  const lines = Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  // the server no longer times such a socket out, and data from the peer must not prolong it
  const limit = setTimeout(() => socket.destroy(), unreadLimitMs(socket) ?? defaultUnreadMs);
  socket.once('close', () => {
    clearTimeout(limit);
  });
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}\r\n${lines}\r\n${body}`);
}

/**
 * Answers on a bare socket, where no response object exists (parse failures, refused upgrades), and closes it. Earlier
 * requests of the connection are answered first. Later refusals of the socket are ignored.
 */
export function refuseOnSocket(socket: Duplex, problem: Problem, extra: Readonly<Record<string, string>> = {}): void {
  if (ending.has(socket)) return;
  ending.add(socket);
  // the server has removed its listeners from the socket; the limit for unread answers arrives as `timeout`
  for (const event of ['error', 'timeout']) socket.on(event, () => socket.destroy());
  whenAnswered(socket, () => {
    writeRefusal(socket, problem, extra);
  });
}

/** Closes a connection when all its requests are answered. */
export function closeAnswered(socket: Duplex): void {
  if (ending.has(socket)) return;
  ending.add(socket);
  whenAnswered(socket, () => {
    socket.destroy();
  });
}
