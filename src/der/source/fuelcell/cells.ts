/**
 * Laws of fuel cells and electrolysis cells: voltage from current density (A/cm2), and current density from power
 * density (W/cm2). Densities are positive in both directions, except those of solid oxide cells, which are negative in
 * electrolysis. The semi-empirical model of a PEM fuel cell after Amphlett has the constants of the Ballard Mark V
 * stack.
 */
import type { FuelCellStackModel } from '../../../contract/kinds/fuelcell.ts';
import { gasConstantJMolK, zeroCelsiusK } from '../constants.ts';

/** Thermodynamic voltage of a hydrogen cell at temperature `tK` and pressures in atm, V. */
function nernstV(tK: number, h2Atm: number, o2Atm: number): number {
  return 1.229 - 8.5e-4 * (tK - 298.15) + 4.308e-5 * tK * (Math.log(h2Atm) + 0.5 * Math.log(o2Atm));
}

/** Constants of a stack in the Amphlett model. */
interface AmphlettStack {
  readonly cellCount: number;
  readonly areaCm2: number;
  readonly membraneCm: number;
  /** water content of the membrane */
  readonly lambda: number;
  readonly contactOhm: number;
  readonly concentrationV: number;
  readonly limitACm2: number;
}

export const ballardMarkV: AmphlettStack = {
  cellCount: 35,
  areaCm2: 50.6,
  membraneCm: 178e-4,
  lambda: 23,
  contactOhm: 3e-4,
  concentrationV: 0.016,
  limitACm2: 1.5,
};

/** Parts of the voltage of one cell, V. */
interface CellVoltage {
  readonly reversibleV: number;
  readonly activationV: number;
  readonly ohmicV: number;
  readonly concentrationV: number;
  readonly cellV: number;
}

interface StackConditions {
  readonly tK: number;
  readonly h2Atm: number;
  readonly o2Atm: number;
}

/** Minimum current in logarithms, A: gas crossover loads a real cell at any time. */
const minA = 1e-3;
/** Maximum current in the concentration term, share of the limiting current. */
const maxLimitShare = 1 - 1e-12;

const activationVK = 1.93e-4;

function clampedA({ areaCm2, limitACm2 }: AmphlettStack, currentA: number): number {
  return Math.max(minA, Math.min(currentA, limitACm2 * areaCm2 * maxLimitShare));
}

/** Growth factor of the resistivity with the current density. */
function growth(tK: number): number {
  return 0.062 * (tK / 303) ** 2;
}

function resistivityOhmCm({ lambda }: AmphlettStack, j: number, tK: number): number {
  return (
    (181.6 * (1 + 0.03 * j + growth(tK) * j * j * Math.sqrt(j))) /
    ((lambda - 0.634 - 3 * j) * Math.exp((4.18 * (tK - 303)) / tK))
  );
}

/**
 * Voltage of one cell at stack current `currentA`. Currents outside 1 mA..limiting current count as the nearer end.
 */
export function amphlettCell(
  stack: AmphlettStack,
  currentA: number,
  { tK, h2Atm, o2Atm }: StackConditions,
): CellVoltage {
  const { areaCm2, limitACm2 } = stack;
  const i = clampedA(stack, currentA);
  const j = i / areaCm2;
  const o2 = o2Atm / (5.08e6 * Math.exp(-498 / tK));
  const h2 = h2Atm / (1.09e6 * Math.exp(77 / tK));
  const xi2 = 0.00286 + 0.0002 * Math.log(areaCm2) + 4.3e-5 * Math.log(h2);
  const activationV = -(-0.948 + xi2 * tK + 7.6e-5 * tK * Math.log(o2) - activationVK * tK * Math.log(i));
  const ohmicV = i * ((resistivityOhmCm(stack, j, tK) * stack.membraneCm) / areaCm2 + stack.contactOhm);
  const concentrationV = -stack.concentrationV * Math.log(1 - j / limitACm2);
  const reversibleV = nernstV(tK, h2Atm, o2Atm);
  return {
    reversibleV,
    activationV,
    ohmicV,
    concentrationV,
    cellV: reversibleV - activationV - ohmicV - concentrationV,
  };
}

/** Current times the slope by which the voltage of one cell falls, V; independent of the gases. */
function amphlettFallV(stack: AmphlettStack, currentA: number, tK: number): number {
  const { areaCm2, lambda, limitACm2 } = stack;
  const i = clampedA(stack, currentA);
  const j = i / areaCm2;
  const resistivity = resistivityOhmCm(stack, j, tK);
  const k = growth(tK);
  const risePart =
    (0.03 + 2.5 * k * j * Math.sqrt(j)) / (1 + 0.03 * j + k * j * j * Math.sqrt(j)) + 3 / (lambda - 0.634 - 3 * j);
  const ohmicV = i * ((resistivity * (1 + risePart * j) * stack.membraneCm) / areaCm2 + stack.contactOhm);
  return activationVK * tK + ohmicV + (stack.concentrationV * j) / (limitACm2 - j);
}

