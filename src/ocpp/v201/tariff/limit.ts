/** The maximum cost of a transaction (2.1, E16): energy stops where it is reached. */
import type { JsonValue } from '../../../core/store.ts';
import { errorText } from '../../../core/errors.ts';
import { createSaver } from '../../station/saver.ts';
import type { StationParts, Transactions } from '../parts.ts';

interface Limit {
  readonly transactionId: string;
  readonly evseId: number;
  readonly maxCost: number;
  readonly reached: boolean;
}

export interface CostLimits {
  /** The central system has set the maximum cost of a transaction, with taxes. */
  set(transactionId: string, evseId: number, maxCost: number): void;
  /** Compares the cost of a transaction, with taxes. */
  check(transactionId: string, cost: number): void;
  forget(transactionId: string): void;
  load(): Promise<void>;
}

export function createCostLimits(parts: StationParts, transactions: Pick<Transactions, 'update'>): CostLimits {
  const { device, store, log } = parts;
  const limits = new Map<string, Limit>();
  const saver = createSaver(store('cost-limits'), () => [...limits.values()] as unknown as readonly JsonValue[], log);
  const put = (limit: Limit) => {
    limits.set(limit.transactionId, limit);
    saver.save();
  };
  /** @param energyWh from now on; null: the energy has no limit */
  function limitEnergy({ evseId }: Limit, energyWh: 0 | null): boolean {
    try {
      device.command({ kind: 'evse.energy_limit', connectorId: evseId, energyWh });
      return true;
    } catch (error) {
      log.warning(`the energy at EVSE ${evseId} keeps its limit: ${errorText(error)}`, device.deviceIndex);
      return false;
    }
  }
  return {
    set(transactionId, evseId, maxCost) {
      const old = limits.get(transactionId);
      const limit = { transactionId, evseId, maxCost, reached: false };
      // a higher one lets the energy flow again, until `check` finds that the cost has reached that too
      if (old?.reached === true && maxCost > old.maxCost) limitEnergy(limit, null);
      put(old?.reached === true && maxCost <= old.maxCost ? { ...limit, reached: true } : limit);
    },
    check(transactionId, cost) {
      const limit = limits.get(transactionId);
      if (limit === undefined || limit.reached || cost < limit.maxCost) return;
      if (!limitEnergy(limit, 0)) return;
      put({ ...limit, reached: true });
      transactions.update(limit.evseId, 'CostLimitReached');
    },
    forget(transactionId) {
      if (limits.delete(transactionId)) saver.save();
    },
    async load() {
      for (const limit of (await store('cost-limits').read()) as unknown as readonly Limit[])
        limits.set(limit.transactionId, limit);
    },
  };
}
