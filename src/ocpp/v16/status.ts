/** StatusNotification (4.9): what connectors and station are, reported as they change and as the standard asks. */
import type { EvseTransition } from '../../contract/kinds/evse-transitions.ts';
import type { Requests } from './messages.ts';
import type { Availability, Calls, Keys, Part, StationParts, StatusReports } from './parts.ts';
import { stamp } from './parts.ts';
import type { RegistrationPart } from './registration.ts';
import { intermediate, statusWords } from './status-table.ts';
import type { ConnectorStatus } from './status-table.ts';

/** The state of a connector as a StatusNotification tells it, without its time. */
type Told = Pick<Requests['StatusNotification'], 'status' | 'errorCode' | 'info' | 'vendorErrorCode' | 'vendorId'>;

interface Row {
  readonly connectorId: number;
  /** null: not known to the central system */
  sent: Told | null;
  /** ms since the epoch, of the last change */
  sinceMs: number;
  /** the last change, as text: to tell it from an event that changes nothing here */
  last: string;
  /** ends the wait of MinimumStatusDuration */
  cancel: (() => void) | null;
}

export interface StatusOptions extends Pick<StationParts, 'device' | 'clock' | 'calls' | 'keys'> {
  readonly registration: RegistrationPart;
  readonly availability: Pick<Availability, 'stationInoperative'>;
}

export interface StatusPart extends StatusReports, Part {
  /** Reports what has changed without a transition of the device. */
  refresh(): void;
  stop(): void;
}

const noError = { errorCode: 'NoError' } as const;

/** Lengths by 6.47. */
function connectorState({ device }: StatusOptions, connectorId: number): Told {
  const { status, errorCode, errorInfo, vendorErrorCode } = device.connector(connectorId);
  return {
    status: statusWords[status],
    errorCode,
    ...(errorInfo !== null && errorInfo !== '' && { info: errorInfo.slice(0, 50) }),
    ...(vendorErrorCode !== null && vendorErrorCode !== '' && { vendorErrorCode: vendorErrorCode.slice(0, 50) }),
  };
}

/**
 * The station itself: only Available, Unavailable or Faulted. Faulted where no connector works; a grid fault that keeps
 * it from drawing power is an error that leaves the state as it is.
 */
export function stationState({ device, availability }: Pick<StatusOptions, 'device' | 'availability'>): Told {
  const { connectors, externalLimit } = device.detail;
  const [first] = connectors;
  if (first !== undefined && connectors.every(({ status }) => status === 'faulted'))
    return { status: 'Faulted', errorCode: first.errorCode, info: 'every connector is faulted' };
  const busy = connectors.some(({ session }) => session !== null && session.state !== 'ended');
  const status = availability.stationInoperative && !busy ? 'Unavailable' : 'Available';
  return externalLimit?.decidedBy === 'cessation'
    ? { status, errorCode: 'OtherError', info: 'the grid is outside of its limits: no power' }
    : { status, ...noError };
}

const same = (a: Told | null, b: Told): boolean => a !== null && JSON.stringify(a) === JSON.stringify(b);

/** Sends the states of the rows. A message that was not answered is unknown: its row is sent again later. */
function sender(calls: Calls): (row: Row, told: Told, triggered: boolean) => void {
  const send = (row: Row, told: Told, triggered: boolean) =>
    calls.send(
      'StatusNotification',
      { connectorId: row.connectorId, ...told, timestamp: stamp(row.sinceMs) },
      { triggered },
    );
  return (row, told, triggered) => {
    row.sent = told;
    void send(row, told, triggered).then(({ kind }) => {
      if (kind !== 'result' && kind !== 'error' && row.sent === told) row.sent = null;
    });
  };
}

function stateOf(options: StatusOptions, connectorId: number): Told {
  return connectorId === 0 ? stationState(options) : connectorState(options, connectorId);
}

/** Notes a change at an instant, and reports it once it has lasted for MinimumStatusDuration. */
function createRows(options: StatusOptions, keys: Keys, send: ReturnType<typeof sender>) {
  const { device, clock, registration } = options;
  const startMs = clock.nowMs();
  const rows = [0, ...device.connectorIds].map((connectorId): Row => {
    const last = JSON.stringify(stateOf(options, connectorId));
    return { connectorId, sent: null, sinceMs: startMs, last, cancel: null };
  });
  const settle = (row: Row): void => {
    row.cancel?.();
    row.cancel = null;
  };
  const report = (row: Row): void => {
    const told = stateOf(options, row.connectorId);
    // a row that the central system does not know is reported with all others, or after the next connection
    if (row.sent === null || !registration.accepted || same(row.sent, told)) return;
    const via: ConnectorStatus | null = intermediate(row.sent.status, told.status);
    if (via !== null) send(row, { status: via, ...noError }, false);
    send(row, told, false);
  };
  const look = (row: Row, atMs: number): void => {
    const text = JSON.stringify(stateOf(options, row.connectorId));
    if (text === row.last) return;
    row.last = text;
    row.sinceMs = atMs;
    settle(row);
    const durationS = keys.integer('MinimumStatusDuration');
    if (durationS === 0) report(row);
    else
      row.cancel = clock.at(clock.nowMs() + durationS * 1000, () => {
        row.cancel = null;
        report(row);
      });
  };
  return { rows, look, settle };
}

export function createStatusReports(options: StatusOptions): StatusPart {
  const { device, clock, calls, keys, registration } = options;
  const send = sender(calls);
  const { rows, look, settle } = createRows(options, keys, send);
  let boots = registration.boots;
  const sendRow = (row: Row, triggered: boolean): void => {
    settle(row);
    send(row, stateOf(options, row.connectorId), triggered);
  };
  const heard = (transition: EvseTransition): void => {
    const atMs = clock.ofSim(transition.at);
    for (const row of rows)
      if (transition.connectorId === 0 || row.connectorId === 0 || row.connectorId === transition.connectorId)
        look(row, atMs);
  };
  const accepted = (): void => {
    const booted = registration.boots !== boots;
    boots = registration.boots;
    for (const row of rows)
      if (booted || row.sent === null || !same(row.sent, stateOf(options, row.connectorId))) sendRow(row, false);
  };
  const ends = [device.onTransition(heard), registration.onAccepted(accepted)];
  return {
    announce: (connectorId, { triggered = false } = {}) => {
      for (const row of rows) if (connectorId === undefined || row.connectorId === connectorId) sendRow(row, triggered);
    },
    refresh: () => {
      for (const row of rows) look(row, clock.nowMs());
    },
    stop: () => {
      for (const end of ends) end();
      for (const row of rows) settle(row);
    },
  };
}
