import { pino } from 'pino';
import type { Logger as PinoLogger, DestinationStream } from 'pino';
import type { ModuleName } from './adapter.ts';

export const logLevels = ['debug', 'info', 'warning', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogEntry {
  readonly id: number;
  /** wall time, ms since the epoch */
  readonly timeMs: number;
  readonly level: LogLevel;
  readonly module: ModuleName;
  readonly deviceIndex: number | null;
  readonly message: string;
}

/** Logging for one module. `deviceIndex` names the device that a line is about. */
export interface Logger {
  debug(message: string, deviceIndex?: number): void;
  info(message: string, deviceIndex?: number): void;
  warning(message: string, deviceIndex?: number): void;
  error(message: string, deviceIndex?: number): void;
}

/** The logs of one process: a ring per module behind one pino stream. */
export interface LogBook {
  logger(module: ModuleName): Logger;
  /** oldest first, merged over the modules asked for */
  entries(filter?: { modules?: readonly ModuleName[]; levels?: readonly LogLevel[] }): readonly LogEntry[];
  /** entries that fell out of a ring */
  readonly dropped: number;
}

const ringSize = 5000;
const maxMessageLength = 4096;
const pinoLevel = { debug: 'debug', info: 'info', warning: 'warn', error: 'error' } as const;
const control = /[\u0000-\u001f\u007f-\u009f]/g;

/** One line without control characters, cut at 4 KiB: text from outside must not forge log lines. */
export function printable(text: string): string {
  const cut = text.length > maxMessageLength ? `${text.slice(0, maxMessageLength - 1)}…` : text;
  return cut.replace(control, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

class Ring {
  readonly #entries: LogEntry[] = [];
  #start = 0;
  dropped = 0;

  push(entry: LogEntry): void {
    if (this.#entries.length < ringSize) {
      this.#entries.push(entry);
      return;
    }
    this.#entries[this.#start] = entry;
    this.#start = (this.#start + 1) % ringSize;
    this.dropped += 1;
  }

  list(): LogEntry[] {
    return [...this.#entries.slice(this.#start), ...this.#entries.slice(0, this.#start)];
  }
}

function textStream(write: (line: string) => void): DestinationStream {
  return {
    write(line: string) {
      const { time, level, module, device, msg } = JSON.parse(line) as
        { time: number; level: number; module: string; device?: number; msg: string };
      const name = level >= 50 ? 'ERROR' : level >= 40 ? 'WARN' : level >= 30 ? 'INFO' : 'DEBUG';
      const where = device === undefined ? module : `${module} ${device}`;
      write(`${new Date(time).toISOString()} ${name.padEnd(5)} [${where}] ${msg}\n`);
    },
  };
}

/**
 * @param options.level lowest level that is printed; the rings keep every level from `info` (and `debug` when asked for)
 * @param options.write where lines go; default standard error
 */
export function createLogBook(options: {
  level?: LogLevel;
  format?: 'text' | 'json';
  write?: (line: string) => void;
  nowMs?: () => number;
} = {}): LogBook {
  const { level = 'info', format = 'text', nowMs = Date.now } = options;
  const write = options.write ?? ((line: string) => { process.stderr.write(line); });
  const threshold = logLevels.indexOf(level);
  const stream = format === 'json' ? { write } : textStream(write);
  const timestamp = () => `,"time":${nowMs()}`;
  const root: PinoLogger = pino({ level: pinoLevel[level], base: null, timestamp }, stream);
  const rings = new Map<ModuleName, Ring>();
  let nextId = 1;

  function logger(module: ModuleName): Logger {
    const child = root.child({ module });
    const ring = rings.get(module) ?? new Ring();
    rings.set(module, ring);
    const log = (at: LogLevel) => (text: string, deviceIndex?: number) => {
      // debug lines are per frame: they must cost nothing unless asked for
      if (at === 'debug' && threshold > 0) return;
      const message = printable(text);
      ring.push({ id: nextId++, timeMs: nowMs(), level: at, module, deviceIndex: deviceIndex ?? null, message });
      if (deviceIndex === undefined) child[pinoLevel[at]](message);
      else child[pinoLevel[at]]({ device: deviceIndex }, message);
    };
    return { debug: log('debug'), info: log('info'), warning: log('warning'), error: log('error') };
  }

  return {
    logger,
    entries({ modules, levels } = {}) {
      return [...rings]
        .filter(([module]) => !modules || modules.includes(module))
        .flatMap(([, ring]) => ring.list())
        .filter((entry) => !levels || levels.includes(entry.level))
        .sort((a, b) => a.id - b.id);
    },
    get dropped() {
      return [...rings.values()].reduce((sum, ring) => sum + ring.dropped, 0);
    },
  };
}

/** A logger that keeps nothing, for tests and tools. */
export const silentLogger: Logger = {
  debug: () => undefined, info: () => undefined, warning: () => undefined, error: () => undefined,
};
