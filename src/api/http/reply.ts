import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { unreadLimitMs } from '../../core/http/answer-order.ts';
import { commonHeaders, createProblem, problemHeaders } from '../../core/http/problem.ts';
import type { ProblemCode, ProblemFault } from '../../core/http/problem.ts';

const requestIds = new WeakMap<IncomingMessage, string>();
const idOfProcess = randomUUID().slice(0, 24);
let lastNumber = 0;

/** In the form of a UUID: the beginning is the process's, the end counts. Random digits for each would cost more than looking up a hot read. */
function nextRequestId(): string {
  lastNumber += 1;
  return idOfProcess + String(lastNumber).padStart(12, '0');
}

/** The id of a request; the same in the answer's header, in problems and in the log. */
export function requestId(request: IncomingMessage): string {
  let id = requestIds.get(request);
  if (id === undefined) {
    id = nextRequestId();
    requestIds.set(request, id);
  }
  return id;
}

/** What an answer holds. */
export interface Content {
  readonly type: string;
  readonly bytes: Buffer;
}

/**
 * The connection's ordinary time-out would also count while an operation is at work. The server puts its own limit back
 * when all has gone out.
 */
export function beginLimit(socket: Socket): void {
  socket.setTimeout(unreadLimitMs(socket) ?? 0);
}

function end(response: ServerResponse, bytes: Buffer): void {
  const { socket } = response;
  // behind an earlier answer of the connection, this one gets the socket later
  if (!socket) response.once('socket', beginLimit);
  response.end(bytes);
  if (socket && socket.writableLength > 0) beginLimit(socket);
}

/** Sends a body as it is, with the headers that every answer carries. */
export function sendBytes(
  response: ServerResponse,
  status: number,
  type: string,
  bytes: Buffer,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': bytes.length,
    ...commonHeaders,
    'X-Request-Id': requestId(response.req),
    ...headers,
  });
  end(response, bytes);
}

/** An answer with status 200 that is sent many times. */
export interface Prepared {
  readonly bytes: Buffer;
  /** names and values by turns; the last is the request id */
  readonly headers: string[];
}

const commonLines = Object.entries(commonHeaders).flat();

export function prepare({ type, bytes }: Content): Prepared {
  return {
    bytes,
    headers: ['Content-Type', type, 'Content-Length', String(bytes.length), ...commonLines, 'X-Request-Id', ''],
  };
}

/** Sends the same as `sendBytes` does with status 200. */
export function sendPrepared(response: ServerResponse, { bytes, headers }: Prepared): void {
  // nobody will ask for this id again: it is not noted
  headers[headers.length - 1] = nextRequestId();
  response.writeHead(200, headers);
  end(response, bytes);
}

/** Answers `application/problem+json`. `close` ends the connection after it. */
export function sendProblem(
  response: ServerResponse,
  problem: {
    code: ProblemCode;
    detail: string;
    faults?: readonly ProblemFault[];
    modbusException?: number;
    close?: boolean;
  },
  headers: Readonly<Record<string, string>> = {},
): void {
  const { req } = response;
  const body = createProblem(
    problem.code,
    problem.detail,
    { instance: req.url ?? '', id: requestId(req) },
    problem.faults,
    problem.modbusException,
  );
  const extra = { ...problemHeaders(body), ...headers, ...(problem.close === true && { Connection: 'close' }) };
  sendBytes(response, body.status, 'application/problem+json', Buffer.from(JSON.stringify(body)), extra);
}