export const faradayCMol = 96485.332;
/** molar mass of hydrogen, kg/mol */
export const hydrogenKgMol = 2.01588e-3;
/** Relative tolerance of iterative solutions. */
const relativeTolerance = 1e-13;
const maxRounds = 40;

const exchangeACm2 = 1e-4;
const tafelSlopeV = 0.05;
const ohmicOhmCm2 = 0.15;
const concentrationV = 0.05;
/** limiting current density of the PEM fuel cell */
export const pemLimitACm2 = 1.5;
const nearLimitACm2 = pemLimitACm2 * (1 - 1e-9);
const h2Atm = 1.5;
const o2Atm = 0.315;
/** gas crossover loads a cell at open circuit like this current density */
const crossoverACm2 = 0.005;

/** Thermodynamic voltage of the built-in PEM fuel cell, V. */
export function pemReversibleV(tK: number): number {
  return nernstV(tK, h2Atm, o2Atm);
}

/** Voltage law of the built-in PEM fuel cell, without crossover. */
export interface PemLaw {
  /** cell voltage at a current density, V */
  idealV(j: number, tK: number): number;
  /** current density times the slope by which the voltage falls, V */
  fallV(j: number, tK: number): number;
}

/** Tafel, ohmic and concentration losses. */
const tafelLaw: PemLaw = {
  idealV(j, tK) {
    const clippedJ = Math.min(j, nearLimitACm2);
    const activation = clippedJ > exchangeACm2 ? tafelSlopeV * Math.log(clippedJ / exchangeACm2) : 0;
    return (
      pemReversibleV(tK) - activation - ohmicOhmCm2 * clippedJ + concentrationV * Math.log(1 - clippedJ / pemLimitACm2)
    );
  },
  fallV: (j) => tafelSlopeV + ohmicOhmCm2 * j + (concentrationV * j) / (pemLimitACm2 - j),
};

/**
 * The cell of the Ballard Mark V with the gas pressures of this file; a larger area counts as several cells in
 * parallel.
 */
const amphlettLaw: PemLaw = {
  idealV: (j, tK) => amphlettCell(ballardMarkV, j * ballardMarkV.areaCm2, { tK, h2Atm, o2Atm }).cellV,
  fallV: (j, tK) => amphlettFallV(ballardMarkV, j * ballardMarkV.areaCm2, tK),
};

export const pemLaws: Readonly<Record<FuelCellStackModel, PemLaw>> = { tafel: tafelLaw, amphlett: amphlettLaw };

/** Voltage of the built-in PEM fuel cell, V; about 1 V at open circuit. */
export function pemV(j: number, tK: number, law: PemLaw = tafelLaw): number {
  return law.idealV(Math.max(j, crossoverACm2), tK);
}

/** Current density of {@link pemV} at a power density below the maximum; above it, one near the maximum. */
export function pemCurrent(wCm2: number, tK: number, guess = 0, law: PemLaw = tafelLaw): number {
  if (!(wCm2 > 0)) return 0;
  const reversible = pemReversibleV(tK);
  // power is concave in current: Newton steps from the left never overshoot, from the right only the first one may
  const minCurrent = Math.min(wCm2 / reversible, 1);
  let j = Math.max(minCurrent, Math.min(guess, 1));
  for (let round = 0; round < maxRounds; round += 1) {
    const v = pemV(j, tK, law);
    const slope = j <= crossoverACm2 ? v : v - law.fallV(j, tK);
    if (slope <= 1e-3) {
      if (round > 0 || j === minCurrent) return j;
      // a guess beyond the maximum does not converge
      j = minCurrent;
      continue;
    }
    const next = Math.max(minCurrent, Math.min(j - (v * j - wCm2) / slope, nearLimitACm2));
    if (Math.abs(next - j) <= relativeTolerance * j) return next;
    j = next;
  }
  return j;
}

/** Parts of the voltage of a PEM electrolyser cell, V. */
interface ElectrolyserVoltage {
  readonly reversibleV: number;
  readonly anodeV: number;
  readonly cathodeV: number;
  readonly ohmicV: number;
  readonly cellV: number;
}

const anodeACm2 = 2e-7;
const cathodeACm2 = 2e-3;

/** Pressure of saturated steam after Buck, as a part of one atmosphere. */
function steamAtm(tC: number): number {
  return (0.61121 * Math.exp((18.678 - tC / 234.5) * (tC / (257.14 + tC)))) / 101.325;
}

function electrolyserReversibleV(tK: number): number {
  // valid only below the boiling point, where some dry gas remains
  const dry = Math.max(0.01, 1 - steamAtm(tK - zeroCelsiusK));
  return 237.24e3 / (2 * faradayCMol) + ((gasConstantJMolK * tK) / (2 * faradayCMol)) * 1.5 * Math.log(dry);
}

