/**
 * The Authorization Cache of a station, and its readers: tokens that persons present, one at a time at each connector,
 * and `AUTO` of vehicles.
 */
import { errorText, SimError } from '../core/errors.ts';
import type { Logger } from '../core/log/log.ts';
import type { JsonValue, Slot } from '../core/store.ts';
import type { EvseConnectorDetail } from '../contract/kinds/evse.ts';
import type { StackOptions } from './station/stack.ts';

/** entries; beyond it the one leaves that its rank and its age say */
export const maxCacheEntries = 1000;

/** of the entries as JSON text; one that is larger than its share is not kept */
export const maxCacheBytes = 1_000_000;

export interface AuthorizationCache<Entry> {
  /** the one put longest ago first */
  readonly entries: readonly Entry[];
  /** of the entries as JSON text */
  readonly bytes: number;
  find(key: string): Entry | null;
  /** Adds an entry, or replaces the one with its key. */
  put(entry: Entry): void;
  remove(keys: Iterable<string>): void;
  clear(): void;
  load(): Promise<void>;
}

interface CacheOptions<Entry> {
  /** a journal of entries, the newest last; it is rewritten when half of it is history */
  readonly slot: Slot;
  readonly log: Pick<Logger, 'error'>;
  readonly keyOf: (entry: Entry) => string;
  /** the lowest leaves first, among equals the one put longest ago; default all are equal */
  readonly rank?: (entry: Entry) => number;
}

/** 100 of them fill the cache */
const maxEntryBytes = maxCacheBytes / 100;

interface SizedEntry<Entry> {
  readonly entry: Entry;
  readonly bytes: number;
}

class RankedEntries<Entry> {
  readonly byKey = new Map<string, SizedEntry<Entry>>();
  bytes = 0;
  readonly #rank: (entry: Entry) => number;

  constructor(rank: (entry: Entry) => number) {
    this.#rank = rank;
  }

  delete(key: string): void {
    this.bytes -= this.byKey.get(key)?.bytes ?? 0;
    this.byKey.delete(key);
  }

  /** @returns its size; 0: it is too large to be kept */
  put(key: string, entry: Entry): number {
    this.delete(key);
    const bytes = Buffer.byteLength(JSON.stringify(entry));
    if (bytes > maxEntryBytes) return 0;
    while (this.byKey.size >= maxCacheEntries || this.bytes + bytes > maxCacheBytes) this.#dropOne();
    this.byKey.set(key, { entry, bytes });
    this.bytes += bytes;
    return bytes;
  }

  #dropOne(): void {
    let lowest = Infinity;
    let leaving: string | null = null;
    for (const [key, { entry }] of this.byKey) {
      const rank = this.#rank(entry);
      if (rank < lowest) [lowest, leaving] = [rank, key];
    }
    if (leaving !== null) this.delete(leaving);
  }

  clear(): void {
    this.byKey.clear();
    this.bytes = 0;
  }

  get entries(): readonly Entry[] {
    return [...this.byKey.values()].map(({ entry }) => entry);
  }
}

export function createCache<Entry>({
  slot,
  log,
  keyOf,
  rank = () => 0,
}: CacheOptions<Entry>): AuthorizationCache<Entry> {
  const ranked = new RankedEntries<Entry>(rank);
  const written = { entries: 0, bytes: 0 };
  const store = (writing: Promise<void>) => {
    writing.catch((error: unknown) => {
      log.error(`the store has refused a change of the authorisation cache: ${errorText(error)}`);
    });
  };
  const rewrite = () => {
    [written.entries, written.bytes] = [ranked.byKey.size, ranked.bytes];
    store(slot.replace(ranked.entries as unknown as readonly JsonValue[]));
  };
  return {
    get entries() {
      return ranked.entries;
    },
    get bytes() {
      return ranked.bytes;
    },
    find: (key) => ranked.byKey.get(key)?.entry ?? null,
    put(entry) {
      const bytes = ranked.put(keyOf(entry), entry);
      written.entries += 1;
      written.bytes += bytes;
      if (bytes === 0 || written.entries > 2 * maxCacheEntries || written.bytes > 2 * maxCacheBytes) rewrite();
      else store(slot.append(entry as unknown as JsonValue));
    },
    remove(keys) {
      const before = ranked.byKey.size;
      for (const key of keys) ranked.delete(key);
      if (ranked.byKey.size < before) rewrite();
    },
    clear() {
      ranked.clear();
      rewrite();
    },
    async load() {
      const journal = (await slot.read()) as unknown as readonly Entry[];
      for (const entry of journal) written.bytes += ranked.put(keyOf(entry), entry);
      written.entries = journal.length;
    },
  };
}

