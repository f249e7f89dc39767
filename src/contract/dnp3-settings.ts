/** Settings of the DNP3 outstations as the process starts with them. */
import type { TlsPolicy } from '../core/tls/material.ts';

/** Point maps of DER: AN2018-001 (MESA-DER), and IEEE 1815.2 where the two differ. */
export const dnp3Profiles = ['an2018', 'ieee1815.2'] as const;
export type Dnp3Profile = (typeof dnp3Profiles)[number];

/** Maximum number of masters of one outstation. */
export const maxDnp3Masters = 8;
/** Highest address that is not reserved. */
export const maxDnp3Address = 0xffef;

/** A certificate that a master may present: its subject (RFC 4514 or the common name), or a SHA-256 fingerprint. */
export interface Dnp3AllowedPeer {
  readonly kind: 'subject' | 'fingerprint';
  /** fingerprint: 64 lower-case hexadecimal digits */
  readonly value: string;
  /** the link address to which the certificate is bound; null: any of the configured masters */
  readonly masterAddress: number | null;
}

export interface Dnp3TlsSettings {
  /** absolute paths of PEM files */
  readonly cert: string;
  readonly key: string;
  readonly rootCert: string;
  /** null: every certificate of the CA is accepted, with a warning at the start */
  readonly allowedPeers: readonly Dnp3AllowedPeer[] | null;
}

export interface Dnp3Settings {
  readonly host: string;
  /** host of the endpoints in place of a wildcard; absent: as bound */
  readonly advertisedHost?: string | null;
  /** port of the device `countsFrom`, the others follow by index; with a shared port that of all devices */
  readonly port: number;
  readonly sharedPort: boolean;
  /** absent: 0 */
  readonly countsFrom?: number;
  /** address of the outstation; with a shared port that of the device `countsFrom`, the others follow by index */
  readonly outstationAddress: number;
  /** 1 to 8 different addresses */
  readonly masterAddresses: readonly number[];
  readonly profile: Dnp3Profile;
  /** absolute path of a point-map file; null: the built-in map */
  readonly pointsFile: string | null;
  readonly unsolicited: boolean;
  readonly tls: Dnp3TlsSettings | null;
}

const maxPeerLength = 512;

export const dnp3AllowedPeerText =
  'the common name or whole subject of a certificate, or sha256: and its 64 hexadecimal digits, each with @ and ' +
  `a link address up to ${maxDnp3Address} where it is bound to one, in all up to ${maxPeerLength} characters: ` +
  'CN=scada-1,O=Utility@4';

/**
 * Reads one allowed peer: `scada-1`, `CN=scada-1,O=Utility@4`, `sha256:AB:CD...@4`.
 * @returns null if the text is not a peer
 */
export function dnp3AllowedPeer(text: string): Dnp3AllowedPeer | null {
  const [, name = '', address] = /^(.*?)(?:@(\d{1,5}))?$/.exec(text.trim()) ?? [];
  const masterAddress = address === undefined ? null : Number(address);
  if (name === '' || text.length > maxPeerLength || (masterAddress ?? 0) > maxDnp3Address) return null;
  const [, fingerprint] = /^sha256:([0-9a-f:]+)$/i.exec(name) ?? [];
  if (fingerprint === undefined) return /^sha256:/i.test(name) ? null : { kind: 'subject', value: name, masterAddress };
  const value = fingerprint.replaceAll(':', '').toLowerCase();
  return value.length === 64 ? { kind: 'fingerprint', value, masterAddress } : null;
}

/** TLS of outstations: suites with forward secrecy for certificates of both key types. IEC 62351-3 */
export const dnp3TlsPolicy: TlsPolicy = {
  ciphers: [
    ...['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384'],
    ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
    ...['ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ].join(':'),
  minVersion: '1.2',
};
