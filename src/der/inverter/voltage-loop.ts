/**
 * The loop between a device and its own voltage: behind a feeder, power changes the voltage, which is the input of the
 * curves. A steep curve on a weak feeder oscillates unless its response is slow compared with a sub-step.
 */
import type { FeederImpedance } from '../surroundings/grid/feeder.ts';
import { varBase } from './capability.ts';
import type { CurvePoint, Settings } from './settings.ts';

/** Range of the response times that the loop gain leads to, s. */
const minResponseS = 0.2;
const maxResponseS = 20;
/** Time constant in sub-steps for a loop gain of 1; oscillation begins at half of it. */
const stepsPerGain = 1;

/** Maximum slope of a curve, percent per percent. */
function maxSlope(points: readonly CurvePoint[]): number {
  let slope = 0;
  for (let i = 1; i < points.length; i += 1) {
    const [a, b] = [points[i - 1], points[i]];
    if (a && b && a.y !== b.y) slope = Math.max(slope, Math.abs((b.y - a.y) / (b.x - a.x)));
  }
  return slope;
}

/**
 * The settings with voltage responses slow enough for the sub-steps.
 * @param feeder null: a stiff grid, on which the settings stay unchanged
 * @param vaMaxRtgVa base of the impedance
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
  const limitedResponseS = (gain: number) =>
    Math.min(maxResponseS, Math.max(minResponseS, Math.LN10 * stepsPerGain * gain * stepS));
  // injection and absorption may have different bases: the steeper side sets the gain
  const maxVarBase = Math.max(...[100, -100].map((pct) => varBase(settings, voltVar.reference, pct, 0)));
  const varGain = ((maxSlope(voltVar.points) * maxVarBase) / vaMaxRtgVa) * feeder.xPu;
  const wattGain = ((maxSlope(voltWatt.points) * settings.wMaxW) / vaMaxRtgVa) * feeder.rPu;
  return {
    ...settings,
    voltVar: { ...voltVar, responseS: Math.max(voltVar.responseS, limitedResponseS(varGain)) },
    voltWatt: { ...voltWatt, responseS: Math.max(voltWatt.responseS, limitedResponseS(wattGain)) },
  };
}
