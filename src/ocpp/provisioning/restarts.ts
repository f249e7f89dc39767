/**
 * Restarts of the station: resets by the central system (1.6 5.14, 2.x B11 and B12), and restarts of the device. The
 * register device stays; the client restarts.
 */
import { errorText } from '../../core/errors.ts';
import type { TransactionQueue } from '../rpc/model.ts';
import type { Connection } from '../station/connection.ts';
import type { StackOptions } from '../station/stack.ts';

/** Wraps a connection: `restarted` is called before it closes for a restart of the station. */
export function withRestartNotice(
  connection: Connection,
  restarted: (reason: string, bootReason: string | undefined) => void,
): Connection {
  return {
    get securityProfile() {
      return connection.securityProfile;
    },
    get password() {
      return connection.password;
    },
    reconnect: (reason) => {
      connection.reconnect(reason);
    },
    restart: (reason, bootReason) => {
      restarted(reason, bootReason);
      connection.restart(reason, bootReason);
    },
    setPassword: (password) => {
      connection.setPassword(password);
    },
    setSecurityProfile: (profile) => {
      connection.setSecurityProfile(profile);
    },
    setCertificates: (pem) => {
      connection.setCertificates(pem);
    },
    setPingInterval: (seconds) => {
      connection.setPingInterval(seconds);
    },
  };
}

interface RestartOptions extends Pick<StackOptions, 'device' | 'later' | 'log' | 'connection'> {
  readonly queue: Pick<TransactionQueue, 'settled'>;
  /** number of further attempts to end the transactions */
  readonly retries: () => number;
}

/** Steps of a restart, and texts about it. */
export interface RestartPlan {
  /** Ends all transactions. @throws SimError the first refusal of the device */
  readonly stopAll: () => void;
  /** true: the connection closes only after the answers to the last messages of the transactions */
  readonly waitsForAnswers: boolean;
  /** why the connection closes, for the log */
  readonly reason: string;
  /** reason of the next BootNotification in 2.x */
  readonly bootReason: string;
}

interface Restarts {
  /** true: a restart has begun and its connection has not closed yet */
  readonly isBusy: boolean;
  /** Begins a restart; no effect while `isBusy`. */
  begin(plan: RestartPlan): void;
  readonly stop: () => void;
}

/**
 * Maximum wait for the answers to the last messages of the transactions; the rest of the queue survives the restart.
 */
const maxAnswerWaitMs = 10_000;
/** Wait between attempts to end the transactions. */
const retryMs = 1_000;

export function createRestarts(options: RestartOptions): Restarts {
  const { device, later, log, connection, retries, queue } = options;
  let cancel: (() => void) | null = null;
  /** the restart that has begun; null: none */
  let current: symbol | null = null;

  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      cancel = later(ms, resolve);
    });
  const finish = (): void => {
    current = null;
    cancel?.();
  };
  const endTransactions = async (stopAll: () => void, reset: symbol): Promise<void> => {
    for (let attempt = 0; current === reset; attempt++) {
      try {
        stopAll();
        return;
      } catch (error) {
        log.warning(`transactions do not end for a reset: ${errorText(error)}`, device.deviceIndex);
        if (attempt >= retries()) return;
      }
      await wait(retryMs);
    }
  };
  const restart = async (
    { stopAll, waitsForAnswers, reason, bootReason }: RestartPlan,
    reset: symbol,
  ): Promise<void> => {
    await endTransactions(stopAll, reset);
    if (waitsForAnswers && current === reset) await Promise.race([queue.settled(), wait(maxAnswerWaitMs)]);
    if (current !== reset) return;
    finish();
    connection.restart(reason, bootReason);
  };
  const unsubscribe = device.onTransition(({ event }) => {
    if (event !== 'power_down' && event !== 'restart') return;
    // a reset that has begun has had its effect; a second restart would close the next connection
    finish();
    if (event === 'power_down') connection.restart('the device has switched itself off', 'PowerUp');
    else if (!device.dark) connection.restart('the device was reset', 'LocalReset');
  });
  return {
    get isBusy() {
      return current !== null;
    },
    begin(plan) {
      if (current !== null) return;
      const reset = Symbol(plan.reason);
      current = reset;
      void restart(plan, reset);
    },
    stop: () => {
      finish();
      unsubscribe();
    },
  };
}
