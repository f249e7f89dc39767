/**
 * Transactions: objects of the adapter that follow the device by TxStartPoint and TxStopPoint. A transaction may begin
 * before a session of the device and end after it; no session goes on after its transaction. Each has one Started and one
 * Ended, in any order of cuts and restarts, and sequence numbers without gaps.
 */
import type { OcppTransactionEntry } from '../../../contract/ocpp.ts';
import { errorText } from '../../../core/errors.ts';
import type { Payload, QueuedMessage, TransactionQueueEvents } from '../../rpc/model.ts';
import { createSignal } from '../../station/stack.ts';
import { createInsistence, createLedger } from '../../transactions/ledger.ts';
import type { IdTokenInfo, MeterValue, Replies, Requests, TransactionLimit, TriggerReasonEnum } from '../messages.ts';
import type { EventExtras, Handler, Part, StationParts, Transactions } from '../parts.ts';
import { pushEvent } from './events.ts';
import type { TxEvent } from './events.ts';
import { adopt, endAsKnown, endNow, hear } from './life.ts';
import { createLimits } from './limits.ts';
import { transactionEntry } from './record.ts';
import type { TransactionRecord } from './record.ts';
import type { Asked, TransactionsDeps, Work } from './state.ts';

// What the parts of a station ask of transactions.

/** Stops the authorisation at the device. @throws SimError COMMAND_CONFLICT */
function stopDevice({ parts, asked }: Work, evseId: number, why: Asked): void {
  asked.set(evseId, why);
  try {
    parts.device.command({ kind: 'evse.stop', connectorId: evseId, reason: why.reason });
  } catch (error) {
    asked.delete(evseId);
    throw error;
  }
}

/**
 * Ends a transaction: at the device where it is authorised, so that its stop point decides; where it is not, nothing holds
 * it but the cable. @throws SimError COMMAND_CONFLICT
 */
function stopAt(work: Work, record: TransactionRecord, why: Asked): void {
  if (work.parts.device.connector(record.evseId).authorised) stopDevice(work, record.evseId, why);
  else endNow(work, record, why);
}

/** @throws SimError COMMAND_CONFLICT */
function stop(work: Work, evseId: number, why: Asked): void {
  const record = work.ledger.at(evseId);
  if (record === null) stopDevice(work, evseId, why);
  else stopAt(work, record, why);
}

/** Ends a transaction whatever its stop points. @throws SimError COMMAND_CONFLICT */
function endAt(work: Work, { key, evseId }: TransactionRecord, why: Asked): void {
  const running = () => {
    const record = work.ledger.get(key);
    return record?.endedMs === null ? record : null;
  };
  const before = running();
  if (before !== null) stopAt(work, before, why);
  const after = running();
  if (after === null) return;
  // the device tells its stop later where this is a part of what it tells now
  work.asked.delete(evseId);
  endNow(work, after, why);
}

/** Ends each of them. @throws the first refusal of the device */
function stopAll(work: Work, why: Asked): void {
  const refusals: unknown[] = [];
  for (const record of work.ledger.running) {
    try {
      endAt(work, record, why);
    } catch (error) {
      refusals.push(error);
    }
  }
  if (refusals.length > 0) throw refusals[0];
}

/** Ends all of them because the station leaves, also one whose session the device does not end. */
function leave(work: Work): void {
  const { log, device } = work.parts;
  const why = { reason: 'Other', trigger: 'AbnormalCondition' } as const;
  for (const record of work.ledger.running) {
    try {
      endAt(work, record, why);
    } catch (error) {
      log.warning(`the session at EVSE ${record.evseId} goes on: ${errorText(error)}`, device.deviceIndex);
      endNow(work, work.ledger.get(record.key) ?? record, why);
    }
  }
}

function instantOf(work: Work, meterValue: readonly MeterValue[] | undefined): number {
  const { clock, device } = work.parts;
  const [first] = meterValue ?? [];
  return first === undefined ? clock.ofSim(device.now) : Date.parse(first.timestamp);
}

function pushUpdate(work: Work, record: TransactionRecord, event: Pick<TxEvent, 'trigger' | 'extras' | 'limitSet'>) {
  const { device } = work.parts;
  const connector = device.connector(record.evseId);
  const atMs = instantOf(work, event.extras?.meterValue);
  const noted = work.ledger.change(record.key, { lastMs: atMs, lastWh: Math.round(connector.energyWh) }) ?? record;
  pushEvent(work, noted, connector, { type: 'Updated', atMs, ...event });
}

/** @returns false: no transaction runs at the EVSE */
function update(work: Work, evseId: number, trigger: TriggerReasonEnum, extras: EventExtras = {}): boolean {
  const record = work.ledger.at(evseId);
  if (record === null) return false;
  pushUpdate(work, record, { trigger, extras });
  return true;
}

/** Keeps to a limit from now on, and tells it where it is new (E16). */
function tellLimit(work: Work, key: string, limit: TransactionLimit): void {
  if (!work.limits.set(key, limit)) return;
  const record = work.ledger.get(key);
  if (record?.endedMs === null) pushUpdate(work, record, { trigger: 'LimitSet', limitSet: true });
}

// What the answers to TransactionEvents change (E05, E16).

/** What the queue calls. */
type QueueEvents = Required<Pick<TransactionQueueEvents, 'answered'>>;

/** StopTxOnInvalidId and MaxEnergyOnInvalidId. */
function refused(work: Work, { key, evseId }: TransactionRecord, status: string): void {
  const { parts, limits, insistence, ledger } = work;
  const { variables, log, device } = parts;
  log.warning(
    `EVSE ${evseId}: the central system answers ${status} for the token of the transaction`,
    device.deviceIndex,
  );
  if (!variables.boolean('TxCtrlr', 'StopTxOnInvalidId')) {
    limits.refused(key, variables.integer('TxCtrlr', 'MaxEnergyOnInvalidId'));
    return;
  }
  insistence.insist(`refused ${key}`, 'the energy for an invalid token flows on', () => {
    const record = ledger.get(key);
    // its authorisation may have ended meanwhile, and a stop point that does not depend on it keeps it running
    if (record?.endedMs !== null || !device.connector(evseId).authorised) return;
    stopAt(work, record, { reason: 'DeAuthorized', trigger: 'Deauthorized' });
  });
}

function hearToken(work: Work, record: TransactionRecord, info: IdTokenInfo): void {
  if (info.groupIdToken !== undefined) work.ledger.change(record.key, { groupIdToken: info.groupIdToken });
  if (info.status !== 'Accepted') refused(work, record, info.status);
}

function answered(work: Work, message: QueuedMessage, reply: Replies['TransactionEvent']): void {
  const { ledger, parts } = work;
  // the payload was made here
  const request = message.payload as unknown as Requests['TransactionEvent'];
  const record = ledger.get(message.transaction);
  if (record?.endedMs === null) {
    const { idTokenInfo, transactionLimit } = reply;
    if (idTokenInfo !== undefined) hearToken(work, record, idTokenInfo);
    if (transactionLimit !== undefined && parts.version === 'ocpp2.1') tellLimit(work, record.key, transactionLimit);
  }
  const evseId = record?.evseId ?? request.evse?.id ?? 0;
  work.answered.emit({ transactionId: message.transaction, evseId, request, reply });
}

function queueEvents(work: Work): QueueEvents {
  return {
    answered(message: QueuedMessage, reply: Payload) {
      // the reply fits the schema of its action
      if (message.action === 'TransactionEvent') answered(work, message, reply);
    },
  };
}

export type { TransactionsDeps } from './state.ts';

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
