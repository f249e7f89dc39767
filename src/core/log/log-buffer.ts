import type { ModuleName } from '../adapter.ts';
import { moduleNames } from '../adapter.ts';

export const logLevels = ['debug', 'info', 'warning', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogEntry {
  /** rises over all modules, from 1 in every process */
  readonly id: number;
  /** wall time, ms since the epoch */
  readonly timeMs: number;
  /** simulated date of the event, ms since the epoch; null: before the clock existed */
  readonly simMs: number | null;
  readonly level: LogLevel;
  readonly module: ModuleName;
  readonly deviceIndex: number | null;
  readonly message: string;
}

/** Selects entries; every member narrows the choice. */
export interface LogFilter {
  readonly modules?: readonly ModuleName[];
  readonly levels?: readonly LogLevel[];
  /** only lines about this device */
  readonly deviceIndex?: number;
  /** only entries with a higher id */
  readonly afterId?: number;
  /** wall time, ms since the epoch; inclusive */
  readonly sinceMs?: number;
  /** maximum number of entries; the newest are kept */
  readonly limit?: number;
}

/** Entries kept, all modules together. */
export const logCapacity = 5000;

function isWanted(entry: LogEntry, { levels, deviceIndex, sinceMs = -Infinity }: LogFilter): boolean {
  return (
    entry.timeMs >= sinceMs &&
    (!levels || levels.includes(entry.level)) &&
    (deviceIndex === undefined || entry.deviceIndex === deviceIndex)
  );
}

/**
 * The last entries of all modules. When it is full, the module with the most entries loses its oldest: a verbose module
 * displaces only its own lines, and each of m modules always keeps its last `logCapacity` / m.
 */
export class LogBuffer {
  readonly #byModule = new Map<ModuleName, LogEntry[]>();
  #size = 0;
  /** entries dropped so far */
  dropped = 0;

  /** Modules with entries, in the order of `moduleNames`. */
  get modules(): readonly ModuleName[] {
    return moduleNames.filter((name) => this.#byModule.has(name));
  }

  /** @param entry with a higher id than all before it */
  push(entry: LogEntry): void {
    const entries = this.#byModule.get(entry.module);
    if (entries) entries.push(entry);
    else this.#byModule.set(entry.module, [entry]);
    this.#size += 1;
    if (this.#size > logCapacity) this.#dropOne();
  }

  /** Oldest first. The cost is that of the entries after `afterId`, not of all that are kept. */
  list(filter: LogFilter = {}): readonly LogEntry[] {
    const { modules, afterId = 0, limit = logCapacity } = filter;
    const tails = [...this.#byModule]
      .filter(([name]) => !modules || modules.includes(name))
      .map(([, entries]) => ({ entries, next: entries.length - 1 }));
    const newestFirst: LogEntry[] = [];
    while (newestFirst.length < limit) {
      let newest: LogEntry | undefined;
      let from: (typeof tails)[number] | undefined;
      for (const tail of tails) {
        const entry = tail.entries[tail.next];
        if (entry && entry.id > (newest?.id ?? afterId)) {
          newest = entry;
          from = tail;
        }
      }
      if (!newest || !from) break;
      from.next -= 1;
      if (isWanted(newest, filter)) newestFirst.push(newest);
    }
    return newestFirst.reverse();
  }

  #dropOne(): void {
    let longest: LogEntry[] = [];
    for (const entries of this.#byModule.values()) {
      const older = (entries[0]?.id ?? Infinity) < (longest[0]?.id ?? Infinity);
      if (entries.length > longest.length || (entries.length === longest.length && older)) longest = entries;
    }
    longest.shift();
    this.#size -= 1;
    this.dropped += 1;
  }
}
