/** The door of a fleet to its NATS server, without a type of the packages behind it: only `nats/` imports those. */

export type FleetFault =
  /** nobody serves the subject */
  | 'no-responder'
  /** no connection to a server: nothing was sent */
  | 'offline'
  | 'timeout'
  /** the other side refused or failed; `message` is its text */
  | 'refused'
  /** a message or an answer beyond the limits */
  | 'too-large'
  /** the server refuses credentials or rights */
  | 'denied'
  /** the key of a bucket has another revision, or exists */
  | 'conflict';

/** @property code reason for programs */
export class FleetError extends Error {
  readonly code: FleetFault;
  constructor(code: FleetFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'FleetError';
    this.code = code;
  }
}

export interface FleetMessage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** An answer of one of several that serve a subject; those in parts are refused. */
export type FleetAnswer = FleetMessage | FleetError;

export interface RequestOptions {
  /** its abort ends the request; the reason is thrown, where it is a FleetError */
  readonly signal?: AbortSignal;
  /** true: the time limit counts from the last sign of life, which the other side sends every 5 s */
  readonly whileAlive?: boolean;
}

export type ServedAnswer = (request: FleetMessage) => Promise<FleetMessage | null>;

export type LinkState = 'connected' | 'offline' | 'closed';
export type Stop = () => void;

/** An entry of a bucket; `revision` counts the writes of the bucket. */
export interface BucketEntry {
  readonly key: string;
  readonly value: Uint8Array;
  readonly revision: number;
}

/** Keys with compare-and-set. Every method throws FleetError `offline`, `timeout` or `denied`. */
export interface FleetBucket {
  /** @returns null: no such key, or its time is over */
  get(key: string): Promise<BucketEntry | null>;
  /** @returns the revision. @throws FleetError `conflict` where the key exists */
  create(key: string, value: Uint8Array): Promise<number>;
  /** @returns the new revision. @throws FleetError `conflict` where the key has another revision than this */
  update(key: string, value: Uint8Array, revision: number): Promise<number>;
  delete(key: string): Promise<void>;
  /** @returns ms since the bucket was created, by the clock of the server: less than its server runs, where it is lost */
  ageMs(): Promise<number>;
  /**
   * Calls the listener for each present entry and each later change. Present entries are told again after the server
   * was away, so compare revisions. The end of a key by its time limit is not told.
   *
   * @param keys pattern of keys, like `shard.*`
   */
  watch(keys: string, listener: (entry: BucketEntry | { readonly key: string; readonly value: null }) => void): Stop;
}

export interface FleetLink {
  readonly state: LinkState;
  /** server name and version, for people */
  readonly server: string;
  onState(listener: (state: LinkState) => void): Stop;
  /** @returns false: no connection, nothing was sent */
  publish(subject: string, body: Uint8Array): boolean;
  subscribe(subject: string, listener: (body: Uint8Array, subject: string) => void): Stop;
  /**
   * Answers requests of a subject, alone or beside others. An answer is sent in parts where it is long.
   *
   * @param answer null: another process that serves the subject answers
   */
  serve(name: string, subject: string, answer: ServedAnswer): Promise<Stop>;
  /**
   * @returns the whole answer, put together from its parts
   * @throws FleetError `no-responder`, `offline`, `timeout`, `refused`, `too-large`, `denied`
   */
  request(subject: string, request: FleetMessage, timeoutMs: number, options?: RequestOptions): Promise<FleetMessage>;
  /**
   * Asks all that serve a subject.
   *
   * @param count answers to wait for
   * @returns the answers in the order of their arrival, fewer where the time is over
   * @throws FleetError `no-responder`, `offline`, `too-large`, `denied`
   */
  requestAll(subject: string, request: FleetMessage, count: number, timeoutMs: number): Promise<readonly FleetAnswer[]>;
  /** Resolves when the server has received all that was published before. */
  flush(): Promise<void>;
  /** entries whose time ends 4 s after the last write */
  readonly leases: FleetBucket;
  /** entries that stay */
  readonly shared: FleetBucket;
  /** Sends what waits, and ends the connection. */
  close(): Promise<void>;
}
