/** Sharing of one limit among devices of different ratings, by water-filling. */

/** Demands and shares by position of the device; all numbers at least 0, W. Reused from call to call. */
export interface Claims {
  /** power without the limit */
  readonly demandW: Float64Array;
  /** minimum useful power: a device that would get less gets nothing; a lower demand replaces it */
  readonly minW: Float64Array;
  /** rating; above their demand shares are in proportion to it */
  readonly weightW: Float64Array;
  /** filled with the shares */
  readonly shareW: Float64Array;
  /** positions by rising demand, kept from the last call: little changes between calls */
  readonly order: number[];
}

/** Halvings of the level: beyond the resolution of a double. */
const halvings = 60;

export function createClaims(count: number): Claims {
  const places = () => new Float64Array(count);
  return { demandW: places(), minW: places(), weightW: places(), shareW: places(), order: [...places().keys()] };
}

const at = (places: Float64Array, i: number): number => places[i] ?? 0;

function total(places: Float64Array): number {
  let sum = 0;
  for (const value of places) sum += value;
  return sum;
}

const minOf = ({ demandW, minW }: Claims, i: number): number => Math.min(at(minW, i), at(demandW, i));

/**
 * Shares `roomW` out; the sum of the shares never exceeds it. Where the demands fit, each device gets its demand and a
 * part of the rest by weight, as room to grow. Otherwise a device whose demand exceeds an equal part of its weight is
 * cut to that part. A device whose minimum exceeds `roomW` pauses. If the minimums still do not fit, the smallest
 * demand pauses; on a tie, the last device.
 * @param roomW at least 0; Infinity: no limit
 * @returns whether any device gets less than its demand
 */
export function shareRoom(claims: Claims, roomW: number): boolean {
  const { demandW, weightW, shareW } = claims;
  if (roomW === Infinity) {
    shareW.fill(Infinity);
    return false;
  }
  const demandedW = total(demandW);
  if (demandedW <= roomW) {
    const weight = total(weightW);
    const part = weight > 0 ? (roomW - demandedW) / weight : 0;
    for (let i = 0; i < demandW.length; i += 1) shareW[i] = at(demandW, i) + part * at(weightW, i);
    return false;
  }
  shareW.set(demandW);
  pauseSmallest(claims, roomW);
  fillTo(claims, highestLevel(claims, roomW));
  return true;
}

/** Sets `shareW` to 0 for devices that pause: minimums above `roomW`, then the smallest demands until the rest fits. */
function pauseSmallest(claims: Claims, roomW: number): void {
  const { demandW, minW, shareW, order } = claims;
  let neededW = 0;
  for (let i = 0; i < demandW.length; i += 1) {
    const minimumW = minOf(claims, i);
    if (minimumW > roomW) shareW[i] = 0;
    else neededW += minimumW;
  }
  if (neededW <= roomW) return;
  order.sort((a, b) => at(demandW, a) - at(demandW, b) || b - a);
  for (const i of order) {
    if (neededW <= roomW) return;
    if (at(shareW, i) === 0 || at(minW, i) === 0) continue;
    neededW -= minOf(claims, i);
    shareW[i] = 0;
  }
}

/** Share of one device at a water level, power per weight. A device with 0 in `shareW` pauses. */
function shareAt(claims: Claims, i: number, level: number): number {
  if (at(claims.shareW, i) === 0) return 0;
  return Math.max(minOf(claims, i), Math.min(at(claims.demandW, i), level * at(claims.weightW, i)));
}

function highestLevel(claims: Claims, roomW: number): number {
  const { demandW, weightW } = claims;
  let [low, high] = [0, 0];
  for (let i = 0; i < demandW.length; i += 1)
    if (at(weightW, i) > 0) high = Math.max(high, at(demandW, i) / at(weightW, i));
  for (let round = 0; round < halvings && low < high; round += 1) {
    const level = (low + high) / 2;
    let sum = 0;
    for (let i = 0; i < demandW.length; i += 1) sum += shareAt(claims, i, level);
    if (sum <= roomW) low = level;
    else high = level;
  }
  return low;
}

function fillTo(claims: Claims, level: number): void {
  for (let i = 0; i < claims.shareW.length; i += 1) claims.shareW[i] = shareAt(claims, i, level);
}
