/** Number formats of IEEE 2030.5: integers with a power of ten, percentages in hundredths, bits in hexadecimal. */

/** value x 10^multiplier. */
export interface Scaled {
  readonly multiplier: number;
  readonly value: number;
}

const maxPower = 9;
/** Maximum number of decimals of a register value; further ones would only show the rounding of a double. */
const maxDecimals = 4;

function withinType(max: number, value: number): Scaled {
  const magnitude = Math.abs(value);
  let multiplier = -maxDecimals;
  let rounded = Math.round(Number(`${magnitude}e${maxDecimals}`));
  while (rounded > max && multiplier < maxPower) {
    multiplier += 1;
    rounded = Math.round(Number(`${magnitude}e${-multiplier}`));
  }
  rounded = Math.min(rounded, max);
  while (multiplier < 0 && rounded % 10 === 0) {
    multiplier += 1;
    rounded /= 10;
  }
  return { multiplier, value: value < 0 && rounded !== 0 ? -rounded : rounded };
}

/**
 * The value with the multiplier that keeps most digits; of equally exact multipliers the one nearest to 0. A greater
 * value never gives a smaller result.
 * @returns undefined unless the value is a finite number
 */
function scaled(max: number, value: number | null | undefined): Scaled | undefined {
  if (value === null || value === undefined || !Number.isFinite(value)) return undefined;
  // numbers below 1e-6 are printed with an exponent
  return withinType(max, Math.abs(value) < 1e-6 ? 0 : value);
}

/** Value of type Int16: ActivePower, ReactivePower. */
export function signed16(value: number | null | undefined): Scaled | undefined {
  return scaled(0x7fff, value);
}

/** Magnitude of type UInt16: ApparentPower, VoltageRMS, CurrentRMS, WattHour and others. */
export function unsigned16(value: number | null | undefined): Scaled | undefined {
  return scaled(0xffff, typeof value === 'number' ? Math.abs(value) : value);
}

/** PowerFactor without its sign. */
export function powerFactor(
  value: number | null | undefined,
): { readonly displacement: number; readonly multiplier: number } | undefined {
  const pf = unsigned16(value);
  return pf && { displacement: pf.value, multiplier: pf.multiplier };
}

/** value x 100 in [min, max], for members in hundredths of their unit. @returns undefined unless finite */
export function hundredths(value: number | null | undefined, min: number, max: number): number | undefined {
  if (value === null || value === undefined || !Number.isFinite(value)) return undefined;
  return Math.min(max, Math.max(min, Math.round(value * 100)));
}

/** PerCent: hundredths of a percent, 0..10000. */
export function perCent(value: number | null | undefined): number | undefined {
  return hundredths(value, 0, 10_000);
}

/** HexBinary of this many octets, bit 0 rightmost. */
export function hexBits(bits: number, octets: number): string {
  return bits
    .toString(16)
    .toUpperCase()
    .padStart(2 * octets, '0');
}

/** Removes undefined members, which documents omit. */
export function present<T extends object>(members: T): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
