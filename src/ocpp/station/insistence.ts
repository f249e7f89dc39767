/** Commands that a device may refuse for a time, for example under local control. */
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';

export interface Insistence {
  /**
   * Calls `act` now and each second until it does not throw; replaces an earlier act with this key.
   * @param refused text of the log before the first reason
   */
  insist(key: string, refused: string, act: () => void): void;
  /** Ends the attempts with this key. */
  end(key: string): void;
  stop(): void;
}

/** Time between two attempts, on the clock of the central system. */
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
