/** Numbers as IEEE 2030.5 writes them: an integer with a power of ten, percentages in hundredths, bits in hexadecimal. */

/** value x 10^multiplier. */
export interface Scaled {
  readonly multiplier: number;
  readonly value: number;
}

const maxPower = 9;
/** Registers have at most this many decimals; further ones would only show how a double is rounded. */
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
 * The value with the multiplier that keeps the most digits; of equal ones that nearest to 0. A larger value never
 * becomes a smaller one than that of a smaller value.
 * @returns undefined for what is no finite number
 */
function scaled(max: number, value: number | null | undefined): Scaled | undefined {
  if (value === null || value === undefined || !Number.isFinite(value)) return undefined;
  // the notation of numbers below 1e-6 has an exponent of its own
  return withinType(max, Math.abs(value) < 1e-6 ? 0 : value);
}

/** With a value of type Int16: ActivePower, ReactivePower. */
export function signed16(value: number | null | undefined): Scaled | undefined {
  return scaled(0x7fff, value);
}

/** With a value of type UInt16: ApparentPower, VoltageRMS, CurrentRMS, WattHour and their like; a magnitude. */
export function unsigned16(value: number | null | undefined): Scaled | undefined {
  return scaled(0xffff, typeof value === 'number' ? Math.abs(value) : value);
}

/** PowerFactor: its magnitude. */
export function powerFactor(
  value: number | null | undefined,
): { readonly displacement: number; readonly multiplier: number } | undefined {
  const pf = unsigned16(value);
  return pf && { displacement: pf.value, multiplier: pf.multiplier };
}

/** value x 100 in [min, max], for members in hundredths of their unit. @returns undefined for no finite number */
export function hundredths(value: number | null | undefined, min: number, max: number): number | undefined {
  if (value === null || value === undefined || !Number.isFinite(value)) return undefined;
  return Math.min(max, Math.max(min, Math.round(value * 100)));
}

/** PerCent: hundredths of a percent, 0..10000. */
export function perCent(value: number | null | undefined): number | undefined {
  return hundredths(value, 0, 10_000);
}

/** HexBinary of so many octets, bit 0 rightmost. */
export function hexBits(bits: number, octets: number): string {
  return bits
    .toString(16)
    .toUpperCase()
    .padStart(2 * octets, '0');
}

/** Members that have a value: documents leave out what is not there. */
export function present<T extends object>(members: T): { readonly [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
