/** TransactionEvents: what each says, and how it comes into the queue (E01 to E04). */
import type { EvseConnectorTransition } from '../../../contract/kinds/evse-transitions.ts';
import type { EvseConnectorDetail } from '../../../contract/kinds/evse.ts';
import type { QueuedMessage, QueuedRole } from '../../rpc/model.ts';
import type { MeterValue, ReasonEnum, Requests, TransactionEventEnum, TriggerReasonEnum } from '../messages.ts';
import { stamp } from '../parts.ts';
import type { EventExtras, StationParts } from '../parts.ts';
import { isConnected, reasonIn, triggerIn } from './reasons.ts';
import { chargedMsAt } from './state.ts';
import type { ReportedValues, TransactionRecord, TransactionsState } from './state.ts';

// The meter value of a transaction whose meter cannot be read any more.

const measurand = 'Energy.Active.Import.Register';

/** The last energy register as a meter value, if TxEndedMeasurands has it. */
export function lastValues(
  variables: StationParts['variables'],
  atMs: number,
  energyWh: number,
): readonly MeterValue[] {
  const isAsked =
    variables.boolean('SampledDataCtrlr', 'Enabled') &&
    variables.list('SampledDataCtrlr', 'TxEndedMeasurands').includes(measurand);
  if (!isAsked) return [];
  const value = {
    value: energyWh,
    context: 'Transaction.End',
    measurand,
    location: 'Outlet',
    unitOfMeasure: { unit: 'Wh' },
  } as const;
  return [{ timestamp: stamp(atMs), sampledValue: [value] }];
}

type TransactionEvent = Requests['TransactionEvent'];

export interface TxEvent {
  readonly type: TransactionEventEnum;
  readonly trigger: TriggerReasonEnum;
  /** the instant of the event, ms on the clock of the central system */
  readonly atMs: number;
  /** of the end */
  readonly reason?: ReasonEnum;
  readonly extras?: EventExtras;
  /** that has brought it; absent: none */
  readonly t?: EvseConnectorTransition;
  /** the limit of the transaction is reported */
  readonly limitSet?: true;
}

const roles: Readonly<Record<TransactionEventEnum, QueuedRole>> = { Started: 'start', Updated: 'middle', Ended: 'end' };

type Connector = Pick<EvseConnectorDetail, 'phase' | 'type' | 'supplyPhases' | 'attachedCable' | 'maxCurrentA'>;

/** State of the transaction that the central system has once this event is sent. */
function reportedBy(record: TransactionRecord, connector: Connector, { idToken }: EventExtras): ReportedValues {
  const { told, chargingState } = record;
  const connected = isConnected(connector);
  return {
    connector: told.connector || connected,
    idToken: told.idToken || record.idToken !== null || idToken !== undefined,
    remoteStartId: told.remoteStartId || record.remoteStartId !== null,
    reservationId: told.reservationId || record.reservationId !== null,
    chargingState,
    phases: connector.type === 'ac' && chargingState === 'Charging' ? connector.supplyPhases.length : told.phases,
    cableA: connected && !connector.attachedCable ? Math.floor(connector.maxCurrentA) : told.cableA,
  };
}

/** The EVSE in the first event, its connector in the first event after the cable. */
function evseOf({ evseId, told }: TransactionRecord, values: ReportedValues, type: TransactionEventEnum) {
  if (type !== 'Started' && told.connector === values.connector) return {};
  return { evse: { id: evseId, ...(values.connector ? { connectorId: 1 } : {}) } };
}

function transactionInfo(state: TransactionsState, record: TransactionRecord, values: ReportedValues, event: TxEvent) {
  const { version } = state.parts;
  const { extras = {}, reason, type } = event;
  const chargedS = Math.floor(chargedMsAt(record, event.atMs) / 1000);
  const { chargingState, told } = record;
  return {
    transactionId: record.transactionId,
    ...(chargingState === 'Idle' && told.chargingState === 'Idle' ? {} : { chargingState }),
    ...(chargedS > 0 || type === 'Ended' ? { timeSpentCharging: chargedS } : {}),
    ...(reason === undefined ? {} : { stoppedReason: reasonIn(version, reason) }),
    ...(values.remoteStartId && !told.remoteStartId ? { remoteStartId: record.remoteStartId ?? 0 } : {}),
    ...(extras.remoteStartId === undefined ? {} : { remoteStartId: extras.remoteStartId }),
    ...(extras.operationMode === undefined || version !== 'ocpp2.1' ? {} : { operationMode: extras.operationMode }),
    ...(extras.tariffId === undefined || version !== 'ocpp2.1' ? {} : { tariffId: extras.tariffId }),
    ...(event.limitSet === undefined || record.limit === null ? {} : { transactionLimit: record.limit }),
  };
}

/** Members that stand in an event only where they are new. */
function newMembers({ told, idToken, reservationId }: TransactionRecord, values: ReportedValues, extras: EventExtras) {
  const reservation = extras.reservationId ?? (values.reservationId && !told.reservationId ? reservationId : null);
  const token = extras.idToken ?? (told.idToken ? null : idToken);
  return {
    ...(values.phases === null || values.phases === told.phases ? {} : { numberOfPhasesUsed: values.phases }),
    ...(values.cableA === null || values.cableA === told.cableA ? {} : { cableMaxCurrent: values.cableA }),
    ...(reservation === null ? {} : { reservationId: reservation }),
    ...(token === null ? {} : { idToken: token }),
  };
}

function withValues(meterValue: readonly MeterValue[] = []) {
  return meterValue.length === 0 ? {} : { meterValue };
}

/**
 * Queues an event of a transaction with its next sequence number.
 * @param connector as it is at the event
 * @returns the record after it
 */
export function pushEvent(
  state: TransactionsState,
  record: TransactionRecord,
  connector: Connector,
  event: TxEvent,
): TransactionRecord {
  const { parts, ledger } = state;
  const { type } = event;
  const extras = { ...state.deps.costs?.extras(record, type, event.t), ...event.extras };
  const values = reportedBy(record, connector, extras);
  const payload: TransactionEvent = {
    eventType: type,
    timestamp: stamp(event.atMs),
    triggerReason: triggerIn(parts.version, event.trigger),
    seqNo: record.nextSeqNo,
    ...(parts.registration.offlineSinceMs === null ? {} : { offline: true }),
    ...newMembers(record, values, extras),
    transactionInfo: transactionInfo(state, record, values, { ...event, extras }),
    ...evseOf(record, values, type),
    ...withValues(extras.meterValue),
    ...(extras.costDetails === undefined || parts.version !== 'ocpp2.1' ? {} : { costDetails: extras.costDetails }),
  };
  // kept before it is queued: a number that a crash has used up is better than one that stands for two events
  const changed = ledger.change(record.key, {
    nextSeqNo: record.nextSeqNo + 1,
    told: values,
  });
  parts.queue.push({
    action: 'TransactionEvent',
    payload: payload as unknown as QueuedMessage['payload'],
    transaction: record.key,
    role: roles[type],
  });
  return changed ?? record;
}
