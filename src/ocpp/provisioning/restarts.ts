/**
 * Restarts of the station: by a reset of the central system (1.6 5.14, 2.x B11 and B12), and those that the device brings
 * about by itself. The register device stays; the client restarts.
 */
import { errorText } from '../../core/errors.ts';
import type { TransactionQueue } from '../rpc/model.ts';
import type { Connection } from '../station/connection.ts';
import type { StackOptions } from '../station/stack.ts';

/** A connection that calls back before it closes for a restart of the station. */
export function withRestartNotice(
  connection: Connection,
  restarted: (reason: string, bootReason: string | undefined) => void,
): Connection {
  return {
    get securityProfile() {
      return connection.securityProfile;
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
  /** further attempts to end the transactions */
  readonly retries: () => number;
}

/** How a restart goes on. */
export interface RestartPlan {
  /** Ends all transactions. @throws SimError the first refusal of the device */
  readonly stopAll: () => void;
  /** the connection ends after the answers to the messages of the transactions */
  readonly waits: boolean;
  readonly text: string;
  /** of BootNotification in 2.x */
  readonly bootReason: string;
}

interface Restarts {
  /** a restart is under way */
  readonly isBusy: boolean;
  /** Without an effect while one is under way. */
  begin(plan: RestartPlan): void;
  readonly stop: () => void;
}

/** A soft reset waits at most this long for the answers to StopTransaction; the rest of the queue survives it. */
const maxSettleMs = 10_000;
/** between attempts to end the transactions */
const retryMs = 1_000;

export function createRestarts(options: RestartOptions): Restarts {
  const { device, later, log, connection, retries, queue } = options;
  let cancel: (() => void) | null = null;
  /** the reset under way */
  let current: symbol | null = null;

  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      cancel = later(ms, resolve);
    });
  const giveUp = (): void => {
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
  const restart = async ({ stopAll, waits, text, bootReason }: RestartPlan, reset: symbol): Promise<void> => {
    await endTransactions(stopAll, reset);
    if (waits && current === reset) await Promise.race([queue.settled(), wait(maxSettleMs)]);
    if (current !== reset) return;
    giveUp();
    connection.restart(text, bootReason);
  };
  const end = device.onTransition(({ event }) => {
    if (event !== 'power_down' && event !== 'restart') return;
    // a reset under way has had its effect; a second restart would cut the next connection
    giveUp();
    if (event === 'power_down') connection.restart('the device has switched itself off', 'PowerUp');
    else if (!device.dark) connection.restart('the device was reset', 'LocalReset');
  });
  return {
    get isBusy() {
      return current !== null;
    },
    begin(plan) {
      if (current !== null) return;
      const reset = Symbol(plan.text);
      current = reset;
      void restart(plan, reset);
    },
    stop: () => {
      giveUp();
      end();
    },
  };
}
