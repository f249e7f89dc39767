/**
 * Transactions: objects of the adapter that follow the device by TxStartPoint and TxStopPoint. A transaction may begin
 * before a session of the device and end after it; no session continues after its transaction. Each transaction has one
 * Started and one Ended event and ascending sequence numbers, also over lost connections and restarts.
 */
import type { OcppTransactionEntry } from '../../../contract/ocpp.ts';
import { errorText } from '../../../core/errors.ts';
import type { Payload, QueuedMessage, TransactionQueueEvents } from '../../rpc/model.ts';
import { createSignal } from '../../station/stack.ts';
import type { LeaveReason } from '../../station/stack.ts';
import { createInsistence } from '../../station/insistence.ts';
import { createLedger } from '../../transactions/ledger.ts';
import type { IdTokenInfo, MeterValue, Replies, Requests, TransactionLimit, TriggerReasonEnum } from '../messages.ts';
import type { EventExtras, Handler, Part, StationParts, Transactions } from '../parts.ts';
import { pushEvent } from './events.ts';
import type { TxEvent } from './events.ts';
import { adopt, continueAfterRestart, endNow, followDevice } from './life.ts';
import { createLimits, transactionEntry, transactionForm } from './state.ts';
import type { TransactionRecord, StopRequest, TransactionsDeps, TransactionsState } from './state.ts';

// Requests of the other parts of a station.

/** Stops the authorisation at the device. @throws SimError COMMAND_CONFLICT */
function stopDevice({ parts, stopRequests }: TransactionsState, evseId: number, why: StopRequest): void {
  stopRequests.set(evseId, why);
  try {
    parts.device.command({ kind: 'evse.stop', connectorId: evseId, reason: why.reason });
  } catch (error) {
    stopRequests.delete(evseId);
    throw error;
  }
}

/**
 * Ends a transaction: by a stop of the device if the EVSE is authorised, so that the stop points decide; else at once.
 * @throws SimError COMMAND_CONFLICT
 */
function stopAt(state: TransactionsState, record: TransactionRecord, why: StopRequest): void {
  if (state.parts.device.connector(record.evseId).authorised) stopDevice(state, record.evseId, why);
  else endNow(state, record, why);
}

/** @throws SimError COMMAND_CONFLICT */
function stop(state: TransactionsState, evseId: number, why: StopRequest): void {
  const record = state.ledger.at(evseId);
  if (record === null) stopDevice(state, evseId, why);
  else stopAt(state, record, why);
}

/** Ends a transaction whatever its stop points. @throws SimError COMMAND_CONFLICT */
function endAt(state: TransactionsState, { key, evseId }: TransactionRecord, why: StopRequest): void {
  const running = () => {
    const record = state.ledger.get(key);
    return record?.endedMs === null ? record : null;
  };
  const before = running();
  if (before !== null) stopAt(state, before, why);
  const after = running();
  if (after === null) return;
  // the device carries out a stop later if the request comes during a transition
  state.stopRequests.delete(evseId);
  endNow(state, after, why);
}

/** Ends all transactions. @throws the first refusal of the device */
function stopAll(state: TransactionsState, why: StopRequest): void {
  const refusals: unknown[] = [];
  for (const record of state.ledger.running) {
    try {
      endAt(state, record, why);
    } catch (error) {
      refusals.push(error);
    }
  }
  if (refusals.length > 0) throw refusals[0];
}

/** Ends all transactions of a station that leaves, even if the device refuses to end a session. */
function leave(state: TransactionsState, reason: LeaveReason): void {
  const { log, device } = state.parts;
  const why = { reason, trigger: 'AbnormalCondition' } as const;
  for (const record of state.ledger.running) {
    try {
      endAt(state, record, why);
    } catch (error) {
      log.warning(`the session at EVSE ${record.evseId} continues: ${errorText(error)}`, device.deviceIndex);
      endNow(state, state.ledger.get(record.key) ?? record, why);
    }
  }
}

