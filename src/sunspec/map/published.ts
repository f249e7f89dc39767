import type { Published } from '../../core/device.ts';

/**
 * Position of a device in what a tick published, -1 when it was not part of it.
 * @param published in index order; indexes may have gaps
 */
export function positionOf(published: readonly Published[], deviceIndex: number): number {
  let low = 0;
  let high = published.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((published[middle]?.snapshot.device_index ?? Infinity) < deviceIndex) low = middle + 1;
    else high = middle;
  }
  return published[low]?.snapshot.device_index === deviceIndex ? low : -1;
}
