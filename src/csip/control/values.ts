/** Numbers of IEEE 2030.5 as they come from a server: any member may be missing or absurd. */

/** An integer; null for anything else. */
export function integerOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
}

/** Powers of ten that PowerOfTenMultiplierType allows. */
const maxPower = 9;

/**
 * value x 10^power, the nearest number to the decimal one, so that 57 hundredths are 0.57.
 * @returns null where the value is no integer or the power is outside of -9..9
 */
export function scaledOf(value: unknown, power: number): number | null {
  const number = integerOf(value);
  if (number === null || !Number.isInteger(power) || Math.abs(power) > maxPower) return null;
  return Number(`${number}e${power}`);
}