function instantOf(state: TransactionsState, meterValue: readonly MeterValue[] | undefined): number {
  const { clock, device } = state.parts;
  const [first] = meterValue ?? [];
  return first === undefined ? clock.ofSim(device.now) : Date.parse(first.timestamp);
}

function pushUpdate(
  state: TransactionsState,
  record: TransactionRecord,
  event: Pick<TxEvent, 'trigger' | 'extras' | 'reportsLimit'>,
) {
  const { device } = state.parts;
  const connector = device.connector(record.evseId);
  const atMs = instantOf(state, event.extras?.meterValue);
  const updated = state.ledger.change(record.key, { lastMs: atMs, lastWh: Math.round(connector.energyWh) }) ?? record;
  pushEvent(state, updated, connector, { type: 'Updated', atMs, ...event });
}

/** @returns false: no transaction runs at the EVSE */
function update(
  state: TransactionsState,
  evseId: number,
  trigger: TriggerReasonEnum,
  extras: EventExtras = {},
): boolean {
  const record = state.ledger.at(evseId);
  if (record === null) return false;
  pushUpdate(state, record, { trigger, extras });
  return true;
}

/** Applies a limit, and reports it if it is new (E16). */
function applyLimit(state: TransactionsState, key: string, limit: TransactionLimit): void {
  if (!state.limits.set(key, limit)) return;
  const record = state.ledger.get(key);
  if (record?.endedMs === null) pushUpdate(state, record, { trigger: 'LimitSet', reportsLimit: true });
}

// Effects of the answers to TransactionEvents (E05, E16).

/** Callbacks of the queue. */
type QueueEvents = Required<Pick<TransactionQueueEvents, 'answered'>>;

/** Applies StopTxOnInvalidId or MaxEnergyOnInvalidId to a transaction whose token was refused. */
function refused(state: TransactionsState, { key, evseId }: TransactionRecord, status: string): void {
  const { parts, limits, insistence, ledger } = state;
  const { variables, log, device } = parts;
  log.warning(
    `EVSE ${evseId}: the central system answers ${status} for the token of the transaction`,
    device.deviceIndex,
  );
  if (!variables.boolean('TxCtrlr', 'StopTxOnInvalidId')) {
    limits.refused(key, variables.integer('TxCtrlr', 'MaxEnergyOnInvalidId'));
    return;
  }
  insistence.insist(`refused ${key}`, 'the delivery of energy for an invalid token continues', () => {
    const record = ledger.get(key);
    // the authorisation may have ended, and the transaction continues because of another stop point
    if (record?.endedMs !== null || !device.connector(evseId).authorised) return;
    stopAt(state, record, { reason: 'DeAuthorized', trigger: 'Deauthorized' });
  });
}

function applyTokenInfo(state: TransactionsState, record: TransactionRecord, info: IdTokenInfo): void {
  if (info.groupIdToken !== undefined) state.ledger.change(record.key, { groupIdToken: info.groupIdToken });
  if (info.status !== 'Accepted') refused(state, record, info.status);
}

function answered(state: TransactionsState, message: QueuedMessage, reply: Replies['TransactionEvent']): void {
  const { ledger, parts } = state;
  // the payload comes from `pushEvent`
  const request = message.payload as unknown as Requests['TransactionEvent'];
  const record = ledger.get(message.transaction);
  if (record?.endedMs === null) {
    const { idTokenInfo, transactionLimit } = reply;
    if (idTokenInfo !== undefined) applyTokenInfo(state, record, idTokenInfo);
    if (transactionLimit !== undefined && parts.version === 'ocpp2.1') applyLimit(state, record.key, transactionLimit);
  }
  const evseId = record?.evseId ?? request.evse?.id ?? 0;
  state.answered.emit({ transactionId: message.transaction, evseId, request, reply });
}

function queueEvents(state: TransactionsState): QueueEvents {
  return {
    answered(message: QueuedMessage, reply: Payload) {
      // the reply fits the schema of its action
      if (message.action === 'TransactionEvent') answered(state, message, reply);
    },
  };
}

