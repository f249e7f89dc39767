/** ReserveNow. OCPP 2.0.1 H01. */
import { SimError } from '../../../core/errors.ts';
import type { Access } from '../../reservations/access.ts';
import type { Book } from '../../reservations/book.ts';
import { connectorAnswer, stationAnswer } from '../../reservations/rules.ts';
import { instantOf } from '../../station/instants.ts';
import { bearerOf, tokenFault } from '../auth/token.ts';
import type { Replies, Requests, StationParts } from '../parts.ts';
import { clauseOf } from '../registration.ts';

interface Work {
  readonly parts: StationParts;
  readonly book: Book;
  readonly access: Access;
}

type Request = Requests['ReserveNow'];
type Reply = Replies['ReserveNow'];

function rejected(reasonCode: string, additionalInfo?: string): Reply {
  return { status: 'Rejected', statusInfo: { reasonCode, ...(additionalInfo !== undefined && { additionalInfo }) } };
}

/** Why no EVSE of the station can ever serve the request; null: one can. */
function misplaced({ parts, book }: Work, request: Request): Reply | null {
  const { evseId, connectorType, id } = request;
  const { connectorIds } = parts.device;
  if (evseId === undefined && !parts.variables.boolean('ReservationCtrlr', 'NonEvseSpecific'))
    return rejected('UnsupportedRequest', 'evseId is needed: NonEvseSpecific is false');
  if (evseId !== undefined && !connectorIds.includes(evseId)) return rejected('UnknownEvse');
  if (connectorType === undefined) return null;
  const places = evseId === undefined ? connectorIds : [evseId];
  const wish = { reservationId: id, connectorType };
  return places.some((place) => book.fits(wish, place)) ? null : rejected('UnknownConnectorType');
}

function check(work: Work, request: Request): Reply | null {
  const { parts } = work;
  if (!parts.variables.boolean('ReservationCtrlr', 'Enabled')) return rejected('NotEnabled');
  const fault = tokenFault(request.idToken) ?? (request.groupIdToken ? tokenFault(request.groupIdToken) : null);
  if (fault !== null) return rejected(fault);
  if (!(instantOf(request.expiryDateTime) > parts.clock.nowMs())) {
    parts.finding(clauseOf(parts.version, 'H01'), 'expiryDateTime is no time to come', 'ReserveNow');
    return rejected('InvalidValue', 'expiryDateTime is no time to come');
  }
  return misplaced(work, request);
}

/** Answers by the state of the EVSE that is asked for, or of all that could serve. */
function stateAnswer({ parts, book, access }: Work, { id, evseId, connectorType }: Request): Reply['status'] {
  const { connectors } = parts.device.detail;
  if (evseId === undefined) {
    const wish = { reservationId: id, ...(connectorType !== undefined && { connectorType }) };
    return stationAnswer(connectors, wish, book.waiting(id), book.fits);
  }
  const status = connectorAnswer(parts.device.connector(evseId), id);
  // one for any EVSE waits and needs this one, or another one has it
  const isNeeded =
    !access.leavesOne(evseId, id) || book.list.some((r) => r.connectorId === evseId && r.reservationId !== id);
  return status === 'Accepted' && isNeeded ? 'Occupied' : status;
}

export function reserveNow(work: Work, request: Request): Reply {
  const { id, evseId = 0, connectorType, idToken, groupIdToken = null, expiryDateTime } = request;
  const fault = check(work, request);
  if (fault !== null) return fault;
  const status = stateAnswer(work, request);
  if (status !== 'Accepted') return { status };
  try {
    work.book.add({
      reservationId: id,
      connectorId: evseId,
      ...(connectorType !== undefined && { connectorType }),
      ...bearerOf(idToken, groupIdToken),
      madeMs: work.parts.clock.nowMs(),
      expiresMs: instantOf(expiryDateTime),
    });
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    return rejected('InternalError', error.message.slice(0, 512));
  }
  return { status };
}
