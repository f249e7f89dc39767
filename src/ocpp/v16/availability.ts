/**
 * ChangeAvailability (5.2) and StatusNotification (4.9): states of station and connectors, their moves permitted by
 * the standard, and their reports.
 */
import type { EvseTransition } from '../../contract/kinds/evse-transitions.ts';
import type { EvseConnectorState } from '../../contract/kinds/evse.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { createOperativeStates } from '../availability.ts';
import type { OperativeStates } from '../availability.ts';
import type { RegistrationPart } from '../provisioning/registration.ts';
import type { Requests } from './messages.ts';
import { stamp } from './parts.ts';
import type { Availability, Handler, Keys, Part, StationParts, StatusReports } from './parts.ts';

// ChangeAvailability (5.2).

interface AvailabilityPart extends OperativeStates {
  readonly handlers: { readonly ChangeAvailability: Handler<'ChangeAvailability'> };
}

export function createAvailability(options: Parameters<typeof createOperativeStates>[0]): AvailabilityPart {
  const states = createOperativeStates(options);
  return {
    handlers: {
      ChangeAvailability: ({ connectorId, type }) => ({ status: states.change(connectorId, type === 'Operative') }),
    },
    get stationInoperative() {
      return states.stationInoperative;
    },
    operative: states.operative,
    change: states.change,
    onChange: states.onChange,
    load: states.load,
    stop: states.stop,
  };
}

// Connector states of OCPP 1.6 (4.9): allowed moves, and intermediate states for other moves.

export type ConnectorStatus = Requests['StatusNotification']['status'];

/** States of 1.6 by state of the device. */
export const statusWords: Readonly<Record<EvseConnectorState, ConnectorStatus>> = {
  available: 'Available',
  preparing: 'Preparing',
  charging: 'Charging',
  suspended_ev: 'SuspendedEV',
  suspended_evse: 'SuspendedEVSE',
  finishing: 'Finishing',
  reserved: 'Reserved',
  unavailable: 'Unavailable',
  faulted: 'Faulted',
};

/** States that may follow a state, by the table of 4.9 (A2 ... I8). */
export const allowedMoves: Readonly<Record<ConnectorStatus, readonly ConnectorStatus[]>> = {
  Available: ['Preparing', 'Charging', 'SuspendedEV', 'SuspendedEVSE', 'Reserved', 'Unavailable', 'Faulted'],
  Preparing: ['Available', 'Charging', 'SuspendedEV', 'SuspendedEVSE', 'Finishing', 'Faulted'],
  Charging: ['Available', 'SuspendedEV', 'SuspendedEVSE', 'Finishing', 'Unavailable', 'Faulted'],
  SuspendedEV: ['Available', 'Charging', 'SuspendedEVSE', 'Finishing', 'Unavailable', 'Faulted'],
  SuspendedEVSE: ['Available', 'Charging', 'SuspendedEV', 'Finishing', 'Unavailable', 'Faulted'],
  Finishing: ['Available', 'Preparing', 'Unavailable', 'Faulted'],
  Reserved: ['Available', 'Preparing', 'Unavailable', 'Faulted'],
  Unavailable: ['Available', 'Preparing', 'Charging', 'SuspendedEV', 'SuspendedEVSE', 'Faulted'],
  Faulted: [
    'Available',
    'Preparing',
    'Charging',
    'SuspendedEV',
    'SuspendedEVSE',
    'Finishing',
    'Reserved',
    'Unavailable',
  ],
};

/** Intermediate states for a move that the table lacks; the first that fits is used. */
const intermediates: readonly ConnectorStatus[] = ['Available', 'Preparing'];

/**
 * The state to report before `to`, so that both moves are in the table; null: the move is allowed, or no such state
 * exists. Example: a connector with a plugged cable becomes inoperative: Preparing, Available, Unavailable.
 */
export function intermediate(from: ConnectorStatus, to: ConnectorStatus): ConnectorStatus | null {
  if (from === to || allowedMoves[from].includes(to)) return null;
  return intermediates.find((via) => allowedMoves[from].includes(via) && allowedMoves[via].includes(to)) ?? null;
}

/** Members of a StatusNotification about a state, without its time. */
type StatusReport = Pick<
  Requests['StatusNotification'],
  'status' | 'errorCode' | 'info' | 'vendorErrorCode' | 'vendorId'
>;

/** The station or a connector, with its last report. */
interface Row {
  /** 0: the station */
  readonly connectorId: number;
  /** report of the last message; null: none yet */
  sent: StatusReport | null;
  /** true: the last message may not have arrived */
  doubtful: boolean;
  /** instant of the last change; converted when it is reported, because the registration sets the clock */
  since: SimTime;
  /** report after the last change, as text, to detect events that change nothing in the row */
  lastText: string;
  /** ends the wait of MinimumStatusDuration */
  cancel: (() => void) | null;
}

interface StatusOptions extends Pick<StationParts, 'device' | 'clock' | 'calls' | 'keys'> {
  readonly registration: RegistrationPart;
  readonly availability: Pick<Availability, 'stationInoperative'>;
}

export interface StatusPart extends StatusReports, Part {
  /** Reports changes without a transition of the device. */
  refresh(): void;
  stop(): void;
}

const noError = { errorCode: 'NoError' } as const;