function electrolyserOhmCm2(tK: number): number {
  const lambda = (-2.89556 + 0.016 * tK + 1.625) / 0.1875;
  const sigma = (0.005139 * lambda - 0.00326) * Math.exp(1268 * (1 / 303 - 1 / tK));
  // below -25 C the fit of the conductivity leaves its range
  return 0.05 + 0.03 / Math.max(sigma, 1e-3);
}

/** Voltage of one PEM electrolyser cell at atmospheric pressure, in its parts, V. */
export function electrolyserCell(j: number, tK: number): ElectrolyserVoltage {
  const thermalV = (gasConstantJMolK * tK) / faradayCMol;
  const reversibleV = electrolyserReversibleV(tK);
  const anodeV = (thermalV / 2) * Math.asinh(j / (2 * anodeACm2));
  const cathodeV = thermalV * 2 * Math.asinh(j / (2 * cathodeACm2));
  const ohmicV = j * electrolyserOhmCm2(tK);
  return { reversibleV, anodeV, cathodeV, ohmicV, cellV: reversibleV + anodeV + cathodeV + ohmicV };
}

/** Current density of a PEM electrolyser cell at a power density. */
export function electrolyserCurrent(wCm2: number, tK: number, guess = 0): number {
  if (!(wCm2 > 0)) return 0;
  const thermalV = (gasConstantJMolK * tK) / faradayCMol;
  const reversible = electrolyserReversibleV(tK);
  const ohmCm2 = electrolyserOhmCm2(tK);
  // power is convex in current: after the first step Newton converges from the right
  let j = guess > 0 ? guess : wCm2 / (reversible + 0.6);
  for (let round = 0; round < maxRounds; round += 1) {
    const v =
      reversible +
      (thermalV / 2) * Math.asinh(j / (2 * anodeACm2)) +
      thermalV * 2 * Math.asinh(j / (2 * cathodeACm2)) +
      ohmCm2 * j;
    const slope =
      v +
      ((thermalV / 2) * j) / Math.hypot(j, 2 * anodeACm2) +
      (thermalV * 2 * j) / Math.hypot(j, 2 * cathodeACm2) +
      ohmCm2 * j;
    const next = Math.max(j - (v * j - wCm2) / slope, j / 16);
    if (Math.abs(next - j) <= relativeTolerance * j) return next;
    j = next;
  }
  return j;
}

const maxFaraday = 0.996;
const faradayKneeACm2 = Math.sqrt(250) / 1000;

/** Share of the current of a PEM electrolyser that produces hydrogen. */
export function faradayEfficiency(j: number): number {
  return (maxFaraday * j * j) / (faradayKneeACm2 ** 2 + j * j);
}

/** Current density at which `j * faradayEfficiency(j)` is `usefulACm2`. */
export function currentForHydrogen(usefulACm2: number): number {
  if (!(usefulACm2 > 0)) return 0;
  const knee = faradayKneeACm2 ** 2;
  // at or right of the solution, from where Newton never overshoots
  let j = usefulACm2 / maxFaraday + Math.cbrt((usefulACm2 * knee) / maxFaraday);
  for (let round = 0; round < maxRounds; round += 1) {
    const square = j * j;
    const excess = maxFaraday * j * square - usefulACm2 * (knee + square);
    const slope = 3 * maxFaraday * square - 2 * usefulACm2 * j;
    const next = slope > 0 ? j - excess / slope : j;
    if (Math.abs(next - j) <= relativeTolerance * j) return next;
    j = next;
  }
  return j;
}

const oxideV = 0.95;
const oxideOhmCm2 = 0.4;
const oxideWarmK = 750 + zeroCelsiusK;
/** the resistance rises by half per this step of temperature below `oxideWarmK` */
const oxideStepK = 50;
const maxOhmCm2 = 1e4;

/** Resistance of a solid oxide cell, Ohm cm2: 0.4 at 750 C, 0.6 at 700 C. */
export function oxideResistance(tK: number): number {
  return Math.min(maxOhmCm2, oxideOhmCm2 * 1.5 ** ((oxideWarmK - tK) / oxideStepK));
}

/** Voltage of a solid oxide cell, V; one law for both directions. @param j + fuel cell, - electrolysis */
export function oxideCellV(j: number, tK: number): number {
  return oxideV - oxideResistance(tK) * j;
}

/**
 * Current density of a solid oxide cell at a power density, both + fuel cell, - electrolysis; at most that of maximum
 * power.
 */
export function oxideCurrent(wCm2: number, tK: number): number {
  return (2 * wCm2) / (oxideV + Math.sqrt(Math.max(0, oxideV ** 2 - 4 * oxideResistance(tK) * wCm2)));
}
