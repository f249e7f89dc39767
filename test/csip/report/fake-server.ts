/** A server of IEEE 2030.5 behind the exchange, for tests of reports: it keeps what is sent, and answers as told. */
import { SimError } from '../../../src/core/errors.ts';
import type { SepAnswer, SepExchange, SepRequest } from '../../../src/csip/transport/exchange.ts';
import type { ReceivedDocument } from '../../../src/csip/xml/schema.ts';
import type { Documents, MirrorUsagePoint } from '../../../src/csip/xml/documents.ts';

export const origin = 'https://utility.example';

export class FakeServer implements SepExchange {
  readonly origin = origin;
  readonly negotiated = null;
  readonly requests: SepRequest[] = [];
  /** status by method and resource, in place of the usual one */
  readonly statuses = new Map<string, number>();
  /** there is no answer */
  down = false;
  /** of the mirrors */
  postRate: number | undefined;
  pollRate: number | undefined;
  mirrors = new Map<string, MirrorUsagePoint>();
  #made = 0;

  request(request: SepRequest): Promise<SepAnswer> {
    this.requests.push(request);
    if (this.down) return Promise.reject(new SimError('PEER_ERROR', 'no route'));
    const told = this.statuses.get(`${request.method} ${request.resource}`);
    if (told !== undefined) return Promise.resolve(this.#answer(request, told));
    return Promise.resolve(this.#usual(request));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Values of the bodies of one kind, oldest first. */
  sent<Name extends keyof Documents>(name: Name, deviceIndex?: number): Documents[Name][] {
    return this.requests.flatMap(({ body, deviceIndex: of }) =>
      body?.name === name && (deviceIndex === undefined || deviceIndex === of) ? [body.value as Documents[Name]] : [],
    );
  }

  #answer(
    { href }: SepRequest,
    status: number,
    document: ReceivedDocument | null = null,
    location: string | null = null,
  ): SepAnswer {
    return { status, url: href, location, document, middleMonotonicMs: 0 };
  }

  #usual(request: SepRequest): SepAnswer {
    const { method, href, body } = request;
    if (method === 'POST' && body?.name === 'MirrorUsagePoint') {
      const known = [...this.mirrors].find(([, { mRID }]) => mRID === body.value.mRID)?.[0];
      const location = known ?? `${origin}/mup/${++this.#made}`;
      this.mirrors.set(location, body.value);
      return this.#answer(request, known === undefined ? 201 : 204, null, location);
    }
    if (href.startsWith(`${origin}/mup/`)) {
      const mirror = this.mirrors.get(href);
      if (mirror === undefined) return this.#answer(request, 404);
      if (method === 'POST') return this.#answer(request, 201);
      return this.#answer(request, 200, { name: 'MirrorUsagePoint', value: this.#shown(href, mirror) });
    }
    if (method === 'GET') {
      const page = [...this.mirrors].map(([at, mirror]) => this.#shown(at, mirror));
      return this.#answer(request, 200, {
        name: 'MirrorUsagePointList',
        value: { all: page.length, results: page.length, pollRate: this.pollRate, MirrorUsagePoint: page },
      });
    }
    return this.#answer(request, method === 'POST' ? 201 : 204);
  }

  #shown(href: string, { mRID }: MirrorUsagePoint) {
    // servers in the field show mRIDs in lower case
    return { href, mRID: mRID.toLowerCase(), postRate: this.postRate };
  }
}

/** Lets everything run that waits for an answer. */
export async function settled(): Promise<void> {
  for (let turns = 0; turns < 5; turns++)
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
}
