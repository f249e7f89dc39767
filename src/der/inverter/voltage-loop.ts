/**
 * The loop of a device that moves its own voltage: behind a feeder power changes the voltage that the curves see. A steep
 * curve on a weak feeder swings unless its response is slow against the sub-steps.
 */
import type { FeederImpedance } from '../surroundings/grid/feeder.ts';
import { varBase } from './capability.ts';
import type { CurvePoint } from './curve.ts';
import type { Settings } from './settings.ts';

/** Quickest and slowest that the loop is made to respond, s. */
const quickestS = 0.2;
const slowestS = 20;
/** Sub-steps to one time constant for a loop gain of 1: half of it is where swinging begins. */
const stepsPerGain = 1;

/** Steepest slope of a curve, percent per percent. */
function steepest(points: readonly CurvePoint[]): number {
  let slope = 0;
  for (let i = 1; i < points.length; i += 1) {
    const [a, b] = [points[i - 1], points[i]];
    if (a && b && a.y !== b.y) slope = Math.max(slope, Math.abs((b.y - a.y) / (b.x - a.x)));
  }
  return slope;
}

/**
 * The settings with responses to voltage that the sub-steps can follow; those of a stiff grid (null) as they are.
 * @param vaMaxRtgVa what the impedance is per unit of
 * @param stepS sub-step while something moves
 */
export function slowedToVoltage(
  settings: Settings,
  feeder: FeederImpedance | null,
  vaMaxRtgVa: number,
  stepS: number,
): Settings {
  if (!feeder) return settings;
  const { voltVar, voltWatt } = settings;
  const least = (gain: number) => Math.min(slowestS, Math.max(quickestS, Math.LN10 * stepsPerGain * gain * stepS));
  const varGain = ((steepest(voltVar.points) * varBase(settings, voltVar.reference, 100, 0)) / vaMaxRtgVa) * feeder.xPu;
  const wattGain = ((steepest(voltWatt.points) * settings.wMaxW) / vaMaxRtgVa) * feeder.rPu;
  return {
    ...settings,
    voltVar: { ...voltVar, responseS: Math.max(voltVar.responseS, least(varGain)) },
    voltWatt: { ...voltWatt, responseS: Math.max(voltWatt.responseS, least(wattGain)) },
  };
}
