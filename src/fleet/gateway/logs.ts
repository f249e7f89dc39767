/** The log of a gateway: its own lines and those of the shards, numbered anew in the order of their arrival. */
import { moduleNames } from '../../core/adapter.ts';
import type { ModuleName } from '../../core/adapter.ts';
import { LogBuffer, logLevels, printable } from '../../core/log/log.ts';
import type { LogBook, LogEntry, LogFilter, LogLevel } from '../../core/log/log.ts';
import type { ShownLog } from '../../api/logs.ts';

interface ShardLine extends Omit<LogEntry, 'id'> {
  readonly session: string;
  readonly number: number;
}

const isNumberOrNull = (value: unknown) => value === null || Number.isFinite(value);
/** Dates beyond this have no text. */
const maxTimeMs = 8.64e15;

/** @returns null: the message is no line of a shard */
function readLine(body: Uint8Array): ShardLine | null {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(body).toString());
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { session, number, level, module, message, timeMs, simMs, deviceIndex } = value as Partial<
    Record<keyof ShardLine, unknown>
  >;
  const isLine =
    typeof session === 'string' &&
    Number.isSafeInteger(number) &&
    logLevels.includes(level as LogLevel) &&
    moduleNames.includes(module as ModuleName) &&
    typeof message === 'string' &&
    Number.isFinite(timeMs) &&
    isNumberOrNull(simMs) &&
    Math.max(Math.abs(Number(timeMs)), Math.abs(Number(simMs))) <= maxTimeMs &&
    (deviceIndex === null || (Number.isSafeInteger(deviceIndex) && Number(deviceIndex) >= 0));
  if (!isLine) return null;
  return { session, number, level, module, message: printable(message), timeMs, simMs, deviceIndex } as ShardLine;
}

export class FleetLog implements ShownLog {
  readonly #buffer = new LogBuffer();
  /** number of the last line of each shard, with the process that wrote it */
  readonly #last = new Map<string, Pick<ShardLine, 'session' | 'number'>>();
  #nextId = 1;
  #lost = 0;

  /** Follows the lines of the process itself, with those that it has written before. @returns the end of it */
  follow(book: Pick<LogBook, 'entries' | 'onEntry'>): () => void {
    for (const entry of book.entries()) this.#push(entry);
    return book.onEntry((entry) => {
      this.#push(entry);
    });
  }

  /** Reads a line of a shard. */
  take(shard: string, body: Uint8Array): void {
    const line = readLine(body);
    if (line === null) return;
    const { session, number, ...entry } = line;
    const last = this.#last.get(shard);
    if (last?.session === session) this.#lost += Math.max(0, number - last.number - 1);
    this.#last.set(shard, { session, number });
    this.#push(entry, shard);
  }

  get modules(): readonly ModuleName[] {
    return this.#buffer.modules;
  }

  get dropped(): number {
    return this.#buffer.dropped;
  }

  /** lines of shards that did not come */
  get lost(): number {
    return this.#lost;
  }

  entries(filter?: LogFilter): readonly LogEntry[] {
    return this.#buffer.list(filter);
  }

  #push(entry: Omit<LogEntry, 'id'>, shard?: string): void {
    const numbered = { ...entry, ...(shard !== undefined && { shard }), id: this.#nextId };
    this.#nextId += 1;
    this.#buffer.push(numbered);
  }
}
