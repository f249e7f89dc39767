/** Commands that a device may refuse for a time, for example under local control. */
import { errorText, SimError } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { Later } from '../../core/time/timers.ts';

export interface Insistence {
  /**
   * Calls `act` now and each second until it does not throw; replaces an earlier act with this key. An error of the
   * program itself, which would come again each second, ends the attempts.
   * @param refused text of the log before the first reason
   */
  insist(key: string, refused: string, act: () => void): void;
  /** Ends the attempts with this key. */
  end(key: string): void;
  stop(): void;
}

/** Time between two attempts, real ms. */
const retryMs = 1000;

/** False: a refusal that may end. */
function isFailure(error: unknown): boolean {
  return !(error instanceof SimError) || error.code === 'INTERNAL';
}

/** @param later timers on the wall clock: the central system may set its clock back, and the simulated one may stand still */
export function createInsistence(
  later: Later,
  log: Pick<Logger, 'warning' | 'error'>,
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
      if (isFailure(error)) {
        log.error(`${refused}, and this is not tried again: ${errorText(error)}`, deviceIndex);
        return;
      }
      if (!again) log.warning(`${refused}: ${errorText(error)}`, deviceIndex);
      const endWait = later(retryMs, () => {
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
