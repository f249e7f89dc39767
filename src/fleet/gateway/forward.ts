/** Requests that a gateway passes on to a shard, without reading what it only passes on. */
import type { Origin } from '../../core/origin.ts';
import { HttpProblem } from '../../api/http/errors.ts';
import { epochHeader } from '../fence.ts';
import { FleetError } from '../link.ts';
import type { FleetFault, FleetLink } from '../link.ts';
import { requestHeaders, statusHeader, typeHeader } from '../operation.ts';
import { RequestCounts } from './request-counts.ts';

/** Requests that wait for their answers: of one shard, and of all. */
const maxOpenOfShard = 256;
const maxOpen = 2048;
/** Time limit of an answer, ms. */
const answerLimitMs = 30_000;

export interface ForwardedRequest {
  readonly method: string;
  /** path and query with the prefix, as the client sent them */
  readonly path: string;
  /** as received */
  readonly body: Uint8Array;
  readonly by: Origin;
  readonly id: string;
  /** true: private keys may travel between the client and the shard; default: false */
  readonly isPrivate?: boolean;
}

export interface ForwardedReply {
  readonly status: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

/** A shard as requests find it. */
export interface ShardPlace {
  readonly name: string;
  /** index of its first device */
  readonly first: number;
  /** indexes reserved for it */
  readonly room: number;
  /** devices that it had when it was seen last */
  readonly count: number;
  /** of the process that has its name */
  readonly epoch: number;
  readonly isLost: boolean;
  /** in words, for people: when it was seen last */
  readonly lastSeen: string;
}

const offline = () =>
  new HttpProblem('fleet-offline', 'The gateway has no connection to the server of the fleet. Ask again in a moment.');

/** The refusal of requests for a shard that does not answer. */
export function lostShard({ name, first, room, lastSeen }: ShardPlace): HttpProblem {
  return new HttpProblem(
    'shard-lost',
    `The shard "${name}" with the devices ${first}..${first + room - 1} does not answer; ${lastSeen}.`,
  );
}

function refusalOf(code: FleetFault, shard: ShardPlace, reason: string): HttpProblem {
  switch (code) {
    case 'offline':
      return offline();
    case 'no-responder':
      return lostShard(shard);
    case 'timeout':
      return new HttpProblem('upstream-timeout', `The shard "${shard.name}" did not answer in time.`);
    case 'too-large':
      return new HttpProblem(
        'too-large',
        `The request to the shard "${shard.name}", or its answer, is too long: ${reason}`,
      );
    case 'refused':
    case 'denied':
    case 'conflict':
      return new HttpProblem('upstream-error', `The shard "${shard.name}" could not answer: ${reason}`);
  }
}

/** True for headers of NATS, and those that the answer of HTTP does not have. */
export const isInternal = (name: string) => /^(derbench|nats)-/i.test(name);

function statusOf(text: string | undefined): number | null {
  const status = Number(text);
  return Number.isInteger(status) && status >= 200 && status <= 599 ? status : null;
}

export class Forwarder {
  readonly #link: Pick<FleetLink, 'state' | 'request'>;
  readonly #prefix: string;
  readonly #onNoResponder: (shard: string) => void;
  /** requests that wait for their answers, by shard */
  readonly #waiting = new Map<string, number>();
  #open = 0;
  /** aborted when the shard is lost, by the name of a shard with open requests */
  readonly #lost = new Map<string, AbortController>();
  readonly #counts: RequestCounts;

  /**
   * @param prefix first token of the subjects of the fleet
   * @param onNoResponder called with the name of a shard at whose subject nobody was
   */
  constructor(
    link: Pick<FleetLink, 'state' | 'request'>,
    prefix: string,
    onNoResponder: (shard: string) => void = () => undefined,
    counts: RequestCounts = new RequestCounts(() => 0),
  ) {
    this.#link = link;
    this.#prefix = prefix;
    this.#onNoResponder = onNoResponder;
    this.#counts = counts;
  }

  /**
   * @throws HttpProblem `fleet-offline`, `shard-lost`, `too-many-requests`, `upstream-timeout`, `upstream-error`,
   * `too-large`
   */
  forward(shard: ShardPlace, request: ForwardedRequest): Promise<ForwardedReply> {
    return this.#counts.counted(shard.name, () => this.#forward(shard, request));
  }

  /** Ends the open requests to a shard that is lost: nobody will answer them. */
  lose(shard: string): void {
    this.#lost.get(shard)?.abort(new FleetError('no-responder', 'the shard is lost'));
    this.#lost.delete(shard);
  }

  #lossOf(shard: string): AbortSignal {
    const controller = this.#lost.get(shard) ?? new AbortController();
    this.#lost.set(shard, controller);
    return controller.signal;
  }

  async #forward(shard: ShardPlace, request: ForwardedRequest): Promise<ForwardedReply> {
    // while disconnected a request would only end by its time limit
    if (this.#link.state !== 'connected') throw offline();
    if (shard.isLost) throw lostShard(shard);
    const { name } = shard;
    const ofShard = this.#waiting.get(name) ?? 0;
    if (ofShard >= maxOpenOfShard || this.#open >= maxOpen)
      throw new HttpProblem('too-many-requests', `Too many requests wait for their answers from the shard "${name}".`);
    this.#waiting.set(name, ofShard + 1);
    this.#open += 1;
    try {
      return await this.#send(shard, request);
    } finally {
      this.#waiting.set(name, (this.#waiting.get(name) ?? 1) - 1);
      this.#open -= 1;
    }
  }

  async #send(shard: ShardPlace, request: ForwardedRequest): Promise<ForwardedReply> {
    const { method, path, body, by, id, isPrivate = false } = request;
    const signal = this.#lossOf(shard.name);
    const headers = {
      [requestHeaders.method]: method,
      [requestHeaders.path]: path,
      [requestHeaders.by]: by.peer === undefined ? by.source : `${by.source};${by.peer}`,
      [requestHeaders.id]: id,
      [epochHeader]: String(shard.epoch),
      ...(isPrivate && { [requestHeaders.private]: '1' }),
    };
    try {
      const subject = `${this.#prefix}.op.${shard.name}`;
      const answer = await this.#link.request(subject, { headers, body }, answerLimitMs, { signal });
      const status = statusOf(answer.headers[statusHeader]);
      if (status === null) throw new FleetError('refused', 'its answer has no status');
      const type = answer.headers[typeHeader] ?? 'application/octet-stream';
      const others = Object.entries(answer.headers).filter(([name]) => name !== typeHeader && !isInternal(name));
      return { status, type, headers: Object.fromEntries(others), bytes: Buffer.from(answer.body) };
    } catch (error) {
      if (!(error instanceof FleetError)) throw error;
      if (error.code === 'no-responder' && !signal.aborted) this.#onNoResponder(shard.name);
      throw refusalOf(error.code, shard, error.message);
    }
  }
}
