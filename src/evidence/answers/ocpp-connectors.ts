/** Availability and reservations of connectors. */
import type { EvseConnectorDetail } from '../../contract/kinds/evse.ts';
import type { Device } from '../../contract/device.ts';
import type { OcppCall } from './ocpp-call.ts';
import { memberOf, nowOf, numberOf, place, textOf } from './ocpp-call.ts';
import type { Claim } from './model.ts';

export function connectorsOf({ detail }: Device): readonly EvseConnectorDetail[] {
  return detail.kind === 'evse' ? detail.connectors : [];
}

/** Connectors that a call names: 0, or no number, are all of them. */
function namedConnectors(device: Device, id: number | null): readonly EvseConnectorDetail[] {
  return connectorsOf(device).filter(({ connectorId }) => id === null || id === 0 || connectorId === id);
}

export function availabilityClaims({ device, request, exchange }: OcppCall): readonly Claim[] {
  const wanted = textOf(memberOf(request, 'type')) ?? textOf(memberOf(request, 'operationalStatus'));
  const id = numberOf(memberOf(request, 'connectorId') ?? memberOf(request, 'evse', 'id'));
  if (wanted === null) return [];
  return namedConnectors(device, id).map((connector): Claim => {
    const { connectorId, operative } = connector;
    const name = `availability of connector ${connectorId}`;
    const value = operative ? 'Operative' : 'Inoperative';
    const writer = device.overrides.find(
      (each) => each.name === 'evse_availability' && (each.connectorId === connectorId || each.connectorId === 0),
    );
    const common = { name, value: wanted, unit: null, did: `set the ${name} to ${wanted}`, subject: name };
    if (exchange.answer === 'Scheduled' && value !== wanted)
      return { ...common, found: null, reason: 'it is to follow when the transaction ends' };
    return { ...common, found: place(name, value, writer ?? null) };
  });
}

export function reservationClaims({ device, station, request, exchange }: OcppCall): readonly Claim[] {
  const id = numberOf(memberOf(request, 'reservationId') ?? memberOf(request, 'id'));
  if (id === null) return [];
  const isHeld = station.reservations().some(({ reservationId }) => reservationId === id);
  const name = `reservation ${id}`;
  const session = device.chargingSessions().find(({ reservationId }) => reservationId === id);
  const expiresMs = Date.parse(textOf(memberOf(request, 'expiryDate') ?? memberOf(request, 'expiryDateTime')) ?? '');
  const isOver = expiresMs <= nowOf(station);
  const ended =
    session !== undefined ? `session ${session.transactionId} has used it` : isOver ? 'its time is over' : undefined;
  return [
    {
      name,
      value: true,
      unit: null,
      did: `made ${name}`,
      subject: `reservation ${id}`,
      found: place(name, isHeld),
      ...(ended !== undefined && exchange.answer === 'Accepted' && { ended }),
    },
  ];
}

export function cancellationClaims({ station, request }: OcppCall): readonly Claim[] {
  const id = numberOf(memberOf(request, 'reservationId'));
  if (id === null) return [];
  const name = `reservation ${id}`;
  const isHeld = station.reservations().some(({ reservationId }) => reservationId === id);
  return [
    {
      name,
      value: false,
      unit: null,
      did: `cancelled ${name}`,
      subject: `reservation ${id}`,
      found: place(name, isHeld),
    },
  ];
}
