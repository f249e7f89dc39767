/**
 * Which tokens reservations keep from a connector. One that names no connector holds none while enough others are free;
 * then the last free ones are reserved at the device, and one stays free for each of their tokens.
 */
import type { Book, BookDeps } from './book.ts';
import { holds } from './reservation.ts';
import type { Bearer, Reservation } from './reservation.ts';
import { assign, freeConnectors } from './rules.ts';

const sameText = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

export interface Access {
  /** Whether a reservation keeps this token from a connector. */
  readonly blocks: (connectorId: number, bearer: Bearer) => boolean;
  /** Whether a token could use a connector if it were of this group: the group is worth asking for. */
  readonly groupCounts: (connectorId: number) => boolean;
  /** Whether a reservation for this very connector is that of the token or of its group. */
  readonly isFor: (connectorId: number, bearer: Bearer) => boolean;
  /** The reservation that a token would use at a connector: the connector's own before one for any. */
  readonly heldBy: (connectorId: number, bearer: Bearer) => Reservation | null;
  /** Whether a free connector is left for each waiting reservation when this one is taken. */
  readonly leavesOne: (connectorId: number, except?: number) => boolean;
}

export function createAccess({ device }: Pick<BookDeps, 'device'>, book: Book): Access {
  const serves = (r: Reservation, connectorId: number) =>
    r.connectorId === connectorId || (r.connectorId === 0 && book.fits(r, connectorId));
  const leavesOne = (connectorId: number, except?: number) => {
    const waiting = book.waiting(except);
    const others = freeConnectors(device.detail.connectors).filter((id) => id !== connectorId);
    return assign(waiting, others, book.fits).size >= waiting.length;
  };
  const heldBy = (connectorId: number, bearer: Bearer) => {
    const mine = book.list.filter((r) => holds(r, bearer) && serves(r, connectorId));
    return mine.find((r) => r.connectorId === connectorId) ?? mine[0] ?? null;
  };
  return {
    blocks(connectorId, bearer) {
      const own = book.list.find((r) => r.connectorId === connectorId);
      if (own !== undefined) return !holds(own, bearer);
      const { reservation } = device.connector(connectorId);
      const there = reservation && book.get(reservation.reservationId);
      if (heldBy(connectorId, bearer) !== null)
        // another token's for any connector may stand here: that one needs the last free connector
        return reservation !== null && !(there && (there.connectorId === 0 || holds(there, bearer)));
      // one that a person has made at the device knows a text only
      if (reservation !== null) return there !== null || !sameText(reservation.idToken, bearer.idToken);
      return !leavesOne(connectorId);
    },
    groupCounts: (connectorId) => book.list.some((r) => serves(r, connectorId) && r.groupKey !== null),
    isFor: (connectorId, bearer) => book.list.some((r) => r.connectorId === connectorId && holds(r, bearer)),
    heldBy,
    leavesOne,
  };
}
