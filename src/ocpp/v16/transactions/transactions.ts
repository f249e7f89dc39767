/**
 * Transactions: objects of the adapter that follow the sessions of the device. Each session gives one StartTransaction
 * and one StopTransaction through the queue, also over losses of power and restarts. OCPP 1.6 3.7, 3.13, 4.8 and 4.10.
 *
 * A transaction whose StartTransaction was given up after its last attempt never has an id: the session continues, but
 * its meter values and its stop are dropped.
 */
import type { OcppTransactionEntry } from '../../../contract/ocpp.ts';
import type { Part, StationParts, Transactions, Replies } from '../parts.ts';
import { createSignal } from '../../station/stack.ts';
import type { LeaveReason } from '../../station/stack.ts';
import { createInsistence } from '../../station/insistence.ts';
import { createLedger } from '../../transactions/ledger.ts';
import { endInterrupted, isOpen, lastReading, raiseMeters } from '../../transactions/restart.ts';
import {
  createInvalidTokens,
  pushValues,
  transactionEntry,
  addTransaction,
  distortionOf,
  pushStart,
  pushStop,
  stopReasonOf,
  transactionForm,
} from './state.ts';
import type { QueueEvents, TransactionRecord, TransactionsDeps, TransactionsState, Ending } from './state.ts';
import type { EvseConnectorTransition, EvseTransition } from '../../../contract/kinds/evse-transitions.ts';
import type { EvseSession } from '../../../contract/kinds/evse.ts';
import { errorText } from '../../../core/errors.ts';
import type { Payload, QueuedMessage } from '../../rpc/model.ts';
import { maxIdTagLength } from '../authorization/tokens.ts';

// Effects of the answers to transaction messages. OCPP 1.6 4.8 and 4.10.

function startAnswered(state: TransactionsState, record: TransactionRecord, reply: Replies['StartTransaction']): void {
  const { ledger, deps, parts, identified, invalid } = state;
  const { transactionId, idTagInfo } = reply;
  const twin = ledger.records.find((other) => other.key !== record.key && other.transactionId === transactionId);
  if (twin !== undefined) {
    // a start that is refused needs no id of its own: several systems answer it with 0
    const rule = twin.endedMs === null && idTagInfo.status === 'Accepted' ? 'transaction_id' : null;
    parts.finding('OCPP 1.6 6.46', `transactionId ${transactionId} was given twice`, 'StartTransaction', rule);
  }
  const changed = ledger.change(record.key, {
    transactionId,
    parentIdTag: idTagInfo.parentIdTag ?? record.parentIdTag,
  });
  deps.tokens.learn(record.idTag, idTagInfo);
  if (changed === null) return;
  identified.emit(changed);
  if (idTagInfo.status === 'Accepted' || changed.endedMs !== null) return;
  parts.log.warning(
    `connector ${record.connectorId}: the central system answers ${idTagInfo.status} to the start of the transaction`,
    parts.device.deviceIndex,
  );
  invalid.refused(changed);
}

function answered(state: TransactionsState, message: QueuedMessage, reply: Payload): void {
  const record = state.ledger.get(message.transaction);
  if (record === null) return;
  // the reply fits the schema of its action
  if (message.action === 'StartTransaction') startAnswered(state, record, reply as Replies['StartTransaction']);
  if (message.action !== 'StopTransaction') return;
  const { idTagInfo } = reply as Replies['StopTransaction'];
  const { idTag } = message.payload;
  if (idTagInfo !== undefined) state.deps.tokens.learn(typeof idTag === 'string' ? idTag : record.idTag, idTagInfo);
}

/** @returns null: the transaction has no id and will have none */
function fill({ ledger }: TransactionsState, { role, payload, transaction }: QueuedMessage): Payload | null {
  const record = ledger.get(transaction);
  // the start of a transaction that has no record any more would never be followed by its stop
  if (role === 'start') return record && payload;
  const transactionId = record?.transactionId ?? null;
  return transactionId === null ? null : { ...payload, transactionId };
}

function queueEvents(state: TransactionsState): QueueEvents {
  return {
    fill: (message) => fill(state, message),
    answered(message, reply) {
      answered(state, message, reply);
    },
  };
}

/** idTag of a session that began without a token, as a local start at the device. */
const noTokenIdTag = 'NoAuthorization';

function idTagOf({ idToken }: EvseSession): string {
  return idToken === null || idToken === '' ? noTokenIdTag : idToken.slice(0, maxIdTagLength);
}

