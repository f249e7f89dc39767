/**
 * Points at which transactions start and stop, the charging state (E01), and the reasons and triggers of 2.x for stop
 * reasons and faults of the device.
 */
import type { EvseConnectorTransition } from '../../../contract/kinds/evse-transitions.ts';
import type { EvseErrorCode, EvseConnectorDetail } from '../../../contract/kinds/evse.ts';
import type { IdToken, ReasonEnum, TriggerReasonEnum, ChargingStateEnum } from '../messages.ts';
import type { Version2 } from '../../station/stack.ts';

/** Reason and trigger of the end of a transaction or its authorisation. */
export interface Why {
  readonly reason: ReasonEnum;
  readonly trigger: TriggerReasonEnum;
}

/** Trigger of each reason. */
const triggers: Readonly<Record<ReasonEnum, TriggerReasonEnum>> = {
  DeAuthorized: 'Deauthorized',
  EmergencyStop: 'AbnormalCondition',
  EnergyLimitReached: 'EnergyLimitReached',
  EVDisconnected: 'EVCommunicationLost',
  GroundFault: 'AbnormalCondition',
  ImmediateReset: 'ResetCommand',
  Local: 'StopAuthorized',
  LocalOutOfCredit: 'CostLimitReached',
  MasterPass: 'StopAuthorized',
  Other: 'AbnormalCondition',
  OvercurrentFault: 'AbnormalCondition',
  PowerLoss: 'AbnormalCondition',
  PowerQuality: 'AbnormalCondition',
  Reboot: 'AbnormalCondition',
  Remote: 'RemoteStop',
  ReqEnergyTransferRejected: 'Deauthorized',
  SOCLimitReached: 'SoCLimitReached',
  StoppedByEV: 'ChargingStateChanged',
  TimeLimitReached: 'TimeLimitReached',
  Timeout: 'EVConnectTimeout',
};

/** Stop reasons of the device that 2.x lacks; UnlockCommand: a person unlocks the connector at the station. */
const deviceReasons: Readonly<Record<string, Why>> = {
  HardReset: { reason: 'ImmediateReset', trigger: 'ResetCommand' },
  SoftReset: { reason: 'ImmediateReset', trigger: 'ResetCommand' },
  UnlockCommand: { reason: 'Local', trigger: 'UnlockCommand' },
};

function isReason(text: string): text is ReasonEnum {
  return Object.hasOwn(triggers, text);
}

/** Reason and trigger of a stop. @param reason stop reason of the session of the device; null: unknown */
export function whyOf(reason: string | null): Why {
  if (reason === null) return { reason: 'Local', trigger: 'StopAuthorized' };
  if (isReason(reason)) return { reason, trigger: triggers[reason] };
  return Object.hasOwn(deviceReasons, reason)
    ? (deviceReasons[reason] as Why)
    : { reason: 'Other', trigger: 'AbnormalCondition' };
}

const faults: Readonly<Partial<Record<EvseErrorCode | 'NoError', ReasonEnum>>> = {
  GroundFailure: 'GroundFault',
  OverCurrentFailure: 'OvercurrentFault',
  OverVoltage: 'PowerQuality',
  UnderVoltage: 'PowerQuality',
};

/** The stop reason of a fault of the connector. */
export function faultReason(errorCode: EvseErrorCode | 'NoError'): ReasonEnum {
  return faults[errorCode] ?? 'Other';
}

/** Triggers that 2.1 has added, with those that replace them in 2.0.1. */
const triggersOf201: Readonly<Partial<Record<TriggerReasonEnum, TriggerReasonEnum>>> = {
  CostLimitReached: 'Deauthorized',
  LimitSet: 'ChargingRateChanged',
  OperationModeChanged: 'ChargingRateChanged',
  RunningCost: 'Trigger',
  SoCLimitReached: 'EnergyLimitReached',
  TariffChanged: 'Trigger',
  TariffNotAccepted: 'Deauthorized',
  TxResumed: 'AbnormalCondition',
};