/** Status of a connector; texts have the maximum lengths of 6.47. */
function connectorState({ device }: StatusOptions, connectorId: number): StatusReport {
  const { status, errorCode, errorInfo, vendorErrorCode } = device.connector(connectorId);
  return {
    status: statusWords[status],
    errorCode,
    ...(errorInfo !== null && errorInfo !== '' && { info: errorInfo.slice(0, 50) }),
    ...(vendorErrorCode !== null && vendorErrorCode !== '' && { vendorErrorCode: vendorErrorCode.slice(0, 50) }),
  };
}

/**
 * Status of the station: Available, Unavailable or Faulted. It is Faulted if all connectors are; a grid fault that
 * stops the charging is an error, and does not change the state.
 */
export function stationState({ device, availability }: Pick<StatusOptions, 'device' | 'availability'>): StatusReport {
  const { connectors, externalLimit } = device.detail;
  const [firstConnector] = connectors;
  if (firstConnector !== undefined && connectors.every(({ status }) => status === 'faulted'))
    return { status: 'Faulted', errorCode: firstConnector.errorCode, info: 'every connector is faulted' };
  const isBusy = connectors.some(({ session }) => session !== null && session.state !== 'ended');
  const status = availability.stationInoperative && !isBusy ? 'Unavailable' : 'Available';
  return externalLimit?.decidedBy === 'cessation'
    ? { status, errorCode: 'OtherError', info: 'the grid is outside of its limits: no power' }
    : { status, ...noError };
}

const isSameReport = (a: StatusReport | null, b: StatusReport): boolean =>
  a !== null && JSON.stringify(a) === JSON.stringify(b);

/** Sends the states of the rows. A message without an answer is sent again after the next connection. */
function sender({
  calls,
  clock,
}: Pick<StatusOptions, 'calls' | 'clock'>): (row: Row, status: StatusReport, triggered: boolean) => void {
  const send = (row: Row, report: StatusReport, triggered: boolean) =>
    calls.send(
      'StatusNotification',
      { connectorId: row.connectorId, ...report, timestamp: stamp(clock.ofSim(row.since)) },
      { triggered },
    );
  return (row, report, triggered) => {
    row.sent = report;
    row.doubtful = true;
    void send(row, report, triggered).then(({ kind }) => {
      if (row.sent === report) row.doubtful = kind !== 'result' && kind !== 'error';
    });
  };
}

function stateOf(options: StatusOptions, connectorId: number): StatusReport {
  return connectorId === 0 ? stationState(options) : connectorState(options, connectorId);
}

/** The rows of station and connectors, with the functions that watch them. */
function createRows(options: StatusOptions, keys: Keys, send: ReturnType<typeof sender>) {
  const { device, clock, registration } = options;
  const rows = [0, ...device.connectorIds].map((connectorId): Row => {
    const lastText = JSON.stringify(stateOf(options, connectorId));
    return { connectorId, sent: null, doubtful: false, since: device.now, lastText, cancel: null };
  });
  const cancelWait = (row: Row): void => {
    row.cancel?.();
    row.cancel = null;
  };
  const report = (row: Row): void => {
    const current = stateOf(options, row.connectorId);
    // a row that was never sent is reported with all others, or after the next connection
    if (row.sent === null || !registration.isReady || isSameReport(row.sent, current)) return;
    const via: ConnectorStatus | null = intermediate(row.sent.status, current.status);
    if (via !== null) send(row, { status: via, ...noError }, false);
    send(row, current, false);
  };
  /** Notes a change at an instant, and reports it once it has lasted for MinimumStatusDuration. */
  const noteChange = (row: Row, at: SimTime): void => {
    const text = JSON.stringify(stateOf(options, row.connectorId));
    if (text === row.lastText) return;
    row.lastText = text;
    row.since = at;
    cancelWait(row);
    const durationS = keys.integer('MinimumStatusDuration');
    if (durationS === 0) report(row);
    else
      row.cancel = clock.at(clock.nowMs() + durationS * 1000, () => {
        row.cancel = null;
        report(row);
      });
  };
  return { rows, noteChange, cancelWait };
}

export function createStatusReports(options: StatusOptions): StatusPart {
  const { device, keys, registration } = options;
  const send = sender(options);
  const { rows, noteChange, cancelWait } = createRows(options, keys, send);
  let boots = registration.boots;
  const sendRow = (row: Row, triggered: boolean): void => {
    cancelWait(row);
    send(row, stateOf(options, row.connectorId), triggered);
  };
  const followDevice = (transition: EvseTransition): void => {
    for (const row of rows)
      if (transition.connectorId === 0 || row.connectorId === 0 || row.connectorId === transition.connectorId)
        noteChange(row, transition.at);
  };
  const reportChanged = (): void => {
    const isBooted = registration.boots !== boots;
    boots = registration.boots;
    for (const row of rows)
      if (isBooted || row.doubtful || !isSameReport(row.sent, stateOf(options, row.connectorId))) sendRow(row, false);
  };
  const ends = [device.onTransition(followDevice), registration.onAccepted(reportChanged)];
  return {
    announce: (connectorId, { triggered = false } = {}) => {
      for (const row of rows) if (connectorId === undefined || row.connectorId === connectorId) sendRow(row, triggered);
    },
    refresh: () => {
      for (const row of rows) noteChange(row, device.now);
    },
    stop: () => {
      for (const end of ends) end();
      for (const row of rows) cancelWait(row);
    },
  };
}
