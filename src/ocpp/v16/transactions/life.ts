/** Begin and end of transactions, driven by the sessions of the device. OCPP 1.6 3.7, 3.13, 4.8 and 4.10. */
import type { EvseConnectorTransition, EvseTransition } from '../../../contract/kinds/evse-transitions.ts';
import type { EvseConnectorDetail, EvseSession } from '../../../contract/kinds/evse.ts';
import { errorText } from '../../../core/errors.ts';
import type { Payload, QueuedMessage } from '../../rpc/model.ts';
import { maxIdTagLength } from '../authorization/tokens.ts';
import type { Replies } from '../parts.ts';
import { addTransaction, distortionOf, pushStart, pushStop, stopReasonOf } from './state.ts';
import type { Ending, QueueEvents, TransactionRecord, Work } from './state.ts';

// What the answers to transaction messages change. OCPP 1.6 4.8 and 4.10.

function startAnswered(work: Work, record: TransactionRecord, reply: Replies['StartTransaction']): void {
  const { ledger, deps, parts, identified, invalid } = work;
  const { transactionId, idTagInfo } = reply;
  if (ledger.records.some((other) => other.key !== record.key && other.transactionId === transactionId))
    parts.finding('OCPP 1.6 6.46', `transactionId ${transactionId} was given twice`, 'StartTransaction');
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

function answered(work: Work, message: QueuedMessage, reply: Payload): void {
  const record = work.ledger.get(message.transaction);
  if (record === null) return;
  // the reply fits the schema of its action
  if (message.action === 'StartTransaction') startAnswered(work, record, reply as Replies['StartTransaction']);
  if (message.action !== 'StopTransaction') return;
  const { idTagInfo } = reply as Replies['StopTransaction'];
  const { idTag } = message.payload;
  if (idTagInfo !== undefined) work.deps.tokens.learn(typeof idTag === 'string' ? idTag : record.idTag, idTagInfo);
}

/** @returns null: the transaction has no id and will have none */
function fill({ ledger }: Work, { role, payload, transaction }: QueuedMessage): Payload | null {
  if (role === 'start') return payload;
  const transactionId = ledger.get(transaction)?.transactionId ?? null;
  return transactionId === null ? null : { ...payload, transactionId };
}

export function queueEvents(work: Work): QueueEvents {
  return {
    fill: (message) => fill(work, message),
    answered(message, reply) {
      answered(work, message, reply);
    },
  };
}

/** idTag of a session that began without any token, as a person can start one at the device. */
const noTokenIdTag = 'NoAuthorization';

function idTagOf({ idToken }: EvseSession): string {
  return idToken === null || idToken === '' ? noTokenIdTag : idToken.slice(0, maxIdTagLength);
}

function begin(work: Work, session: EvseSession, startedMs: number): void {
  const { ledger, deps, parts } = work;
  const { connectorId } = session;
  // a session whose end was never told cannot go on beside a new one
  const before = ledger.at(connectorId);
  if (before !== null) endAsKnown(work, before, 'Other');
  const reservationId = deps.reservations.use(connectorId, session);
  const idTag = idTagOf(session);
  const record = addTransaction(ledger, {
    transactionId: null,
    connectorId,
    idTag,
    parentIdTag: deps.tokens.parentOf(idTag),
    sessionId: session.transactionId,
    startedMs,
    meterStartWh: Math.round(session.meterStartWh),
  });
  parts.log.info(`connector ${connectorId}: a transaction begins`, parts.device.deviceIndex);
  const distortion = distortionOf(work, connectorId, 'StartTransaction');
  pushStart(work, record, reservationId, distortion);
  work.started.emit([record, distortion]);
}

function end(
  work: Work,
  record: TransactionRecord,
  ending: Ending,
  distortion = distortionOf(work, record.connectorId, 'StopTransaction'),
): void {
  const { atMs, meterStopWh, reason } = ending;
  const { parts } = work;
  work.invalid.ended(record.key);
  work.stopTags.delete(record.connectorId);
  pushStop(work, record, ending, distortion);
  const changed = work.ledger.change(record.key, {
    endedMs: atMs,
    meterStopWh,
    stopReason: reason,
    lastMs: atMs,
    lastWh: meterStopWh,
  });
  parts.log.info(`connector ${record.connectorId}: the transaction ends (${reason})`, parts.device.deviceIndex);
  if (changed !== null) work.ended.emit(changed);
}

/** Ends a transaction whose session the station has lost, with the last values known of it. */
export function endAsKnown(work: Work, record: TransactionRecord, reason: Ending['reason']): void {
  end(work, record, { atMs: record.lastMs, meterStopWh: record.lastWh, reason });
}

/** Notes the meter now, for a loss of power. */
export function note(work: Work, { key, lastWh }: TransactionRecord, energyWh: number, atMs: number): void {
  const meterWh = Math.round(energyWh);
  if (meterWh !== lastWh) work.ledger.change(key, { lastWh: meterWh, lastMs: atMs });
}

/** @throws SimError COMMAND_CONFLICT */
export function stop({ parts }: Work, connectorId: number, reason: string): void {
  parts.device.command({ kind: 'evse.stop', connectorId, reason });
}

/** As `stop`; a refusal of the device is logged. */
function tryStop(work: Work, connectorId: number, reason: string): void {
  const { log, device } = work.parts;
  try {
    stop(work, connectorId, reason);
  } catch (error) {
    log.warning(`the transaction at connector ${connectorId} goes on: ${errorText(error)}`, device.deviceIndex);
  }
}

/** Tries each of them. @throws the first refusal of the device */
export function stopAll(work: Work, reason: string): void {
  const refusals: unknown[] = [];
  for (const { connectorId } of work.ledger.running) {
    try {
      stop(work, connectorId, reason);
    } catch (error) {
      refusals.push(error);
    }
  }
  if (refusals.length > 0) throw refusals[0];
}

/** Ends all of them because the station leaves, also one whose session the device does not end. */
export function leave(work: Work): void {
  const { device, clock } = work.parts;
  for (const record of work.ledger.running) {
    const { connectorId, key } = record;
    tryStop(work, connectorId, 'Other');
    if (work.ledger.at(connectorId)?.key !== key) continue;
    const meterStopWh = Math.round(device.connector(connectorId).energyWh);
    end(work, record, { atMs: clock.ofSim(device.now), meterStopWh, reason: 'Other' });
  }
}

function endSession(work: Work, record: TransactionRecord, t: EvseConnectorTransition): void {
  const idTag = work.stopTags.get(record.connectorId);
  const distortion = distortionOf(work, record.connectorId, 'StopTransaction');
  const data = work.deps.transactionData(record, t, distortion);
  const ending = {
    atMs: work.parts.clock.ofSim(t.at),
    meterStopWh: Math.round(t.connector.energyWh),
    reason: stopReasonOf(t.session?.stopReason ?? null),
    idTag,
    ...(data === undefined ? {} : { transactionData: data }),
  };
  end(work, record, ending, distortion);
}

function hearConnector(work: Work, t: EvseConnectorTransition): void {
  const { ledger, parts } = work;
  const atMs = parts.clock.ofSim(t.at);
  if (t.sessionChange === 'started') {
    if (t.session !== null) begin(work, t.session, atMs);
    return;
  }
  const record = ledger.at(t.connectorId);
  if (record === null || record.sessionId !== t.session?.transactionId) return;
  if (t.sessionChange === 'ended') {
    endSession(work, record, t);
    return;
  }
  note(work, record, t.connector.energyWh, atMs);
}

/** Follows the device. After a loss of power its sessions do not go on; a reset of it has ended them. */
export function hear(work: Work, transition: EvseTransition): void {
  if ('connector' in transition) hearConnector(work, transition);
  else if (transition.event === 'power_up')
    for (const { connectorId } of work.ledger.running) tryStop(work, connectorId, 'PowerLoss');
  else if (transition.event === 'restart')
    for (const record of work.ledger.running) endAsKnown(work, record, 'PowerLoss');
}

/** A session that began before the station was heard. */
export function adopt(work: Work, connectors: readonly EvseConnectorDetail[]): void {
  const { clock, device } = work.parts;
  for (const { session } of connectors)
    if (session !== null && session.endedAtS === null) begin(work, session, clock.ofSim(device.now));
}
