/** Requests for the DC curve of a source: its port and its number of samples. */
import { SimError } from '../../core/errors.ts';

/** @throws SimError UNKNOWN_RESOURCE for any port but 0, the only port of a source with a curve */
export function checkCurvePort(port: number | undefined): void {
  if (port !== undefined && port !== 0) {
    throw new SimError('UNKNOWN_RESOURCE', `port ${port} has no DC curve; this device has port 0`);
  }
}

const minSamples = 3;
const maxSamples = 1000;

/** Index of the last of `points` samples of a curve; fewer than 3 count as 3, more than 1000 as 1000. */
export function lastSample(points: number): number {
  return Math.max(minSamples, Math.min(maxSamples, Math.floor(points) || 0)) - 1;
}
