import type { NextFunction, Request, Response } from 'express';

export interface AnswerCount {
  readonly method: string;
  /** template of the path, or `other` */
  readonly route: string;
  /** `2xx` */
  readonly statusClass: string;
  times: number;
}

/** Whatever has no path of its own: unknown paths, assets, requests that are refused before their path counts. */
const otherRoute = 'other';

/** How often each operation was answered with each class of status. Paths are templates, so that nobody can make it grow. */
export class AnswerCounts {
  readonly #counts = new Map<string, AnswerCount>();

  /** @param route template with the prefix, for example `/api/sim/overview` */
  count(method: string, route: string, status: number): void {
    this.of(method, route, status).times += 1;
  }

  /** The entry itself, for who counts it often. */
  of(method: string, route: string, status: number): AnswerCount {
    const statusClass = `${Math.floor(status / 100)}xx`;
    const key = `${method} ${statusClass} ${route}`;
    const count = this.#counts.get(key) ?? { method, route, statusClass, times: 0 };
    this.#counts.set(key, count);
    return count;
  }

  list(): readonly AnswerCount[] {
    return [...this.#counts.values()];
  }
}

const isKnown = new Set(['GET', 'HEAD', 'POST', 'OPTIONS']);

/** Counts the answers of an Express application; to be used before all else. */
export function countAnswers(counts: AnswerCounts) {
  return (request: Request, response: Response, next: NextFunction): void => {
    response.once('finish', () => {
      const { path } = (request.route ?? {}) as { path?: unknown };
      const route = typeof path === 'string' ? path.replaceAll(/:(\w+)/g, '{$1}') : otherRoute;
      counts.count(isKnown.has(request.method) ? request.method : otherRoute, route, response.statusCode);
    });
    next();
  };
}
