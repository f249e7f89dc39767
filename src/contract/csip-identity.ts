/** LFDI and SFDI of a certificate (IEEE 2030.5-2018 6.3). */
import { createHash } from 'node:crypto';
import { withCheckDigit } from './csip-settings.ts';

const lfdiDigits = 40;
/** hex digits of 36 bits */
const sfdiDigits = 9;

/**
 * The leftmost 160 bits of the SHA-256 of a certificate, 40 upper-case hex digits (6.3.3).
 * @param der certificate
 */
export function lfdiOf(der: Buffer): string {
  return createHash('sha256').update(der).digest('hex').toUpperCase().slice(0, lfdiDigits);
}

/** The leftmost 36 bits in decimal with their check digit (6.3.2). @param lfdi hex digits */
export function sfdiOf(lfdi: string): number {
  return withCheckDigit(Number.parseInt(lfdi.slice(0, sfdiDigits), 16));
}
