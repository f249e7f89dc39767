/** Builds and queues TransactionEvents (E01 to E04). */
import type { EvseConnectorTransition } from '../../../contract/kinds/evse-transitions.ts';
import type { EvseConnectorDetail } from '../../../contract/kinds/evse.ts';
import type { QueuedMessage, QueuedRole } from '../../rpc/model.ts';
import type { MeterValue, ReasonEnum, Requests, TransactionEventEnum, TriggerReasonEnum } from '../messages.ts';
import { stamp } from '../parts.ts';
import type { EventExtras, StationParts } from '../parts.ts';
import { isConnected, reasonIn, triggerIn } from './reasons.ts';
import { chargedMsAt } from './state.ts';
import type { ReportedValues, TransactionRecord, TransactionsState } from './state.ts';

// Meter value of a transaction whose meter can no longer be read.

const measurand = 'Energy.Active.Import.Register';

/** The last energy register as a meter value; empty if SampledDataCtrlr is off, or TxEndedMeasurands lacks it. */
export function lastValues(
  variables: StationParts['variables'],
  atMs: number,
  energyWh: number,
): readonly MeterValue[] {
  const isListed =
    variables.boolean('SampledDataCtrlr', 'Enabled') &&
    variables.list('SampledDataCtrlr', 'TxEndedMeasurands').includes(measurand);
  if (!isListed) return [];
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

/** A TransactionEvent before it is queued. */
export interface TxEvent {
  readonly type: TransactionEventEnum;
  readonly trigger: TriggerReasonEnum;
  /** instant of the event, ms on the clock of the central system */
  readonly atMs: number;
  /** stoppedReason, for `Ended` only */
  readonly reason?: ReasonEnum;
  readonly extras?: EventExtras;
  /** transition of the device that caused the event; absent: none */
  readonly transition?: EvseConnectorTransition;
  /** the event reports the limit of the transaction */
  readonly reportsLimit?: true;
}

const roles: Readonly<Record<TransactionEventEnum, QueuedRole>> = { Started: 'start', Updated: 'middle', Ended: 'end' };

type Connector = Pick<EvseConnectorDetail, 'phase' | 'type' | 'supplyPhases' | 'attachedCable' | 'maxCurrentA'>;

/** Values that are reported once the next event is sent. */
function reportedBy(
  record: TransactionRecord,
  connector: Connector,
  { atMs, extras: { idToken } }: { readonly atMs: number; readonly extras: EventExtras },
): ReportedValues & { readonly atMs: number } {
  const { told: reported, chargingState } = record;
  const connected = isConnected(connector);
  return {
    // the central system may have set the clock back since the last event
    atMs: Math.max(reported.atMs ?? atMs, atMs),
    connector: reported.connector || connected,
    idToken: reported.idToken || record.idToken !== null || idToken !== undefined,
    remoteStartId: reported.remoteStartId || record.remoteStartId !== null,
    reservationId: reported.reservationId || record.reservationId !== null,
    chargingState,
    phases: connector.type === 'ac' && chargingState === 'Charging' ? connector.supplyPhases.length : reported.phases,
    cableA: connected && !connector.attachedCable ? Math.floor(connector.maxCurrentA) : reported.cableA,
  };
}

/** The first event has the EVSE; the first event after the cable is plugged also has the connector. */
function evseOf({ evseId, told: reported }: TransactionRecord, values: ReportedValues, type: TransactionEventEnum) {
  if (type !== 'Started' && reported.connector === values.connector) return {};
  return { evse: { id: evseId, ...(values.connector ? { connectorId: 1 } : {}) } };
}

function transactionInfo(state: TransactionsState, record: TransactionRecord, values: ReportedValues, event: TxEvent) {
  const { version } = state.parts;
  const { extras = {}, reason, type } = event;
  const chargedS = Math.floor(chargedMsAt(record, event.atMs) / 1000);
  const { chargingState, told: reported } = record;
  return {
    transactionId: record.transactionId,
    ...(chargingState === 'Idle' && reported.chargingState === 'Idle' ? {} : { chargingState }),
    ...(chargedS > 0 || type === 'Ended' ? { timeSpentCharging: chargedS } : {}),
    ...(reason === undefined ? {} : { stoppedReason: reasonIn(version, reason) }),
    ...(values.remoteStartId && !reported.remoteStartId ? { remoteStartId: record.remoteStartId ?? 0 } : {}),
    ...(extras.remoteStartId === undefined ? {} : { remoteStartId: extras.remoteStartId }),
    ...(extras.operationMode === undefined || version !== 'ocpp2.1' ? {} : { operationMode: extras.operationMode }),
    ...(extras.tariffId === undefined || version !== 'ocpp2.1' ? {} : { tariffId: extras.tariffId }),
    ...(event.reportsLimit === undefined || record.limit === null ? {} : { transactionLimit: record.limit }),
  };
}

/** Members that an event has only if their values have changed. */
function newMembers(record: TransactionRecord, values: ReportedValues, extras: EventExtras) {
  const { told: reported, idToken, reservationId } = record;
  const reservation = extras.reservationId ?? (values.reservationId && !reported.reservationId ? reservationId : null);
  const token = extras.idToken ?? (reported.idToken ? null : idToken);
  return {
    ...(values.phases === null || values.phases === reported.phases ? {} : { numberOfPhasesUsed: values.phases }),
    ...(values.cableA === null || values.cableA === reported.cableA ? {} : { cableMaxCurrent: values.cableA }),
    ...(reservation === null ? {} : { reservationId: reservation }),
    ...(token === null ? {} : { idToken: token }),
  };
}

function withValues(meterValue: readonly MeterValue[] = []) {
  return meterValue.length === 0 ? {} : { meterValue };
}

/**
 * Queues an event of a transaction with its next sequence number.
 * @param connector state of the connector at the event
 * @returns the record after the event
 */
export function pushEvent(
  state: TransactionsState,
  record: TransactionRecord,
  connector: Connector,
  event: TxEvent,
): TransactionRecord {
  const { parts, ledger } = state;
  const { type } = event;
  const extras = { ...state.deps.costs?.extras(record, type, event.transition), ...event.extras };
  const values = reportedBy(record, connector, { atMs: event.atMs, extras });
  const payload: TransactionEvent = {
    eventType: type,
    timestamp: stamp(values.atMs),
    triggerReason: triggerIn(parts.version, event.trigger),
    seqNo: record.nextSeqNo,
    ...(parts.registration.offlineSinceMs === null ? {} : { offline: true }),
    ...newMembers(record, values, extras),
    transactionInfo: transactionInfo(state, record, values, { ...event, extras }),
    ...evseOf(record, values, type),
    ...withValues(extras.meterValue),
    ...(extras.costDetails === undefined || parts.version !== 'ocpp2.1' ? {} : { costDetails: extras.costDetails }),
  };
  // queued before its number is stored: a loss of power in between leaves an event from which the number follows
  parts.queue.push({
    action: 'TransactionEvent',
    payload: payload as unknown as QueuedMessage['payload'],
    transaction: record.key,
    role: roles[type],
  });
  const changed = ledger.change(record.key, {
    nextSeqNo: record.nextSeqNo + 1,
    told: values,
  });
  return changed ?? record;
}
