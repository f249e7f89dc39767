/**
 * Addresses that outgoing connections may reach. Names are resolved by a resolver that can be cancelled: `dns.lookup`
 * occupies one of the four threads that also read files, and no process ends while one of its lookups waits for a name
 * server that is silent.
 */
import { BlockList, isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { lookup, Resolver } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '../errors.ts';

/** Sources of the addresses of names; tests replace them. */
export interface NameSources {
  /** text of the hosts file; empty without one */
  readonly hosts: () => Promise<string>;
  /** addresses by the name servers */
  readonly resolver: () => Pick<Resolver, 'resolve4' | 'resolve6' | 'cancel'>;
  /** the system's own lookup, which cannot be cancelled */
  readonly system: (name: string) => Promise<LookupAddress[]>;
}

/** Per server and attempt: the second server has its turn within the time-out of a connection, 2 s by default. */
const serverTimeoutMs = 1000;
const attempts = 2;

const hostsFile =
  process.platform === 'win32'
    ? join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts')
    : '/etc/hosts';

async function hostsText(): Promise<string> {
  try {
    return await readFile(hostsFile, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

const systemNames: NameSources = {
  hosts: hostsText,
  resolver: () => new Resolver({ timeout: serverTimeoutMs, tries: attempts }),
  system: (name) => lookup(name, { all: true }),
};

const ipv4 = (address: string): LookupAddress => ({ address, family: 4 });
const ipv6 = (address: string): LookupAddress => ({ address, family: 6 });

/** Numbers that systems read as an IPv4 address: `2130706433`, `0x7f.1` (inet_aton). */
const numeric = /^(?:0x[\da-f]*|\d+)(?:\.(?:0x[\da-f]*|\d+)){0,3}\.?$/i;

/** The address of a host that is given in numbers; null for a name. */
function numericAddress(host: string): LookupAddress | null {
  if (!numeric.test(host)) return null;
  try {
    return ipv4(new URL(`http://${host}`).hostname);
  } catch {
    return null;
  }
}

/** Addresses of a name in the text of a hosts file: an address and its names in each line. IPv4 first. */
export function hostsAddresses(text: string, name: string): LookupAddress[] {
  const bareName = bare(name);
  const addresses: LookupAddress[] = [];
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (names.some((each) => bare(each) === bareName))
      addresses.push(address.includes(':') ? ipv6(address) : ipv4(address));
  }
  return addresses.sort((a, b) => a.family - b.family);
}

function bare(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

/** Codes of errors without an answer of any name server: another lookup would wait for the same servers. */
const unanswered: ReadonlySet<unknown> = new Set(['ETIMEOUT', 'ECANCELLED']);

async function queryServers(name: string, signal: AbortSignal, sources: NameSources): Promise<LookupAddress[]> {
  const resolver = sources.resolver();
  const cancel = () => {
    resolver.cancel();
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = [
      ...(four.status === 'fulfilled' ? four.value.map(ipv4) : []),
      ...(six.status === 'fulfilled' ? six.value.map(ipv6) : []),
    ];
    signal.throwIfAborted();
    if (addresses.length > 0) return addresses;
    for (const answer of [four, six]) {
      const reason: unknown = answer.status === 'rejected' ? answer.reason : undefined;
      if (reason instanceof Error && 'code' in reason && unanswered.has(reason.code)) throw reason;
    }
  } finally {
    signal.removeEventListener('abort', cancel);
  }
  // the name servers do not know the name: the system has search domains and other name services
  return sources.system(name);
}

/**
 * Addresses of a host name, IPv4 first: from the hosts file, else from the name servers, else from the system's own
 * lookup. That lookup begins only after an answer of the name servers, so that it does not wait for them; for names
 * below `.local` it begins at once.
 * @param signal aborts the lookup
 * @throws Error with the code of the system (`ENOTFOUND`, `ETIMEOUT`, ...)
 */
export async function resolveName(
  name: string,
  signal: AbortSignal,
  sources: NameSources = systemNames,
): Promise<LookupAddress[]> {
  const written = numericAddress(name);
  if (written !== null) return [written];
  const listedAddresses = hostsAddresses(await sources.hosts(), name);
  if (listedAddresses.length > 0) return listedAddresses;
  // RFC 6761 6.3: never sent to a name server
  if (/(?:^|\.)localhost$/.test(bare(name))) return [ipv4('127.0.0.1'), ipv6('::1')];
  signal.throwIfAborted();
  // RFC 6762 3: by multicast only, through the system; a silent name server must not delay these names
  if (/\.local$/.test(bare(name))) return sources.system(name);
  return queryServers(name, signal, sources);
}

/** Link-local and site-local networks, metadata services of clouds, multicast and reserved addresses. */
const refused = new BlockList();
refused.addSubnet('169.254.0.0', 16, 'ipv4');
refused.addSubnet('224.0.0.0', 4, 'ipv4');
refused.addSubnet('240.0.0.0', 4, 'ipv4');
refused.addSubnet('fe80::', 10, 'ipv6');
refused.addSubnet('fec0::', 10, 'ipv6');
refused.addSubnet('ff00::', 8, 'ipv6');
for (const address of ['100.100.100.200', '168.63.129.16', '192.0.0.192']) refused.addAddress(address, 'ipv4');
for (const address of ['fd00:ec2::254', 'fd20:ce::254']) refused.addAddress(address, 'ipv6');

/** IPv6 addresses that translators and tunnels map to an IPv4 address, and the places of its octets. */
interface Embedding {
  /** matches the first hex digits of the address */
  readonly pattern: RegExp;
  readonly octets: readonly [number, number, number, number];
  /** every bit of the IPv4 address is inverted */
  readonly inverted?: true;
}

const lastOctets = [12, 13, 14, 15] as const;
const localNat64 = /^0064ff9b0001/;
const embeddings: readonly Embedding[] = [
  // the compatible, mapped and translated forms (RFC 4291 2.5.5, RFC 7915 of SIIT)
  { pattern: /^0{24}/, octets: lastOctets },
  { pattern: /^0{20}ffff/, octets: lastOctets },
  { pattern: /^0{16}ffff0000/, octets: lastOctets },
  // NAT64: the well-known prefix, and the prefix for local use with every length that RFC 6052 2.2 gives it
  { pattern: /^0064ff9b0{16}/, octets: lastOctets },
  { pattern: localNat64, octets: lastOctets },
  { pattern: localNat64, octets: [6, 7, 9, 10] },
  { pattern: localNat64, octets: [7, 9, 10, 11] },
  { pattern: localNat64, octets: [9, 10, 11, 12] },
  // 6to4, Teredo (its server, its client), ISATAP
  { pattern: /^2002/, octets: [2, 3, 4, 5] },
  { pattern: /^20010000/, octets: [4, 5, 6, 7] },
  { pattern: /^20010000/, octets: lastOctets, inverted: true },
  { pattern: /^.{16}0[02]005efe/, octets: lastOctets },
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
 * devices are there. Names are not addresses: `guardedLookup` checks what they resolve to. A NAT64 with a
 * network-specific prefix looks like any other IPv6 network and is not recognised.
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
 * @param signal aborts a lookup under way
 */
export function guardedLookup(signal: AbortSignal, sources?: NameSources): LookupFunction {
  return lookupUnless(isRefusedTarget, signal, sources);
}

/** The `lookup` for targets of flags and files, which may be anywhere. @param signal aborts a lookup under way */
export function openLookup(signal: AbortSignal, sources?: NameSources): LookupFunction {
  return lookupUnless(() => false, signal, sources);
}

function lookupUnless(
  refuses: (address: string) => boolean,
  signal: AbortSignal,
  sources: NameSources | undefined,
): LookupFunction {
  return (hostname, { all, family }, callback) => {
    const requestedFamily = family === 4 || family === 'IPv4' ? 4 : family === 6 || family === 'IPv6' ? 6 : 0;
    resolveName(hostname, signal, sources).then(
      (resolved) => {
        const addresses = requestedFamily === 0 ? resolved : resolved.filter((of) => of.family === requestedFamily);
        const refusedAddress = addresses.find(({ address }) => refuses(address));
        const [first] = addresses;
        if (refusedAddress) callback(refusal(hostname, refusedAddress.address), '', 0);
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
