/** LFDI and SFDI of IEEE 2030.5, from certificates. */
import { createHash } from 'node:crypto';
import { withCheckDigit } from '../../core/check-digit.ts';
import { certificatesOf } from '../../core/tls/material.ts';
import type { CertificateFacts } from './exchange.ts';

const lfdiDigits = 40;
/** hex digits of 36 bits */
const sfdiDigits = 9;
const penLength = 8;

const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest('hex').toUpperCase();

/** The leftmost 160 bits of a SHA-256, 40 hex digits in upper case (IEEE 2030.5-2018 6.3.3). @param der certificate */
export function lfdiOf(der: Buffer): string {
  return sha256(der).slice(0, lfdiDigits);
}

/** The leftmost 36 bits as a decimal number with its check digit (6.3.2). @param lfdi hex digits */
export function sfdiOf(lfdi: string): number {
  return withCheckDigit(Number.parseInt(lfdi.slice(0, sfdiDigits), 16));
}

/**
 * A private enterprise number as the last 32 bits of an identifier: as a number, or with its decimal digits, which
 * CSIP-AUS (TS 5573 4.2) writes.
 */
export function penDigits(pen: number, form: 'number' | 'decimal'): string {
  return pen
    .toString(form === 'number' ? 16 : 10)
    .toUpperCase()
    .padStart(penLength, '0');
}

/**
 * The LFDI of a device that has no certificate, since it is behind an aggregator (CSIP-AUS): it ends with the private
 * enterprise number, and is the same in each process with the same aggregator and name.
 * @param aggregator LFDI of the aggregator
 * @param name tells the devices apart
 */
export function managedLfdi(aggregator: string, name: string, pen: number): string {
  const own = sha256(`${aggregator.toUpperCase()}/${name}`).slice(0, lfdiDigits - penLength);
  return own + penDigits(pen, 'decimal');
}

/**
 * The facts of the first certificate of a PEM text, which has the others of its chain behind it.
 * @returns null where it is no certificate
 */
export function certificateFacts(pem: string): CertificateFacts | null {
  const chain = certificatesOf(pem);
  const [own] = chain ?? [];
  if (chain === null || own === undefined) return null;
  const lfdi = lfdiOf(own.raw);
  return {
    lfdi,
    sfdi: sfdiOf(lfdi),
    subject: oneLine(own.subject),
    issuer: oneLine(own.issuer),
    notBeforeMs: Date.parse(own.validFrom),
    notAfterMs: Date.parse(own.validTo),
    chainLength: chain.length,
  };
}

/** A name in one line; that of a device certificate is empty, which older runtimes give as undefined. */
function oneLine(name: string | undefined): string {
  return (name ?? '').replaceAll('\n', ', ');
}
