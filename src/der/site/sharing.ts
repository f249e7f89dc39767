/**
 * Sharing of nested limits among devices of different ratings, by water-filling. Rooms are nested or disjoint. Filling
 * them from the inside to the outside, each with the shares that the inner ones left, gives the shares of one rising
 * water level that stops in each room when it is full: nothing is wasted, and the order of the devices has no effect.
 */

/** Demands and shares by position of the device; all numbers at least 0, W. Reused from call to call. */
export interface Claims {
  /** power without any limit */
  readonly demandW: Float64Array;
  /** minimum useful power: a device that would get less gets nothing; a lower demand replaces it */
  readonly minW: Float64Array;
  /** rating; above their demand shares are in proportion to it */
  readonly weightW: Float64Array;
  /** filled with the shares; Infinity in no room */
  readonly shareW: Float64Array;
  /** filled: position of the room that cut the share below the demand, or -1 */
  readonly cutBy: Int32Array;
  /** filled: position of the room that ends the growth beyond the demand, or -1 */
  readonly endedBy: Int32Array;
  /** part of the share beyond the demand */
  readonly growthW: Float64Array;
  /** positions by falling demand, kept from the last call: little changes between calls */
  readonly order: number[];
}

/** A limit on the sum of the shares of some devices. */
export interface Room {
  /** positions of its devices, at least one */
  readonly members: readonly number[];
  /** at least 0; Infinity: no limit */
  roomW: number;
  /** filled: a device gets less than its demand because of this room */
  binds: boolean;
}

/** Rooms that are nested or disjoint, inner ones before outer ones. */
export interface Nest {
  readonly rooms: readonly Room[];
  /** position of the innermost room of each device, or -1 */
  readonly innermost: Int32Array;
  /** position of the next room around each room, or -1 */
  readonly around: Int32Array;
}

/** Halvings of the level: beyond the resolution of a double. */
const halvings = 60;

export function createClaims(count: number): Claims {
  const places = () => new Float64Array(count);
  return {
    demandW: places(),
    minW: places(),
    weightW: places(),
    shareW: places(),
    cutBy: new Int32Array(count),
    endedBy: new Int32Array(count),
    growthW: places(),
    order: [...places().keys()],
  };
}

/** @param memberSets nested or disjoint, inner ones before outer ones @param count number of devices */
export function createNest(memberSets: readonly (readonly number[])[], count: number): Nest {
  const innermost = new Int32Array(count).fill(-1);
  const around = new Int32Array(memberSets.length).fill(-1);
  for (let room = memberSets.length - 1; room >= 0; room -= 1) {
    const members = memberSets[room] ?? [];
    around[room] = innermost[members[0] ?? 0] ?? -1;
    for (const i of members) innermost[i] = room;
  }
  return { rooms: memberSets.map((members) => ({ members, roomW: Infinity, binds: false })), innermost, around };
}

const at = (places: Float64Array, i: number): number => places[i] ?? 0;
const minOf = ({ demandW, minW }: Claims, i: number): number => Math.min(at(minW, i), at(demandW, i));

function total(places: Float64Array, members: readonly number[]): number {
  let sum = 0;
  for (const i of members) sum += at(places, i);
  return sum;
}

/**
 * Shares the rooms out; the sum of the shares in a room never exceeds it. Where the demands fit, each device gets its
 * demand and a part of the rest by weight, as room to grow. Otherwise a device whose demand exceeds an equal part of its
 * weight is cut to that part. Minimums are admitted by falling demand, on a tie the first device first; a device whose
 * minimum does not fit into what is left of one of its rooms pauses.
 */
export function shareRooms(claims: Claims, nest: Nest): void {
  const { rooms } = nest;
  claims.shareW.set(claims.demandW);
  claims.growthW.fill(Infinity);
  claims.cutBy.fill(-1);
  claims.endedBy.fill(-1);
  let crowded = false;
  for (const room of rooms) {
    room.binds = false;
    crowded ||= room.roomW < total(claims.demandW, room.members) && room.roomW < minimumsOf(claims, room);
  }
  if (crowded) admitMinimums(claims, nest);
  rooms.forEach((room, position) => {
    if (room.roomW !== Infinity) fill(claims, room, position);
  });
  rooms.forEach((room, position) => {
    if (room.roomW !== Infinity) limitGrowth(claims, room, position);
  });
  // an inner room whose devices an outer one has cut further restricts nothing
  for (const room of rooms) room.binds = false;
  for (let i = 0; i < claims.shareW.length; i += 1) {
    claims.shareW[i] = at(claims.shareW, i) + at(claims.growthW, i);
    const cutBy = rooms[claims.cutBy[i] ?? -1];
    if (cutBy) cutBy.binds = true;
  }
}

