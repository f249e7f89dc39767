import type { IvPoint } from '../../../contract/device.ts';
import { lastSample } from '../shared.ts';
import type { Stack } from './stack.ts';

const halvings = 60;
const golden = (Math.sqrt(5) - 1) / 2;

export interface PolarizationCurve {
  readonly curve: readonly IvPoint[];
  readonly mpp: IvPoint;
  readonly vOcV: number;
  readonly iScA: number;
}

/** Current at which the static voltage falls to `voltageV`, A, at most `endA`. */
function currentAtVoltage(stack: Stack, voltageV: number, tK: number, endA: number): number {
  let [low, high] = [0, endA];
  for (let round = 0; round < halvings; round += 1) {
    const middle = (low + high) / 2;
    if (stack.voltageAt(middle, tK) > voltageV) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Current of maximum power below `endA`, A: power has one maximum between open and short circuit. */
function currentAtMaxPower(stack: Stack, tK: number, endA: number): number {
  const power = (a: number) => a * stack.voltageAt(a, tK);
  let [low, high] = [0, endA];
  for (let round = 0; round < halvings; round += 1) {
    const left = high - golden * (high - low);
    const right = low + golden * (high - low);
    if (power(left) < power(right)) low = left;
    else high = right;
  }
  return (low + high) / 2;
}

/**
 * Static curve of a stack as a fuel cell: voltage rises in even steps from 0 to open circuit, and one of the samples is
 * the maximum power point.
 * @param points number of samples; fewer than 3 count as 3, more than 1000 as 1000
 */
export function polarizationCurve(stack: Stack, tK: number, points: number): PolarizationCurve {
  const vOcV = stack.voltageAt(0, tK);
  // the short-circuit current lies below this for all built-in laws
  const noVoltageA = stack.beyondA(tK);
  const iScA = currentAtVoltage(stack, 0, tK, noVoltageA);
  const maxPowerA = currentAtMaxPower(stack, tK, iScA);
  const maxPowerV = stack.voltageAt(maxPowerA, tK);
  const mpp: IvPoint = { v: maxPowerV, i: maxPowerA, p: maxPowerV * maxPowerA };
  const last = lastSample(points);
  const maxPowerIndex = Math.min(Math.max(Math.round((maxPowerV / vOcV) * last), 1), last - 1);
  const curve: IvPoint[] = [];
  for (let at = 0; at <= last; at += 1) {
    const v = (vOcV * at) / last;
    const i = at === last ? 0 : currentAtVoltage(stack, v, tK, iScA);
    curve.push(at === maxPowerIndex ? mpp : { v, i, p: v * i });
  }
  return { curve, mpp, vOcV, iScA };
}
