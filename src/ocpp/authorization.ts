/**
 * The Authorization Cache of a station, and its readers: tokens that persons present, one at a time at each connector,
 * and `AUTO` of vehicles.
 */
import { errorText, SimError } from '../core/errors.ts';
import type { Logger } from '../core/log/log.ts';
import { readEach } from '../core/slot-values.ts';
import type { SlotForm } from '../core/slot-values.ts';
import type { JsonValue, Slot } from '../core/store.ts';
import type { EvseConnectorDetail } from '../contract/kinds/evse.ts';
import type { StackOptions } from './station/stack.ts';

/** Maximum of entries; beyond it the entry of the lowest rank is removed, among equals the oldest. */
export const maxCacheEntries = 1000;

/** Maximum octets of all entries as JSON text. */
export const maxCacheBytes = 1_000_000;

export interface AuthorizationCache<Entry> {
  /** in the order of `put`, oldest first */
  readonly entries: readonly Entry[];
  /** octets of the entries as JSON text */
  readonly bytes: number;
  find(key: string): Entry | null;
  /** Adds an entry, or replaces the one with its key. */
  put(entry: Entry): void;
  remove(keys: Iterable<string>): void;
  clear(): void;
  load(): Promise<void>;
}

interface CacheOptions<Entry> {
  /** a journal of entries, newest last; rewritten when half of it is outdated */
  readonly slot: Slot;
  /** of a stored entry */
  readonly form: SlotForm<Entry>;
  readonly log: Pick<Logger, 'error' | 'warning'>;
  readonly keyOf: (entry: Entry) => string;
  /** the entry of the lowest rank is removed first, among equals the oldest; default: all are equal */
  readonly rank?: (entry: Entry) => number;
}

/** Maximum octets of an entry; a larger one is not kept. */
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
  form,
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
      const journal = await readEach(slot, form, log);
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
 * Status of a token without an answer of the central system. The status of local list or cache applies, but Accepted
 * only if the rules permit; a token in neither is refused unless the rules permit unknown tokens.
 * @param storedStatus of local list or cache; null: the token is in neither
 * @param refused status if the rules refuse the token
 */
export function offlineStatus<Status extends string>(
  storedStatus: Status | 'Accepted' | null,
  rules: OfflineRules,
  refused: Status,
): Status | 'Accepted' {
  if (storedStatus === null) return rules.unknown ? 'Accepted' : refused;
  if (storedStatus !== 'Accepted') return storedStatus;
  return rules.known ? 'Accepted' : refused;
}

/** Token that plugging in a vehicle presents, as in the transition of the device. */
export const autoToken = 'AUTO';

export function conflict(connectorId: number, why: string): SimError {
  return new SimError('COMMAND_CONFLICT', `connector ${connectorId}: ${why}`);
}

/** Reason why no token can authorise a connector; null: a token can. */
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
  /** True if a token is being checked at the connector. */
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
  /** true: plugging in presents the token `AUTO` */
  readonly autoAuthorize: boolean;
  /**
   * connectors whose `AUTO` the central system has not answered; the reader adds waiting connectors and empties the set
   */
  readonly unanswered: Set<number>;
  readonly present: (connectorId: number, idToken: string) => Promise<{ readonly status: string }>;
}

/**
 * Presents the tokens in transitions of the device. `AUTO` of a vehicle that arrived while no connection existed, or
 * before the station listened, is presented again once the central system has accepted the station.
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
  // a refusal is logged, since the station shows nothing to the person
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
