/** Reset (5.14), and restarts that the device brings about by itself. The register device stays; the client restarts. */
import { errorText } from '../../core/errors.ts';
import type { TransactionQueue } from '../rpc/model.ts';
import type { Handler, Part, StationParts, Transactions } from './parts.ts';

export interface ResetOptions extends Pick<StationParts, 'device' | 'later' | 'log' | 'keys' | 'connection'> {
  readonly transactions: Pick<Transactions, 'stopAll'>;
  readonly queue: Pick<TransactionQueue, 'settled'>;
}

/** A soft reset waits at most this long for the answers to StopTransaction; the rest of the queue survives it. */
const maxSettleMs = 10_000;
/** between attempts to end the transactions */
const retryMs = 1_000;

const endings = {
  Soft: { reason: 'SoftReset', waits: true },
  Hard: { reason: 'HardReset', waits: false },
} as const;

export function createReset(options: ResetOptions): Part & {
  readonly handlers: { readonly Reset: Handler<'Reset'> };
  stop(): void;
} {
  const { device, later, log, keys, connection, transactions, queue } = options;
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
  const endTransactions = async (reason: string, reset: symbol): Promise<void> => {
    for (let attempt = 0; current === reset; attempt++) {
      try {
        transactions.stopAll(reason);
        return;
      } catch (error) {
        log.warning(`transactions do not end for a reset: ${errorText(error)}`, device.deviceIndex);
        if (attempt >= keys.integer('ResetRetries')) return;
      }
      await wait(retryMs);
    }
  };
  const restart = async (type: keyof typeof endings, reset: symbol): Promise<void> => {
    const { reason, waits } = endings[type];
    await endTransactions(reason, reset);
    if (waits && current === reset) await Promise.race([queue.settled(), wait(maxSettleMs)]);
    if (current !== reset) return;
    giveUp();
    connection.restart(`Reset ${type} of the central system`);
  };
  const end = device.onTransition(({ event }) => {
    if (event !== 'power_down' && event !== 'restart') return;
    // what a reset under way was to bring about has come about; a second restart would cut the next connection
    giveUp();
    if (event === 'power_down') connection.restart('the device has switched itself off');
    else if (!device.dark) connection.restart('the device was reset');
  });
  return {
    handlers: {
      Reset: ({ type }, after) => {
        // a device that is off cannot be reset; a reset under way is not begun again
        if (device.dark) return { status: 'Rejected' };
        if (current === null) {
          const reset = Symbol(type);
          current = reset;
          after(() => void restart(type, reset));
        }
        return { status: 'Accepted' };
      },
    },
    stop: () => {
      giveUp();
      end();
    },
  };
}
