/**
 * Addresses of host names by a resolver that can be cancelled. `dns.lookup` occupies one of the four threads that also
 * read files, and no process ends while one of its lookups waits for a name server that is silent.
 */
import { lookup, Resolver } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Where names are looked up; tests replace it. */
export interface NameSources {
  /** text of the hosts file; empty without one */
  readonly hosts: () => Promise<string>;
  /** asks the name servers */
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

export const systemNames: NameSources = {
  hosts: hostsText,
  resolver: () => new Resolver({ timeout: serverTimeoutMs, tries: attempts }),
  system: (name) => lookup(name, { all: true }),
};

const ipv4 = (address: string): LookupAddress => ({ address, family: 4 });
const ipv6 = (address: string): LookupAddress => ({ address, family: 6 });

/** Numbers that systems read as an IPv4 address: `2130706433`, `0x7f.1` (inet_aton). */
const numeric = /^(?:0x[\da-f]*|\d+)(?:\.(?:0x[\da-f]*|\d+)){0,3}\.?$/i;

/** The address that a host in numbers stands for; null for a name. */
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

/** No name server has spoken: another lookup would wait for the same ones. */
const unanswered: ReadonlySet<unknown> = new Set(['ETIMEOUT', 'ECANCELLED']);

async function asked(name: string, signal: AbortSignal, sources: NameSources): Promise<LookupAddress[]> {
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
  // names unknown to name servers: search domains, name services of the system
  return sources.system(name);
}

/**
 * Addresses of a host name: of the hosts file, else of the name servers, else of the system's own lookup, which is asked
 * only once the name servers have answered, so that it cannot wait for them, or at once for names below `.local`. IPv4
 * first.
 * @param signal gives the lookup up
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
  // RFC 6761 6.3: never asked of a name server
  if (/(?:^|\.)localhost$/.test(bare(name))) return [ipv4('127.0.0.1'), ipv6('::1')];
  signal.throwIfAborted();
  // RFC 6762 3: by multicast only, which the system knows; a name server that is silent must not keep them away
  if (/\.local$/.test(bare(name))) return sources.system(name);
  return asked(name, signal, sources);
}
