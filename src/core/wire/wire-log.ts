/**
 * Messages of every protocol as sent or received: kept for REST, and passed to scenario conditions and recorders.
 */
import { Buffer } from 'node:buffer';
import { errorText } from '../errors.ts';
import type { Logger } from '../log/log.ts';
import type { Origin, Provenance } from '../origin.ts';
import type { SimTime, WallClock } from '../time/clock.ts';

/** `in`: received by this process; `out`: sent by it. */
export const wireDirections = ['in', 'out'] as const;
export type WireDirection = (typeof wireDirections)[number];

/**
 * A message as its protocol hands it over.
 * @typeParam Raw octets, or text, which is kept as octets of UTF-8
 */
export interface WireMessage<Facts, Raw extends Buffer | string = Buffer> {
  readonly direction: WireDirection;
  /** `address:port`, path of a serial line, URL of a server */
  readonly peer: string;
  /** the device that it is about; null: none, or several */
  readonly deviceIndex: number | null;
  /** the protocol's own word: `GET`, `call`, `answer` */
  readonly kind: string;
  /** one short line for people; made for every message, so it must cost nothing */
  readonly summary: string;
  /** copied */
  readonly raw: Raw;
  /** facts outside of the octets: time of the answer, id of the request; small, and without secrets */
  readonly facts: Facts;
}

/** A message as it is kept. */
export interface WireEntry<Facts> extends WireMessage<Facts> {
  /** rises by one with each message of the channel, from 1, also while none is kept */
  readonly id: number;
  /** ms since the epoch */
  readonly wallMs: number;
  readonly sim: SimTime;
  /** octets of the message; above `raw.length`: the rest was cut off */
  readonly rawLength: number;
}

export interface WireChannelOptions<Facts, Decoded, Raw extends Buffer | string = Buffer> {
  /** `modbus`, `csip`, `ocpp` */
  readonly protocol: string;
  /** distinguishes channels of one protocol, for example a charge point id; empty if there is one */
  readonly key: string;
  /** messages kept */
  readonly entries: number;
  /** octets kept, of all messages together */
  readonly bytes: number;
  /** octets kept of one message; default 256 KiB */
  readonly messageBytes?: number;
  /**
   * Removes secrets from octets, summary and facts before a message is kept or passed on: the only place for it in a
   * protocol. If it throws, the message is neither kept nor passed on. Default: no secrets
   */
  readonly redact?: (message: WireMessage<Facts, Raw>) => WireMessage<Facts, Raw>;
  /**
   * Decodes the octets, on demand and possibly much later: it gets the message as kept, so that nothing else has to be
   * kept.
   */
  readonly decode: (entry: WireEntry<Facts>) => Decoded;
  /** the octets are text in UTF-8; default: they are octets */
  readonly text?: true;
  /**
   * Facts of a message for a recording, besides its octets, as members of JSON and cheap to decode. The
   * member `summary` replaces that of the message, and `truncated` means that octets were left out before `push`.
   * Called when the recording is read. Default: none
   */
  readonly report?: (entry: WireEntry<Facts>) => Readonly<Record<string, unknown>>;
}

/** Selects messages; every member narrows the choice. */
export interface WireFilter<Facts> {
  /** only messages with a higher id */
  readonly afterId?: number;
  /** only messages up to this id */
  readonly toId?: number;
  readonly where?: (entry: WireEntry<Facts>) => boolean;
  /** maximum number of messages; the newest are listed */
  readonly limit?: number;
}

export interface WireLogOptions {
  readonly clock: WallClock;
  readonly sim: () => SimTime;
  /** receives failures of listeners and of `redact` */
  readonly log: Pick<Logger, 'error'>;
}

const defaultMessageBytes = 256 * 1024;
/** Messages are put into pieces of memory of this size: a piece for each would cost more than the copy. */
const slabBytes = 64 * 1024;
const noBytes = Buffer.alloc(0);

function put(raw: Buffer | string, slab: Buffer, at: number, length: number): void {
  if (typeof raw !== 'string') raw.copy(slab, at, 0, length);
  // a character that is cut in two leaves octets unwritten
  else if (slab.write(raw, at, length) < length) Buffer.from(raw).copy(slab, at, 0, length);
}

