/** What the answers to TransactionEvents change (E05, E16). */
import type { Payload, QueuedMessage, TransactionQueueEvents } from '../../rpc/model.ts';
import type { IdTokenInfo, Replies, Requests } from '../messages.ts';
import { stopAt, tellLimit } from './commands.ts';
import type { TransactionRecord } from './record.ts';
import type { Work } from './work.ts';

/** What the queue calls. */
export type QueueEvents = Required<Pick<TransactionQueueEvents, 'answered'>>;

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

export function queueEvents(work: Work): QueueEvents {
  return {
    answered(message: QueuedMessage, reply: Payload) {
      // the reply fits the schema of its action
      if (message.action === 'TransactionEvent') answered(work, message, reply);
    },
  };
}
