/** Authorization Cache: the tokens presented last, with what the central system said of them. */
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { JsonValue, Slot } from '../../core/store.ts';

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

interface Kept<Entry> {
  readonly entry: Entry;
  readonly bytes: number;
}

class Shelf<Entry> {
  readonly kept = new Map<string, Kept<Entry>>();
  bytes = 0;
  readonly #rank: (entry: Entry) => number;

  constructor(rank: (entry: Entry) => number) {
    this.#rank = rank;
  }

  delete(key: string): void {
    this.bytes -= this.kept.get(key)?.bytes ?? 0;
    this.kept.delete(key);
  }

  /** @returns its size; 0: it is too large to be kept */
  put(key: string, entry: Entry): number {
    this.delete(key);
    const bytes = Buffer.byteLength(JSON.stringify(entry));
    if (bytes > maxEntryBytes) return 0;
    while (this.kept.size >= maxCacheEntries || this.bytes + bytes > maxCacheBytes) this.#dropOne();
    this.kept.set(key, { entry, bytes });
    this.bytes += bytes;
    return bytes;
  }

  #dropOne(): void {
    let lowest = Infinity;
    let leaving: string | null = null;
    for (const [key, { entry }] of this.kept) {
      const rank = this.#rank(entry);
      if (rank < lowest) [lowest, leaving] = [rank, key];
    }
    if (leaving !== null) this.delete(leaving);
  }

  clear(): void {
    this.kept.clear();
    this.bytes = 0;
  }

  get entries(): readonly Entry[] {
    return [...this.kept.values()].map(({ entry }) => entry);
  }
}

export function createCache<Entry>({
  slot,
  log,
  keyOf,
  rank = () => 0,
}: CacheOptions<Entry>): AuthorizationCache<Entry> {
  const shelf = new Shelf<Entry>(rank);
  const written = { entries: 0, bytes: 0 };
  const store = (writing: Promise<void>) => {
    writing.catch((error: unknown) => {
      log.error(`the store has refused a change of the authorisation cache: ${errorText(error)}`);
    });
  };
  const rewrite = () => {
    [written.entries, written.bytes] = [shelf.kept.size, shelf.bytes];
    store(slot.replace(shelf.entries as unknown as readonly JsonValue[]));
  };
  return {
    get entries() {
      return shelf.entries;
    },
    get bytes() {
      return shelf.bytes;
    },
    find: (key) => shelf.kept.get(key)?.entry ?? null,
    put(entry) {
      const bytes = shelf.put(keyOf(entry), entry);
      written.entries += 1;
      written.bytes += bytes;
      if (bytes === 0 || written.entries > 2 * maxCacheEntries || written.bytes > 2 * maxCacheBytes) rewrite();
      else store(slot.append(entry as unknown as JsonValue));
    },
    remove(keys) {
      const before = shelf.kept.size;
      for (const key of keys) shelf.delete(key);
      if (shelf.kept.size < before) rewrite();
    },
    clear() {
      shelf.clear();
      rewrite();
    },
    async load() {
      const journal = (await slot.read()) as unknown as readonly Entry[];
      for (const entry of journal) written.bytes += shelf.put(keyOf(entry), entry);
      written.entries = journal.length;
    },
  };
}
