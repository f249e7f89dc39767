/** Messages of protocols, from `GET <protocol>/messages`. */
import { messageProtocols } from '../model.ts';
import type { AnsweredSubject, MessageProtocol, MessageTest } from '../model.ts';
import { matches } from './compare.ts';
import type { ScenarioHost } from './host.ts';
import type { Journal, Message, MessageEvent, RunEvent } from './journal.ts';

interface MessageList {
  readonly messages: readonly Message[];
}

const maxMessagesPerRead = 1000;
const noStation = 'there is no charging station with OCPP, whose messages the scenario compares';

const feedKey = ({ protocol, station }: Pick<MessageTest, 'protocol' | 'station'>) => `${protocol} ${station ?? ''}`;
const pathOf = (protocol: MessageProtocol, station: string) =>
  protocol === 'ocpp' ? `/ocpp/${encodeURIComponent(station)}/messages` : `/${protocol}/messages`;

/** True if an event is a message that meets a test. */
export function isMessage(test: MessageTest, event: RunEvent): boolean {
  return (
    event.kind === 'message' &&
    event.message !== null &&
    event.message !== undefined &&
    event.feed === feedKey(test) &&
    matches(event.message, test.match)
  );
}

/** Messages of one protocol or station: each enters the journal when it arrives, and its content is read later. */
class Feed {
  readonly #host: ScenarioHost;
  readonly #path: string;
  readonly #endListening: () => void;
  #unread: MessageEvent[] = [];

  /** @param onArrival records the arrival of a message, and returns its event */
  constructor(host: ScenarioHost, protocol: MessageProtocol, station: string, onArrival: (id: number) => MessageEvent) {
    this.#host = host;
    this.#path = pathOf(protocol, station);
    this.#endListening = host.onMessage(protocol, station, (id) => {
      this.#unread.push(onArrival(id));
    });
  }

  /** Reads new messages. @returns number of messages that were lost */
  async read(): Promise<number> {
    let lost = 0;
    while (this.#unread.length > 0) {
      const [oldest] = this.#unread;
      const query = { after_id: (oldest?.id ?? 1) - 1, limit: maxMessagesPerRead };
      const { status, body } = await this.#host.perform({ method: 'GET', path: this.#path, query });
      const byId = new Map(status < 400 ? (body as MessageList).messages.map((message) => [message.id, message]) : []);
      const lastId = Math.max(0, ...byId.keys());
      const unread = this.#unread;
      this.#unread = unread.filter(({ id }) => id > lastId && byId.size > 0);
      for (const event of unread) {
        if (event.id > lastId && byId.size > 0) continue;
        event.message = byId.get(event.id) ?? null;
        if (event.message === null) lost += 1;
      }
    }
    return lost;
  }

  end(): void {
    this.#endListening();
  }
}

/** The feeds of one run. Starts the recordings that its tests need, and ends the recordings that it started. */
export class Feeds {
  readonly #host: ScenarioHost;
  readonly #journal: Journal;
  readonly #wake: () => void;
  readonly #feeds = new Map<string, Feed>();
  /** protocols whose recording this run has started */
  readonly #startedRecordings = new Set<MessageProtocol>();

  /** @param wake called after each message */
  constructor(host: ScenarioHost, journal: Journal, wake: () => void) {
    this.#host = host;
    this.#journal = journal;
    this.#wake = wake;
  }

  /** Opens the feeds of tests before the run. @returns problems in words */
  async open(tests: readonly MessageTest[]): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const { protocol, station } of tests) {
      const problem = await this.#openOne(protocol, station);
      if (problem !== null) problems.push(problem);
    }
    return [...new Set(problems)];
  }

  /**
   * Starts the recordings that assertions about answered commands need.
   * @returns problems with the protocols that they name, in words
   */
  async record(subjects: readonly AnsweredSubject[]): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const { protocol } of subjects) {
      // without a name, disabled protocols do not matter
      if (protocol === null) for (const anyProtocol of messageProtocols) await this.#recordOne(anyProtocol);
      const problem = protocol === null ? null : await this.#recordOne(protocol);
      if (problem !== null) problems.push(problem);
    }
    return [...new Set(problems)];
  }

  async #recordOne(protocol: MessageProtocol): Promise<string | null> {
    // messages of charging stations are always recorded
    if (protocol === 'ocpp') return (await this.#firstStation()) === null ? noStation : null;
    const path = `/${protocol}/messages`;
    const { status, body } = await this.#host.perform({ method: 'GET', path, query: { limit: 1 } });
    if (status >= 400) return (body as { readonly detail: string }).detail;
    return this.#begin(protocol, path, body);
  }

  /** Starts a recording unless it is on. @returns the reason of a refusal; null: the recording is on */
  async #begin(protocol: MessageProtocol, path: string, state: unknown): Promise<string | null> {
    if ((state as { readonly enabled?: boolean }).enabled !== false) return null;
    const { status, body } = await this.#host.perform({ method: 'POST', path, body: { enabled: true } });
    if (status >= 400) return (body as { readonly detail: string }).detail;
    this.#startedRecordings.add(protocol);
    return null;
  }

  async #openOne(protocol: MessageProtocol, station: string | null): Promise<string | null> {
    const feed = feedKey({ protocol, station });
    if (this.#feeds.has(feed)) return null;
    const id = station ?? (protocol === 'ocpp' ? await this.#firstStation() : '');
    if (id === null) return noStation;
    const path = pathOf(protocol, id);
    const { status, body } = await this.#host.perform({ method: 'GET', path, query: { limit: 1 } });
    if (status >= 400) return (body as { readonly detail: string }).detail;
    const problem = await this.#begin(protocol, path, body);
    if (problem !== null) return problem;
    const onArrival = (messageId: number) => {
      const event: MessageEvent = { kind: 'message', feed, id: messageId, message: undefined };
      this.#journal.add(event);
      this.#wake();
      return event;
    };
    this.#feeds.set(feed, new Feed(this.#host, protocol, id, onArrival));
    return null;
  }

  async #firstStation(): Promise<string | null> {
    const { body } = await this.#host.perform({ method: 'GET', path: '/ocpp' });
    return (
      (body as { readonly charge_points?: readonly ({ readonly id: string } | null)[] }).charge_points?.find(
        (station) => station !== null,
      )?.id ?? null
    );
  }

  /** Reads new messages. @returns number of messages that were lost */
  async read(): Promise<number> {
    let lost = 0;
    for (const feed of this.#feeds.values()) lost += await feed.read();
    return lost;
  }

  async end(): Promise<void> {
    for (const feed of this.#feeds.values()) feed.end();
    // another client may have switched the recording on meanwhile
    for (const protocol of this.#startedRecordings)
      if (this.#host.hasSwitchedMessages(protocol))
        await this.#host.perform({ method: 'POST', path: `/${protocol}/messages`, body: { enabled: false } });
  }
}
