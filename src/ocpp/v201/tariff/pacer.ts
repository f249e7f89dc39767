/** Reads the meter of priced transactions often enough for their conditions, and tells running costs (I12.FR.02). */
import type { StationParts, Transactions } from '../parts.ts';
import { costDetails } from './details.ts';
import type { CostMetering } from './metering.ts';

export interface PacerDeps {
  readonly metering: CostMetering;
  readonly transactions: Pick<Transactions, 'update' | 'byId'>;
  /** Whether the station calculates costs at present. */
  readonly isLocal: () => boolean;
  /** The meter of a transaction was read. */
  readonly read: (transactionId: string) => void;
}

export interface Pacer {
  start(): void;
  /** A transaction may be priced now. */
  wake(): void;
  stop(): void;
}

export function createPacer(parts: StationParts, { metering, transactions, isLocal, read }: PacerDeps): Pacer {
  const { device, variables, later, wall } = parts;
  /** monotonic ms of the next running cost, by transaction */
  const due = new Map<string, number>();
  let cancel: (() => void) | null = null;
  let endListening: (() => void) | null = null;
  let started = false;
  const intervalMs = (of: 'Tariff' | 'Cost') => variables.integer('TariffCostCtrlr', `Interval[${of}]`) * 1000;
  const tellsCost = () => variables.boolean('TariffCostCtrlr', 'Enabled[RunningCost]');

  function tell(transactionId: string): void {
    const now = metering.get(transactionId);
    const atMs = due.get(transactionId) ?? wall.monotonicMs() + intervalMs('Cost');
    due.set(transactionId, atMs);
    if (now === null || atMs > wall.monotonicMs()) return;
    due.set(transactionId, wall.monotonicMs() + intervalMs('Cost'));
    transactions.update(now.evseId, 'RunningCost', {
      costDetails: costDetails(now.cost, now.tariff, { periods: false }),
    });
  }

  function round(): void {
    cancel = null;
    for (const { transactionId } of metering.running) {
      if (transactions.byId(transactionId) === null) metering.end(transactionId);
      if (!isLocal()) continue;
      metering.step(transactionId);
      read(transactionId);
      if (tellsCost()) tell(transactionId);
    }
    for (const transactionId of due.keys()) if (metering.get(transactionId) === null) due.delete(transactionId);
    wake();
  }

  function wake(): void {
    if (!started || cancel !== null || metering.running.length === 0) return;
    const waits = [intervalMs('Tariff'), ...(tellsCost() ? [intervalMs('Cost')] : [])];
    if (tellsCost())
      for (const { transactionId } of metering.running)
        if (!due.has(transactionId)) due.set(transactionId, wall.monotonicMs() + intervalMs('Cost'));
    cancel = later(Math.min(...waits), round);
  }

  return {
    start() {
      if (parts.version !== 'ocpp2.1') return;
      started = true;
      endListening = device.onTransition((transition) => {
        if (transition.connectorId === 0 || !('phase' in transition)) return;
        const found = metering.running.find(({ evseId }) => evseId === transition.connectorId);
        if (found !== undefined && isLocal()) metering.step(found.transactionId, transition);
      });
      wake();
    },
    wake,
    stop() {
      started = false;
      endListening?.();
      cancel?.();
      cancel = null;
    },
  };
}
