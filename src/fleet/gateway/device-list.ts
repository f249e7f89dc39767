/** The list of the devices of all shards: entries go from the answers of shards to that of the gateway unread. */
import { HttpProblem, describeError } from '../../api/http/errors.ts';
import type { ForwardedReply, ShardPlace } from './forward.ts';
import { missingOf } from './lists.ts';
import type { MissingShard } from '../../api/fleet/members.ts';

/** An answer that is sent while it is made. */
export interface StreamedList {
  readonly type: string;
  readonly pieces: AsyncIterable<Buffer>;
}

/** Sends a request for devices to a shard. @throws HttpProblem */
export type AskDevices = (shard: ShardPlace, query: URLSearchParams) => Promise<ForwardedReply>;

/** Entries of a page of a shard, and its other members. */
interface Page {
  readonly entries: Buffer;
  readonly count: number;
  readonly next_after: number | null;
  readonly total: number;
}

interface DeviceListQuery {
  readonly limit?: number;
  readonly after?: number;
  readonly filters: Readonly<Record<string, string>>;
}

/** Entries that a gateway asks a shard for at once. */
const pageOfShard = 1000;
const opening = Buffer.from('{"devices":[');
const comma = Buffer.from(',');
const type = 'application/json';

/** The refusal of a shard: the request is wrong for all of them. */
class Refused extends Error {
  readonly reply: ForwardedReply;

  constructor(reply: ForwardedReply) {
    super('a shard has refused the request');
    this.reply = reply;
  }
}

/** @throws HttpProblem `upstream-error` */
function readPage({ bytes }: ForwardedReply): Page {
  const end = bytes.lastIndexOf(']');
  if (!bytes.subarray(0, opening.length).equals(opening) || end < opening.length)
    throw new HttpProblem('upstream-error', 'A shard has answered with a list that cannot be read.');
  const rest = JSON.parse(`{${bytes.toString('utf8', end + 2)}`) as Omit<Page, 'entries'>;
  return { ...rest, entries: bytes.subarray(opening.length, end) };
}

/** The parameters of a request for devices. */
export function deviceListQuery(query: Readonly<Record<string, unknown>>): DeviceListQuery {
  const { limit, after } = query;
  const filters = ['name', 'kind', 'alarm'].flatMap((name) =>
    name in query ? [[name, String(query[name])] as const] : [],
  );
  return {
    ...(limit !== undefined && { limit: Number(limit) }),
    ...(after !== undefined && { after: Number(after) }),
    filters: Object.fromEntries(filters),
  };
}

export class DeviceList {
  readonly #shards: readonly ShardPlace[];
  readonly #query: DeviceListQuery;
  readonly #ask: AskDevices;
  readonly #missing: MissingShard[] = [];
  #error: Error | null = null;

  /** @param shards those whose devices are wanted, in the order of their devices */
  constructor(shards: readonly ShardPlace[], query: DeviceListQuery, ask: AskDevices) {
    this.#shards = shards;
    this.#query = query;
    this.#ask = ask;
  }

  /** @throws HttpProblem no shard has answered */
  async answer(): Promise<ForwardedReply | StreamedList> {
    try {
      return await (this.#query.limit === undefined ? this.#whole() : this.#page(this.#query.limit));
    } catch (error) {
      if (error instanceof Refused) return error.reply;
      throw error;
    }
  }

  /** Shards that may have devices behind `after`. */
  get #following(): readonly ShardPlace[] {
    const { after = -1 } = this.#query;
    return this.#shards.filter(({ first, room }) => first + room - 1 > after);
  }

  /** @returns null: the shard does not answer, and is missing. @throws Refused */
  async #pageOf(shard: ShardPlace, limit: number, after: number | undefined): Promise<Page | null> {
    const query = new URLSearchParams({ ...this.#query.filters, limit: String(limit) });
    if (after !== undefined) query.set('after', String(after));
    try {
      const reply = await this.#ask(shard, query);
      if (reply.status === 200) return readPage(reply);
      if (reply.status < 500) throw new Refused(reply);
      this.#lack(shard, new HttpProblem('upstream-error', `The shard "${shard.name}" has failed.`));
    } catch (error) {
      if (error instanceof Refused || !(error instanceof Error)) throw error;
      this.#lack(shard, error);
    }
    return null;
  }

  #lack(shard: ShardPlace, error: Error): void {
    this.#error ??= error;
    const { code } = describeError(error);
    if (!this.#missing.some(({ shard: name }) => name === shard.name)) this.#missing.push(missingOf(shard, code));
  }

  /** @throws HttpProblem the refusal of the first shard, where none has answered */
  #checkAnswered(pages: number): void {
    if (pages === 0 && this.#error !== null) throw this.#error;
  }

  async #whole(): Promise<StreamedList> {
    const entries = this.#entries();
    // the status of the answer depends on the first page
    const first = await entries.next();
    if (first.done === true) this.#checkAnswered(0);
    return { type, pieces: this.#framed(first, entries) };
  }

  async *#framed(first: IteratorResult<Buffer, void>, others: AsyncGenerator<Buffer, void>): AsyncGenerator<Buffer> {
    yield opening;
    if (first.done !== true) {
      yield first.value;
      for await (const entries of others) {
        yield comma;
        yield entries;
      }
    }
    yield Buffer.from(`],"missing":${JSON.stringify(this.#missing)}}`);
  }

  /** Entries of the list, of one shard after the other. @throws Refused with the first page only */
  async *#entries(): AsyncGenerator<Buffer, void> {
    for (const shard of this.#following) {
      let { after } = this.#query;
      for (;;) {
        const page = await this.#pageOf(shard, pageOfShard, after);
        if (page !== null && page.count > 0) yield page.entries;
        if (page === null || page.next_after === null) break;
        after = page.next_after;
      }
    }
  }

  async #page(limit: number): Promise<ForwardedReply> {
    const { after } = this.#query;
    const pages: Page[] = [];
    let left = limit;
    let next: number | null = null;
    const behind: ShardPlace[] = [];
    for (const shard of this.#following) {
      if (left === 0) {
        behind.push(shard);
        continue;
      }
      const page = await this.#pageOf(shard, left, after);
      if (page === null) continue;
      pages.push(page);
      left -= page.count;
      next = page.next_after ?? shard.first + shard.room - 1;
    }
    const before = this.#shards.filter((shard) => !this.#following.includes(shard));
    const [totalBefore, totalBehind] = await Promise.all([this.#totals(before), this.#totals(behind)]);
    this.#checkAnswered(pages.length);
    const isEnd = left > 0 || (totalBehind === 0 && (pages.at(-1)?.next_after ?? null) === null);
    const rest = {
      count: limit - left,
      next_after: isEnd ? null : next,
      total: pages.reduce((sum, { total }) => sum + total, 0) + totalBefore + totalBehind,
      missing: this.#missing,
    };
    const entries = pages.filter(({ count }) => count > 0).flatMap((page) => [comma, page.entries]);
    const bytes = [opening, ...entries.slice(1), Buffer.from(`],${JSON.stringify(rest).slice(1)}`)];
    return { status: 200, type, headers: {}, bytes: Buffer.concat(bytes) };
  }

  /** Devices of shards that the page has none of. */
  async #totals(shards: readonly ShardPlace[]): Promise<number> {
    const totals = await Promise.all(
      shards.map(async (shard) => {
        if (Object.keys(this.#query.filters).length === 0 && !shard.isLost) return shard.count;
        return (await this.#pageOf(shard, 1, undefined))?.total ?? 0;
      }),
    );
    return totals.reduce((sum, total) => sum + total, 0);
  }
}
