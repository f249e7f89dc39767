/** Extensions of certificates (RFC 5280 4.2) as their DER values. */

/** Object identifiers of the extensions. */
export const oids = {
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  certificatePolicies: '2.5.29.32',
  policyMappings: '2.5.29.33',
  extendedKeyUsage: '2.5.29.37',
  /** role of a client of Secure SunSpec Modbus */
  sunspecRole: '1.3.6.1.4.1.50316.802.1',
} as const;

interface RawExtension {
  readonly name: keyof typeof oids;
  readonly isCritical: boolean;
  readonly value: Buffer;
}

/** A value, an identifier of a key, or the names and addresses of a server. */
export type CertificateExtension =
  | RawExtension
  | 'subject_key'
  | 'authority_key'
  | { readonly hosts: readonly string[] };

const tag = { integer: 0x02, bitString: 0x03, octetString: 0x04, oid: 0x06, utf8String: 0x0c, ia5String: 0x16 };
const sequenceTag = 0x30;
/** context-specific and constructed, number 0 */
const firstTag = 0xa0;
const maxShortLength = 0x7f;

/** One DER element. */
function der(type: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  if (content.length > maxShortLength) throw new RangeError('a DER element is longer than its short form');
  return Buffer.concat([Uint8Array.of(type, content.length), content]);
}

const sequence = (...parts: readonly Uint8Array[]) => der(sequenceTag, ...parts);
export const utf8String = (text: string): Buffer => der(tag.utf8String, Buffer.from(text));
export const ia5String = (text: string): Buffer => der(tag.ia5String, Buffer.from(text));
export const sequenceOf = sequence;

const groupBits = 7;
const moreBit = 0x80;

/** An object identifier as DER (X.690 8.19). */
function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  const octets = [first * 40 + second, ...rest].flatMap((arc) => {
    const groups = [arc % moreBit];
    for (let left = arc >> groupBits; left > 0; left >>= groupBits) groups.unshift((left % moreBit) | moreBit);
    return groups;
  });
  return der(tag.oid, Uint8Array.from(octets));
}

const critical = (name: keyof typeof oids, value: Buffer): RawExtension => ({ name, isCritical: true, value });
const plain = (name: keyof typeof oids, value: Buffer): RawExtension => ({ name, isCritical: false, value });
const derTrue = Buffer.from([0x01, 0x01, 0xff]);

/** An authority. @param pathLength maximum of authorities between it and a leaf; null: no limit */
export function authority(pathLength: number | null): CertificateExtension {
  const limit = pathLength === null ? [] : [der(tag.integer, Uint8Array.of(pathLength))];
  return critical('basicConstraints', sequence(derTrue, ...limit));
}

export const noAuthority: CertificateExtension = critical('basicConstraints', sequence());

/** Bits of KeyUsage (4.2.1.3), behind the count of unused ones. */
const usageBits = {
  /** keyCertSign, cRLSign */
  authority: [0x01, 0x06],
  /** digitalSignature, keyAgreement */
  signAndAgree: [0x03, 0x88],
  /** digitalSignature */
  sign: [0x07, 0x80],
} as const;

export const keyUsage = (usage: keyof typeof usageBits): CertificateExtension =>
  critical('keyUsage', der(tag.bitString, Uint8Array.from(usageBits[usage])));

const purposes = { serverAuth: '1.3.6.1.5.5.7.3.1', clientAuth: '1.3.6.1.5.5.7.3.2', codeSigning: '1.3.6.1.5.5.7.3.3' };

export function extendedKeyUsage(purpose: keyof typeof purposes, isCritical = false): CertificateExtension {
  return { name: 'extendedKeyUsage', isCritical, value: sequence(oid(purposes[purpose])) };
}

export const policies = (policy: string): CertificateExtension =>
  critical('certificatePolicies', sequence(sequence(oid(policy))));

export const policyMapping = (issuer: string, subject: string): CertificateExtension =>
  critical('policyMappings', sequence(sequence(oid(issuer), oid(subject))));

/** hardwareModuleName (RFC 4108 5), the only name that IEEE 2030.5 permits for a device. */
const hardwareModuleName = oid('1.3.6.1.5.5.7.8.4');
const otherName = (value: Buffer) => der(firstTag, hardwareModuleName, der(firstTag, value));

/** @param type OID of the type of hardware @param serial text whose octets are the serial number */
export const hardwareModule = (type: string, serial: string): CertificateExtension =>
  critical('subjectAltName', sequence(otherName(sequence(oid(type), der(tag.octetString, Buffer.from(serial))))));

/** Permits the hardwareModuleName `none` alone. */
export const hardwareNameConstraint: CertificateExtension = critical(
  'nameConstraints',
  sequence(der(firstTag, sequence(otherName(utf8String('none'))))),
);

/** @param value the role, one DER element */
export const sunspecRole = (value: Buffer): CertificateExtension => plain('sunspecRole', value);
