/** Points at which transactions start and stop, and the charging state: functions of the state of a connector (E01). */
import type { EvseConnectorDetail } from '../../../contract/kinds/evse.ts';
import type { ChargingStateEnum } from '../messages.ts';

/** Values of TxStartPoint and TxStopPoint. DataSigned is none of them: no meter of the device signs. */
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

/** The vehicle is the object that a sensor of the parking bay would see. */
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

/** A fault opens the contactor: the station holds the energy back. */
export function chargingStateOf({ phase, errorCode }: Pick<Connector, 'phase' | 'errorCode'>): ChargingStateEnum {
  const state = states[phase];
  return errorCode !== 'NoError' && (state === 'Charging' || state === 'SuspendedEV') ? 'SuspendedEVSE' : state;
}

/** Which points begin to hold and which end. */
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
 * True if a transaction starts: a start point begins to hold, or one holds and a token was authorised, for a vehicle that
 * stays after its transaction.
 */
export function starts(startPoints: readonly string[], points: ReadonlySet<TxPoint>, { risen }: PointChange): boolean {
  const isStart = (point: TxPoint) => startPoints.includes(point);
  return risen.some(isStart) || (risen.includes('Authorized') && [...points].some(isStart));
}

/** True if a transaction stops: a stop point is lost, or neither vehicle nor token is left. */
export function stops(stopPoints: readonly string[], points: ReadonlySet<TxPoint>, { lost }: PointChange): boolean {
  return lost.some((point) => stopPoints.includes(point)) || (lost.length > 0 && points.size === 0);
}
