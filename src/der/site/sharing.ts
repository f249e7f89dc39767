/**
 * Sharing of nested limits among devices of different ratings, by water-filling. Rooms are nested or disjoint, and
 * filled from the inside to the outside, each with the shares that its inner rooms left. The shares are those of one
 * water level that rises in all rooms and stops where a room is full: no power is left unused, and the order of the
 * devices has no effect.
 */

/** Demands and shares by position of the device; all numbers at least 0, W. Reused from call to call. */
export interface Claims {
  /** power without any limit */
  readonly demandW: Float64Array;
  /** minimum useful power: a device that would get less gets nothing; a lower demand replaces the minimum */
  readonly minW: Float64Array;
  /** rating; beyond the demands, shares are in proportion to it */
  readonly weightW: Float64Array;
  /** filled: the shares; Infinity for a device in no room */
  readonly shareW: Float64Array;
  /** filled: position of the room that cut the share below the demand, or -1 */
  readonly cutBy: Int32Array;
  /** filled: position of the room that ends the growth beyond the demand, or -1 */
  readonly endedBy: Int32Array;
  /** work space: minimum of a running device, at most its demand; 0 for one that pauses */
  readonly needW: Float64Array;
  /** work space: the part of the share beyond the demand */
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
  /** sum of the demands */
  demandedW: number;
}

/** Rooms that are nested or disjoint, inner ones before outer ones. */
export interface Nest {
  readonly rooms: readonly Room[];
  /** position of the innermost room of each device, or -1 */
  readonly innermost: Int32Array;
  /** position of the next room around each room, or -1 */
  readonly around: Int32Array;
}

/** Maximum number of steps to a level: this many halvings exceed the resolution of a double. */
const maxSteps = 60;
/** Relative rounding of a sum of doubles. */
const rounding = 1e-12;

