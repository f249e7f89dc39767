/** Requests of REST that a gateway passes on to a shard. */
import type { PerformBytes, PerformedBytes } from '../../contract/perform-bytes.ts';
import { createProblem } from '../../core/http/problem.ts';
import { sources } from '../../core/origin.ts';
import type { Origin, Source } from '../../core/origin.ts';
import { FleetError } from '../link.ts';
import type { FleetMessage } from '../link.ts';
import { requestHeaders, statusHeader, tickMethod, typeHeader } from '../operation.ts';

const maxOpen = 256;
/** Greatest answer, bytes: 64 parts of 512 KiB. */
const maxAnswerBytes = 32 * 1024 * 1024;
const methods: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const maxPeerLength = 100;

const isSource = (text: string): text is Source => (sources as readonly string[]).includes(text);

/** @throws FleetError `refused` */
function originOf(text: string): Origin {
  const cut = text.indexOf(';');
  const source = cut < 0 ? text : text.slice(0, cut);
  if (!isSource(source)) throw new FleetError('refused', `${requestHeaders.by} has no known source`);
  return cut < 0 ? { source } : { source, peer: text.slice(cut + 1, cut + 1 + maxPeerLength) };
}

function needed({ headers }: FleetMessage, name: string): string {
  const value = headers[name];
  if (value === undefined || value === '') throw new FleetError('refused', `the request has no ${name}`);
  return value;
}

function messageOf({ status, type, headers, bytes }: PerformedBytes): FleetMessage {
  return { headers: { ...headers, [statusHeader]: String(status), [typeHeader]: type }, body: bytes };
}

function tooMany(path: string, id: string): FleetMessage {
  const detail = `More than ${maxOpen} requests of the fleet wait for their answers in this shard.`;
  const problem = createProblem('too-many-requests', detail, { instance: path, id });
  const bytes = Buffer.from(`${JSON.stringify(problem)}\n`);
  return messageOf({ status: problem.status, type: 'application/problem+json', headers: {}, bytes });
}

export class ShardRequests {
  readonly #perform: PerformBytes;
  readonly #repeatTick: () => void;
  #open = 0;
  served = 0;
  /** refused before they reached an operation */
  refused = 0;

  constructor(perform: PerformBytes, repeatTick: () => void) {
    this.#perform = perform;
    this.#repeatTick = repeatTick;
  }

  /** @throws FleetError `refused` for headers that no gateway sends */
  async answer(request: FleetMessage): Promise<FleetMessage> {
    try {
      return await this.#answer(request);
    } catch (error) {
      this.refused += 1;
      throw error;
    }
  }

  async #answer(request: FleetMessage): Promise<FleetMessage> {
    const method = needed(request, requestHeaders.method);
    if (method === tickMethod) {
      this.#repeatTick();
      return { headers: { [statusHeader]: '204' }, body: new Uint8Array(0) };
    }
    const path = needed(request, requestHeaders.path);
    const by = originOf(needed(request, requestHeaders.by));
    if (!methods.includes(method)) throw new FleetError('refused', `${requestHeaders.method} is not known`);
    if (this.#open >= maxOpen) {
      this.refused += 1;
      return tooMany(path, request.headers[requestHeaders.id] ?? '');
    }
    this.#open += 1;
    try {
      const isPrivate = request.headers[requestHeaders.private] !== undefined;
      const body = request.body.length === 0 ? {} : { body: request.body };
      const answer = await this.#perform({ method, path, by, isPrivate, maxBytes: maxAnswerBytes, ...body });
      this.served += 1;
      return messageOf(answer);
    } finally {
      this.#open -= 1;
    }
  }
}
