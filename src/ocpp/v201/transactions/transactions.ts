/**
 * Transactions: objects of the adapter that follow the device by TxStartPoint and TxStopPoint. A transaction may begin
 * before a session of the device and end after it; no session goes on after its transaction. Each has one Started and one
 * Ended, in any order of cuts and restarts, and sequence numbers without gaps.
 */
import type { OcppTransactionEntry } from '../../../contract/ocpp.ts';
import { createInsistence } from '../../transactions/insistence.ts';
import { createLedger } from '../../transactions/ledger.ts';
import { createSignal } from '../../station/signal.ts';
import type { Handler, Part, StationParts, Transactions } from '../parts.ts';
import { queueEvents } from './answers.ts';
import type { QueueEvents } from './answers.ts';
import { leave, stop, stopAll, stopAt, update } from './commands.ts';
import { adopt, endAsKnown, hear } from './life.ts';
import { createLimits } from './limits.ts';
import { transactionEntry } from './record.ts';
import type { TransactionRecord } from './record.ts';
import type { TransactionsDeps, Work } from './work.ts';

export type { TransactionsDeps } from './work.ts';

export interface TransactionBook extends Transactions {
  /** what the queue of the station calls */
  readonly queueEvents: QueueEvents;
  /** The cost of a running transaction so far, for `maxCost` (2.1). */
  spent(transactionId: string, cost: number): void;
  /** Ends all of them with reason Other: the station leaves. */
  leave(): void;
  /** newest first */
  entries(): readonly OcppTransactionEntry[];
  /** its `load` comes after that of the queue: it queues the ends of transactions that a restart has ended */
  readonly part: Part;
}

function createWork(parts: StationParts, deps: TransactionsDeps): Work {
  const { queue, log, store, clock, device } = parts;
  const slots = { running: store('transactions'), ended: store('ended-transactions') };
  const ledger = createLedger<TransactionRecord>(slots, (key) => queue.lengthOf(key) > 0, log);
  const insistence = createInsistence(clock, log, device.deviceIndex);
  const work: Work = {
    parts,
    deps,
    ledger,
    insistence,
    limits: createLimits(parts, {
      ledger,
      insistence,
      end: (record, why) => {
        stopAt(work, record, why);
      },
    }),
    started: createSignal(log),
    ended: createSignal(log),
    answered: createSignal(log),
    grants: new Map(),
    bearers: new Map(),
    asked: new Map(),
    seen: new Map(),
    downSinceMs: null,
  };
  return work;
}

/** Notes the meters of all running transactions, for a loss of power. */
function noteAll({ parts: { device, clock }, ledger }: Work): void {
  for (const { key, evseId } of ledger.running)
    ledger.change(key, { lastMs: clock.ofSim(device.now), lastWh: Math.round(device.connector(evseId).energyWh) });
}

/** E14 */
function statusHandler({ ledger, parts: { queue } }: Work): Handler<'GetTransactionStatus'> {
  return ({ transactionId }) => {
    if (transactionId === undefined) return { messagesInQueue: queue.length > 0 };
    return {
      ongoingIndicator: ledger.get(transactionId)?.endedMs === null,
      messagesInQueue: queue.lengthOf(transactionId) > 0,
    };
  };
}

function partOf(work: Work): Part {
  const { device } = work.parts;
  let endListening: (() => void) | null = null;
  return {
    handlers: { GetTransactionStatus: statusHandler(work) },
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
      work.insistence.stop();
      work.limits.stop();
      noteAll(work);
    },
  };
}

/** Members of `Transactions` that read. */
function views({ ledger, parts }: Work) {
  return {
    get running() {
      return ledger.running;
    },
    at: (evseId: number) => ledger.at(evseId),
    byId: (transactionId: string) => ledger.running.find(({ key }) => key === transactionId) ?? null,
    entries: () => ledger.records.toReversed().map((each) => transactionEntry(each, parts.queue.lengthOf(each.key))),
  };
}

/** The token of an EVSE is to be told (`authorized`) before its authorisation is commanded. */
export function createTransactions(parts: StationParts, deps: TransactionsDeps): TransactionBook {
  const work = createWork(parts, deps);
  const read = views(work);
  return {
    queueEvents: queueEvents(work),
    get running() {
      return read.running;
    },
    at: read.at,
    byId: read.byId,
    entries: read.entries,
    stop(evseId, why) {
      stop(work, evseId, why);
    },
    stopAll(why) {
      stopAll(work, why);
    },
    leave() {
      leave(work);
    },
    update: (evseId, trigger, extras) => update(work, evseId, trigger, extras),
    authorized(evseId, grant) {
      work.grants.set(evseId, grant);
    },
    spent(transactionId, cost) {
      work.limits.spent(transactionId, cost);
    },
    onStarted: (listener) => work.started.on(listener),
    onEnded: (listener) => work.ended.on(listener),
    onAnswered: (listener) => work.answered.on(listener),
    part: partOf(work),
  };
}
