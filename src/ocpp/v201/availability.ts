/** ChangeAvailability (G03, G04). */
import { createOperativeStates } from '../station/availability.ts';
import type { OperativeStates } from '../station/availability.ts';
import type { Handler, Part, StationParts } from './parts.ts';

export interface AvailabilityPart extends Pick<OperativeStates, 'stationInoperative' | 'operative' | 'onChange'> {
  readonly part: Part;
}

/** A connector is the only one of its EVSE: both are in operation together. */
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