class Entry<Facts> implements WireEntry<Facts> {
  readonly id: number;
  readonly wallMs: number;
  readonly sim: SimTime;
  readonly direction: WireDirection;
  readonly peer: string;
  readonly deviceIndex: number | null;
  readonly kind: string;
  readonly summary: string;
  readonly facts: Facts;
  readonly rawLength: number;
  readonly keptBytes: number;
  readonly #slab: Buffer;
  readonly #at: number;

  /** @param length octets kept, at `at` of `slab` */
  // eslint-disable-next-line max-params -- one of each message: an object of arguments would be garbage
  constructor(
    id: number,
    message: WireMessage<Facts, Buffer | string>,
    rawLength: number,
    wallMs: number,
    sim: SimTime,
    slab: Buffer,
    at: number,
    length: number,
  ) {
    this.id = id;
    this.wallMs = wallMs;
    this.sim = sim;
    this.direction = message.direction;
    this.peer = message.peer;
    this.deviceIndex = message.deviceIndex;
    this.kind = message.kind;
    this.summary = message.summary;
    this.facts = message.facts;
    this.rawLength = rawLength;
    this.keptBytes = length;
    this.#slab = slab;
    this.#at = at;
  }

  get raw(): Buffer {
    return this.#slab.subarray(this.#at, this.#at + this.keptBytes);
  }
}

/**
 * The messages of one protocol, or of one peer of it. Without observers it costs one test of `active`. Memory is
 * bounded by entries and octets: the oldest messages are dropped, and gaps in the ids show that some are missing.
 */
export class WireChannel<Facts = unknown, Decoded = unknown, Raw extends Buffer | string = Buffer> {
  readonly protocol: string;
  readonly key: string;
  /** the octets of its messages are text in UTF-8 */
  readonly isText: boolean;
  /** true if messages are kept or listened to: `push` is called only then */
  active = false;
  readonly #log: WireLogOptions;
  readonly #options: WireChannelOptions<Facts, Decoded, Raw>;
  readonly #listeners = new Set<(entry: WireEntry<Facts>) => void>();
  /** a ring: message number n stands at n modulo its length */
  #ring: (Entry<Facts> | undefined)[];
  /** maximum number of octets kept of one message */
  readonly #maxMessageBytes: number;
  /** numbers of the oldest message kept, and of the next one */
  #first = 0;
  #next = 0;
  #bytes = 0;
  #slab = noBytes;
  #slabEnd = 0;
  #lastId = 0;
  #dropped = 0;
  #recording = false;
  #removed = false;
  #changedBy: Provenance | null = null;

  /** @see WireLog.channel */
  constructor(log: WireLogOptions, options: WireChannelOptions<Facts, Decoded, Raw>) {
    this.#log = log;
    this.#options = options;
    this.protocol = options.protocol;
    this.key = options.key;
    this.isText = options.text === true;
    this.#ring = new Array<Entry<Facts> | undefined>(options.entries);
    this.#maxMessageBytes = Math.min(options.messageBytes ?? defaultMessageBytes, options.bytes);
  }

  /** True if messages are kept. */
  get recording(): boolean {
    return this.#recording;
  }

  /** Messages that can be kept. */
  get capacity(): number {
    return this.#ring.length;
  }

  /** the last change of recording or capacity; null: as started */
  get changedBy(): Provenance | null {
    return this.#changedBy;
  }

  /**
   * Starts or stops keeping messages; kept ones stay.
   * @param entries capacity from now on, from 1; absent: unchanged. A smaller one drops the oldest
   */
  record(on: boolean, by: Origin, entries: number = this.capacity): void {
    const { clock, sim } = this.#log;
    this.#changedBy = { ...by, at: sim(), wallMs: clock.nowMs() };
    this.#resize(entries);
    this.#recording = on && !this.#removed;
    this.#settle();
  }

  /** messages kept now */
  get count(): number {
    return this.#next - this.#first;
  }

  /** octets kept now */
  get bytes(): number {
    return this.#bytes;
  }