function begin(state: TransactionsState, session: EvseSession, startedMs: number): void {
  const { ledger, deps, parts } = state;
  const { connectorId } = session;
  // a session whose end was never reported cannot go on beside a new one
  const before = ledger.at(connectorId);
  if (before !== null) endWithLastValues(state, before, 'Other');
  const reservationId = deps.reservations.use(connectorId, session);
  const idTag = idTagOf(session);
  const transaction = {
    transactionId: null,
    connectorId,
    idTag,
    parentIdTag: deps.tokens.parentOf(idTag),
    sessionId: session.transactionId,
    startedMs,
    meterStartWh: Math.round(session.meterStartWh),
  };
  parts.log.info(`connector ${connectorId}: a transaction begins`, parts.device.deviceIndex);
  const distortion = distortionOf(state, connectorId, 'StartTransaction');
  const record = addTransaction(ledger, transaction, (added) => {
    pushStart(state, added, reservationId, distortion);
  });
  state.started.emit([record, distortion]);
}

function end(
  state: TransactionsState,
  record: TransactionRecord,
  ending: Ending,
  distortion = distortionOf(state, record.connectorId, 'StopTransaction'),
): void {
  const { atMs, meterStopWh, reason } = ending;
  const { parts } = state;
  state.invalid.ended(record.key);
  state.stopTags.delete(record.connectorId);
  pushStop(state, record, ending, distortion);
  const changed = state.ledger.change(record.key, {
    endedMs: atMs,
    meterStopWh,
    stopReason: reason,
    lastMs: atMs,
    lastWh: meterStopWh,
  });
  parts.log.info(`connector ${record.connectorId}: the transaction ends (${reason})`, parts.device.deviceIndex);
  if (changed !== null) state.ended.emit(changed);
}

/** Ends a transaction whose session the station has lost, with its last values. */
function endWithLastValues(state: TransactionsState, record: TransactionRecord, reason: Ending['reason']): void {
  end(state, record, { atMs: record.lastMs, meterStopWh: record.lastWh, reason });
}

/** Stores the present meter reading, for a loss of power, unless it is the same as before. */
function noteMeter(state: TransactionsState, { key, lastWh }: TransactionRecord, energyWh: number, atMs: number): void {
  const meterWh = Math.round(energyWh);
  if (meterWh !== lastWh) state.ledger.change(key, { lastWh: meterWh, lastMs: atMs });
}

/** @throws SimError COMMAND_CONFLICT */
function stop({ parts }: TransactionsState, connectorId: number, reason: string): void {
  parts.device.command({ kind: 'evse.stop', connectorId, reason });
}

/** As `stop`; a refusal of the device is logged. */
function tryStop(state: TransactionsState, connectorId: number, reason: string): void {
  const { log, device } = state.parts;
  try {
    stop(state, connectorId, reason);
  } catch (error) {
    log.warning(`the transaction at connector ${connectorId} goes on: ${errorText(error)}`, device.deviceIndex);
  }
}

/** Tries to stop all transactions. @throws the first refusal of the device */
function stopAll(state: TransactionsState, reason: string): void {
  const refusals: unknown[] = [];
  for (const { connectorId } of state.ledger.running) {
    try {
      stop(state, connectorId, reason);
    } catch (error) {
      refusals.push(error);
    }
  }
  if (refusals.length > 0) throw refusals[0];
}

/** Ends all transactions before the station leaves, even if the device does not end their sessions. */
function leave(state: TransactionsState, reason: LeaveReason): void {
  const { device, clock } = state.parts;
  for (const record of state.ledger.running) {
    const { connectorId, key } = record;
    tryStop(state, connectorId, reason);
    if (state.ledger.at(connectorId)?.key !== key) continue;
    const meterStopWh = Math.round(device.connector(connectorId).energyWh);
    end(state, record, { atMs: clock.ofSim(device.now), meterStopWh, reason });
  }
}

function endSession(state: TransactionsState, record: TransactionRecord, t: EvseConnectorTransition): void {
  const idTag = state.stopTags.get(record.connectorId);
  const distortion = distortionOf(state, record.connectorId, 'StopTransaction');
  const data = state.deps.transactionData(record, t, distortion);
  const ending = {
    atMs: state.parts.clock.ofSim(t.at),
    meterStopWh: Math.round(t.connector.energyWh),
    reason: stopReasonOf(t.session?.stopReason ?? null),
    idTag,
    ...(data === undefined ? {} : { transactionData: data }),
  };
  end(state, record, ending, distortion);
}