interface OfflineRules {
  /** LocalAuthorizeOffline */
  readonly known: boolean;
  /** 1.6: AllowOfflineTxForUnknownId; 2.x: OfflineTxForUnknownIdEnabled */
  readonly unknown: boolean;
}

/**
 * Status of a token without an answer: a known one counts as it is known, an accepted one only where the rules permit; a
 * token that neither list nor cache holds is refused unless the rules permit unknown ones.
 * @param knownStatus of local list or cache; null: neither holds it
 * @param refused status where the rules decide against the token
 */
export function offlineStatus<Status extends string>(
  knownStatus: Status | 'Accepted' | null,
  rules: OfflineRules,
  refused: Status,
): Status | 'Accepted' {
  if (knownStatus === null) return rules.unknown ? 'Accepted' : refused;
  if (knownStatus !== 'Accepted') return knownStatus;
  return rules.known ? 'Accepted' : refused;
}

/** token of a vehicle that is plugged in where plugging in presents one, as in the transition of the device */
export const autoToken = 'AUTO';

export function conflict(connectorId: number, why: string): SimError {
  return new SimError('COMMAND_CONFLICT', `connector ${connectorId}: ${why}`);
}

/** Reason why no token can authorise a connector by itself; null: one can. */
export function obstacle({ errorCode, operative, phase }: EvseConnectorDetail): string | null {
  if (errorCode !== 'NoError') return `${errorCode} must be cleared first`;
  if (!operative) return 'it is out of operation';
  return phase === 'free' || phase === 'connected' || phase === 'finishing' ? null : 'it is in use by another token';
}

/** @throws SimError COMMAND_CONFLICT */
export function checkFree(connector: EvseConnectorDetail): void {
  const why = obstacle(connector);
  if (why !== null) throw conflict(connector.connectorId, why);
}

/** Checks one token at a time, since the answer for a token decides the meaning of the next one. */
export interface Turns {
  /** a token is being checked at the connector */
  busy(connectorId: number): boolean;
  /** @throws SimError COMMAND_CONFLICT while another token is being checked; what `act` throws */
  alone<T>(connectorId: number, act: () => Promise<T>): Promise<T>;
}

export function createTurns(): Turns {
  const checking = new Set<number>();
  return {
    busy: (connectorId) => checking.has(connectorId),
    async alone(connectorId, act) {
      if (checking.has(connectorId)) throw conflict(connectorId, 'another token is being checked');
      checking.add(connectorId);
      try {
        return await act();
      } finally {
        checking.delete(connectorId);
      }
    },
  };
}

interface ReaderDeps extends Pick<StackOptions, 'device' | 'log'> {
  readonly registration: { onAccepted(listener: () => void): () => void };
  /** plugging in presents the token `AUTO` */
  readonly autoAuthorize: boolean;
  /** connectors whose `AUTO` the central system has not answered; the reader adds those it finds and empties it */
  readonly unanswered: Set<number>;
  readonly present: (connectorId: number, idToken: string) => Promise<{ readonly status: string }>;
}

/**
 * Presents the tokens in transitions of the device. `AUTO` of a vehicle that came while nothing could be asked, or before the
 * station listened, is presented again once the central system has accepted the station.
 * @returns function that unsubscribes
 */
export function followReader({
  device,
  log,
  registration,
  autoAuthorize,
  unanswered,
  present,
}: ReaderDeps): () => void {
  // the person at the station sees no more than that nothing happens, so a refusal is logged
  const show = async (connectorId: number, idToken: string): Promise<void> => {
    try {
      const { status } = await present(connectorId, idToken);
      if (status !== 'Accepted')
        log.info(`connector ${connectorId}: a token is refused: ${status}`, device.deviceIndex);
    } catch (error) {
      log.info(`a token is refused: ${errorText(error)}`, device.deviceIndex);
    }
  };
  const isWaiting = (connectorId: number) => device.connector(connectorId).phase === 'connected';
  if (autoAuthorize) for (const id of device.connectorIds.filter(isWaiting)) unanswered.add(id);
  const ends = [
    device.onTransition((transition) => {
      if (!('connector' in transition) || transition.event !== 'token') return;
      void show(transition.connectorId, transition.idToken ?? '');
    }),
    registration.onAccepted(() => {
      const waiting = [...unanswered].filter(isWaiting);
      unanswered.clear();
      for (const connectorId of waiting) void show(connectorId, autoToken);
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}