  /** id of the last message; 0 before the first one */
  get lastId(): number {
    return this.#lastId;
  }

  /** messages dropped for newer ones */
  get dropped(): number {
    return this.#dropped;
  }

  /** Drops the messages kept; ids continue. */
  clear(): void {
    this.#ring.fill(undefined);
    this.#first = this.#next;
    this.#bytes = this.#slabEnd = 0;
    this.#slab = noBytes;
  }

  /** Closes the channel: drops messages and listeners, and accepts no more of either. @see WireLog.remove */
  retire(): void {
    this.#removed = true;
    this.#recording = false;
    this.#listeners.clear();
    this.clear();
    this.#settle();
  }

  /**
   * Keeps a message while recording, and passes it to the listeners; to be called only while `active`. Never throws.
   * @returns its id
   */
  push(original: WireMessage<Facts, Raw>): number {
    if (this.#removed) return this.#lastId;
    this.#lastId += 1;
    const message = this.#options.redact === undefined ? original : this.#redacted(original, this.#options.redact);
    if (message === null) return this.#lastId;
    const { clock, sim } = this.#log;
    const { raw } = message;
    const rawLength = typeof raw === 'string' ? Buffer.byteLength(raw) : raw.length;
    const length = Math.min(rawLength, this.#maxMessageBytes);
    const slab = this.#roomFor(length);
    const at = slab === this.#slab ? this.#slabEnd : 0;
    if (slab === this.#slab) this.#slabEnd += length;
    put(raw, slab, at, length);
    const entry = new Entry(this.#lastId, message, rawLength, clock.nowMs(), sim(), slab, at, length);
    if (this.#recording) this.#keep(entry);
    for (const listener of this.#listeners) this.#notify(listener, entry);
    return entry.id;
  }

  /** Oldest first. The cost is that of the messages after `afterId`, not of all that are kept. */
  list({ afterId = 0, toId = Infinity, where, limit = Infinity }: WireFilter<Facts> = {}): readonly WireEntry<Facts>[] {
    const newestFirst: WireEntry<Facts>[] = [];
    for (let n = this.#next - 1; n >= this.#first && newestFirst.length < limit; n -= 1) {
      const entry = this.#ring[n % this.#ring.length];
      if (entry === undefined || entry.id <= afterId) break;
      if (entry.id <= toId && (where === undefined || where(entry))) newestFirst.push(entry);
    }
    return newestFirst.reverse();
  }

  /** Decoded content of a message; null: cannot be decoded. Never throws. */
  decode(entry: WireEntry<Facts>): Decoded | null {
    try {
      return this.#options.decode(entry);
    } catch {
      return null;
    }
  }

  /** Facts of a message for a recording, besides its octets; empty: unknown. Never throws. */
  report(entry: WireEntry<Facts>): Readonly<Record<string, unknown>> {
    try {
      return this.#options.report?.(entry) ?? {};
    } catch {
      return {};
    }
  }

  /**
   * Calls back with each message from now on, within `push`; the returned function unsubscribes. A listener that throws
   * gets no further message.
   */
  subscribe(listener: (entry: WireEntry<Facts>) => void): () => void {
    if (this.#removed) return () => undefined;
    // one function may be subscribed twice, and each subscription ends separately
    const subscription = (entry: WireEntry<Facts>) => {
      listener(entry);
    };
    this.#listeners.add(subscription);
    this.#settle();
    return () => {
      this.#listeners.delete(subscription);
      this.#settle();
    };
  }

  #resize(entries: number): void {
    if (entries === this.capacity) return;
    while (this.count > entries) this.#evictOldest();
    const ring = new Array<Entry<Facts> | undefined>(entries);
    for (let n = this.#first; n < this.#next; n += 1) ring[n % entries] = this.#ring[n % this.#ring.length];
    this.#ring = ring;
  }

  #settle(): void {
    this.active = this.#recording || this.#listeners.size > 0;
  }

  #redacted(
    message: WireMessage<Facts, Raw>,
    redact: (message: WireMessage<Facts, Raw>) => WireMessage<Facts, Raw>,
  ): WireMessage<Facts, Raw> | null {
    try {
      return redact(message);
    } catch {
      // the text of the error could hold the secret
      this.#log.log.error(`a message of ${this.protocol} could not be searched for secrets and is not kept`);
      return null;
    }
  }

  /** The slab of the channel, with room for `length` octets at its end, or a separate one for a long message. */
  #roomFor(length: number): Buffer {
    if (4 * length > slabBytes) return Buffer.allocUnsafeSlow(length);
    if (this.#slabEnd + length > this.#slab.length) {
      this.#slab = Buffer.allocUnsafeSlow(slabBytes);
      this.#slabEnd = 0;
    }
    return this.#slab;
  }

  #keep(entry: Entry<Facts>): void {
    while (this.count > 0 && (this.count === this.#ring.length || this.#bytes + entry.keptBytes > this.#options.bytes))
      this.#evictOldest();
    this.#ring[this.#next % this.#ring.length] = entry;
    this.#next += 1;
    this.#bytes += entry.keptBytes;
  }

  #evictOldest(): void {
    const at = this.#first % this.#ring.length;
    this.#bytes -= this.#ring[at]?.keptBytes ?? 0;
    this.#ring[at] = undefined;
    this.#first += 1;
    this.#dropped += 1;
  }

  #notify(listener: (entry: WireEntry<Facts>) => void, entry: WireEntry<Facts>): void {
    try {
      listener(entry);
    } catch (error) {
      this.#listeners.delete(listener);
      this.#settle();
      this.#log.log.error(`a listener for messages of ${this.protocol} failed and was removed: ${errorText(error)}`);
    }
  }
}

const nameOf = (protocol: string, key: string) => `${protocol}/${key}`;

/** The channels of one process. */
export class WireLog {
  readonly #options: WireLogOptions;
  /** by protocol and key */
  readonly #channels = new Map<string, WireChannel>();
  readonly #followers = new Set<(channel: WireChannel) => void>();

  constructor(options: WireLogOptions) {
    this.#options = options;
  }

  /** All channels, oldest first. */
  get channels(): readonly WireChannel[] {
    return [...this.#channels.values()];
  }

  /** A new channel without observers. @throws Error if protocol and key are in use */
  channel<Facts, Decoded, Raw extends Buffer | string = Buffer>(
    options: WireChannelOptions<Facts, Decoded, Raw>,
  ): WireChannel<Facts, Decoded, Raw> {
    const { protocol, key } = options;
    if (this.find(protocol, key) !== undefined) throw new Error(`there is a channel ${protocol} ${key} already`);
    const channel = new WireChannel(this.#options, options);
    const added = channel as unknown as WireChannel;
    this.#channels.set(nameOf(protocol, key), added);
    for (const follow of this.#followers) follow(added);
    return channel;
  }

  /** The channel of protocol and key, which adapters of one process use one after the other; new for the first of them. */
  lasting<Facts, Decoded, Raw extends Buffer | string = Buffer>(
    options: WireChannelOptions<Facts, Decoded, Raw>,
  ): WireChannel<Facts, Decoded, Raw> {
    const former = this.find(options.protocol, options.key);
    // made by the same options
    return (former as unknown as WireChannel<Facts, Decoded, Raw> | undefined) ?? this.channel(options);
  }

  /** Calls back with each new channel, before its first message; the returned function unsubscribes. */
  onChannel(listener: (channel: WireChannel) => void): () => void {
    const subscription = (channel: WireChannel) => {
      listener(channel);
    };
    this.#followers.add(subscription);
    return () => {
      this.#followers.delete(subscription);
    };
  }

  find(protocol: string, key: string): WireChannel | undefined {
    return this.#channels.get(nameOf(protocol, key));
  }

  /** Closes and removes a channel, for example that of a removed charging station. */
  remove(channel: Pick<WireChannel, 'protocol' | 'key'>): void {
    const removedChannel = this.find(channel.protocol, channel.key);
    if (removedChannel === undefined) return;
    this.#channels.delete(nameOf(channel.protocol, channel.key));
    removedChannel.retire();
  }
}
