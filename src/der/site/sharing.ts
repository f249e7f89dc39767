/** Sharing of one power among devices of different size, by water-filling. */

/** What the devices ask for, one place each; all numbers at least 0, W. */
export interface Claims {
  /** what each would use of its own accord */
  readonly demandW: Float64Array;
  /** least useful power: who would get less gets nothing; a demand below it is its own least */
  readonly leastW: Float64Array;
  /** rating, by which devices that want more are treated alike */
  readonly weightW: Float64Array;
  /** filled with the shares */
  readonly shareW: Float64Array;
  /** places from the smallest demand up, as they were last sorted: from call to call little changes */
  readonly order: number[];
}

/** Halvings of the level: beyond the resolution of a double. */
const halvings = 60;

export function createClaims(count: number): Claims {
  const places = () => new Float64Array(count);
  return { demandW: places(), leastW: places(), weightW: places(), shareW: places(), order: [...places().keys()] };
}

const at = (places: Float64Array, i: number): number => places[i] ?? 0;

function total(places: Float64Array): number {
  let sum = 0;
  for (const value of places) sum += value;
  return sum;
}

const leastOf = ({ demandW, leastW }: Claims, i: number): number => Math.min(at(leastW, i), at(demandW, i));

/**
 * Shares `roomW` out so that the shares together never exceed it. Where the demands fit, each gets its demand and a
 * part of the rest by weight, to grow into; else whoever wants more than an equal part of its weight is cut to that part.
 * Whose least power is more than all the room pauses; when the others together are still too much, the smallest demand
 * does (of equal ones the last).
 * @param roomW at least 0; Infinity: no limit
 * @returns whether anybody gets less than demanded
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

/** Takes demands out of `shareW`, first those without any chance, then the smallest, until the least powers of the others fit. */
function pauseSmallest(claims: Claims, roomW: number): void {
  const { demandW, leastW, shareW, order } = claims;
  let neededW = 0;
  for (let i = 0; i < demandW.length; i += 1) {
    const leastOfItW = leastOf(claims, i);
    if (leastOfItW > roomW) shareW[i] = 0;
    else neededW += leastOfItW;
  }
  if (neededW <= roomW) return;
  order.sort((a, b) => at(demandW, a) - at(demandW, b) || b - a);
  for (const i of order) {
    if (neededW <= roomW) return;
    if (at(shareW, i) === 0 || at(leastW, i) === 0) continue;
    neededW -= leastOf(claims, i);
    shareW[i] = 0;
  }
}

/** Part of its weight that each may have when the water stands at `level`; 0 in `shareW` marks who pauses. */
function shareAt(claims: Claims, i: number, level: number): number {
  if (at(claims.shareW, i) === 0) return 0;
  return Math.max(leastOf(claims, i), Math.min(at(claims.demandW, i), level * at(claims.weightW, i)));
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
