/** Where a remote start can begin. OCPP 2.0.1 F01 and F02. */
import type { EvseConnectorDetail } from '../../../contract/kinds/evse.ts';
import { obstacle } from '../../authorization/reader.ts';
import { bestConnector } from '../../remote-control/remote-control.ts';
import type { Authorizations } from '../authorization/authorization.ts';
import { bearerOf, tokenFault } from '../authorization/token.ts';
import type { Tokens } from '../authorization/tokens.ts';
import type { Requests, StationParts } from '../parts.ts';
import type { Reservations } from '../reservation.ts';

type Start = Requests['RequestStartTransaction'];

interface Refusal {
  /** of the standard */
  readonly reasonCode: string;
  readonly why: string;
}

export interface PlaceDeps {
  readonly tokens: Pick<Tokens, 'groupOf'>;
  readonly authorization: Pick<Authorizations, 'checking'>;
  readonly reservations: Pick<Reservations, 'blocks' | 'groupCounts' | 'isFor'>;
}

interface PlaceParts {
  readonly parts: StationParts;
  readonly deps: PlaceDeps;
}

/** A reason code for a request that no state of the station can make right; null: it is well made. */
export function requestFault({ device }: StationParts, { idToken, groupIdToken, evseId }: Start): string | null {
  const fault = tokenFault(idToken) ?? (groupIdToken === undefined ? null : tokenFault(groupIdToken));
  if (fault !== null) return fault;
  return evseId === undefined || device.connectorIds.includes(evseId) ? null : 'UnknownEvse';
}

/** True if the token may use an EVSE; one that is asked about first may turn out to be of the group that reserved it. */
function isReservedForOther({ parts, deps }: PlaceParts, evseId: number, { idToken, groupIdToken }: Start): boolean {
  const group = groupIdToken ?? deps.tokens.groupOf(idToken);
  const asks = group === null && parts.variables.boolean('AuthCtrlr', 'AuthorizeRemoteStart');
  if (asks && deps.reservations.groupCounts(evseId)) return false;
  return deps.reservations.blocks(evseId, bearerOf(idToken, group));
}

function refusal(control: PlaceParts, connector: EvseConnectorDetail, start: Start): Refusal | null {
  const { connectorId: evseId, errorCode, operative } = connector;
  const why = obstacle(connector);
  if (why !== null) {
    const isOccupied = errorCode === 'NoError' && operative;
    return { reasonCode: isOccupied ? 'TxInProgress' : 'Unspecified', why: `EVSE ${evseId}: ${why}` };
  }
  if (control.deps.authorization.checking(evseId))
    return { reasonCode: 'TxInProgress', why: `EVSE ${evseId}: a token is being checked` };
  return isReservedForOther(control, evseId, start)
    ? { reasonCode: 'Unspecified', why: `EVSE ${evseId} is reserved for another token` }
    : null;
}

function choose(control: PlaceParts, start: Start): number | Refusal {
  const { parts, deps } = control;
  const bearer = bearerOf(start.idToken, start.groupIdToken ?? deps.tokens.groupOf(start.idToken));
  const best = bestConnector(
    parts.device.detail.connectors,
    (connector) => refusal(control, connector, start) === null,
    (evseId) => deps.reservations.isFor(evseId, bearer),
  );
  return best?.connectorId ?? { reasonCode: 'Unspecified', why: 'no EVSE is free for this token' };
}

/** The EVSE of a start, or why there is none. */
export function placeFor(control: PlaceParts, start: Start): number | Refusal {
  const { evseId } = start;
  if (evseId === undefined) return choose(control, start);
  return refusal(control, control.parts.device.connector(evseId), start) ?? evseId;
}
