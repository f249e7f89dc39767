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
import type { QueueEvents, TransactionRecord, TransactionsDeps, TransactionsState } from './state.ts';

export type { TransactionsDeps } from './state.ts';

export interface TransactionBook extends Transactions {
  /** callbacks of the queue of the station */
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

function createState(parts: StationParts, deps: TransactionsDeps): TransactionsState {
  const { queue, log, store } = parts;
  const slots = { running: store('transactions'), ended: store('ended-transactions') };
  const ledger = createLedger<TransactionRecord>(slots, (key) => queue.lengthOf(key) > 0, log);
  const state: TransactionsState = {
    parts,
    deps,
    ledger,
    invalid: createInvalidTokens(parts, (connectorId, reason) => {
      stop(state, connectorId, reason);
    }),
    started: createSignal(log),
    identified: createSignal(log),
    ended: createSignal(log),
    stopTags: new Map(),
  };
  return state;
}

/** Notes the meters of all running transactions. */
function noteAll(state: TransactionsState): void {
  const { device, clock } = state.parts;
  for (const record of state.ledger.running)
    note(state, record, device.connector(record.connectorId).energyWh, clock.ofSim(device.now));
}

function partOf(state: TransactionsState): Part {
  const { device } = state.parts;
  let endListening: (() => void) | null = null;
  return {
    async load() {
      await state.ledger.load();
      for (const record of state.ledger.running) endAsKnown(state, record, 'PowerLoss');
      endListening = device.onTransition((transition) => {
        hear(state, transition);
      });
      adopt(state, device.detail.connectors);
    },
    stop() {
      endListening?.();
      state.invalid.stop();
      noteAll(state);
    },
  };
}

export function createTransactions(parts: StationParts, deps: TransactionsDeps): TransactionBook {
  const state = createState(parts, deps);
  const { ledger } = state;
  const { device } = parts;
  return {
    queueEvents: queueEvents(state),
    get running() {
      return ledger.running;
    },
    at: (connectorId) => ledger.at(connectorId),
    byId: (transactionId) => ledger.running.find((record) => record.transactionId === transactionId) ?? null,
    stop(connectorId, reason) {
      stop(state, connectorId, reason);
    },
    stopAll(reason) {
      stopAll(state, reason);
    },
    leave() {
      leave(state);
    },
    stopByToken(connectorId, idTag) {
      state.stopTags.set(connectorId, idTag);
      try {
        stop(state, connectorId, 'Local');
      } catch (error) {
        state.stopTags.delete(connectorId);
        throw error;
      }
    },
    pushMeterValues(key, values) {
      const record = ledger.get(key);
      if (record === null || record.endedMs !== null) return false;
      note(state, record, device.connector(record.connectorId).energyWh, parts.clock.ofSim(device.now));
      pushValues(state, key, values);
      return true;
    },
    onStarted: (listener) =>
      state.started.on(([transaction, distortion]) => {
        listener(transaction, distortion);
      }),
    onIdentified: (listener) => state.identified.on(listener),
    onEnded: (listener) => state.ended.on(listener),
    entries: () => ledger.records.toReversed().map((r) => transactionEntry(r, parts.queue.lengthOf(r.key))),
    part: partOf(state),
  };
}
