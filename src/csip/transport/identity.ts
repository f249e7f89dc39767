/** LFDI and SFDI of IEEE 2030.5, from certificates. */
import { createHash } from 'node:crypto';
import { withCheckDigit } from '../../contract/csip-settings.ts';
import { certificatesOf } from '../../core/tls/material.ts';
import type { CertificateFacts } from './exchange.ts';

const lfdiDigits = 40;
/** hex digits of 36 bits */
const sfdiDigits = 9;
const penLength = 8;

const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest('hex').toUpperCase();

/**
 * The leftmost 160 bits of the SHA-256 of a certificate, 40 upper-case hex digits (2030.5-2018 6.3.3). @param der
 * certificate
 */
export function lfdiOf(der: Buffer): string {
  return sha256(der).slice(0, lfdiDigits);
}

/** The leftmost 36 bits in decimal with their check digit (6.3.2). @param lfdi hex digits */
export function sfdiOf(lfdi: string): number {
  return withCheckDigit(Number.parseInt(lfdi.slice(0, sfdiDigits), 16));
}

/**
 * A private enterprise number as the last 32 bits of an identifier: in binary, or as its decimal digits, as CSIP-AUS
 * does (TS 5573 4.2).
 */
export function penDigits(pen: number, form: 'number' | 'decimal'): string {
  return pen
    .toString(form === 'number' ? 16 : 10)
    .toUpperCase()
    .padStart(penLength, '0');
}

/**
 * The LFDI of a device behind an aggregator, which has no certificate (CSIP-AUS). It ends with the private enterprise
 * number, and depends on aggregator and name only.
 * @param aggregator LFDI of the aggregator
 * @param name distinguishes the devices
 */
export function managedLfdi(aggregator: string, name: string, pen: number): string {
  const digits = sha256(`${aggregator.toUpperCase()}/${name}`).slice(0, lfdiDigits - penLength);
  return digits + penDigits(pen, 'decimal');
}

/**
 * The facts of the first certificate of a PEM text, which may contain its chain too.
 * @returns null for an invalid certificate
 */
export function certificateFacts(pem: string): CertificateFacts | null {
  const chain = certificatesOf(pem);
  const [certificate] = chain ?? [];
  if (chain === null || certificate === undefined) return null;
  const lfdi = lfdiOf(certificate.raw);
  return {
    lfdi,
    sfdi: sfdiOf(lfdi),
    subject: oneLine(certificate.subject),
    issuer: oneLine(certificate.issuer),
    notBeforeMs: Date.parse(certificate.validFrom),
    notAfterMs: Date.parse(certificate.validTo),
    chainLength: chain.length,
  };
}

/** A distinguished name in one line. Older runtimes give undefined for the empty one of device certificates. */
function oneLine(name: string | undefined): string {
  return (name ?? '').replaceAll('\n', ', ');
}
