/**
 * Logs of one process: entries of all modules in a bounded buffer and as printed lines. Text from outside is made
 * printable, and lines that clients can read do not name the place of the installation.
 */
import { pino } from 'pino';
import type { Logger as PinoLogger, DestinationStream } from 'pino';
import { join, sep } from 'node:path';
import { moduleNames } from '../adapter.ts';
import type { ModuleName } from '../adapter.ts';
import { systemClock } from '../time/clock.ts';
import type { SimTime, WallClock } from '../time/clock.ts';
import { callLater } from '../time/timers.ts';
import type { Later } from '../time/timers.ts';
import { keptRecord, keptCount } from '../kept.ts';
import type { Kept } from '../kept.ts';
import { RepeatLimit } from './log-repeats.ts';
import { packageFile } from '../package-files.ts';

/** The package, or the directory above the `node_modules` that it is installed in together with its libraries. */
function installRoot(): string {
  const packageRoot = join(packageFile('.'), sep);
  const modules = /^(.*?[\\/])node_modules[\\/]/.exec(packageRoot);
  return modules?.[1] ?? packageRoot;
}

/**
 * A function that shortens paths below a directory to their part below it: messages of Node and of libraries quote
 * paths, and clients must not learn where the program is installed.
 * @param root ends with a separator; default where this program and its libraries are
 */
export function createPathShortener(root: string = installRoot()): (text: string) => string {
  // for a program in the root directory every path would be shortened
  if (root.length < 2) return (text) => text;
  const below = new RegExp(`(?<![\\w./\\\\-])(?:file://)?${root.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}`, 'g');
  return (text) => (text.includes(root) ? text.replaceAll(below, '') : text);
}

