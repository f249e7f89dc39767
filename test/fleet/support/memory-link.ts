/** A server of a fleet in memory, and its connections, for tests without NATS. */
import { FleetError } from '../../../src/fleet/link.ts';
import type {
  BucketEntry,
  FleetAnswer,
  FleetBucket,
  FleetLink,
  FleetMessage,
  LinkState,
  RequestOptions,
  ServedAnswer,
  Stop,
} from '../../../src/fleet/link.ts';

type Answer = ServedAnswer;
type BucketListener = Parameters<FleetBucket['watch']>[1];

/** True if a subject fits a pattern of NATS: `*` is one token, `>` all that follow. */
export function fits(pattern: string, subject: string): boolean {
  const tokens = subject.split('.');
  const wanted = pattern.split('.');
  const rest = wanted.indexOf('>');
  if (rest >= 0 ? tokens.length <= rest : tokens.length !== wanted.length) return false;
  return wanted.every((token, i) => token === '>' || token === '*' || token === tokens[i]);
}

interface Registered<T> {
  readonly subject: string;
  readonly call: T;
  readonly owner: MemoryLink;
}

class MemoryBucket {
  readonly #entries = new Map<string, BucketEntry & { readonly untilMs: number }>();
  readonly watchers = new Set<{
    readonly keys: string;
    readonly listener: BucketListener;
    readonly owner: MemoryLink;
  }>();
  readonly #lifeMs: number;
  readonly #nowMs: () => number;
  #createdMs: number;
  #revision = 0;

  constructor(lifeMs: number, nowMs: () => number) {
    this.#lifeMs = lifeMs;
    this.#nowMs = nowMs;
    this.#createdMs = nowMs();
  }

  lose(): void {
    this.#entries.clear();
    this.#createdMs = this.#nowMs();
    this.#revision = 0;
  }

  get ageMs(): number {
    return this.#nowMs() - this.#createdMs;
  }

