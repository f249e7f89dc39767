import type { WallClock } from '../time/clock.ts';
import { callLater } from '../time/timers.ts';
import { LimitedLog, leftOut } from './limited-log.ts';
import { RepeatLimit } from './log-repeats.ts';
import type { Logger } from './log.ts';

/** For all peers together: five peers at the limit of one have room. */
const linesOfAll = 50;

type Level = 'info' | 'warning';

/**
 * Limits lines that peers can cause at will: at most ten of each peer and level in any second, so that a flood of one
 * does not hide the lines of another, and at most fifty of all peers, however often a peer comes back under a new
 * address. The counts of the lines left out name the peer.
 */
export class PeerLimitedLog {
  readonly #all: LimitedLog;
  readonly #peers: RepeatLimit<{ readonly level: Level; readonly peer: string }>;

  /** @param about subject of the lines, in the plural, for the counts */
  constructor(logger: Logger, clock: WallClock, about: string, later = callLater) {
    this.#all = new LimitedLog(logger, clock, about, later, linesOfAll);
    this.#peers = new RepeatLimit({
      monotonicMs: () => clock.monotonicMs(),
      later,
      keyOf: ({ level, peer }) => `${level} ${peer}`,
      report: ({ level, peer }, times) => {
        this.#all[level](`${peer}: ${leftOut(times, about)}`);
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
    this.#all.flush();
  }

  #write(level: Level, peer: string, line: () => string, deviceIndex?: number): void {
    if (this.#peers.admits({ level, peer })) this.#all[level](line, deviceIndex);
  }
}
