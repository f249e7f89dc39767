/** Semi-empirical model of a PEM fuel cell after Amphlett, with the constants of the Ballard Mark V stack. */

/** Thermodynamic voltage of a hydrogen cell at temperature `tK` and pressures in atm, V. */
export function nernstV(tK: number, h2Atm: number, o2Atm: number): number {
  return 1.229 - 8.5e-4 * (tK - 298.15) + 4.308e-5 * tK * (Math.log(h2Atm) + 0.5 * Math.log(o2Atm));
}

/** Constants of a stack in the Amphlett model. */
export interface AmphlettStack {
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
export interface CellVoltage {
  readonly reversibleV: number;
  readonly activationV: number;
  readonly ohmicV: number;
  readonly concentrationV: number;
  readonly cellV: number;
}

export interface StackConditions {
  readonly tK: number;
  readonly h2Atm: number;
  readonly o2Atm: number;
}

/** Minimum current of the logarithms, A: gas crossover loads a real cell at any time. */
const minA = 1e-3;
/** The concentration term is cut this close to the limiting current, where the voltage is 0. */
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
export function amphlettFallV(stack: AmphlettStack, currentA: number, tK: number): number {
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
