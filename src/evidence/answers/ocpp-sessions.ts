/** Remote starts and stops of transactions. */
import { secondsBetween } from '../../core/time/clock.ts';
import type { OcppCall } from './ocpp-call.ts';
import { connectorsOf } from './ocpp-connectors.ts';
import { memberOf, numberOf, place, textOf } from './ocpp-call.ts';
import type { Claim } from './model.ts';

/** A session of the token that has begun since, or an authorisation that waits for a vehicle. */
export function startClaims({ device, station, request, answer, exchange }: OcppCall): readonly Claim[] {
  const token = textOf(memberOf(request, 'idTag') ?? memberOf(request, 'idToken', 'idToken'));
  if (token === null) return [];
  const connectorId = numberOf(memberOf(request, 'connectorId') ?? memberOf(request, 'evseId'));
  const startId = numberOf(memberOf(request, 'remoteStartId'));
  const isHere = (id: number) => connectorId === null || id === connectorId;
  const began = textOf(memberOf(answer, 'transactionId'));
  const session = device.chargingSessions().find((each) => {
    if (!isHere(each.connectorId)) return false;
    if (startId !== null && each.remoteStartId === startId) return true;
    return each.idToken === token && each.startedAtS >= secondsBetween(device.startedAt, exchange.at);
  });
  const isKnown = began !== null && station.transactions().some((each) => each.transactionId === began);
  const waits = connectorsOf(device).some((each) => isHere(each.connectorId) && each.authorised);
  const wasAuthorised = device.overrides.some(
    (each) => each.name === 'evse_authorization' && each.source === 'ocpp' && each.wallMs >= exchange.wallMs,
  );
  const name = startId === null ? `session of ${token}` : `session of ${token} (remoteStartId ${startId})`;
  return [
    {
      name,
      value: true,
      unit: null,
      did: `started a ${name}`,
      subject: `start ${exchange.messageId ?? ''}`,
      found: place(name, session !== undefined || isKnown || waits),
      ...(wasAuthorised && { ended: 'the authorisation has ended without a vehicle' }),
    },
  ];
}

export function stopClaims({ station, request }: OcppCall): readonly Claim[] {
  const given = memberOf(request, 'transactionId');
  const id = textOf(given) ?? (typeof given === 'number' ? String(given) : null);
  if (id === null) return [];
  const transaction = station.transactions().find(({ transactionId }) => transactionId === id);
  const name = `transaction ${id}`;
  return [
    {
      name,
      value: 'ended',
      unit: null,
      did: `stopped ${name}`,
      subject: name,
      found: place(name, transaction === undefined || transaction.endedMs !== null ? 'ended' : 'running'),
    },
  ];
}