export const logLevels = ['debug', 'info', 'warning', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogEntry {
  /** rises over all modules from 1, also over a restart that keeps state */
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
  dropped: number;

  constructor(dropped = 0) {
    this.dropped = dropped;
  }

  get size(): number {
    return this.#size;
  }

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
    if (this.#size > logCapacity) this.drop();
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

  /** Drops the oldest entry of the module with the most. @returns it; undefined: the buffer is empty */
  drop(): LogEntry | undefined {
    let longest: LogEntry[] = [];
    for (const entries of this.#byModule.values()) {
      const older = (entries[0]?.id ?? Infinity) < (longest[0]?.id ?? Infinity);
      if (entries.length > longest.length || (entries.length === longest.length && older)) longest = entries;
    }
    const entry = longest.shift();
    if (entry === undefined) return undefined;
    this.#size -= 1;
    this.dropped += 1;
    return entry;
  }
}

/**
 * Logging for one module. `deviceIndex` is the device of a line, `at` the simulated instant of its event; default: the
 * present.
 */
export interface Logger {
  /** true: lines of the level `debug` are kept; to be checked before building one. Default: false */
  readonly keepsDebug?: boolean;
  debug(message: string, deviceIndex?: number, at?: SimTime): void;
  info(message: string, deviceIndex?: number, at?: SimTime): void;
  warning(message: string, deviceIndex?: number, at?: SimTime): void;
  /** @param printedOnly a stack: printed after the message, but not kept in the buffer, which clients can read */
  error(message: string, deviceIndex?: number, printedOnly?: string): void;
}

/** A logger whose lines name a device, for code that several devices share. */
export function deviceLogger(log: Logger, index: number): Logger {
  return {
    get keepsDebug() {
      return log.keepsDebug ?? false;
    },
    debug: (message, device = index, at) => {
      log.debug(message, device, at);
    },
    info: (message, device = index, at) => {
      log.info(message, device, at);
    },
    warning: (message, device = index, at) => {
      log.warning(message, device, at);
    },
    error: (message, device = index, printedOnly) => {
      log.error(message, device, printedOnly);
    },
  };
}

/** A logger that writes the lines that `admits` admits. */
export function filteredLogger(log: Logger, admits: (message: string, deviceIndex?: number) => boolean): Logger {
  return {
    get keepsDebug() {
      return log.keepsDebug ?? false;
    },
    debug: (message, device, at) => {
      if (admits(message, device)) log.debug(message, device, at);
    },
    info: (message, device, at) => {
      if (admits(message, device)) log.info(message, device, at);
    },
    warning: (message, device, at) => {
      if (admits(message, device)) log.warning(message, device, at);
    },
    error: (message, device, printedOnly) => {
      if (admits(message, device)) log.error(message, device, printedOnly);
    },
  };
}

/** The simulated clock, as log lines show it. */
interface LogTimeline {
  /** the instant at which requests take effect */
  acting(): SimTime;
  /** simulated date, ms since the epoch */
  dateMs(t: SimTime): number;
}

/** for the lines that clients can read */
const shortenPaths = createPathShortener();

type Line = Omit<LogEntry, 'id' | 'timeMs' | 'simMs'>;

const maxMessageBytes = 4096;
const pinoLevel = { debug: 'debug', info: 'info', warning: 'warn', error: 'error' } as const;
// control characters, halves of characters, line and paragraph separators, and marks that turn the direction of writing
const unprintable = '\\p{Cc}\\p{Cs}\\u061c\\u200e\\u200f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069';
const hasUnprintable = new RegExp(`[${unprintable}]`, 'u');
const unprintableInLines = new RegExp(`(?!\\n)[${unprintable}]`, 'gu');
// also the backslash: in a text it could look like an escape
const escaped = new RegExp(`[${unprintable}\\\\]`, 'gu');

function escapeOf(character: string): string {
  if (character === '\\') return '\\\\';
  const code = character.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** `text` cut to at most `maxBytes` of UTF-8; a cut text ends in an ellipsis. */
function cutTo(maxBytes: number, text: string): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text);
  let end = maxBytes - Buffer.byteLength('…');
  // never in the middle of a character
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${bytes.toString('utf8', 0, end)}…`;
}

/** True if a text has no invisible characters and none that break the line or turn its direction. */
export function isPrintable(text: string): boolean {
  return !hasUnprintable.test(text);
}

/** One line without control characters, cut at 4 KiB: text from outside must not forge log lines. */
export function printable(text: string): string {
  // one character more than fits, so that the ellipsis appears
  return cutTo(maxMessageBytes, text.slice(0, maxMessageBytes + 1).replace(escaped, escapeOf));
}

/** Lines without control characters, for a terminal. */
export function printableLines(text: string): string {
  return text.replace(unprintableInLines, escapeOf);
}

function textStream(write: (line: string) => void): DestinationStream {
  return {
    write(line: string) {
      const { time, sim, level, module, device, msg } = JSON.parse(line) as {
        time: number;
        sim?: number;
        level: number;
        module: string;
        device?: number;
        msg: string;
      };
      const name = level >= 50 ? 'ERROR' : level >= 40 ? 'WARN' : level >= 30 ? 'INFO' : 'DEBUG';
      const where = device === undefined ? module : `${module} ${device}`;
      const simulated = sim === undefined ? '' : `sim ${new Date(sim).toISOString()} `;
      write(`${new Date(time).toISOString()} ${simulated}${name.padEnd(5)} [${where}] ${msg}\n`);
    },
  };
}

interface LogBookOptions {
  /** lowest level that is printed; the buffer keeps every level from `info`, and with `debug` also that level */
  readonly level?: LogLevel;
  readonly format?: 'text' | 'json';
  /** writes a printed line; default: to standard error */
  readonly write?: (line: string) => void;
  readonly clock?: WallClock;
  readonly later?: Later;
}

/**
 * Logs that have the same line (module, level, device, text) at most ten times in any second, then one with a count. A
 * printed line begins with its wall time, followed by its simulated time (`sim`).
 */
export function createLogBook(options: LogBookOptions = {}): LogBook {
  return new LogBook(options);
}

/** The logs of one process: a bounded buffer beside one pino stream. */
export class LogBook {
  readonly #clock: WallClock;
  readonly #root: PinoLogger;
  #buffer = new LogBuffer();
  /** true: the entries of an earlier process stand before those of this one */
  #hasEarlier = false;
  readonly #listeners = new Set<(entry: LogEntry) => void>();
  readonly #repeats: RepeatLimit<Line>;
  #timeline: LogTimeline | null = null;
  #format: 'text' | 'json';
  #nextId = 1;

  constructor({ level = 'info', format = 'text', clock = systemClock, later = callLater, write }: LogBookOptions) {
    const print = write ?? ((line: string) => process.stderr.write(line));
    const asText = textStream(print);
    const stream = {
      write: (line: string) => {
        if (this.#format === 'json') print(line);
        else asText.write(line);
      },
    };
    const timestamp = () => `,"time":${clock.nowMs()}`;
    this.#clock = clock;
    this.#format = format;
    this.#root = pino({ level: pinoLevel[level], base: null, timestamp }, stream);
    this.#repeats = new RepeatLimit<Line>({
      monotonicMs: () => clock.monotonicMs(),
      later,
      keyOf: (line) => `${line.module} ${line.level} ${line.deviceIndex ?? ''} ${line.message}`,
      report: (line, times) => {
        const count = ` ... repeated ${times} more ${times === 1 ? 'time' : 'times'}`;
        this.#write({ ...line, message: `${cutTo(maxMessageBytes - count.length, line.message)}${count}` });
      },
    });
  }

  /** modules with entries */
  get modules(): readonly ModuleName[] {
    return this.#buffer.modules;
  }

  /** entries dropped from the buffer */
  get dropped(): number {
    return this.#buffer.dropped;
  }

  /** Changes the lowest printed level and the format of the lines from now on. */
  print({ level, format }: { readonly level: LogLevel; readonly format: 'text' | 'json' }): void {
    this.#root.level = pinoLevel[level];
    this.#format = format;
  }

  logger(module: ModuleName): Logger {
    const root = this.#root;
    return {
      get keepsDebug() {
        return root.level === 'debug';
      },
      // debug lines can be as frequent as frames: while they are off, they must cost nothing
      debug: (text, device, at) => {
        if (root.level === 'debug') this.#take(module, 'debug', text, device, at);
      },
      info: (text, device, at) => {
        this.#take(module, 'info', text, device, at);
      },
      warning: (text, device, at) => {
        this.#take(module, 'warning', text, device, at);
      },
      error: (text, device, printedOnly) => {
        this.#take(module, 'error', text, device, undefined, printedOnly);
      },
    };
  }

  /** Adds the simulated time of this clock to lines from now on. */
  follow(timeline: LogTimeline): void {
    this.#timeline = timeline;
  }

  /** State that a restart keeps: the numbers of entries go on above those of the earlier process. */
  kept(): Kept {
    return keptRecord(
      () => ({ nextId: idsTogether * Math.ceil((this.#nextId + idsAhead) / idsTogether) + 1 }),
      ({ nextId }) => {
        this.#nextId = Math.max(this.#nextId, keptCount(nextId, 'id of the next line'));
      },
    );
  }

  /**
   * Puts the entries of an earlier process before those of this one, which get higher numbers: nobody has seen them
   * yet. Of several simulators in one process the first one does it, since the log goes on from one to the next.
   */
  precede(earlier: readonly LogEntry[]): void {
    if (this.#hasEarlier) return;
    this.#hasEarlier = true;
    if (earlier.length === 0) return;
    const present = this.#buffer.list();
    this.#buffer = new LogBuffer(this.#buffer.dropped);
    for (const entry of earlier) this.#buffer.push(entry);
    this.#nextId = Math.max(this.#nextId, (earlier.at(-1)?.id ?? 0) + 1);
    for (const entry of present) this.#buffer.push({ ...entry, id: this.#nextId++ });
  }

  /** Calls a listener with each entry from here on. @returns function that unsubscribes */
  onEntry(listener: (entry: LogEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** oldest first */
  entries(filter?: LogFilter): readonly LogEntry[] {
    return this.#buffer.list(filter);
  }

  /** Writes the counts of repeated lines suppressed so far. */
  flush(): void {
    this.#repeats.flush();
  }

  #take(
    module: ModuleName,
    level: LogLevel,
    text: string,
    device: number | undefined,
    at: SimTime | undefined,
    printedOnly?: string,
  ): void {
    const line: Line = { level, module, deviceIndex: device ?? null, message: printable(text) };
    if (this.#repeats.admits(line)) this.#write(line, at, printedOnly);
  }

  #write(line: Line, at?: SimTime, printedOnly?: string): void {
    const simMs = this.#simMs(at);
    const entry = {
      id: this.#nextId++,
      timeMs: this.#clock.nowMs(),
      simMs,
      ...line,
      message: shortenPaths(line.message),
    };
    this.#buffer.push(entry);
    for (const listener of this.#listeners) listener(entry);
    const { module, deviceIndex, message } = line;
    const printed =
      printedOnly === undefined ? message : cutTo(maxMessageBytes, `${message}: ${printable(printedOnly)}`);
    const members = {
      ...(simMs !== null && { sim: simMs }),
      module,
      ...(deviceIndex !== null && { device: deviceIndex }),
    };
    this.#root[pinoLevel[line.level]](members, printed);
  }

  #simMs(at?: SimTime): number | null {
    const timeline = this.#timeline;
    return timeline === null ? null : Math.floor(timeline.dateMs(at ?? timeline.acting()));
  }
}

/**
 * Numbers that are kept ahead of the present one, by thousands: a process that ends without warning loses the last
 * saves, and no number is used twice.
 */
const idsAhead = 10_000;
const idsTogether = 1000;

/** A logger that keeps nothing, for tests and tools. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warning: () => undefined,
  error: () => undefined,
};