export interface TransactionBook extends Transactions {
  /** callbacks of the queue of the station */
  readonly queueEvents: QueueEvents;
  /** Reports the cost of a running transaction so far, for `maxCost` (2.1). */
  spent(transactionId: string, cost: number): void;
  /** Ends all transactions when the station leaves. */
  leave(reason: LeaveReason): void;
  /** newest first */
  entries(): readonly OcppTransactionEntry[];
  /** Load it after the queue: loading queues the ends of transactions that a restart has ended. */
  readonly part: Part;
}

function createState(parts: StationParts, deps: TransactionsDeps): TransactionsState {
  const { queue, log, store, later, device, wall, version } = parts;
  const slots = { running: store('transactions'), ended: store('ended-transactions') };
  const ledger = createLedger<TransactionRecord>(slots, {
    form: transactionForm(version),
    isQueued: (key) => queue.lengthOf(key) > 0,
    now: () => device.now,
    wall,
    log,
  });
  const insistence = createInsistence(later, log, device.deviceIndex);
  const state: TransactionsState = {
    parts,
    deps,
    ledger,
    insistence,
    limits: createLimits(parts, {
      ledger,
      insistence,
      end: (record, why) => {
        stopAt(state, record, why);
      },
    }),
    started: createSignal(log),
    ended: createSignal(log),
    answered: createSignal(log),
    grants: new Map(),
    bearers: new Map(),
    stopRequests: new Map(),
    seen: new Map(),
    downSinceMs: null,
  };
  return state;
}

/** Stores the meters of all running transactions, for their ends after a loss of power. */
function storeMeters({ parts: { device, clock }, ledger }: TransactionsState): void {
  for (const { key, evseId } of ledger.running)
    ledger.change(key, { lastMs: clock.ofSim(device.now), lastWh: Math.round(device.connector(evseId).energyWh) });
}

/** E14. */
function statusHandler({ ledger, parts: { queue } }: TransactionsState): Handler<'GetTransactionStatus'> {
  return ({ transactionId }) => {
    if (transactionId === undefined) return { messagesInQueue: queue.length > 0 };
    return {
      ongoingIndicator: ledger.get(transactionId)?.endedMs === null,
      messagesInQueue: queue.lengthOf(transactionId) > 0,
    };
  };
}

function partOf(state: TransactionsState): Part {
  const { device } = state.parts;
  let endListening: (() => void) | null = null;
  return {
    handlers: { GetTransactionStatus: statusHandler(state) },
    async load() {
      await state.ledger.load();
      const interrupted = continueAfterRestart(state);
      endListening = device.onTransition((transition) => {
        followDevice(state, transition);
      });
      adopt(state, interrupted);
    },
    stop() {
      endListening?.();
      state.insistence.stop();
      state.limits.stop();
      storeMeters(state);
    },
  };
}

/** Pass the token of an EVSE to `authorized` before the command that authorises the EVSE. */
export function createTransactions(parts: StationParts, deps: TransactionsDeps): TransactionBook {
  const state = createState(parts, deps);
  const { ledger } = state;
  return {
    queueEvents: queueEvents(state),
    get running() {
      return ledger.running;
    },
    at: (evseId) => ledger.at(evseId),
    byId: (transactionId) => ledger.running.find(({ key }) => key === transactionId) ?? null,
    entries: () => ledger.records.toReversed().map((each) => transactionEntry(each, parts.queue.lengthOf(each.key))),
    stop(evseId, why) {
      stop(state, evseId, why);
    },
    stopAll(why) {
      stopAll(state, why);
    },
    leave(reason) {
      leave(state, reason);
    },
    update: (evseId, trigger, extras) => update(state, evseId, trigger, extras),
    authorized(evseId, grant) {
      state.grants.set(evseId, grant);
    },
    spent(transactionId, cost) {
      state.limits.spent(transactionId, cost);
    },
    onStarted: (listener) => state.started.on(listener),
    onEnded: (listener) => state.ended.on(listener),
    onAnswered: (listener) => state.answered.on(listener),
    part: partOf(state),
  };
}
