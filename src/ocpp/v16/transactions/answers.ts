/** What the answers to transaction messages change. OCPP 1.6 4.8 and 4.10. */
import type { Payload, QueuedMessage } from '../../rpc/model.ts';
import type { Replies } from '../parts.ts';
import type { TransactionRecord } from './ledger.ts';
import type { QueueEvents, Work } from './work.ts';

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
