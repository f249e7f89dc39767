import { lookup as resolveName } from 'node:dns';
import type { LookupAddress } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import type { LookupFunction } from 'node:net';

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

/**
 * The `lookup` of `net.connect` and `tls.connect` for targets set over REST: fails where a name resolves to a refused
 * address.
 */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  resolveName(
    hostname,
    { ...options, all: true },
    (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => {
      const bad = error === null ? addresses.find(({ address }) => isRefusedTarget(address)) : undefined;
      const [first] = error === null ? addresses : [];
      if (bad) callback(refusal(hostname, bad.address), '', 0);
      else if (error !== null || first === undefined) callback(error ?? new Error(`${hostname} has no address`), '', 0);
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    },
  );
};
