/** ChangeAvailability (G03, G04), and StatusNotification with the states of the connectors (B01, B04, G01). */
import type { EvseTransition } from '../../contract/kinds/evse-transitions.ts';
import type { EvseOccupancy } from '../../contract/kinds/evse.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { createOperativeStates } from '../availability.ts';
import type { OperativeStates } from '../availability.ts';
import { stamp } from './parts.ts';
import type { Handler, Part, Requests, StationParts, StatusReports } from './parts.ts';

// ChangeAvailability (G03, G04).

export interface AvailabilityPart extends Pick<OperativeStates, 'stationInoperative' | 'operative' | 'onChange'> {
  readonly part: Part;
}

/** An EVSE and its only connector are operative together. */
export function createAvailability(parts: Pick<StationParts, 'device' | 'log' | 'store'>): AvailabilityPart {
  const { device, log } = parts;
  const states = createOperativeStates({ device, log, slot: parts.store('availability') });
  const change: Handler<'ChangeAvailability'> = ({ evse, operationalStatus }) => {
    if (evse?.connectorId !== undefined && evse.connectorId !== 1)
      return { status: 'Rejected', statusInfo: { reasonCode: 'UnknownConnectorId' } };
    const evseId = evse?.id ?? 0;
    if (evseId !== 0 && !device.connectorIds.includes(evseId))
      return { status: 'Rejected', statusInfo: { reasonCode: 'UnknownEvse' } };
    return { status: states.change(evseId, operationalStatus === 'Operative') };
  };
  return {
    get stationInoperative() {
      return states.stationInoperative;
    },
    operative: states.operative,
    onChange: states.onChange,
    part: { handlers: { ChangeAvailability: change }, load: states.load, stop: states.stop },
  };
}

type ConnectorStatus = Requests['StatusNotification']['connectorStatus'];

/** ConnectorStatusEnum by occupancy of the device. */
export const occupancyWords = {
  available: 'Available',
  occupied: 'Occupied',
  reserved: 'Reserved',
  unavailable: 'Unavailable',
  faulted: 'Faulted',
} as const satisfies Readonly<Record<EvseOccupancy, ConnectorStatus>>;

interface Row {
  readonly evseId: number;
  /** status of the last message; null: none since the boot */
  sent: ConnectorStatus | null;
  /** true: the last message may not have arrived */
  isDoubtful: boolean;
  /** status after the last change */
  last: ConnectorStatus;
  /** instant of the last change; converted to the time of the central system when the status is sent */
  since: SimTime;
}

type StatusOptions = Pick<StationParts, 'device' | 'clock' | 'wall' | 'calls' | 'variables' | 'registration'>;

interface StatusPart extends StatusReports {
  readonly part: Part;
}

/** The ConnectorStatusEnum of a connector now. */
function connectorStatus(device: StationParts['device'], evseId: number): ConnectorStatus {
  return occupancyWords[device.connector(evseId).occupancy];
}

/** Sends the states of the rows. A message without an answer is sent again after the next connection. */
function sender({ calls, clock }: StatusOptions) {
  return (row: Row, triggered: boolean): void => {
    const { evseId, last: connectorStatus } = row;
    row.sent = connectorStatus;
    row.isDoubtful = true;
    const request = { timestamp: stamp(clock.ofSim(row.since)), connectorStatus, evseId, connectorId: 1 };
    void calls.send('StatusNotification', request, { triggered }).then(({ kind }) => {
      if (row.sent === connectorStatus) row.isDoubtful = kind !== 'result' && kind !== 'error';
    });
  };
}

function rowsOf({ device }: StatusOptions): readonly Row[] {
  return device.connectorIds.map((evseId) => ({
    evseId,
    sent: null,
    isDoubtful: false,
    last: connectorStatus(device, evseId),
    since: device.now,
  }));
}

/** Reports after each boot and each new connection; all rows after a boot or a long time without connection. */
function followRegistration(options: StatusOptions, rows: readonly Row[], report: (row: Row, all: boolean) => void) {
  const { wall, variables, registration } = options;
  let boots = registration.boots;
  let offlineSinceMs: number | null = null;
  const reportRows = (): void => {
    const isBoot = registration.boots !== boots;
    boots = registration.boots;
    const offlineS = offlineSinceMs === null ? 0 : (wall.monotonicMs() - offlineSinceMs) / 1000;
    offlineSinceMs = null;
    // B04.FR.01
    const isLong = offlineS > variables.integer('OCPPCommCtrlr', 'OfflineThreshold');
    for (const row of rows) report(row, isBoot || isLong);
  };
  return [
    registration.onAccepted(reportRows),
    registration.onEnded(() => {
      offlineSinceMs ??= wall.monotonicMs();
    }),
  ];
}

export function createStatusReports(options: StatusOptions): StatusPart {
  const { device, registration } = options;
  const send = sender(options);
  const rows = rowsOf(options);
  /** Notes a change at an instant. @returns true: the status has changed */
  const noteChange = (row: Row, at: SimTime): boolean => {
    const status = connectorStatus(device, row.evseId);
    if (status === row.last) return false;
    row.last = status;
    row.since = at;
    return true;
  };
  const followDevice = ({ connectorId, at }: EvseTransition): void => {
    for (const row of rows) {
      if (connectorId !== 0 && row.evseId !== connectorId) continue;
      // a row that was never sent is reported with all others after the boot
      if (noteChange(row, at) && row.sent !== null && registration.isReady) send(row, false);
    }
  };
  const ends = [
    device.onTransition(followDevice),
    ...followRegistration(options, rows, (row, all) => {
      noteChange(row, device.now);
      if (all || row.isDoubtful || row.sent !== row.last) send(row, false);
    }),
  ];
  const announce: StatusReports['announce'] = (evseId, { triggered = false } = {}) => {
    for (const row of rows) {
      if (evseId !== undefined && row.evseId !== evseId) continue;
      noteChange(row, device.now);
      send(row, triggered);
    }
  };
  return {
    announce,
    part: {
      triggers: {
        StatusNotification: (evseId) => {
          announce(evseId, { triggered: true });
        },
      },
      stop: () => {
        for (const end of ends) end();
      },
    },
  };
}
