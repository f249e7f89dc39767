import { BlockList, isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { errorText } from '../errors.ts';
import { resolveName } from './resolve.ts';
import type { NameSources } from './resolve.ts';

/** Link-local networks, the metadata services of clouds, and addresses of more than one machine. */
const refused = new BlockList();
refused.addSubnet('169.254.0.0', 16, 'ipv4');
refused.addSubnet('224.0.0.0', 4, 'ipv4');
refused.addAddress('255.255.255.255', 'ipv4');
refused.addSubnet('fe80::', 10, 'ipv6');
refused.addSubnet('ff00::', 8, 'ipv6');
for (const address of ['100.100.100.200', '168.63.129.16', '192.0.0.192']) refused.addAddress(address, 'ipv4');
for (const address of ['fd00:ec2::254', 'fd20:ce::254']) refused.addAddress(address, 'ipv6');
// the same by way of translators: NAT64, 6to4, and the old compatible form
refused.addSubnet('64:ff9b::169.254.0.0', 112, 'ipv6');
refused.addSubnet('2002:a9fe::', 32, 'ipv6');
refused.addSubnet('::169.254.0.0', 112, 'ipv6');

/**
 * Whether a connection requested over REST must not go to this IP address. Loopback and private addresses are allowed:
 * devices are there. Names are not addresses: `guardedLookup` checks what they resolve to.
 */
export function isRefusedTarget(address: string): boolean {
  const [bare = ''] = address.split('%');
  const version = isIP(bare);
  return version !== 0 && refused.check(bare, version === 6 ? 'ipv6' : 'ipv4');
}

export const refusedTargetText = 'is a link-local, metadata or multicast address, to which no connection is made';

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
  return (hostname, { all, family }, callback) => {
    const wanted = family === 4 || family === 'IPv4' ? 4 : family === 6 || family === 'IPv6' ? 6 : 0;
    resolveName(hostname, signal, sources).then(
      (found) => {
        const addresses = wanted === 0 ? found : found.filter((each) => each.family === wanted);
        const bad = addresses.find(({ address }) => isRefusedTarget(address));
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