export function createClaims(count: number): Claims {
  const places = () => new Float64Array(count);
  return {
    demandW: places(),
    minW: places(),
    weightW: places(),
    shareW: places(),
    cutBy: new Int32Array(count),
    endedBy: new Int32Array(count),
    needW: places(),
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
  const rooms = memberSets.map((members) => ({ members, roomW: Infinity, binds: false, demandedW: 0 }));
  return { rooms, innermost, around };
}

const at = (places: Float64Array, i: number): number => places[i] ?? 0;

function total(places: Float64Array, members: readonly number[]): number {
  let sum = 0;
  for (const i of members) sum += at(places, i);
  return sum;
}

/**
 * Divides the rooms among their devices; the sum of the shares in a room never exceeds it, except for rounding. Where
 * the demands fit, each device gets its demand and a part of the rest by weight, as room to grow. Otherwise a device
 * whose demand exceeds its part by weight is cut to that part. Minimums are admitted by falling demand, on a tie the
 * first device first; a device whose minimum does not fit into the rest of one of its rooms pauses.
 */
export function shareRooms(claims: Claims, nest: Nest): void {
  const { rooms } = nest;
  const isTight = start(claims, rooms);
  if (isTight) cut(claims, nest);
  rooms.forEach((room, position) => {
    if (room.roomW === Infinity) return;
    const sharedW = isTight ? total(claims.shareW, room.members) : room.demandedW;
    limitGrowth(claims, room, position, Math.max(0, room.roomW - sharedW));
  });
  const { shareW, growthW, cutBy } = claims;
  for (let i = 0; i < shareW.length; i += 1) shareW[i] = at(shareW, i) + at(growthW, i);
  if (!isTight) return;
  // an inner room whose devices are cut further by an outer one restricts nothing
  for (const room of rooms) room.binds = false;
  for (const r of cutBy) {
    const room = rooms[r];
    if (room) room.binds = true;
  }
}

/** Starts with the demands as shares. @returns true if the demands exceed a room */
function start(
  { demandW, minW, shareW, needW: minimumW, growthW, cutBy, endedBy }: Claims,
  rooms: readonly Room[],
): boolean {
  shareW.set(demandW);
  for (let i = 0; i < demandW.length; i += 1) minimumW[i] = Math.min(at(minW, i), at(demandW, i));
  growthW.fill(Infinity);
  cutBy.fill(-1);
  endedBy.fill(-1);
  let isTight = false;
  for (const room of rooms) {
    room.binds = false;
    if (room.roomW === Infinity) continue;
    room.demandedW = total(demandW, room.members);
    isTight ||= room.demandedW > room.roomW;
  }
  return isTight;
}

/** Pauses devices and cuts shares, so that the shares fit into each room. */
function cut(claims: Claims, nest: Nest): void {
  const { rooms } = nest;
  if (rooms.some(({ members, roomW, demandedW }) => demandedW > roomW && total(claims.needW, members) > roomW))
    admitMinimums(claims, nest);
  rooms.forEach((room, position) => {
    // the shares are at most the demands
    if (room.demandedW > room.roomW) fill(claims, room, position);
  });
}

/** Sets `shareW` to 0 for devices that pause. */
function admitMinimums(
  { demandW, shareW, needW: minimumW, cutBy, order }: Claims,
  { rooms, innermost, around }: Nest,
): void {
  const leftW = rooms.map(({ roomW }) => roomW);
  order.sort((a, b) => at(demandW, b) - at(demandW, a) || a - b);
  for (const i of order) {
    const neededW = at(minimumW, i);
    if (neededW === 0) continue;
    let fits = true;
    for (let r = innermost[i] ?? -1; r >= 0; r = around[r] ?? -1) {
      const room = rooms[r];
      if (!room || neededW <= (leftW[r] ?? 0)) continue;
      room.binds = true;
      cutBy[i] = r;
      fits = false;
    }
    if (!fits) shareW[i] = minimumW[i] = 0;
    else for (let r = innermost[i] ?? -1; r >= 0; r = around[r] ?? -1) leftW[r] = (leftW[r] ?? 0) - neededW;
  }
}

/** Cuts the shares in one room to its size. */
function fill({ shareW, needW: minimumW, weightW, cutBy }: Claims, room: Room, position: number): void {
  const { members, roomW } = room;
  if (total(shareW, members) <= roomW) return;
  room.binds = true;
  const level =
    members.length === 1 ? 0 : highestLevel(members, { weightW, floorW: minimumW, ceilingW: shareW }, roomW);
  for (const i of members) {
    const levelW = members.length === 1 ? roomW : Math.max(at(minimumW, i), level * at(weightW, i));
    if (levelW < at(shareW, i)) {
      shareW[i] = levelW;
      cutBy[i] = position;
    }
  }
}

/** Divides what the shares leave of one room by weight, as far as the inner rooms let a device grow. */
function limitGrowth(claims: Claims, { members, binds }: Room, position: number, freeW: number): void {
  const { growthW, weightW, endedBy } = claims;
  const level = binds ? 0 : growthLevel(claims, members, freeW);
  for (const i of members) {
    const levelW = at(weightW, i) > 0 ? level * at(weightW, i) : 0;
    // of several full rooms the outer one ends the growth: an inner room that was cut is no longer full
    if (levelW > at(growthW, i)) continue;
    growthW[i] = levelW;
    endedBy[i] = position;
  }
}

/** Highest growth per weight whose sum fits into `freeW`; Infinity: all that the inner rooms left fits. */
function growthLevel({ growthW, weightW }: Claims, members: readonly number[], freeW: number): number {
  let [openWeight, boundedW] = [0, 0];
  for (const i of members) {
    if (at(growthW, i) === Infinity) openWeight += at(weightW, i);
    else boundedW += at(growthW, i);
  }
  if (openWeight === 0 && boundedW <= freeW) return Infinity;
  if (boundedW === 0) return freeW / openWeight;
  return highestLevel(members, { weightW, floorW: null, ceilingW: growthW }, freeW);
}

interface Bounds {
  readonly weightW: Float64Array;
  /** null: 0 */
  readonly floorW: Float64Array | null;
  readonly ceilingW: Float64Array;
}

/**
 * The highest power per weight at which the sum fits into a room. The sum is a line between bends: a step along the
 * present line meets the level, unless a bend comes first. A step that would leave `low`..`high` halves this range.
 */
function highestLevel(members: readonly number[], { weightW, floorW, ceilingW }: Bounds, roomW: number): number {
  let weight = 0;
  let [low, high] = [0, 0];
  for (const i of members) {
    const weightOfDevice = at(weightW, i);
    if (weightOfDevice <= 0) continue;
    weight += weightOfDevice;
    high = Math.max(high, Math.min(roomW, at(ceilingW, i)) / weightOfDevice);
  }
  let level = Math.min(high, roomW / weight);
  for (let step = 0; step < maxSteps && low < high; step += 1) {
    let [sum, slope] = [0, 0];
    for (const i of members) {
      const weightOfDevice = at(weightW, i);
      const levelW = level * weightOfDevice;
      const minLevelW = floorW ? at(floorW, i) : 0;
      if (levelW >= at(ceilingW, i)) sum += at(ceilingW, i);
      else if (levelW <= minLevelW) sum += minLevelW;
      else {
        sum += levelW;
        slope += weightOfDevice;
      }
    }
    const freeW = roomW - sum;
    if (freeW >= -rounding * roomW) low = level;
    else high = level;
    if (Math.abs(freeW) <= rounding * roomW) break;
    const next = slope > 0 ? level + freeW / slope : NaN;
    level = next > low && next < high ? next : (low + high) / 2;
  }
  return low;
}