export function triggerIn(version: Version2, trigger: TriggerReasonEnum): TriggerReasonEnum {
  return version === 'ocpp2.1' ? trigger : (triggersOf201[trigger] ?? trigger);
}

export function reasonIn(version: Version2, reason: ReasonEnum): ReasonEnum {
  return version === 'ocpp2.0.1' && reason === 'ReqEnergyTransferRejected' ? 'Other' : reason;
}

// TransactionEvents of a transition of the device: one trigger for each cause, in order of the causes.

export interface Cause {
  readonly trigger: TriggerReasonEnum;
  /** stoppedReason if this cause ends the transaction; null: Local */
  readonly reason: ReasonEnum | null;
  /** presented token, if it is not the token of the transaction */
  readonly idToken?: IdToken;
}

/** Facts in addition to the transition. */
interface CauseContext {
  readonly change: PointChange;
  /** true: ParkingBayOccupancy is a start or stop point */
  readonly watchesBay: boolean;
  /** true: the charging state has changed */
  readonly stateChanged: boolean;
  /** true: the token comes from a remote start */
  readonly remote: boolean;
  /** a stop that this station has requested; null: none */
  readonly stopRequest: (Why & Pick<Cause, 'idToken'>) | null;
}

type Table = Readonly<
  Partial<
    Record<EvseConnectorTransition['event'], (transition: EvseConnectorTransition, context: CauseContext) => Cause[]>
  >
>;

const causes = (trigger: TriggerReasonEnum, reason: ReasonEnum | null = null): Cause[] => [{ trigger, reason }];

function bay({ change: { risen, lost }, watchesBay }: CauseContext): Cause[] {
  if (!watchesBay) return [];
  if (risen.includes('ParkingBayOccupancy')) return causes('EVDetected');
  return lost.includes('ParkingBayOccupancy') ? causes('EVDeparted', 'EVDisconnected') : [];
}

const stateChange =
  (reason: ReasonEnum | null) =>
  (_: EvseConnectorTransition, { stateChanged }: CauseContext): Cause[] =>
    stateChanged ? causes('ChargingStateChanged', reason) : [];

const unplugged = (_: EvseConnectorTransition, context: CauseContext): Cause[] => [
  ...causes('EVCommunicationLost', 'EVDisconnected'),
  ...bay(context),
];

/** Causes of the end of an authorisation without a vehicle; in other phases (`connected`) nothing is authorised. */
function withdrawn({ cause, fromPhase, connector }: EvseConnectorTransition, { stopRequest }: CauseContext): Cause[] {
  if (fromPhase !== 'authorised') return [];
  if (stopRequest !== null) return [stopRequest];
  if (cause === 'timeout') return causes('EVConnectTimeout', 'Timeout');
  if (cause === 'fault') return causes('AbnormalCondition', faultReason(connector.errorCode));
  return cause === 'central' ? causes('Deauthorized', 'Other') : causes('StopAuthorized', 'Local');
}

/** Causes when the EVSE suspends the delivery; the cause `fault` is a loss of power. */
function held(transition: EvseConnectorTransition, context: CauseContext): Cause[] {
  return transition.cause === 'fault'
    ? causes('AbnormalCondition', 'PowerLoss')
    : stateChange('Other')(transition, context);
}

const table: Table = {
  cable: (_, context) => bay(context),
  plugged: () => causes('CablePluggedIn'),
  unplugged,
  ev_unplugged: unplugged,
  authorize: (_, { remote }) => causes(remote ? 'RemoteStart' : 'Authorized'),
  withdraw: withdrawn,
  delay_over: stateChange(null),
  ev_hold: stateChange('StoppedByEV'),
  ev_release: stateChange(null),
  evse_hold: held,
  evse_release: stateChange(null),
  stop: ({ session }, { stopRequest }) => [stopRequest ?? whyOf(session?.stopReason ?? null)],
  fault: ({ connector }) => causes('AbnormalCondition', faultReason(connector.errorCode)),
  clear_fault: stateChange(null),
};

