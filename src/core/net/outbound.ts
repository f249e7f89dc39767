import { BlockList, isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { errorText } from '../errors.ts';
import { resolveName } from './resolve.ts';
import type { NameSources } from './resolve.ts';

/** Link-local and site-local networks, metadata services of clouds, reserved addresses and those of many machines. */
const refused = new BlockList();
refused.addSubnet('169.254.0.0', 16, 'ipv4');
refused.addSubnet('224.0.0.0', 4, 'ipv4');
refused.addSubnet('240.0.0.0', 4, 'ipv4');
refused.addSubnet('fe80::', 10, 'ipv6');
refused.addSubnet('fec0::', 10, 'ipv6');
refused.addSubnet('ff00::', 8, 'ipv6');
for (const address of ['100.100.100.200', '168.63.129.16', '192.0.0.192']) refused.addAddress(address, 'ipv4');
for (const address of ['fd00:ec2::254', 'fd20:ce::254']) refused.addAddress(address, 'ipv6');

/** A pattern of IPv6 addresses that translators and tunnels lead to an IPv4 address, and the places of its octets. */
interface Embedding {
  /** octets in hex that the address begins with; `..` stands for any */
  readonly pattern: RegExp;
  readonly octets: readonly [number, number, number, number];
  /** every bit of the IPv4 address is inverted */
  readonly inverted?: true;
}

const last = [12, 13, 14, 15] as const;
const localNat64 = /^0064ff9b0001/;
const embeddings: readonly Embedding[] = [
  // the compatible, mapped and translated forms (RFC 4291 2.5.5, RFC 7915 of SIIT)
  { pattern: /^0{24}/, octets: last },
  { pattern: /^0{20}ffff/, octets: last },
  { pattern: /^0{16}ffff0000/, octets: last },
  // NAT64: the well-known prefix, and the prefix for local use with every length that RFC 6052 2.2 gives it
  { pattern: /^0064ff9b0{16}/, octets: last },
  { pattern: localNat64, octets: last },
  { pattern: localNat64, octets: [6, 7, 9, 10] },
  { pattern: localNat64, octets: [7, 9, 10, 11] },
  { pattern: localNat64, octets: [9, 10, 11, 12] },
  // 6to4, Teredo (its server, its client), ISATAP
  { pattern: /^2002/, octets: [2, 3, 4, 5] },
  { pattern: /^20010000/, octets: [4, 5, 6, 7] },
  { pattern: /^20010000/, octets: last, inverted: true },
  { pattern: /^.{16}0[02]005efe/, octets: last },
];

/** An IPv6 address as 32 hex digits. */
function digitsOf(address: string): string {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':')).map((group) => group.padStart(4, '0'));
  const before = groups(head).join('');
  return tail === undefined
    ? before
    : before +
        groups(tail)
          .join('')
          .padStart(32 - before.length, '0');
}

function leadsToRefused(address: string): boolean {
  const digits = digitsOf(address);
  return embeddings.some(({ pattern, octets, inverted = false }) => {
    if (!pattern.test(digits)) return false;
    const parts = octets.map((at) => parseInt(digits.slice(2 * at, 2 * at + 2), 16) ^ (inverted ? 0xff : 0));
    return refused.check(parts.join('.'), 'ipv4');
  });
}

/**
 * True if a connection requested over REST must not go to this IP address. Loopback and private addresses are allowed:
 * devices are there. Names are not addresses: `guardedLookup` checks what they resolve to. A NAT64 with a prefix of its
 * network's own looks like any other IPv6 network and is not known.
 */
export function isRefusedTarget(address: string): boolean {
  const [bare = ''] = address.split('%');
  const version = isIP(bare);
  if (version === 4) return refused.check(bare, 'ipv4');
  return version === 6 && (refused.check(bare, 'ipv6') || leadsToRefused(bare));
}

export const refusedTargetText =
  'is a link-local, site-local, metadata, multicast or reserved address, to which no connection is made';

function refusal(hostname: string, address: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} resolves to ${address}, which ${refusedTargetText}`), {
    code: 'ERR_REFUSED_TARGET',
  });
}

function noAddress(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
}

/**
 * The `lookup` of `net.connect` and `tls.connect` for targets set over REST: fails where a name resolves to a refused
 * address.
 * @param signal gives a lookup under way up
 */
export function guardedLookup(signal: AbortSignal, sources?: NameSources): LookupFunction {
  return lookupUnless(isRefusedTarget, signal, sources);
}

/** The `lookup` for targets of flags and files, which may be anywhere. @param signal gives a lookup under way up */
export function openLookup(signal: AbortSignal, sources?: NameSources): LookupFunction {
  return lookupUnless(() => false, signal, sources);
}

function lookupUnless(
  refuses: (address: string) => boolean,
  signal: AbortSignal,
  sources: NameSources | undefined,
): LookupFunction {
  return (hostname, { all, family }, callback) => {
    const wantedFamily = family === 4 || family === 'IPv4' ? 4 : family === 6 || family === 'IPv6' ? 6 : 0;
    resolveName(hostname, signal, sources).then(
      (resolved) => {
        const addresses = wantedFamily === 0 ? resolved : resolved.filter((each) => each.family === wantedFamily);
        const bad = addresses.find(({ address }) => refuses(address));
        const [first] = addresses;
        if (bad) callback(refusal(hostname, bad.address), '', 0);
        else if (first === undefined) callback(noAddress(hostname), '', 0);
        else if (all === true) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => {
        callback(error instanceof Error ? error : new Error(errorText(error)), '', 0);
      },
    );
  };
}
