/** Priority charging of 2.1 (K21): a PriorityCharging profile replaces the others while a transaction has priority. */
import type { ChargingControl } from '../../charging/control.ts';
import { prevailing } from '../../charging/limits.ts';
import type { Handlers, StationParts, Transactions } from '../parts.ts';

export interface PriorityDeps {
  readonly parts: Pick<StationParts, 'calls'>;
  readonly control: Pick<ChargingControl, 'state' | 'nowMs' | 'refresh'>;
  readonly transactions: Pick<Transactions, 'byId'>;
}

export interface PriorityCharging {
  readonly handlers: Pick<Handlers, 'UsePriorityCharging'>;
  has(transactionId: string): boolean;
  /** A transaction has ended. */
  forget(transactionId: string): void;
  /** Ends the priority of transactions whose profile is gone or over. */
  readonly check: () => void;
}

export function createPriorityCharging({ parts, control, transactions }: PriorityDeps): PriorityCharging {
  const active = new Set<string>();
  const notify = (transactionId: string, activated: boolean): void => {
    void parts.calls.send('NotifyPriorityCharging', { transactionId, activated });
  };
  /** whether an EVSE would have a profile in force for a transaction with priority */
  const hasProfile = (evseId: number): boolean => {
    const { state, nowMs } = control;
    const preferred = state.transactions.map((each) => ({ ...each, priority: true }));
    return prevailing({ ...state, transactions: preferred }, evseId, 'priority', nowMs) !== null;
  };
  return {
    has: (transactionId) => active.has(transactionId),
    forget(transactionId) {
      active.delete(transactionId);
    },
    check() {
      for (const transactionId of active) {
        const transaction = transactions.byId(transactionId);
        if (transaction !== null && hasProfile(transaction.evseId)) continue;
        active.delete(transactionId);
        if (transaction !== null) notify(transactionId, false);
      }
    },
    handlers: {
      UsePriorityCharging: ({ transactionId, activate }, after) => {
        const transaction = transactions.byId(transactionId);
        if (transaction === null) return { status: 'Rejected', statusInfo: { reasonCode: 'TxNotFound' } };
        if (activate && !hasProfile(transaction.evseId)) return { status: 'NoProfile' };
        if (activate) active.add(transactionId);
        else active.delete(transactionId);
        control.refresh();
        after(() => {
          notify(transactionId, activate);
        });
        return { status: 'Accepted' };
      },
    },
  };
}
