/** Roles of Secure SunSpec, and the role in a client certificate (Modbus/TCP Security, role OID). */

export const roles = [
  'ReadOnlySunSpec',
  'GridServiceSunSpec',
  'NetworkAdministratorSunSpec',
  'SuperAdministratorSunSpec',
] as const;

export type Role = (typeof roles)[number];

/** Shorter spelling of the last role in the published tables of rights. */
const otherSpellings: Readonly<Record<string, Role>> = { SuperAdministratorSpec: 'SuperAdministratorSunSpec' };

/** The role of a name, exactly as written in certificates; undefined: no such role. */
export function roleOfName(name: string): Role | undefined {
  return (
    roles.find((role) => role === name) ?? (Object.hasOwn(otherSpellings, name) ? otherSpellings[name] : undefined)
  );
}

/** The role in a certificate, or the reason why it has none. */
export type RoleFinding =
  | { readonly role: Role }
  /** `reason` completes a log line */
  | { readonly role: null; readonly reason: string };

/** 1.3.6.1.4.1.50316.802.1 as the content of an OBJECT IDENTIFIER */
const roleOid = Uint8Array.of(0x2b, 0x06, 0x01, 0x04, 0x01, 0x83, 0x89, 0x0c, 0x86, 0x22, 0x01);

const tag = {
  boolean: 0x01,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  sequence: 0x30,
  extensions: 0xa3,
} as const;

/** One DER element: its tag and its content. */
interface Element {
  readonly tag: number;
  readonly content: Uint8Array;
}

/** The octets are not DER, or not a certificate. */
class Malformed extends Error {}

const maxLengthOctets = 4;

/**
 * The elements that fill `bytes`. Each has at least two octets, so the loop ends for any input.
 * @throws Malformed where the octets are not DER (X.690 10.1: definite lengths, in the minimum number of octets)
 */
function* elementsOf(bytes: Uint8Array): Generator<Element> {
  for (let at = 0; at < bytes.length; ) {
    const lengthOctet = bytes[at + 1];
    const kind = bytes[at];
    // tags above 30 take several octets and do not occur in certificates
    if (kind === undefined || lengthOctet === undefined || (kind & 0x1f) === 0x1f) throw new Malformed();
    let start = at + 2;
    let length = lengthOctet;
    if (lengthOctet >= 0x80) {
      const octets = lengthOctet & 0x7f;
      length = 0;
      if (octets === 0 || octets > maxLengthOctets || start + octets > bytes.length || bytes[start] === 0)
        throw new Malformed();
      for (let i = 0; i < octets; i += 1) length = length * 256 + (bytes[start + i] ?? 0);
      if (length < 0x80) throw new Malformed();
      start += octets;
    }
    if (start + length > bytes.length) throw new Malformed();
    yield { tag: kind, content: bytes.subarray(start, start + length) };
    at = start + length;
  }
}

/** The content of the only element in `bytes`. @throws Malformed, also for another tag */
function only(bytes: Uint8Array, tag: number): Uint8Array {
  const [element, more] = elementsOf(bytes);
  if (element?.tag !== tag || more !== undefined) throw new Malformed();
  return element.content;
}

/** The extension list of a certificate (RFC 5280 4.1). @throws Malformed */
function extensionsOf(certificate: Uint8Array): Iterable<Element> {
  const [signed] = elementsOf(only(certificate, tag.sequence));
  if (signed?.tag !== tag.sequence) throw new Malformed();
  for (const member of elementsOf(signed.content)) {
    if (member.tag === tag.extensions) return elementsOf(only(member.content, tag.sequence));
  }
  return [];
}

/** OBJECT IDENTIFIER, BOOLEAN DEFAULT FALSE, OCTET STRING (RFC 5280 4.1). @throws Malformed */
function roleValueOf(extension: Element): Uint8Array | undefined {
  if (extension.tag !== tag.sequence) throw new Malformed();
  const members = [...elementsOf(extension.content)];
  const [oid] = members;
  const value = members.at(-1);
  const shaped = members.length === 2 || (members.length === 3 && members[1]?.tag === tag.boolean);
  if (!shaped || oid?.tag !== tag.oid || value?.tag !== tag.octetString) throw new Malformed();
  return sameOctets(oid.content, roleOid) ? value.content : undefined;
}

function sameOctets(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((octet, i) => octet === b[i]);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function roleIn(value: Uint8Array): RoleFinding {
  let name: string;
  try {
    name = utf8.decode(only(value, tag.utf8String));
  } catch {
    return { role: null, reason: 'the role of its certificate is not one UTF8String' };
  }
  const role = roleOfName(name);
  // the name is foreign input: only its length is reported
  return role === undefined
    ? { role: null, reason: `the role of its certificate is not a SunSpec role (${name.length} characters)` }
    : { role };
}

/**
 * The role in a certificate: extension 1.3.6.1.4.1.50316.802.1 exactly once, holding one UTF8String. Anything else
 * gives no role, with the reason. Never throws.
 * @param certificate DER
 */
export function roleOfCertificate(certificate: Uint8Array): RoleFinding {
  let values: Uint8Array[];
  try {
    values = Array.from(extensionsOf(certificate), roleValueOf).filter((value) => value !== undefined);
  } catch {
    return { role: null, reason: 'the extensions of its certificate cannot be read' };
  }
  const [value, second] = values;
  if (value === undefined) return { role: null, reason: 'its certificate has no role' };
  if (second !== undefined) return { role: null, reason: 'its certificate has more than one role' };
  return roleIn(value);
}