function minimumsOf(claims: Claims, { members }: Room): number {
  let sum = 0;
  for (const i of members) sum += minOf(claims, i);
  return sum;
}

/** Sets `shareW` to 0 for devices that pause. */
function admitMinimums(claims: Claims, { rooms, innermost, around }: Nest): void {
  const { demandW, minW, shareW, cutBy, order } = claims;
  const leftW = rooms.map(({ roomW }) => roomW);
  order.sort((a, b) => at(demandW, b) - at(demandW, a) || a - b);
  for (const i of order) {
    if (at(minW, i) === 0) continue;
    const minimumW = minOf(claims, i);
    let fits = true;
    for (let r = innermost[i] ?? -1; r >= 0; r = around[r] ?? -1) {
      const room = rooms[r];
      if (!room || minimumW <= (leftW[r] ?? 0)) continue;
      room.binds = true;
      cutBy[i] = r;
      fits = false;
    }
    if (!fits) shareW[i] = 0;
    else for (let r = innermost[i] ?? -1; r >= 0; r = around[r] ?? -1) leftW[r] = (leftW[r] ?? 0) - minimumW;
  }
}

/** Cuts the shares in one room to its size. */
function fill(claims: Claims, room: Room, position: number): void {
  const { shareW, cutBy } = claims;
  const { members, roomW } = room;
  if (total(shareW, members) <= roomW) return;
  room.binds = true;
  const level = highestLevel(claims, room);
  for (const i of members) {
    const levelW = members.length === 1 ? roomW : shareAt(claims, i, level);
    if (levelW < at(shareW, i)) {
      shareW[i] = levelW;
      cutBy[i] = position;
    }
  }
}

/** Share of one device at a water level, power per weight. A device with 0 in `shareW` pauses. */
function shareAt(claims: Claims, i: number, level: number): number {
  const mostW = at(claims.shareW, i);
  return mostW === 0 ? 0 : Math.max(minOf(claims, i), Math.min(mostW, level * at(claims.weightW, i)));
}

function highestLevel(claims: Claims, { members, roomW }: Room): number {
  const { shareW, weightW } = claims;
  if (members.length === 1) return 0;
  let [low, high] = [0, 0];
  for (const i of members) if (at(weightW, i) > 0) high = Math.max(high, at(shareW, i) / at(weightW, i));
  for (let round = 0; round < halvings && low < high; round += 1) {
    const level = (low + high) / 2;
    let sum = 0;
    for (const i of members) sum += shareAt(claims, i, level);
    if (sum <= roomW) low = level;
    else high = level;
  }
  return low;
}

/** Divides what the shares leave of one room by weight, as far as the inner rooms let a device grow. */
function limitGrowth(claims: Claims, { members, roomW, binds }: Room, position: number): void {
  const { shareW, growthW, weightW, endedBy } = claims;
  const level = binds ? 0 : growthLevel(claims, members, Math.max(0, roomW - total(shareW, members)));
  for (const i of members) {
    const levelW = at(weightW, i) > 0 ? level * at(weightW, i) : 0;
    // of several full rooms the outer one: an inner one that was cut is no longer full
    if (levelW > at(growthW, i)) continue;
    growthW[i] = levelW;
    endedBy[i] = position;
  }
}

/** Highest growth per weight whose sum fits into `freeW`; Infinity: all that the inner rooms left fits. */
function growthLevel({ growthW, weightW }: Claims, members: readonly number[], freeW: number): number {
  let [openWeight, boundedW, high] = [0, 0, 0];
  for (const i of members) {
    const weight = at(weightW, i);
    if (weight <= 0) continue;
    if (at(growthW, i) === Infinity) openWeight += weight;
    else {
      boundedW += at(growthW, i);
      high = Math.max(high, at(growthW, i) / weight);
    }
  }
  if (openWeight > 0) high = freeW / openWeight;
  else if (boundedW <= freeW) return Infinity;
  if (boundedW === 0) return high;
  let low = 0;
  for (let round = 0; round < halvings && low < high; round += 1) {
    const level = (low + high) / 2;
    let sum = 0;
    for (const i of members) if (at(weightW, i) > 0) sum += Math.min(at(growthW, i), level * at(weightW, i));
    if (sum <= freeW) low = level;
    else high = level;
  }
  return low;
}
