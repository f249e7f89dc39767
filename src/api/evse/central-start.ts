/** Tokens at a station where a central system decides about them. */
import type { EvseConnectorDetail } from '../../contract/kinds/evse.ts';
import type { OcppAuthorization, OcppStation } from '../../contract/ocpp.ts';
import { SimError } from '../../core/errors.ts';
import type { Origin } from '../../core/origin.ts';
import type { z } from '../description/zod.ts';
import type { RouteContext } from '../http/context.ts';
import { HttpProblem, invalid } from '../http/errors.ts';
import { authorizationSchema } from './request-schemas.ts';
import { connectorOf, sessionReply, stationById } from './replies.ts';
import type { Station } from './replies.ts';
import type { SessionReply } from './schemas.ts';

/** The charge point to ask about a token; null: the station decides itself. */
export function centralOf({ ocpp, detail }: Station): OcppStation | null {
  return detail.authority === 'central' ? ocpp : null;
}

export function authorizationReply({
  status,
  info,
}: OcppAuthorization): z.output<ReturnType<typeof authorizationSchema>> {
  const { data: known = 'Unknown' } = authorizationSchema().shape.status.safeParse(status);
  return { status: known, id_token_info: info && { ...info } };
}

function conflict({ connectorId, status }: EvseConnectorDetail, why: string): SimError {
  return new SimError('COMMAND_CONFLICT', `connector ${connectorId} is ${status}: ${why}`);
}

/** Refuses what the station without OCPP refuses: a token at a running session would stop it. @throws SimError COMMAND_CONFLICT */
function checkReady(connector: EvseConnectorDetail): void {
  const { phase, session } = connector;
  if (session !== null && session.endedAtS === null) throw conflict(connector, 'a session is running');
  if (phase !== 'connected' && phase !== 'finishing') throw conflict(connector, 'no vehicle is plugged in');
}

/**
 * Presents a token as a person does, and waits for the verdict of the central system, or of cache and local list.
 * @param given default: the token that plugging in presents
 * @throws SimError COMMAND_CONFLICT when it is refused, HttpProblem `validation` without a token
 */
export async function startByCentral(
  ctx: RouteContext,
  { id, cid }: { readonly id: string; readonly cid: number },
  given: string | undefined,
  by: Origin,
): Promise<SessionReply> {
  const before = stationById(ctx, id);
  const connector = connectorOf(before, cid);
  const central = centralOf(before);
  const token = given ?? before.detail.plugToken;
  if (central === null) throw new HttpProblem('internal', 'The station has no central system.');
  if (token === null) throw invalid('body', '/id_token', 'a token is required, or authorize false');
  checkReady(connector);
  const { status } = await central.authorize(connector.connectorId, token, by);
  const station = stationById(ctx, id);
  const now = connectorOf(station, cid);
  if (status !== 'Accepted') throw conflict(now, `the token is refused with ${status}`);
  // its start and its end may both have come before this
  if (now.session === null) throw conflict(now, 'the token is accepted, and the vehicle has left');
  return sessionReply(station, now.session);
}
