/** Acts at a device that may refuse them for now: under local control it takes no command. */
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';

export interface Insistence {
  /**
   * Acts, and again each second until the act throws nothing; in place of an earlier act with this key.
   * @param refused what the log says once, before the reason
   */
  insist(key: string, refused: string, act: () => void): void;
  /** Ends the attempts with this key. */
  end(key: string): void;
  stop(): void;
}

/** Between two attempts, on the clock of the central system. */
const retryMs = 1000;

export function createInsistence(
  clock: Pick<RemoteClock, 'nowMs' | 'at'>,
  log: Pick<Logger, 'warning'>,
  deviceIndex: number,
): Insistence {
  /** ends the wait for the next attempt */
  const waiting = new Map<string, () => void>();
  const end = (key: string): void => {
    waiting.get(key)?.();
    waiting.delete(key);
  };
  const attempt = (key: string, refused: string, act: () => void, again: boolean): void => {
    waiting.delete(key);
    try {
      act();
    } catch (error) {
      if (!again) log.warning(`${refused}: ${errorText(error)}`, deviceIndex);
      const endWait = clock.at(clock.nowMs() + retryMs, () => {
        attempt(key, refused, act, true);
      });
      waiting.set(key, endWait);
    }
  };
  return {
    insist(key, refused, act) {
      end(key);
      attempt(key, refused, act, false);
    },
    end,
    stop() {
      for (const endWait of waiting.values()) endWait();
      waiting.clear();
    },
  };
}
