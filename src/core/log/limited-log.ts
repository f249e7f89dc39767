/** Limits of log lines that clients and peers can cause at will. */
import type { SimTime, WallClock } from '../time/clock.ts';
import { callLater } from '../time/timers.ts';
import { RepeatLimit } from './log-repeats.ts';
import type { Logger, LogLevel } from './log.ts';

/**
 * Limits lines that a client can cause at will and that differ by a name or an address: at most ten of each level in
 * any second, then one line with the count of the rest. Debug lines are not limited: they exist only when requested.
 * The text of a line at `info` or `warning` may be a function, which is called only for a line that is written.
 */
export class LimitedLog implements Logger {
  readonly #logger: Logger;
  readonly #repeats: RepeatLimit<Exclude<LogLevel, 'debug'>>;

  /** @param about subject of the lines, in the plural, for the count @param lines per level and second; default 10 */
  constructor(logger: Logger, clock: WallClock, about: string, later = callLater, lines?: number) {
    this.#logger = logger;
    this.#repeats = new RepeatLimit({
      monotonicMs: () => clock.monotonicMs(),
      later,
      keyOf: (level) => level,
      report(level, times) {
        logger[level](suppressedLines(times, about));
      },
      ...(lines !== undefined && { lines }),
    });
  }

  get keepsDebug(): boolean {
    return this.#logger.keepsDebug === true;
  }

  debug(message: string, deviceIndex?: number, at?: SimTime): void {
    this.#logger.debug(message, deviceIndex, at);
  }

  info(message: string | (() => string), deviceIndex?: number, at?: SimTime): void {
    if (!this.#repeats.admits('info')) return;
    this.#logger.info(typeof message === 'string' ? message : message(), deviceIndex, at);
  }

  warning(message: string | (() => string), deviceIndex?: number, at?: SimTime): void {
    if (!this.#repeats.admits('warning')) return;
    this.#logger.warning(typeof message === 'string' ? message : message(), deviceIndex, at);
  }

  error(message: string, deviceIndex?: number, printedOnly?: string): void {
    if (this.#repeats.admits('error')) this.#logger.error(message, deviceIndex, printedOnly);
  }

  /** Writes the counts of lines left out so far. */
  flush(): void {
    this.#repeats.flush();
  }
}

/** Text with the count of suppressed lines. @param about their subject, in the plural */
function suppressedLines(times: number, about: string): string {
  return times === 1 ? `1 more line about ${about} was left out` : `${times} more lines about ${about} were left out`;
}

/** Lines of all peers together in any second: those of five peers at their limits. */
const linesOfAll = 50;

type Level = 'info' | 'warning';

/**
 * Limits lines that peers can cause at will: at most ten of each peer and level in any second, so that a flood of one
 * does not hide the lines of another, and at most fifty of all peers, however often a peer comes back under a new
 * address. The counts of the lines left out name the peer.
 */
export class PeerLimitedLog {
  readonly #totalLimit: LimitedLog;
  readonly #peers: RepeatLimit<{ readonly level: Level; readonly peer: string }>;

  /** @param about subject of the lines, in the plural, for the counts */
  constructor(logger: Logger, clock: WallClock, about: string, later = callLater) {
    this.#totalLimit = new LimitedLog(logger, clock, about, later, linesOfAll);
    this.#peers = new RepeatLimit({
      monotonicMs: () => clock.monotonicMs(),
      later,
      keyOf: ({ level, peer }) => `${level} ${peer}`,
      report: ({ level, peer }, times) => {
        this.#totalLimit[level](`${peer}: ${suppressedLines(times, about)}`);
      },
    });
  }

  /** @param line called only when it is written */
  info(peer: string, line: () => string, deviceIndex?: number): void {
    this.#write('info', peer, line, deviceIndex);
  }

  /** @param line called only when it is written */
  warning(peer: string, line: () => string, deviceIndex?: number): void {
    this.#write('warning', peer, line, deviceIndex);
  }

  /** Writes the counts of lines left out so far. */
  flush(): void {
    this.#peers.flush();
    this.#totalLimit.flush();
  }

  #write(level: Level, peer: string, line: () => string, deviceIndex?: number): void {
    if (this.#peers.admits({ level, peer })) this.#totalLimit[level](line, deviceIndex);
  }
}

/** Maximum number of messages that `onceEach` remembers; then it passes no further message on. */
const maxRemembered = 1000;

/** Passes each message on once, for causes that repeat with each reading. */
export function onceEach(log: (message: string) => void): (message: string) => void {
  const seen = new Set<string>();
  return (message) => {
    if (seen.has(message) || seen.size >= maxRemembered) return;
    seen.add(message);
    log(message);
  };
}
