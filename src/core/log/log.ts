import { pino } from 'pino';
import type { Logger as PinoLogger, DestinationStream } from 'pino';
import type { ModuleName } from '../adapter.ts';
import { systemClock } from '../time/clock.ts';
import type { WallClock } from '../time/clock.ts';
import { LogBuffer, logLevels } from './log-buffer.ts';
import type { LogEntry, LogFilter, LogLevel } from './log-buffer.ts';
import { callLater } from '../time/timers.ts';
import type { Later } from '../time/timers.ts';
import { RepeatLimit } from './log-repeats.ts';

export { logCapacity, logLevels } from './log-buffer.ts';
export type { LogEntry, LogFilter, LogLevel } from './log-buffer.ts';

/** Logging for one module. `deviceIndex` names the device that a line is about. */
export interface Logger {
  debug(message: string, deviceIndex?: number): void;
  info(message: string, deviceIndex?: number): void;
  warning(message: string, deviceIndex?: number): void;
  /** @param printedOnly a stack: printed after the message, but not kept in the buffer, which clients can read */
  error(message: string, deviceIndex?: number, printedOnly?: string): void;
}

/** The logs of one process: a bounded buffer beside one pino stream. */
export interface LogBook {
  logger(module: ModuleName): Logger;
  /** oldest first */
  entries(filter?: LogFilter): readonly LogEntry[];
  /** modules with entries */
  readonly modules: readonly ModuleName[];
  /** entries dropped from the buffer */
  readonly dropped: number;
  /** Writes the counts of repeated lines suppressed so far. */
  flush(): void;
}

type Line = Omit<LogEntry, 'id' | 'timeMs'>;

const maxMessageBytes = 4096;
const pinoLevel = { debug: 'debug', info: 'info', warning: 'warn', error: 'error' } as const;
// control characters, halves of characters, line and paragraph separators, and marks that turn the direction of writing
const unprintable = '\\p{Cc}\\p{Cs}\\u061c\\u200e\\u200f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069';
const hasUnprintable = new RegExp(`[${unprintable}]`, 'u');
// also the backslash: one in the text could pass for an escape
const escaped = new RegExp(`[${unprintable}\\\\]`, 'gu');

function escapeOf(character: string): string {
  if (character === '\\') return '\\\\';
  const code = character.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** `text` of at most so many bytes of UTF-8, with an ellipsis where something is missing. */
function cutTo(maxBytes: number, text: string): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text);
  let end = maxBytes - Buffer.byteLength('…');
  // never in the middle of a character
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${bytes.toString('utf8', 0, end)}…`;
}

/** Whether a text has no invisible characters and none that break the line or turn its direction. */
export function isPrintable(text: string): boolean {
  return !hasUnprintable.test(text);
}

/** One line without control characters, cut at 4 KiB: text from outside must not forge log lines. */
export function printable(text: string): string {
  // one character more than fits, so that the ellipsis appears
  return cutTo(maxMessageBytes, text.slice(0, maxMessageBytes + 1).replace(escaped, escapeOf));
}

function textStream(write: (line: string) => void): DestinationStream {
  return {
    write(line: string) {
      const { time, level, module, device, msg } = JSON.parse(line) as {
        time: number;
        level: number;
        module: string;
        device?: number;
        msg: string;
      };
      const name = level >= 50 ? 'ERROR' : level >= 40 ? 'WARN' : level >= 30 ? 'INFO' : 'DEBUG';
      const where = device === undefined ? module : `${module} ${device}`;
      write(`${new Date(time).toISOString()} ${name.padEnd(5)} [${where}] ${msg}\n`);
    },
  };
}

/**
 * Writes the same line (module, level, device, text) at most ten times in any second, then one with a count.
 * @param options.level lowest level that is printed; the buffer keeps every level from `info` (and `debug` when asked
 *   for)
 * @param options.write where lines go; default standard error
 */
export function createLogBook(
  options: {
    level?: LogLevel;
    format?: 'text' | 'json';
    write?: (line: string) => void;
    clock?: WallClock;
    later?: Later;
  } = {},
): LogBook {
  const { level = 'info', format = 'text', clock = systemClock, later = callLater } = options;
  const write =
    options.write ??
    ((line: string) => {
      process.stderr.write(line);
    });
  const threshold = logLevels.indexOf(level);
  const stream = format === 'json' ? { write } : textStream(write);
  const timestamp = () => `,"time":${clock.nowMs()}`;
  const root: PinoLogger = pino({ level: pinoLevel[level], base: null, timestamp }, stream);
  const buffer = new LogBuffer();
  let nextId = 1;

  function writeLine(line: Line, printedOnly?: string): void {
    buffer.push({ id: nextId++, timeMs: clock.nowMs(), ...line });
    const { module, deviceIndex, message } = line;
    const printed =
      printedOnly === undefined ? message : cutTo(maxMessageBytes, `${message}: ${printable(printedOnly)}`);
    root[pinoLevel[line.level]](deviceIndex === null ? { module } : { module, device: deviceIndex }, printed);
  }

  const repeats = new RepeatLimit<Line>({
    monotonicMs: () => clock.monotonicMs(),
    later,
    keyOf: (line) => `${line.module} ${line.level} ${line.deviceIndex ?? ''} ${line.message}`,
    report(line, times) {
      const count = ` ... repeated ${times} more ${times === 1 ? 'time' : 'times'}`;
      writeLine({ ...line, message: `${cutTo(maxMessageBytes - count.length, line.message)}${count}` });
    },
  });

  function logger(module: ModuleName): Logger {
    const log = (at: LogLevel) => (text: string, deviceIndex?: number, printedOnly?: string) => {
      // debug lines are per frame: they must cost nothing unless asked for
      if (at === 'debug' && threshold > 0) return;
      const line: Line = { level: at, module, deviceIndex: deviceIndex ?? null, message: printable(text) };
      if (repeats.admits(line)) writeLine(line, printedOnly);
    };
    return { debug: log('debug'), info: log('info'), warning: log('warning'), error: log('error') };
  }

  return {
    logger,
    entries: (filter) => buffer.list(filter),
    get modules() {
      return buffer.modules;
    },
    get dropped() {
      return buffer.dropped;
    },
    flush() {
      repeats.flush();
    },
  };
}

/** A logger that keeps nothing, for tests and tools. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warning: () => undefined,
  error: () => undefined,
};
