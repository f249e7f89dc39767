/** Stations and connectors of requests, and tokens at stations where a central system decides about them. */
import type { Device } from '../../contract/device.ts';
import { chargePoint } from '../../contract/charge-point-ids.ts';
import type { EvseConnectorDetail } from '../../contract/kinds/evse.ts';
import type { OcppStation } from '../../contract/ocpp.ts';
import { SimError } from '../../core/errors.ts';
import { memo } from '../../core/lazy.ts';
import type { Origin } from '../../core/origin.ts';
import { detailOf } from '../common/device-replies.ts';
import type { ReplyOf } from '../common/members.ts';
import type { RouteContext } from '../http/context.ts';
import { HttpProblem, invalid } from '../http/errors.ts';
import { session } from './members.ts';
import type { Station } from './members.ts';

/**
 * The device as a station.
 * @throws SimError COMMAND_NOT_APPLICABLE for every other kind
 */
export function stationOf({ plant, chargePointId, ocpp }: RouteContext, device: Device): Station {
  const detail = detailOf(device, 'evse');
  const id = chargePointId(device);
  if (id === null) throw new SimError('INTERNAL', `device ${device.index} has no charge point identity`);
  const station = ocpp.ofDevice(device.index);
  // session ids restart with each process: reversed, the newest transaction of an id replaces older ones
  const transactions = memo(
    () =>
      new Map(
        station?.functions
          .transactions()
          .toReversed()
          .map((each) => [each.sessionId, each]),
      ),
  );
  return { plant, device, id, detail, ocpp: station, transactionOf: (sessionId) => transactions().get(sessionId) };
}

/** All stations in the order of their devices. */
export function allStations(ctx: RouteContext): Station[] {
  return ctx.plant.devices.filter(({ assetType }) => assetType === 'evse').map((device) => stationOf(ctx, device));
}

/** @throws SimError UNKNOWN_RESOURCE */
export function stationById(ctx: RouteContext, id: string): Station {
  return stationOf(ctx, chargePoint(ctx.plant, ctx.chargePointId, id));
}

/** @throws SimError UNKNOWN_RESOURCE */
export function connectorOf({ id, detail }: Station, connectorId: number): EvseConnectorDetail {
  const connector = detail.connectors.find((each) => each.connectorId === connectorId);
  if (connector) return connector;
  const ids = detail.connectors.map((each) => each.connectorId).join(', ');
  throw new SimError('UNKNOWN_RESOURCE', `${id} has no connector ${connectorId}; it has ${ids}.`);
}

/** The charge point to ask about a token; null: the station decides itself. */
export function centralOf({ ocpp, detail }: Station): OcppStation | null {
  return detail.authority === 'central' ? ocpp : null;
}

function conflict({ connectorId, status }: EvseConnectorDetail, why: string): SimError {
  return new SimError('COMMAND_CONFLICT', `connector ${connectorId} is ${status}: ${why}`);
}

/** Refuses as a station without OCPP does: a token would stop a running session. @throws SimError COMMAND_CONFLICT */
function checkReady(connector: EvseConnectorDetail): void {
  const { phase } = connector;
  if (connector.session !== null && connector.session.endedAtS === null)
    throw conflict(connector, 'a session is running');
  if (phase !== 'connected' && phase !== 'finishing') throw conflict(connector, 'no vehicle is plugged in');
}

/**
 * Presents a token as a person does, and waits for the verdict of the central system, or of cache and local list.
 * @param requestedToken default: the token that plugging in presents
 * @throws SimError COMMAND_CONFLICT when it is refused, HttpProblem `validation` without a token
 */
export async function startByCentral(
  ctx: RouteContext,
  { id, cid }: { readonly id: string; readonly cid: number },
  requestedToken: string | undefined,
  by: Origin,
): Promise<ReplyOf<typeof session>> {
  const before = stationById(ctx, id);
  const connector = connectorOf(before, cid);
  const central = centralOf(before);
  const token = requestedToken ?? before.detail.plugToken;
  if (central === null) throw new HttpProblem('internal', 'The station has no central system.');
  if (token === null) throw invalid('body', '/id_token', 'a token is required, or authorize false');
  checkReady(connector);
  const { status } = await central.functions.authorize(connector.connectorId, token, by);
  const station = stationById(ctx, id);
  const current = connectorOf(station, cid);
  if (status !== 'Accepted') throw conflict(current, `the token is refused with ${status}`);
  // the session may have started and ended during the authorization
  if (current.session === null) throw conflict(current, 'the token is accepted, and the vehicle has left');
  return session.reply(current.session, station);
}
