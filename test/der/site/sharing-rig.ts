import { createClaims, createNest } from '../../../src/der/site/sharing.ts';
import type { Claims, Nest } from '../../../src/der/site/sharing.ts';

export interface Claim {
  readonly demand: number;
  readonly weight?: number;
  readonly least?: number;
}

export function claimsOf(list: readonly Claim[]): Claims {
  const claims = createClaims(list.length);
  list.forEach(({ demand, weight = 1, least = 0 }, i) => {
    claims.demandW[i] = demand;
    claims.weightW[i] = weight;
    claims.minW[i] = least;
  });
  return claims;
}

/** Rooms by members and size, inner ones first. */
export function nestOf(rooms: readonly (readonly [members: readonly number[], roomW: number])[], count: number): Nest {
  const nest = createNest(
    rooms.map(([members]) => members),
    count,
  );
  nest.rooms.forEach((room, r) => {
    room.roomW = rooms[r]?.[1] ?? Infinity;
  });
  return nest;
}
