/** Lines about requests: writes at `info`, refusals at `debug`, shortages at `warning`, failures at `error`. */
import { stringify } from 'node:querystring';
import type { NextFunction, Request, Response } from 'express';
import { SimError } from '../../core/errors.ts';
import { originText } from '../../core/origin.ts';
import type { Origin } from '../../core/origin.ts';
import type { Problem } from '../../core/http/problem.ts';
import { LimitedLog } from '../../core/log/limited-log.ts';
import type { Logger } from '../../core/log/log.ts';
import { peerOf } from '../../core/net/listen.ts';
import type { WallClock } from '../../core/time/clock.ts';
import { problemSent } from './reply.ts';

/** The same length as for `instance` in a problem body. */
const maxLoggedUrlLength = 1024;
/** Characters of a body in a line. */
const maxBodyLength = 400;

export interface LoggedRequest {
  readonly id: string;
  readonly method: string;
  readonly url: string;
}

/** An operation, as lines show it. */
interface LoggedRoute {
  readonly method: string;
  readonly path: string;
  readonly routine?: true;
  readonly secretMembers?: readonly string[];
}

/** The input of an operation, as lines show it. */
interface LoggedInput {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly by: Origin;
}

export class RequestLog {
  readonly #prefix: string;
  readonly #log: Logger;
  readonly #writes: LimitedLog;
  readonly #failures: LimitedLog;

  /** @param prefix of all paths */
  constructor(prefix: string, log: Logger, clock: WallClock) {
    this.#prefix = prefix;
    this.#log = log;
    this.#writes = new LimitedLog(log, clock, 'requests that write');
    this.#failures = new LimitedLog(log, clock, 'failed requests');
  }

  /** Logs a write that was carried out: at `debug` if it is routine (`Route.routine`), else at `info`. */
  logWrite(route: LoggedRoute, { params, query, body, by }: LoggedInput): void {
    const line = () =>
      `${originText(by)}: ${route.method.toUpperCase()} ` +
      `${this.#prefix}${targetOf(route, params, query)}${bodyInWords(body, route.secretMembers)}`;
    if (route.routine !== true) this.#writes.info(line, deviceOf(query, params));
    else if (this.#log.keepsDebug === true) this.#log.debug(line(), deviceOf(query, params));
  }

  /** Logs a request that was answered with a problem. */
  logRefusal({ method, url }: Omit<LoggedRequest, 'id'>, problem: Problem, by: Origin): void {
    if (this.#log.keepsDebug !== true) return;
    const { status, code, detail, request_id: id } = problem;
    this.#log.debug(
      `${originText(by)}: ${method} ${shortened(url)} answered with ${status} ${code}: ${detail} (request ${id})`,
      deviceInUrl(url),
    );
  }

  /**
   * Logs a failure of the simulator. `GET logs` serves these lines. Stack traces, and messages of errors other than
   * `SimError`, may quote paths of this machine: they are only printed.
   */
  logFailure({ id, method, url }: LoggedRequest, error: unknown): void {
    const isError = error instanceof Error;
    const reason = error instanceof SimError ? error.message : isError ? error.name : typeof error;
    const stack = isError ? (error.stack ?? error.message) : String(error);
    this.#failures.error(`request ${id} ${method} ${shortened(url)} failed: ${reason}`, undefined, stack);
  }

  /** Logs a request that was refused for lack of resources. */
  logShortage(detail: string): void {
    this.#failures.warning(`a request was refused: ${detail}`);
  }

  /** Middleware that reports refusals over HTTP, wherever they happen. */
  middleware() {
    return (request: Request, response: Response, next: NextFunction): void => {
      if (this.#log.keepsDebug === true) {
        const by = { source: 'rest', peer: peerOf(request.socket) } as const;
        response.once('finish', () => {
          const problem = problemSent(response);
          if (problem !== undefined) this.logRefusal({ method: request.method, url: request.originalUrl }, problem, by);
        });
      }
      next();
    };
  }

  /** Writes the counts of lines left out so far. */
  flush(): void {
    this.#writes.flush();
    this.#failures.flush();
  }
}

const shortened = (url: string) => url.slice(0, maxLoggedUrlLength);

/** Path and query of a request that was routed. */
function targetOf({ path }: LoggedRoute, params: unknown, query: unknown): string {
  const values = (params ?? {}) as Readonly<Record<string, unknown>>;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
  const search = stringify((query ?? {}) as Record<string, string>);
  return filled + (search === '' ? '' : `?${search}`);
}

/** @param secret names of members whose values are left out, at any depth */
function bodyInWords(body: unknown, secret: readonly string[] = []): string {
  if (body === undefined) return '';
  const text = JSON.stringify(body, (name, value: unknown) => (secret.includes(name) ? '…' : value));
  if (text === '{}') return '';
  return ` ${text.length > maxBodyLength ? `${text.slice(0, maxBodyLength)}…` : text}`;
}

/** The device that the parameter `device` names, or else `index` of a path. */
function deviceOf(query: unknown, params: unknown): number | undefined {
  const { device } = (query ?? {}) as { readonly device?: unknown };
  const { index } = (params ?? {}) as { readonly index?: unknown };
  return deviceIndex(device ?? index);
}

/** Like `deviceOf`, for a request that may not have been routed. */
function deviceInUrl(url: string): number | undefined {
  const [path = '', search] = url.split('?', 2);
  return deviceIndex(new URLSearchParams(search).get('device') ?? /\/devices\/(\d+)(?:\/|$)/.exec(path)?.[1]);
}

/** Bounded, since the text of a refused request is not checked. */
const deviceIndex = (text: unknown): number | undefined =>
  typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
