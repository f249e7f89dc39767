import type { IncomingMessage, ServerResponse } from 'node:http';
import { createProblem, problemHeaders } from '../core/problem.ts';
import type { ProblemCode, ProblemFault } from '../core/problem.ts';

const requestIds = new WeakMap<IncomingMessage, string>();

/** The id of a request; the same in the answer's header, in problems and in the log. */
export function requestId(request: IncomingMessage): string {
  let id = requestIds.get(request);
  if (id === undefined) {
    id = crypto.randomUUID();
    requestIds.set(request, id);
  }
  return id;
}

/** A client that takes nothing of its answer for so long is cut off: what it does not read stays in memory. */
const unreadTimeoutMs = 30_000;

/** Sends a body as it is, with the headers that every answer carries. */
export function sendBytes(
  response: ServerResponse, status: number, type: string, bytes: Buffer, headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': bytes.length,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': requestId(response.req),
    ...headers,
  });
  // the server puts its own limit back when all has gone out
  response.socket?.setTimeout(unreadTimeoutMs);
  response.end(bytes);
}

/** Answers `application/problem+json`. `close` ends the connection after it. */
export function sendProblem(
  response: ServerResponse,
  problem: { code: ProblemCode; detail: string; faults?: readonly ProblemFault[]; close?: boolean },
  headers: Readonly<Record<string, string>> = {},
): void {
  const { req } = response;
  const body = createProblem(problem.code, problem.detail, { instance: req.url ?? '', id: requestId(req) }, problem.faults);
  const extra = { ...problemHeaders(body), ...headers, ...(problem.close === true && { Connection: 'close' }) };
  sendBytes(response, body.status, 'application/problem+json', Buffer.from(JSON.stringify(body)), extra);
}
