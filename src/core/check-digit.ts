/** Check digit of IEEE 2030.5 8.3.2: it makes the sum of all digits a multiple of 10. */

function digitSum(digits: number): number {
  let sum = 0;
  for (let rest = digits; rest > 0; rest = Math.floor(rest / 10)) sum += rest % 10;
  return sum;
}

/** A whole number from 0 with its check digit behind. */
export function withCheckDigit(digits: number): number {
  return digits * 10 + ((10 - (digitSum(digits) % 10)) % 10);
}

/** True if the last digit of a whole number from 0 is the check digit of the others. */
export function hasCheckDigit(digits: number): boolean {
  return digitSum(digits) % 10 === 0;
}
