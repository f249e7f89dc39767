/** Certificates of the former scripts, and certificates without what two of them never share. */
import { createHash } from 'node:crypto';
import type { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { certificatesOf } from '../../src/core/tls/material.ts';

/** PEM texts of `fixtures/pki`, by the name of their file. */
export function recordedPki(name: 'csip' | 'modbus'): ReadonlyMap<string, string> {
  const text = readFileSync(new URL(`../../fixtures/pki/${name}.pem`, import.meta.url), 'utf8');
  const files = text.split(/^# /m).slice(1);
  return new Map(files.map((file): [string, string] => [file.slice(0, file.indexOf('\n')), file]));
}

const [long, offset] = [0x82, 4];
const pointBytes = 65;

/** The signed part of a certificate, in DER. */
function signedPart({ raw }: X509Certificate): Buffer {
  const part = raw.subarray(offset);
  const length = part[1] === long ? part.readUInt16BE(2) + offset : (part[2] ?? 0) + offset - 1;
  return part.subarray(0, length);
}

/** Octets of the public key, and its identifier (RFC 5280 4.2.1.2). */
function keyOctets({ publicKey }: X509Certificate): readonly [string, string] {
  const point = publicKey.export({ type: 'spki', format: 'der' }).subarray(-pointBytes);
  return [point.toString('hex'), createHash('sha1').update(point).digest('hex')];
}

/**
 * Shows each certificate of a PEM text as hex digits, without serial number, keys, their identifiers and the signature.
 * @param pems all certificates of the hierarchy: their keys may have signed
 */
export function comparer(pems: Iterable<string>): (pem: string) => readonly string[] {
  const keys = [...pems].flatMap((text) => (certificatesOf(text) ?? []).map(keyOctets));
  return (pem) =>
    (certificatesOf(pem) ?? []).map((certificate) => {
      const text = signedPart(certificate).toString('hex').replace(certificate.serialNumber.toLowerCase(), 'serial');
      return keys.reduce((masked, [point, id]) => masked.replaceAll(point, 'point').replaceAll(id, 'id'), text);
    });
}
