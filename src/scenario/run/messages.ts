/** Messages of protocols as `GET <protocol>/messages` shows them. */
import { messageProtocols } from '../model.ts';
import type { AnsweredSubject, MessageProtocol, MessageTest } from '../model.ts';
import { matches } from './compare.ts';
import type { ScenarioHost } from './host.ts';

export interface Message extends Readonly<Record<string, unknown>> {
  readonly id: number;
}

interface MessageList {
  readonly messages: readonly Message[];
}

const atOnce = 1000;
const noStation = 'there is no charging station with OCPP, whose messages the scenario compares';

/** The messages of one protocol, or of one station of it, in the order in which they went. */
class Feed {
  readonly #host: ScenarioHost;
  readonly #path: string;
  readonly protocol: MessageProtocol;
  readonly #station: string;
  readonly #takers = new Set<(message: Message) => void>();
  readonly #endListening: () => void;
  #lastId: number;

  constructor(host: ScenarioHost, protocol: MessageProtocol, station: string, wake: () => void) {
    this.#host = host;
    this.protocol = protocol;
    this.#station = station;
    this.#path = protocol === 'ocpp' ? `/ocpp/${encodeURIComponent(station)}/messages` : `/${protocol}/messages`;
    this.#lastId = host.lastMessageId(protocol, station);
    this.#endListening = host.onMessage(protocol, station, wake);
  }

  /** Calls back with each message from now on; the returned function ends it. */
  follow(taker: (message: Message) => void): () => void {
    this.#takers.add(taker);
    return () => {
      this.#takers.delete(taker);
    };
  }

  /** Reads what is new, and tells it. */
  async poll(): Promise<void> {
    while (this.#host.lastMessageId(this.protocol, this.#station) > this.#lastId) {
      const query = { after_id: this.#lastId, limit: atOnce };
      const { status, body } = await this.#host.perform({ method: 'GET', path: this.#path, query });
      const list = status < 400 ? (body as MessageList).messages : [];
      this.#lastId = list.at(-1)?.id ?? this.#host.lastMessageId(this.protocol, this.#station);
      for (const message of list) for (const taker of this.#takers) taker(message);
    }
  }

  end(): void {
    this.#endListening();
  }
}

/** The feeds of one run; it begins to record what a test asks for, and ends what it began. */
export class Feeds {
  readonly #host: ScenarioHost;
  readonly #wake: () => void;
  readonly #feeds = new Map<string, Feed>();
  /** protocols whose recording this run has begun */
  readonly #begun = new Set<MessageProtocol>();

  /** @param wake called when a message has come */
  constructor(host: ScenarioHost, wake: () => void) {
    this.#host = host;
    this.#wake = wake;
  }

  /** Opens the feeds of tests before the run. @returns what cannot be followed, in words */
  async open(tests: readonly MessageTest[]): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const { protocol, station } of tests) {
      const problem = await this.#openOne(protocol, station);
      if (problem !== null) problems.push(problem);
    }
    return [...new Set(problems)];
  }

  /**
   * Begins to record what assertions about answered commands look at.
   * @returns what cannot be recorded of the protocols that they name, in words
   */
  async record(subjects: readonly AnsweredSubject[]): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const { protocol } of subjects) {
      // without a name protocols that are off have no commands
      if (protocol === null) for (const each of messageProtocols) await this.#recordOne(each);
      const problem = protocol === null ? null : await this.#recordOne(protocol);
      if (problem !== null) problems.push(problem);
    }
    return [...new Set(problems)];
  }

  async #recordOne(protocol: MessageProtocol): Promise<string | null> {
    // messages of a charging station are always kept
    if (protocol === 'ocpp') return (await this.#firstStation()) === null ? noStation : null;
    const path = `/${protocol}/messages`;
    const { status, body } = await this.#host.perform({ method: 'GET', path, query: { limit: 1 } });
    if (status >= 400) return (body as { readonly detail: string }).detail;
    return this.#begin(protocol, path, body);
  }

  /** Begins to keep messages unless they are kept. @returns why that is not possible; null: they are kept */
  async #begin(protocol: MessageProtocol, path: string, known: unknown): Promise<string | null> {
    if ((known as { readonly enabled?: boolean }).enabled !== false) return null;
    const { status, body } = await this.#host.perform({ method: 'POST', path, body: { enabled: true } });
    if (status >= 400) return (body as { readonly detail: string }).detail;
    this.#begun.add(protocol);
    return null;
  }

  async #openOne(protocol: MessageProtocol, station: string | null): Promise<string | null> {
    const key = `${protocol} ${station ?? ''}`;
    if (this.#feeds.has(key)) return null;
    const id = station ?? (protocol === 'ocpp' ? await this.#firstStation() : '');
    if (id === null) return noStation;
    const path = protocol === 'ocpp' ? `/ocpp/${encodeURIComponent(id)}/messages` : `/${protocol}/messages`;
    const { status, body } = await this.#host.perform({ method: 'GET', path, query: { limit: 1 } });
    if (status >= 400) return (body as { readonly detail: string }).detail;
    const problem = await this.#begin(protocol, path, body);
    if (problem !== null) return problem;
    this.#feeds.set(key, new Feed(this.#host, protocol, id, this.#wake));
    return null;
  }

  async #firstStation(): Promise<string | null> {
    const { body } = await this.#host.perform({ method: 'GET', path: '/ocpp' });
    return (
      (body as { readonly charge_points?: readonly ({ readonly id: string } | null)[] }).charge_points?.find(
        (each) => each !== null,
      )?.id ?? null
    );
  }

  /** Calls back with each message that meets a test; the returned function ends it. */
  follow(test: MessageTest, taker: (message: Message) => void): () => void {
    const feed = this.#feeds.get(`${test.protocol} ${test.station ?? ''}`);
    return (
      feed?.follow((message) => {
        if (matches(message, test.match)) taker(message);
      }) ?? (() => undefined)
    );
  }

  async poll(): Promise<void> {
    for (const feed of this.#feeds.values()) await feed.poll();
  }

  async end(): Promise<void> {
    for (const feed of this.#feeds.values()) feed.end();
    for (const protocol of this.#begun)
      await this.#host.perform({ method: 'POST', path: `/${protocol}/messages`, body: { enabled: false } });
  }
}
