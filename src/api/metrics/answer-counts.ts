import type { NextFunction, Request, Response } from 'express';

export interface AnswerCount {
  readonly method: string;
  /** template of the path, or `other` */
  readonly route: string;
  /** `2xx` */
  readonly statusClass: string;
  times: number;
}

/** Label of everything else: unknown paths, assets, requests refused before routing. */
const otherRoute = 'other';

/** Counts answers by operation and class of status. Paths are templates, so that clients cannot make the table grow. */
export class AnswerCounts {
  readonly #counts = new Map<string, AnswerCount>();

  /** @param route template with the prefix, for example `/api/sim/overview` */
  count(method: string, route: string, status: number): void {
    this.of(method, route, status).times += 1;
  }

  /** The counter itself, for frequent use. */
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

const labelledMethods = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS']);

/** Middleware that counts the answers of an Express application; must be the first. */
export function countAnswers(counts: AnswerCounts) {
  return (request: Request, response: Response, next: NextFunction): void => {
    response.once('finish', () => {
      const { path } = (request.route ?? {}) as { path?: unknown };
      const route = typeof path === 'string' ? path.replaceAll(/:(\w+)/g, '{$1}') : otherRoute;
      counts.count(labelledMethods.has(request.method) ? request.method : otherRoute, route, response.statusCode);
    });
    next();
  };
}