  /** Entries whose time is not over. */
  get entries(): readonly BucketEntry[] {
    return [...this.#entries.values()]
      .filter(({ untilMs }) => untilMs > this.#nowMs())
      .map(({ key, value, revision }) => ({ key, value, revision }));
  }

  get(key: string): BucketEntry | null {
    return this.entries.find((entry) => entry.key === key) ?? null;
  }

  /** @param expected revision that the key must have; 0: it must not exist */
  put(key: string, value: Uint8Array, expected: number): number {
    const revision = this.get(key)?.revision ?? 0;
    if (revision !== expected) throw new FleetError('conflict', `wrong last sequence: ${revision}`);
    this.#revision += 1;
    const entry = { key, value: Uint8Array.from(value), revision: this.#revision };
    this.#entries.set(key, { ...entry, untilMs: this.#nowMs() + this.#lifeMs });
    this.#tell(key, entry);
    return this.#revision;
  }

  delete(key: string): void {
    this.#revision += 1;
    this.#entries.delete(key);
    this.#tell(key, { key, value: null });
  }

  #tell(key: string, change: Parameters<BucketListener>[0]): void {
    for (const { keys, listener, owner } of this.watchers) {
      if (fits(keys, key)) owner.later(() => listener(change));
    }
  }
}

/** What the connections share; `nowMs` is the time of its leases. */
export class MemoryServer {
  readonly leases: MemoryBucket;
  readonly shared: MemoryBucket;
  readonly services = new Set<Registered<Answer>>();
  readonly subscriptions = new Set<Registered<(body: Uint8Array, subject: string) => void>>();
  /** all that was published, in order */
  readonly published: { readonly subject: string; readonly body: Uint8Array }[] = [];

  constructor(nowMs: () => number = () => performance.now()) {
    this.leases = new MemoryBucket(4000, nowMs);
    this.shared = new MemoryBucket(Infinity, nowMs);
  }

  /** As a server that comes back without its store: the buckets are new. */
  lose(): void {
    this.leases.lose();
    this.shared.lose();
  }

  link(): MemoryLink {
    return new MemoryLink(this);
  }
}

/** A connection, which a test can cut and heal. */
export class MemoryLink implements FleetLink {
  readonly server = 'memory 1.0.0';
  readonly leases: FleetBucket;
  readonly shared: FleetBucket;
  readonly #server: MemoryServer;
  readonly #stateListeners = new Set<(state: LinkState) => void>();
  readonly #stops = new Set<Stop>();
  /** settled flushes; a test replaces it to keep a flush waiting */
  flushing: () => Promise<void> = () => Promise.resolve();
  #state: LinkState = 'connected';

  constructor(server: MemoryServer) {
    this.#server = server;
    this.leases = this.#bucket(server.leases);
    this.shared = this.#bucket(server.shared);
  }

  get state(): LinkState {
    return this.#state;
  }

  /** Ends the connection to the server, or makes it anew; after the return watches tell the present entries. */
  set(state: 'connected' | 'offline'): void {
    if (this.#state === state || this.#state === 'closed') return;
    this.#state = state;
    for (const listener of this.#stateListeners) listener(state);
    if (state === 'connected') for (const bucket of [this.#server.leases, this.#server.shared]) this.#retell(bucket);
  }

  #retell(bucket: MemoryBucket): void {
    for (const { owner, keys, listener } of bucket.watchers) {
      if (owner !== this) continue;
      for (const entry of bucket.entries) if (fits(keys, entry.key)) this.later(() => listener(entry));
    }
  }

  /** Calls in a later turn, where the connection is there by then, as messages from a server come. */
  later(call: () => void): void {
    setImmediate(() => {
      if (this.#state === 'connected') call();
    });
  }

  onState(listener: (state: LinkState) => void): Stop {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  publish(subject: string, body: Uint8Array): boolean {
    if (this.#state !== 'connected') return false;
    const copy = Uint8Array.from(body);
    this.#server.published.push({ subject, body: copy });
    for (const { subject: pattern, call, owner } of this.#server.subscriptions) {
      if (fits(pattern, subject)) owner.later(() => call(copy, subject));
    }
    return true;
  }

  subscribe(subject: string, listener: (body: Uint8Array, subject: string) => void): Stop {
    return this.#keep(this.#server.subscriptions, { subject, call: listener, owner: this });
  }

  serve(_name: string, subject: string, answer: Answer): Promise<Stop> {
    return Promise.resolve(this.#keep(this.#server.services, { subject, call: answer, owner: this }));
  }

  #keep<T>(set: Set<T>, entry: T): Stop {
    set.add(entry);
    const stop = () => {
      set.delete(entry);
      this.#stops.delete(stop);
    };
    this.#stops.add(stop);
    return stop;
  }

  #servers(subject: string): readonly Registered<Answer>[] {
    this.#checkOnline();
    const servers = [...this.#server.services].filter(
      ({ subject: pattern, owner }) => fits(pattern, subject) && owner.state === 'connected',
    );
    if (servers.length === 0) throw new FleetError('no-responder', `nobody serves ${subject}`);
    return servers;
  }

  async request(
    subject: string,
    request: FleetMessage,
    timeoutMs: number,
    { signal }: RequestOptions = {},
  ): Promise<FleetMessage> {
    const answers = this.#servers(subject).map(({ call }) => answered(call, request));
    const answer = await limited(Promise.race(answers), timeoutMs, signal);
    if (answer instanceof FleetError) throw answer;
    return answer;
  }

  async requestAll(
    subject: string,
    request: FleetMessage,
    count: number,
    timeoutMs: number,
  ): Promise<readonly FleetAnswer[]> {
    const arrived: FleetAnswer[] = [];
    const servers = this.#servers(subject).slice(0, count);
    const all = Promise.all(
      servers.map(async ({ call }) => {
        arrived.push(await answered(call, request));
      }),
    );
    await limited(all, timeoutMs).catch(() => undefined);
    return [...arrived];
  }

  async flush(): Promise<void> {
    this.#checkOnline();
    await this.flushing();
  }

  close(): Promise<void> {
    for (const stop of [...this.#stops]) stop();
    this.#state = 'closed';
    for (const listener of this.#stateListeners) listener('closed');
    return Promise.resolve();
  }

  #checkOnline(): void {
    if (this.#state !== 'connected') throw new FleetError('offline', 'no connection to the server of the fleet');
  }

  #bucket(bucket: MemoryBucket): FleetBucket {
    const online = async <T>(act: () => T): Promise<T> => {
      await Promise.resolve();
      this.#checkOnline();
      return act();
    };
    return {
      ageMs: () => online(() => bucket.ageMs),
      get: (key) => online(() => bucket.get(key)),
      create: (key, value) => online(() => bucket.put(key, value, 0)),
      update: (key, value, revision) => online(() => bucket.put(key, value, revision)),
      delete: (key) => online(() => bucket.delete(key)),
      watch: (keys, listener) => {
        const stop = this.#keep(bucket.watchers, { keys, listener, owner: this });
        for (const entry of bucket.entries) if (fits(keys, entry.key)) this.later(() => listener(entry));
        return stop;
      },
    };
  }
}

async function answered(call: Answer, request: FleetMessage): Promise<FleetAnswer> {
  try {
    return (await call(request)) ?? (await new Promise<never>(() => undefined));
  } catch (error) {
    return new FleetError('refused', error instanceof Error ? error.message : String(error));
  }
}

async function limited<T>(work: Promise<T>, timeoutMs: number, signal?: AbortSignal): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let abort: () => void = () => undefined;
  const ended = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new FleetError('timeout', `no answer within ${timeoutMs} ms`)), timeoutMs);
    abort = () =>
      reject(signal?.reason instanceof FleetError ? signal.reason : new FleetError('timeout', 'the request was ended'));
    signal?.addEventListener('abort', abort);
  });
  try {
    return await Promise.race([work, ended]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
