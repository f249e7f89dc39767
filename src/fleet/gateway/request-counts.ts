/** Requests that a gateway passed on: by shard and class of status, and the times of their answers. */
import { problemTable } from '../../core/http/problem.ts';
import { describeError } from '../../api/http/errors.ts';

/** Upper bounds of the times, s. */
export const requestBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

export interface RequestTimes {
  /** answers within each of the bounds, those of the lower ones included */
  readonly within: readonly number[];
  readonly count: number;
  readonly sumS: number;
}

export class RequestCounts {
  readonly #nowMs: () => number;
  readonly #byShard = new Map<string, Map<string, number>>();
  readonly #inBound = requestBounds.map(() => 0);
  #count = 0;
  #sumS = 0;

  /** @param nowMs monotonic */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Counts a request by its answer, or by the refusal that it ends with. */
  async counted<T extends { readonly status: number }>(shard: string, send: () => Promise<T>): Promise<T> {
    const beganMs = this.#nowMs();
    try {
      const reply = await send();
      this.#add(shard, reply.status, beganMs);
      return reply;
    } catch (error) {
      this.#add(shard, problemTable[describeError(error).code].status, beganMs);
      throw error;
    }
  }

  /** Requests of a shard by class of status, as `2xx`. */
  of(shard: string): Iterable<readonly [statusClass: string, times: number]> {
    return this.#byShard.get(shard) ?? [];
  }

  /** Times of all answers, refusals included. */
  get times(): RequestTimes {
    let sum = 0;
    return { within: this.#inBound.map((each) => (sum += each)), count: this.#count, sumS: this.#sumS };
  }

  /** Ends the counts of shards that are no longer there, so that renamed ones do not fill the memory. */
  keep(shards: ReadonlySet<string>): void {
    for (const shard of this.#byShard.keys()) if (!shards.has(shard)) this.#byShard.delete(shard);
  }

  #add(shard: string, status: number, beganMs: number): void {
    const seconds = (this.#nowMs() - beganMs) / 1000;
    const classes = this.#byShard.get(shard) ?? new Map<string, number>();
    this.#byShard.set(shard, classes);
    const statusClass = `${Math.floor(status / 100)}xx`;
    classes.set(statusClass, (classes.get(statusClass) ?? 0) + 1);
    const bound = requestBounds.findIndex((each) => seconds <= each);
    if (bound >= 0) this.#inBound[bound] = (this.#inBound[bound] ?? 0) + 1;
    this.#count += 1;
    this.#sumS += seconds;
  }
}
