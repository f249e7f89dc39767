/** Power coefficients of rotors by tip-speed ratio and pitch. */
import type { WindCpModel } from '../../../contract/kinds/wind.ts';
import { nrelCpAxes, nrelCpRows } from './nrel-cp.ts';

/** Minimum tip-speed ratio of both formulas. */
const minRatio = 0.5;

/** Heier: maximum 0.4800 at tip-speed ratio 8.100 and pitch 0. Unclamped: negative values brake. */
export function heierCp(tipSpeedRatio: number, pitchDeg: number): number {
  if (!(tipSpeedRatio >= minRatio)) return 0;
  const inverse = 1 / (tipSpeedRatio + 0.08 * pitchDeg) - 0.035 / (pitchDeg * pitchDeg * pitchDeg + 1);
  return 0.5176 * (116 * inverse - 0.4 * pitchDeg - 5) * Math.exp(-21 * inverse) + 0.0068 * tipSpeedRatio;
}

/** Slootweg: maximum 0.4412 at tip-speed ratio 6.908 and pitch 0. Unclamped. */
export function slootwegCp(tipSpeedRatio: number, pitchDeg: number): number {
  const relative = tipSpeedRatio - 0.02 * pitchDeg;
  if (!(tipSpeedRatio >= minRatio) || relative <= 0) return 0;
  const inverse = 1 / relative - 0.003 / (pitchDeg * pitchDeg * pitchDeg + 1);
  const pitched = pitchDeg > 0 ? 0.58 * pitchDeg + 0.002 * Math.pow(pitchDeg, 2.14) : 0;
  return 0.73 * (151 * inverse - pitched - 13.2) * Math.exp(-18.4 * inverse);
}

const columns = nrelCpRows[0]?.length ?? 0;
const table = Float64Array.from(nrelCpRows.flat(), (thousandths) => thousandths / 1000);

/** Table of the NREL 5-MW rotor, bilinear; above its last tip-speed ratio the last slope continues. */
export function nrelCp(tipSpeedRatio: number, pitchDeg: number): number {
  const x = Math.max(0, (tipSpeedRatio - nrelCpAxes.firstTipSpeedRatio) / nrelCpAxes.tipSpeedRatioStep);
  const y = Math.min(Math.max(0, pitchDeg), columns - 1);
  const row = Math.min(Math.floor(x), nrelCpRows.length - 2);
  const column = Math.min(Math.floor(y), columns - 2);
  const at = row * columns + column;
  const u = y - column;
  const low = (table[at] ?? 0) * (1 - u) + (table[at + 1] ?? 0) * u;
  const high = (table[at + columns] ?? 0) * (1 - u) + (table[at + columns + 1] ?? 0) * u;
  return low + (high - low) * (x - row);
}

interface CpSurface {
  readonly at: (tipSpeedRatio: number, pitchDeg: number) => number;
  readonly bestRatio: number;
  readonly maxCp: number;
  /** below this ratio the torque coefficient is constant */
  readonly firstRatio: number;
  /** maximum pitch of the surface; from there to feather cp is linear */
  readonly lastPitchDeg: number;
}

export const cpSurfaces: Readonly<Record<WindCpModel, CpSurface>> = {
  'nrel-5mw': { at: nrelCp, bestRatio: 7.5, maxCp: 0.466, firstRatio: 2, lastPitchDeg: 30 },
  heier: { at: heierCp, bestRatio: 8.1, maxCp: 0.48, firstRatio: 1, lastPitchDeg: 45 },
  slootweg: { at: slootwegCp, bestRatio: 6.908, maxCp: 0.4412, firstRatio: 2, lastPitchDeg: 45 },
};

export const featherDeg = 90;
/** Feathered blades only drag: the power lost rises with the cube of the rotor speed. */
const featherDrag = 0.004;
/**
 * Above this ratio, far outside the design range, the rotor only brakes, with a torque proportional to its speed
 * squared.
 */
const maxRatio = 25;

/** A surface fitted to one rotor: best tip-speed ratio shifted, height scaled. */
export interface RotorCp {
  readonly model: WindCpModel;
  readonly bestRatio: number;
  readonly factor: number;
}

/** Power coefficient of a rotor at any tip-speed ratio from 0 and any pitch from 0 to 90 degrees. */
export function rotorCp(rotor: RotorCp, tipSpeedRatio: number, pitchDeg: number): number {
  const surface = cpSurfaces[rotor.model];
  const stretch = surface.bestRatio / rotor.bestRatio;
  const scaledRatio = tipSpeedRatio * stretch;
  const x = Math.min(Math.max(scaledRatio, surface.firstRatio), maxRatio);
  const pitch = Math.min(pitchDeg, surface.lastPitchDeg);
  let cp = surface.at(x, pitch) * rotor.factor;
  if (scaledRatio < x) cp *= scaledRatio / x;
  else if (scaledRatio > x) cp = Math.min(cp, 0) * Math.pow(scaledRatio / x, 3);
  if (pitch === pitchDeg) return cp;
  const towardsFeather = (pitchDeg - pitch) / (featherDeg - pitch);
  return cp * (1 - towardsFeather) - towardsFeather * featherDrag * Math.pow(tipSpeedRatio, 3);
}