function followConnector(state: TransactionsState, t: EvseConnectorTransition): void {
  const { ledger, parts } = state;
  const atMs = parts.clock.ofSim(t.at);
  if (t.sessionChange === 'started') {
    if (t.session !== null) begin(state, t.session, atMs);
    return;
  }
  const record = ledger.at(t.connectorId);
  if (record === null || record.sessionId !== t.session?.transactionId) return;
  if (t.sessionChange === 'ended') {
    endSession(state, record, t);
    return;
  }
  noteMeter(state, record, t.connector.energyWh, atMs);
}

/** Follows the device. Sessions are stopped after a loss of power; a reset of the device has ended them. */
function followDevice(state: TransactionsState, transition: EvseTransition): void {
  if ('connector' in transition) followConnector(state, transition);
  else if (transition.event === 'power_up')
    for (const { connectorId } of state.ledger.running) tryStop(state, connectorId, 'PowerLoss');
  else if (transition.event === 'restart') {
    for (const record of state.ledger.running) endWithLastValues(state, record, 'PowerLoss');
    state.ledger.forgetReadings();
  }
}

/** Begins transactions for sessions that began before the station listened to the device. @param except connectors */
function adopt(state: TransactionsState, except: ReadonlySet<number>): void {
  const { clock, device } = state.parts;
  for (const { connectorId, session } of device.detail.connectors)
    if (isOpen(session) && !except.has(connectorId)) begin(state, session, clock.ofSim(device.now));
}

/** Ends what an earlier process has left running. @returns connectors at which no transaction begins by itself */
function endInterruptedTransactions(state: TransactionsState): ReadonlySet<number> {
  const { ledger, parts, insistence } = state;
  if (!ledger.isContinued) return new Set();
  raiseMeters(parts, ledger, insistence);
  for (const record of ledger.running) {
    const { atMs, meterWh } = lastReading(parts, ledger, record, record.sessionId);
    end(state, record, { atMs, meterStopWh: meterWh, reason: 'PowerLoss' });
  }
  const isEnded = (connectorId: number, sessionId: string) =>
    ledger.records.some((record) => record.connectorId === connectorId && record.sessionId === sessionId);
  return endInterrupted(parts, insistence, { isEnded, isRunning: () => false });
}

export type { TransactionsDeps } from './state.ts';

export interface TransactionBook extends Transactions {
  /** callbacks of the queue of the station */
  readonly queueEvents: QueueEvents;
  /** As `stop` with reason Local, by a token that was presented. @throws SimError COMMAND_CONFLICT */
  stopByToken(connectorId: number, idTag: string): void;
  /** Ends all transactions before the station leaves. */
  leave(reason: LeaveReason): void;
  /** newest first */
  entries(): readonly OcppTransactionEntry[];
  /** Load it after the queue: it queues the stops of transactions that a restart has ended. */
  readonly part: Part;
}

function createState(parts: StationParts, deps: TransactionsDeps): TransactionsState {
  const { queue, log, store, device, later, wall } = parts;
  const slots = { running: store('transactions'), ended: store('ended-transactions') };
  const ledger = createLedger<TransactionRecord>(slots, {
    form: transactionForm,
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
    invalid: createInvalidTokens(parts, insistence, (connectorId, reason) => {
      stop(state, connectorId, reason);
    }),
    started: createSignal(log),
    identified: createSignal(log),
    ended: createSignal(log),
    stopTags: new Map(),
  };
  return state;
}

/** Stores the meter readings of all running transactions. */
function noteAllMeters(state: TransactionsState): void {
  const { device, clock } = state.parts;
  for (const { key, connectorId } of state.ledger.running)
    state.ledger.change(key, {
      lastWh: Math.round(device.connector(connectorId).energyWh),
      lastMs: clock.ofSim(device.now),
    });
}

function partOf(state: TransactionsState): Part {
  const { device } = state.parts;
  let endListening: (() => void) | null = null;
  return {
    async load() {
      await state.ledger.load();
      const interrupted = endInterruptedTransactions(state);
      endListening = device.onTransition((transition) => {
        followDevice(state, transition);
      });
      adopt(state, interrupted);
    },
    stop() {
      endListening?.();
      state.insistence.stop();
      noteAllMeters(state);
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
    leave(reason) {
      leave(state, reason);
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
      noteMeter(state, record, device.connector(record.connectorId).energyWh, parts.clock.ofSim(device.now));
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
