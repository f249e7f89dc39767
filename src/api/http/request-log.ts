/** Lines about requests: writes at `info`, refusals at `debug`, shortages at `warning`, failures at `error`. */
import { stringify } from 'node:querystring';
import type { NextFunction, Request, Response } from 'express';
import { SimError } from '../../core/errors.ts';
import { originText } from '../../core/origin.ts';
import type { Origin } from '../../core/origin.ts';
import type { Problem } from '../../core/http/problem.ts';
import { LimitedLog } from '../../core/log/limited-log.ts';
import type { Logger } from '../../core/log/log.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { TimelineSink } from '../../core/timeline/timeline.ts';
import { deviceIndexOf, deviceOf, refusalHappening, requestHappening } from '../timeline/requests.ts';
import type { ToldInput, ToldRoute } from '../timeline/requests.ts';
import { originOf } from './origin.ts';
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
interface LoggedRoute extends ToldRoute {
  readonly routine?: true;
}

/** Index of the device that a charge point identity names; undefined: there is none. */
type StationIndex = (id: string) => number | undefined;

export class RequestLog {
  readonly #prefix: string;
  readonly #log: Logger;
  readonly #writes: LimitedLog;
  readonly #failures: LimitedLog;
  readonly #timeline: TimelineSink;
  readonly #stationIndex: StationIndex;

  /** @param prefix of all paths */
  constructor(prefix: string, log: Logger, clock: WallClock, timeline: TimelineSink, stationIndex: StationIndex) {
    this.#prefix = prefix;
    this.#log = log;
    this.#timeline = timeline;
    this.#stationIndex = stationIndex;
    this.#writes = new LimitedLog(log, clock, 'requests that write');
    this.#failures = new LimitedLog(log, clock, 'failed requests');
  }

  /** Logs a write that was carried out: at `debug` if it is routine (`Route.routine`), else at `info`. */
  logWrite(route: LoggedRoute, input: ToldInput): void {
    const { params, query, body, by } = input;
    const line = () =>
      `${originText(by)}: ${route.method.toUpperCase()} ` +
      `${this.#prefix}${targetOf(route, params, query)}${bodyInWords(body, route.secretMembers)}`;
    const deviceIndex = deviceOf(query, params) ?? this.#stationIn(targetOf(route, params, undefined));
    if (route.routine !== true) this.#writes.info(line, deviceIndex);
    else if (this.#log.keepsDebug === true) this.#log.debug(line(), deviceIndex);
    const happening = route.routine === true ? null : requestHappening(route, input, deviceIndex);
    if (happening !== null) this.#timeline.add(happening);
  }

  /** Logs a request that was answered with a problem. */
  logRefusal({ method, url }: Omit<LoggedRequest, 'id'>, problem: Problem, by: Origin): void {
    if (isChange(method)) this.#tellRefusal(method, url, problem, by);
    if (this.#log.keepsDebug !== true) return;
    const { status, code, detail, request_id: id } = problem;
    this.#log.debug(
      `${originText(by)}: ${method} ${shortened(url)} answered with ${status} ${code}: ${detail} (request ${id})`,
      this.#deviceInUrl(url),
    );
  }

  /** Like `deviceOf`, for a request that may not have been routed. */
  #deviceInUrl(url: string): number | undefined {
    const [path = '', search] = url.split('?', 2);
    const text = new URLSearchParams(search).get('device') ?? /\/devices\/(\d+)(?:\/|$)/.exec(path)?.[1];
    return deviceIndexOf(text) ?? this.#stationIn(path);
  }

  /** The device of a charge point that a path names. */
  #stationIn(path: string): number | undefined {
    const [, id] = /\/(?:evse|ocpp)\/([^/]+)\//.exec(path) ?? [];
    return id === undefined ? undefined : this.#stationIndex(decoded(id));
  }

  #tellRefusal(method: string, url: string, problem: Problem, by: Origin): void {
    const [path = ''] = url.split('?', 1);
    const deviceIndex = this.#deviceInUrl(url);
    this.#timeline.add(refusalHappening({ method, path, deviceIndex }, problem, by));
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
      if (this.#log.keepsDebug === true || isChange(request.method)) {
        const by = originOf(request);
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

/** True for methods that may change something. */
const isChange = (method: string) => method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';

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

/** A part of a path without its escapes, or as it is where they are none. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
