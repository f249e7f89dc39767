/** Certificates for tests, made in memory: a CA, a server, one client per role and those that must be refused. */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  cryptoProvider,
  Extension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { X509Certificate } from '@peculiar/x509';
import { roles } from '../../src/sunspec/modbus/access/certificate-role.ts';
import type { Role } from '../../src/sunspec/modbus/access/certificate-role.ts';

cryptoProvider.set(webcrypto);

/** A certificate and its key, PEM. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

export interface Authority extends Identity {
  readonly certificate: X509Certificate;
  readonly keys: webcrypto.CryptoKeyPair;
}

export const roleOid = '1.3.6.1.4.1.50316.802.1';
const signing = { name: 'ECDSA', hash: 'SHA-256' } as const;
const dayMs = 86_400_000;
/** Validity of certificates by default: it has the present of the machine and all dates that clocks of tests start at. */
const [sinceMs, untilMs] = [Date.UTC(2020, 0, 1), Date.UTC(2049, 0, 1)];
/** A time at which certificates have expired. */
export const expiredMs = untilMs + dayMs;

const newKeys = (namedCurve = 'P-256'): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve }, true, ['sign', 'verify']);

async function keyPem({ privateKey }: webcrypto.CryptoKeyPair): Promise<string> {
  return `${PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', privateKey), 'PRIVATE KEY')}\n`;
}

/** @param by the authority above; default: a root */
export async function createAuthority(name: string, by?: Authority): Promise<Authority> {
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.create({
    subject: `CN=${name}`,
    issuer: by?.certificate.subject ?? `CN=${name}`,
    publicKey: keys.publicKey,
    signingKey: (by?.keys ?? keys).privateKey,
    signingAlgorithm: signing,
    notBefore: new Date(sinceMs),
    notAfter: new Date(untilMs),
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      // with `digitalSignature` it can also be what a server presents
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign | KeyUsageFlags.digitalSignature, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate, keys, cert: `${certificate.toString('pem')}\n`, key: await keyPem(keys) };
}

export interface IssueOptions {
  readonly purpose: 'server' | 'client';
  /** for both purposes: in IEEE 2030.5 head-ends send notifications, and devices receive them */
  readonly bothWays?: boolean;
  /** content of each role extension, DER */
  readonly roles?: readonly Uint8Array[];
  /** days from now; default: from 2020 to 2048 */
  readonly validDays?: readonly [from: number, to: number];
  /** default P-256 */
  readonly curve?: string;
  /** DNS names of a server; default localhost and 127.0.0.1 */
  readonly hosts?: readonly string[];
}

export async function issue(
  by: Authority,
  name: string,
  { purpose, bothWays = false, roles = [], validDays, curve, hosts }: IssueOptions,
): Promise<Identity> {
  const keys = await newKeys(curve);
  const certificate = await X509CertificateGenerator.create({
    subject: `CN=${name}`,
    issuer: by.certificate.subject,
    publicKey: keys.publicKey,
    signingKey: by.keys.privateKey,
    signingAlgorithm: signing,
    notBefore: new Date(validDays ? Date.now() + validDays[0] * dayMs : sinceMs),
    notAfter: new Date(validDays ? Date.now() + validDays[1] * dayMs : untilMs),
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([
        ...(purpose === 'server' || bothWays ? [ExtendedKeyUsage.serverAuth] : []),
        ...(purpose === 'client' || bothWays ? [ExtendedKeyUsage.clientAuth] : []),
      ]),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(by.keys.publicKey),
      ...(purpose === 'server'
        ? [
            new SubjectAlternativeNameExtension(
              hosts?.map((value) => ({ type: 'dns', value })) ?? [
                { type: 'dns', value: 'localhost' },
                { type: 'ip', value: '127.0.0.1' },
              ],
            ),
          ]
        : []),
      ...roles.map((role) => new Extension(roleOid, false, role)),
    ],
  });
  return { cert: `${certificate.toString('pem')}\n`, key: await keyPem(keys) };
}

/** One DER element of a short text. */
export function derText(tag: number, text: string): Uint8Array {
  const octets = Buffer.from(text);
  return Uint8Array.of(tag, octets.length, ...octets);
}

export const utf8String = (text: string): Uint8Array => derText(0x0c, text);
export const ia5String = (text: string): Uint8Array => derText(0x16, text);

export interface TestPki {
  readonly ca: Authority;
  readonly foreignCa: Authority;
  readonly server: Identity;
  readonly clients: Readonly<Record<Role, Identity>>;
  /** clients that get a session and no role, by what is wrong */
  readonly roleless: Readonly<
    Record<'none' | 'two extensions' | 'two in one' | 'unknown' | 'IA5String' | 'empty' | 'bare octets', Identity>
  >;
  /** clients that get no session, by what is wrong */
  readonly refused: Readonly<Record<'expired' | 'not yet valid' | 'foreign CA' | 'a server certificate', Identity>>;
}

async function createPki(): Promise<TestPki> {
  const [ca, foreignCa] = [await createAuthority('Test CA'), await createAuthority('Foreign test CA')];
  const client = (name: string, ...given: readonly Uint8Array[]) =>
    issue(ca, name, { purpose: 'client', roles: given });
  const grid = utf8String('GridServiceSunSpec');
  const withGrid = { purpose: 'client', roles: [grid] } as const;
  const clients = await Promise.all(roles.map(async (role) => [role, await client(role, utf8String(role))] as const));
  const server = await issue(ca, 'server', { purpose: 'server' });
  return {
    ca,
    foreignCa,
    server,
    clients: Object.fromEntries(clients) as Record<Role, Identity>,
    roleless: {
      none: await client('none'),
      'two extensions': await client('two', grid, utf8String('ReadOnlySunSpec')),
      'two in one': await client('two in one', Buffer.concat([grid, utf8String('ReadOnlySunSpec')])),
      unknown: await client('unknown', utf8String('Operator')),
      IA5String: await client('ia5', ia5String('GridServiceSunSpec')),
      empty: await client('empty', utf8String('')),
      'bare octets': await client('bare', Buffer.from('GridServiceSunSpec')),
    },
    refused: {
      expired: await issue(ca, 'expired', { ...withGrid, validDays: [-20, -10] }),
      'not yet valid': await issue(ca, 'early', { ...withGrid, validDays: [10, 20] }),
      'foreign CA': await issue(foreignCa, 'foreign', withGrid),
      'a server certificate': server,
    },
  };
}

let made: Promise<TestPki> | undefined;

/** The certificates that tests of one process share; they are made once. */
export function testPki(): Promise<TestPki> {
  made ??= createPki();
  return made;
}
