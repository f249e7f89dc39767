/** What a transition of the device tells in TransactionEvents: a trigger for each cause, the first of them first. */
import type { EvseConnectorTransition } from '../../../contract/kinds/evse-transitions.ts';
import type { IdToken, ReasonEnum, TriggerReasonEnum } from '../messages.ts';
import type { PointChange } from './points.ts';
import { faultReason, whyOf } from './reasons.ts';
import type { Why } from './reasons.ts';

export interface Cause {
  readonly trigger: TriggerReasonEnum;
  /** of the end, where this cause ends the transaction; null: the end has no reason of its own */
  readonly reason: ReasonEnum | null;
  /** presented for it, where it is not the token of the transaction that is told anyway */
  readonly idToken?: IdToken;
}

/** What the station knows beside the transition. */
export interface CauseContext {
  readonly change: PointChange;
  /** the parking bay is watched: a start or stop point is ParkingBayOccupancy */
  readonly watchesBay: boolean;
  /** the charging state differs from before */
  readonly stateChanged: boolean;
  /** the token was brought by a remote start */
  readonly remote: boolean;
  /** a stop that this station has asked for; null: it has not */
  readonly asked: (Why & Pick<Cause, 'idToken'>) | null;
}

type Table = Readonly<
  Partial<Record<EvseConnectorTransition['event'], (t: EvseConnectorTransition, context: CauseContext) => Cause[]>>
>;

const told = (trigger: TriggerReasonEnum, reason: ReasonEnum | null = null): Cause[] => [{ trigger, reason }];

function bay({ change: { risen, lost }, watchesBay }: CauseContext): Cause[] {
  if (!watchesBay) return [];
  if (risen.includes('ParkingBayOccupancy')) return told('EVDetected');
  return lost.includes('ParkingBayOccupancy') ? told('EVDeparted', 'EVDisconnected') : [];
}

const stateChange =
  (reason: ReasonEnum | null) =>
  (_: EvseConnectorTransition, { stateChanged }: CauseContext): Cause[] =>
    stateChanged ? told('ChargingStateChanged', reason) : [];

const unplugged = (_: EvseConnectorTransition, context: CauseContext): Cause[] => [
  ...told('EVCommunicationLost', 'EVDisconnected'),
  ...bay(context),
];

/** An authorisation without a vehicle ends. One that never came (`connected` to `finishing`) tells nothing. */
function withdrawn({ cause, fromPhase, connector }: EvseConnectorTransition, { asked }: CauseContext): Cause[] {
  if (fromPhase !== 'authorised') return [];
  if (asked !== null) return [asked];
  if (cause === 'timeout') return told('EVConnectTimeout', 'Timeout');
  if (cause === 'fault') return told('AbnormalCondition', faultReason(connector.errorCode));
  return cause === 'central' ? told('Deauthorized', 'Other') : told('StopAuthorized', 'Local');
}

/** Without power the station cannot deliver. */
function held(t: EvseConnectorTransition, context: CauseContext): Cause[] {
  return t.cause === 'fault' ? told('AbnormalCondition', 'PowerLoss') : stateChange('Other')(t, context);
}

const table: Table = {
  cable: (_, context) => bay(context),
  plugged: () => told('CablePluggedIn'),
  unplugged,
  ev_unplugged: unplugged,
  authorize: (_, { remote }) => told(remote ? 'RemoteStart' : 'Authorized'),
  withdraw: withdrawn,
  delay_over: stateChange(null),
  ev_hold: stateChange('StoppedByEV'),
  ev_release: stateChange(null),
  evse_hold: held,
  evse_release: stateChange(null),
  stop: ({ session }, { asked }) => [asked ?? whyOf(session?.stopReason ?? null)],
  fault: ({ connector }) => told('AbnormalCondition', faultReason(connector.errorCode)),
  clear_fault: stateChange(null),
};

/** Empty: the transition tells nothing. */
export function causesOf(t: EvseConnectorTransition, context: CauseContext): readonly Cause[] {
  return table[t.event]?.(t, context) ?? [];
}
