/** Sends the answers of REST: complete bodies, prepared answers and problems, each with its headers and request id. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { unreadLimitMs, watchUnread } from '../../core/http/connections.ts';
import { commonHeaders, createProblem, problemHeaders } from '../../core/http/problem.ts';
import type { Problem, ProblemCode, ProblemIssue } from '../../core/http/problem.ts';
import { memo } from '../../core/lazy.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Plant } from '../../contract/plant.ts';

const requestIds = new WeakMap<IncomingMessage, string>();
/** A random value per process, with which the ids of its requests begin. */
export const idOfProcess = memo(() => randomUUID().slice(0, 23));
let lastNumber = 0;

/**
 * Shaped like a UUID: a prefix per process and a counter. A random UUID per request would cost more than the rest
 * of a hot read.
 */
export function nextRequestId(): string {
  lastNumber += 1;
  return `${idOfProcess()}-${String(lastNumber).padStart(12, '0')}`;
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

/** A complete body with its media type. */
export interface Content {
  readonly type: string;
  readonly bytes: Buffer;
}

/**
 * Starts the limit for a client that does not read its answer. No earlier: a time-out of the connection would also run
 * while an operation is at work. The server restores its own limit when the answer is sent.
 */
export function startUnreadLimit(socket: Socket): void {
  socket.setTimeout(unreadLimitMs(socket) ?? 0);
  watchUnread(socket);
}

function end(response: ServerResponse, bytes: Buffer): void {
  const { socket } = response;
  // an answer behind an earlier one of its connection gets the socket later
  if (!socket) response.once('socket', startUnreadLimit);
  response.end(bytes);
  if (socket && socket.writableLength > 0) startUnreadLimit(socket);
}

const lineEnd = Buffer.from('\n');

/** Trailing bytes of a body of this type: JSON ends with a newline, so that a terminal's prompt starts on its own line. */
export function endingOf(type: string): Buffer | undefined {
  return type.endsWith('json') ? lineEnd : undefined;
}

/** The body with its ending; a body that already ends so is sent unchanged, so that many clients can share it. */
export function complete({ type, bytes }: Content): Content {
  const ending = endingOf(type);
  return { type, bytes: ending === undefined || bytes.at(-1) === ending[0] ? bytes : Buffer.concat([bytes, ending]) };
}

/** Sends a body, with the headers that every answer carries. */
export function sendBytes(
  response: ServerResponse,
  status: number,
  type: string,
  content: Buffer,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const { bytes } = complete({ type, bytes: content });
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': bytes.length,
    ...commonHeaders,
    'X-Request-Id': requestId(response.req),
    ...headers,
  });
  end(response, bytes);
}

/** An answer with status 200, ready to be sent many times. */
export interface Prepared {
  readonly bytes: Buffer;
  /** names and values alternate; the last value is the request id */
  readonly headers: string[];
}

const commonLines = Object.entries(commonHeaders).flat();

export function prepare(content: Content): Prepared {
  const { type, bytes } = complete(content);
  return {
    bytes,
    headers: ['Content-Type', type, 'Content-Length', String(bytes.length), ...commonLines, 'X-Request-Id', ''],
  };
}

/** Sends the same as `sendBytes` does with status 200. */
export function sendPrepared(response: ServerResponse, { bytes, headers }: Prepared): void {
  // no log line or problem refers to this id, so it is not kept
  headers[headers.length - 1] = nextRequestId();
  response.writeHead(200, headers);
  end(response, bytes);
}

const problems = new WeakMap<ServerResponse, Problem>();

/** The problem that an answer has as its body, if any. */
export function problemSent(response: ServerResponse): Problem | undefined {
  return problems.get(response);
}

/** Answers `application/problem+json`. `close` ends the connection after it. */
export function sendProblem(
  response: ServerResponse,
  problem: {
    code: ProblemCode;
    detail: string;
    issues?: readonly ProblemIssue[];
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
    problem.issues,
    problem.modbusException,
  );
  problems.set(response, body);
  const extra = { ...problemHeaders(body), ...headers, ...(problem.close === true && { Connection: 'close' }) };
  sendBytes(response, body.status, 'application/problem+json', Buffer.from(JSON.stringify(body)), extra);
}

/** Values that replies share until something changes. */
export interface ReplyCache {
  /**
   * The last value of `build` for this key. It is built again after a tick, after a device was added or removed,
   * after a call of `changed`, and after 100 ms, because states of protocols and alarms change between ticks.
   */
  of<T>(key: string, build: () => T): T;
  /** Call it when a request may have changed what replies show. */
  changed(): void;
}

const maxAgeMs = 100;
/** Maximum number of values: a fleet has as many overviews as devices, and each is long. */
const maxValues = 16;

export function createReplyCache(plant: Plant, clock: WallClock): ReplyCache {
  const values = new Map<string, unknown>();
  let { latest, devices } = plant;
  let madeMs = -Infinity;

  function dropStale(): void {
    const nowMs = clock.monotonicMs();
    if (plant.latest === latest && plant.devices === devices && nowMs - madeMs < maxAgeMs) return;
    values.clear();
    ({ latest, devices } = plant);
    madeMs = nowMs;
  }

  return {
    of<T>(key: string, build: () => T): T {
      dropStale();
      const cached = values.get(key);
      // a key has one builder, so that its values have one type
      if (cached !== undefined) return cached as T;
      const built = build();
      if (values.size < maxValues) values.set(key, built);
      return built;
    },
    changed() {
      madeMs = -Infinity;
    },
  };
}
