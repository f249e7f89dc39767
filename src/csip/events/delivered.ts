/**
 * Responses of an EndDevice that its server already has (IEEE 2030.5-2018 10.2.4: a ResponseList can be read). A client
 * that ended between a POST and the answer to it learns there whether the response arrived.
 */
import { SimError } from '../../core/errors.ts';
import type { SepExchange } from '../transport/exchange.ts';
import { Reader } from '../walk/reader.ts';
import type { OwedResponse } from './model.ts';

/** A list may have the responses of many EndDevices. What lies beyond these bounds counts as not delivered. */
const bounds = { pageSize: 255, maxPages: 20, maxItems: 5_000, maxRestarts: 1 } as const;

interface DeliveredOptions {
  readonly exchange: SepExchange;
  readonly lfdi: string;
  readonly deviceIndex: number | null;
}

type Identity = Pick<OwedResponse, 'mrid' | 'status' | 'createdS'>;

/** The client makes one response at a time about one step of an event. */
const keyOf = ({ mrid, status, createdS }: Identity): string =>
  `${mrid.toUpperCase()} ${status} ${Math.floor(createdS)}`;

export class DeliveredResponses {
  readonly #options: DeliveredOptions;
  /** by address; each list is read once, since later responses have answers */
  readonly #listed = new Map<string, ReadonlySet<string>>();

  constructor(options: DeliveredOptions) {
    this.#options = options;
  }

  /** False also where the server does not let its list be read. @throws SimError PEER_ERROR without an answer */
  async has(response: Identity & Pick<OwedResponse, 'replyTo'>): Promise<boolean> {
    const { replyTo } = response;
    const listed = this.#listed.get(replyTo) ?? (await this.#read(replyTo));
    this.#listed.set(replyTo, listed);
    return listed.has(keyOf(response));
  }

  async #read(replyTo: string): Promise<ReadonlySet<string>> {
    const { exchange, lfdi, deviceIndex } = this.#options;
    const read = await new Reader(exchange, bounds).list('ResponseList', { href: replyTo }, deviceIndex);
    if (read.kind !== 'found') {
      if (read.status === null && read.kind === 'failed') throw new SimError('PEER_ERROR', read.reason);
      return new Set();
    }
    return new Set(
      read.value.items.flatMap(({ endDeviceLFDI, subject, status, createdDateTime }) =>
        endDeviceLFDI?.toUpperCase() !== lfdi || subject === undefined || createdDateTime === undefined
          ? []
          : [`${subject.toUpperCase()} ${status} ${createdDateTime}`],
      ),
    );
  }
}
