/**
 * Shares a limit in proportion to demand. A share below its minimum is raised to it; if the minimums do not fit
 * together, the smallest demand is paused (on a tie the last one).
 * @param demandW demand of each participant, 0 for none
 * @param minW minimum useful power of each; a demand below it is its own minimum
 * @param outW filled with the shares; must not be `demandW`
 * @returns whether a share is below its demand
 */
export function sharePower(demandW: Float64Array, minW: Float64Array, limitW: number, outW: Float64Array): boolean {
  let total = 0;
  for (let i = 0; i < demandW.length; i++) {
    outW[i] = demandW[i] ?? 0;
    total += demandW[i] ?? 0;
  }
  if (total <= limitW) return false;
  while (minTotalW(demandW, minW, outW) > limitW) pauseSmallest(demandW, outW);
  for (let i = 0; i < demandW.length; i++) if ((outW[i] ?? 0) > 0) outW[i] = Infinity;
  raiseToMinimum(demandW, minW, limitW, outW);
  return true;
}

function minShareW(demandW: Float64Array, minW: Float64Array, i: number): number {
  return Math.min(minW[i] ?? 0, demandW[i] ?? 0);
}

function minTotalW(demandW: Float64Array, minW: Float64Array, outW: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < demandW.length; i++) if ((outW[i] ?? 0) > 0) sum += minShareW(demandW, minW, i);
  return sum;
}

function pauseSmallest(demandW: Float64Array, outW: Float64Array): void {
  let smallest = -1;
  for (let i = 0; i < demandW.length; i++) {
    if ((outW[i] ?? 0) > 0 && (smallest < 0 || (demandW[i] ?? 0) <= (demandW[smallest] ?? 0))) smallest = i;
  }
  if (smallest >= 0) outW[smallest] = 0;
}

/**
 * Infinity in `outW` marks shares that are still open; each round fixes at least one at its minimum, or is the last.
 */
function raiseToMinimum(demandW: Float64Array, minW: Float64Array, limitW: number, outW: Float64Array): void {
  for (let round = 0; round <= demandW.length; round++) {
    let left = limitW;
    let open = 0;
    for (let i = 0; i < demandW.length; i++) {
      if (outW[i] === Infinity) open += demandW[i] ?? 0;
      else left -= outW[i] ?? 0;
    }
    const factor = open > 0 ? Math.max(0, Math.min(1, left / open)) : 0;
    let raised = false;
    for (let i = 0; i < demandW.length; i++) {
      if (outW[i] !== Infinity || (demandW[i] ?? 0) * factor >= minShareW(demandW, minW, i)) continue;
      outW[i] = minShareW(demandW, minW, i);
      raised = true;
    }
    if (raised) continue;
    for (let i = 0; i < demandW.length; i++) if (outW[i] === Infinity) outW[i] = (demandW[i] ?? 0) * factor;
    return;
  }
}
