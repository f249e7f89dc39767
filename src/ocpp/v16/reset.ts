/** Reset (5.14). */
import { createRestarts } from '../station/restarts.ts';
import type { TransactionQueue } from '../rpc/model.ts';
import type { Handler, Part, StationParts, Transactions } from './parts.ts';

export interface ResetOptions extends Pick<StationParts, 'device' | 'later' | 'log' | 'keys' | 'connection'> {
  readonly transactions: Pick<Transactions, 'stopAll'>;
  readonly queue: Pick<TransactionQueue, 'settled'>;
}

const endings = {
  Soft: { reason: 'SoftReset', waits: true },
  Hard: { reason: 'HardReset', waits: false },
} as const;

export function createReset({ keys, transactions, ...options }: ResetOptions): Part & {
  readonly handlers: { readonly Reset: Handler<'Reset'> };
  stop(): void;
} {
  const { device } = options;
  const restarts = createRestarts({ ...options, retries: () => keys.integer('ResetRetries') });
  return {
    handlers: {
      Reset: ({ type }, after) => {
        // a device that is off cannot be reset; a reset under way is not begun again
        if (device.dark) return { status: 'Rejected' };
        const { reason, waits } = endings[type];
        after(() => {
          restarts.begin({
            stopAll: () => {
              transactions.stopAll(reason);
            },
            waits,
            text: `Reset ${type} of the central system`,
            bootReason: 'RemoteReset',
          });
        });
        return { status: 'Accepted' };
      },
    },
    stop: restarts.stop,
  };
}