/** Causes of the event of a transition; empty: no event. */
export function causesOf(transition: EvseConnectorTransition, context: CauseContext): readonly Cause[] {
  return table[transition.event]?.(transition, context) ?? [];
}

/** Values of TxStartPoint and TxStopPoint. DataSigned is not supported: no meter of the device signs. */
export const txPoints = [
  'ParkingBayOccupancy',
  'EVConnected',
  'Authorized',
  'PowerPathClosed',
  'EnergyTransfer',
] as const;
export type TxPoint = (typeof txPoints)[number];

type Connector = Pick<
  EvseConnectorDetail,
  'phase' | 'authorised' | 'ev' | 'errorCode' | 'contactorClosed' | 'cable' | 'type'
>;

/** Phases in which the cable joins vehicle and station. */
const connectedPhases: ReadonlySet<EvseConnectorDetail['phase']> = new Set<EvseConnectorDetail['phase']>([
  'connected',
  'starting',
  'energised',
  'suspended_ev',
  'suspended_evse',
  'suspended_both',
  'resuming',
  'finishing',
]);

export function isConnected({ phase }: Pick<Connector, 'phase'>): boolean {
  return connectedPhases.has(phase);
}

/** Conditions of the points; a vehicle at the connector occupies the parking bay. */
const tests: Readonly<Record<TxPoint, (connector: Connector) => boolean>> = {
  ParkingBayOccupancy: ({ ev }) => ev !== null,
  EVConnected: isConnected,
  Authorized: ({ authorised }) => authorised,
  PowerPathClosed: (connector) => connector.authorised && isConnected(connector),
  EnergyTransfer: ({ phase, errorCode }) => phase === 'energised' && errorCode === 'NoError',
};

/** The points that hold. */
export function pointsOf(connector: Connector): ReadonlySet<TxPoint> {
  return new Set(txPoints.filter((point) => tests[point](connector)));
}

const states: Readonly<Record<EvseConnectorDetail['phase'], ChargingStateEnum>> = {
  free: 'Idle',
  authorised: 'Idle',
  connected: 'EVConnected',
  starting: 'EVConnected',
  energised: 'Charging',
  suspended_ev: 'SuspendedEV',
  suspended_evse: 'SuspendedEVSE',
  suspended_both: 'SuspendedEVSE',
  detached: 'Idle',
  resuming: 'EVConnected',
  finishing: 'EVConnected',
};

/** A fault opens the contactor, so that the station suspends the delivery. */
export function chargingStateOf({ phase, errorCode }: Pick<Connector, 'phase' | 'errorCode'>): ChargingStateEnum {
  const state = states[phase];
  return errorCode !== 'NoError' && (state === 'Charging' || state === 'SuspendedEV') ? 'SuspendedEVSE' : state;
}

/** Points that begin to hold, and points that end. */
export interface PointChange {
  readonly risen: readonly TxPoint[];
  readonly lost: readonly TxPoint[];
}

export function pointChange(before: ReadonlySet<TxPoint>, after: ReadonlySet<TxPoint>): PointChange {
  return {
    risen: txPoints.filter((point) => after.has(point) && !before.has(point)),
    lost: txPoints.filter((point) => before.has(point) && !after.has(point)),
  };
}

/**
 * True if a transaction starts: a start point begins to hold, or a token is authorised while a start point holds, for a
 * vehicle that stays after its transaction.
 */
export function starts(startPoints: readonly string[], points: ReadonlySet<TxPoint>, { risen }: PointChange): boolean {
  const isStart = (point: TxPoint) => startPoints.includes(point);
  return risen.some(isStart) || (risen.includes('Authorized') && [...points].some(isStart));
}

/** True if a transaction stops: a stop point is lost, or neither vehicle nor token is left. */
export function stops(stopPoints: readonly string[], points: ReadonlySet<TxPoint>, { lost }: PointChange): boolean {
  return lost.some((point) => stopPoints.includes(point)) || (lost.length > 0 && points.size === 0);
}
