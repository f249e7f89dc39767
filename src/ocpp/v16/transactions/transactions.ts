/**
 * Transactions: objects of the adapter that follow the sessions of the device. Each session gives one StartTransaction
 * and one StopTransaction through the queue, in any order of cuts and restarts.
 *
 * A transaction whose StartTransaction was given up after its last attempt has no id and gets none: the session goes on,
 * and its meter values and its stop are dropped instead of being sent with an id that is not theirs.
 */
import type { OcppTransactionEntry } from '../../../contract/ocpp.ts';
import type { Part, StationParts, Transactions } from '../parts.ts';
import { createSignal } from '../../station/stack.ts';
import { createLedger } from '../../transactions/ledger.ts';
import { adopt, endAsKnown, hear, leave, note, queueEvents, stop, stopAll } from './life.ts';
import { createInvalidTokens, pushValues, transactionEntry } from './state.ts';
import type { QueueEvents, TransactionRecord, TransactionsDeps, Work } from './state.ts';

export type { TransactionsDeps } from './state.ts';

export interface TransactionBook extends Transactions {
  /** what the queue of the station calls */
  readonly queueEvents: QueueEvents;
  /** As `stop` with reason Local, by a token that was presented. @throws SimError COMMAND_CONFLICT */
  stopByToken(connectorId: number, idTag: string): void;
  /** Ends all of them with reason Other: the station leaves. */
  leave(): void;
  /** newest first */
  entries(): readonly OcppTransactionEntry[];
  /** its `load` comes after that of the queue: it queues the stops of transactions that a restart has ended */
  readonly part: Part;
}

function createWork(parts: StationParts, deps: TransactionsDeps): Work {
  const { queue, log, store } = parts;
  const slots = { running: store('transactions'), ended: store('ended-transactions') };
  const ledger = createLedger<TransactionRecord>(slots, (key) => queue.lengthOf(key) > 0, log);
  const work: Work = {
    parts,
    deps,
    ledger,
    invalid: createInvalidTokens(parts, (connectorId, reason) => {
      stop(work, connectorId, reason);
    }),
    started: createSignal(log),
    identified: createSignal(log),
    ended: createSignal(log),
    stopTags: new Map(),
  };
  return work;
}

/** Notes the meters of all running transactions. */
function noteAll(work: Work): void {
  const { device, clock } = work.parts;
  for (const record of work.ledger.running)
    note(work, record, device.connector(record.connectorId).energyWh, clock.ofSim(device.now));
}

function partOf(work: Work): Part {
  const { device } = work.parts;
  let endListening: (() => void) | null = null;
  return {
    async load() {
      await work.ledger.load();
      for (const record of work.ledger.running) endAsKnown(work, record, 'PowerLoss');
      endListening = device.onTransition((transition) => {
        hear(work, transition);
      });
      adopt(work, device.detail.connectors);
    },
    stop() {
      endListening?.();
      work.invalid.stop();
      noteAll(work);
    },
  };
}

export function createTransactions(parts: StationParts, deps: TransactionsDeps): TransactionBook {
  const work = createWork(parts, deps);
  const { ledger } = work;
  const { device } = parts;
  return {
    queueEvents: queueEvents(work),
    get running() {
      return ledger.running;
    },
    at: (connectorId) => ledger.at(connectorId),
    byId: (transactionId) => ledger.running.find((record) => record.transactionId === transactionId) ?? null,
    stop(connectorId, reason) {
      stop(work, connectorId, reason);
    },
    stopAll(reason) {
      stopAll(work, reason);
    },
    leave() {
      leave(work);
    },
    stopByToken(connectorId, idTag) {
      work.stopTags.set(connectorId, idTag);
      try {
        stop(work, connectorId, 'Local');
      } catch (error) {
        work.stopTags.delete(connectorId);
        throw error;
      }
    },
    pushMeterValues(key, values) {
      const record = ledger.get(key);
      if (record === null || record.endedMs !== null) return false;
      note(work, record, device.connector(record.connectorId).energyWh, parts.clock.ofSim(device.now));
      pushValues(work, key, values);
      return true;
    },
    onStarted: (listener) =>
      work.started.on(([transaction, distortion]) => {
        listener(transaction, distortion);
      }),
    onIdentified: (listener) => work.identified.on(listener),
    onEnded: (listener) => work.ended.on(listener),
    entries: () => ledger.records.toReversed().map((r) => transactionEntry(r, parts.queue.lengthOf(r.key))),
    part: partOf(work),
  };
}
