/** Rows of settings of the outstations of DNP3 that conflict with others. */
import { dnp3AllowedPeer, maxDnp3Address } from '../../contract/dnp3-settings.ts';
import type { Conflict, Run } from './conflict.ts';

const highestPort = 65535;
const enabled = ({ values }: Run) => values.dnp3_enable;

/** Addresses of the outstations, first and last. */
function addressesOf({ values, count }: Run): readonly [first: number, last: number] {
  const { dnp3_outstation_addr: first, dnp3_shared_port: shared } = values;
  return shared ? [first + values.first_device, first + values.first_device + count - 1] : [first, first];
}

/** A master that has the address of an outstation; undefined: none. */
function sharedAddress(run: Run): number | undefined {
  const [first, last] = addressesOf(run);
  return run.values.dnp3_remote_addr.find((master) => master >= first && master <= last);
}

const lastPort = ({ values, count }: Run) => values.dnp3_port + values.first_device + count - 1;

/** An allowed peer bound to an address that no master has; undefined: none. */
function strangeBinding({ values }: Run): number | undefined {
  return values.dnp3_allowed_peers
    ?.map((text) => dnp3AllowedPeer(text)?.masterAddress ?? null)
    .find((address): address is number => address !== null && !values.dnp3_remote_addr.includes(address));
}

/** Other listeners by their settings. */
const others = [
  { port: 'website_port', host: 'website_ip', when: () => true },
  { port: 'mb_port', host: 'mb_host', when: ({ values }: Run) => values.mb_enable },
  { port: 'csip_website_port', host: 'csip_website_ip', when: ({ values }: Run) => values.csip_client_enable },
] as const;

const everyAddress = new Set(['0.0.0.0', '::']);

/** Ports of a listener, first and last. */
function portsOf({ values, count }: Run, port: 'dnp3_port' | (typeof others)[number]['port']): readonly number[] {
  const first = values[port];
  const forEach = (port === 'mb_port' && !values.mb_shared_port) || (port === 'dnp3_port' && !values.dnp3_shared_port);
  return forEach ? [first + values.first_device, first + values.first_device + count - 1] : [first, first];
}

function overlaps(run: Run, { port, host, when }: (typeof others)[number]): boolean {
  const { values } = run;
  if (!enabled(run) || !when(run) || values.dnp3_port === 0 || values[port] === 0) return false;
  const [low = 0, high = 0] = portsOf(run, 'dnp3_port');
  const [first = 0, last = 0] = portsOf(run, port);
  const hosts = [values.dnp3_host, values[host]];
  return (hosts[0] === hosts[1] || hosts.some((each) => everyAddress.has(each))) && low <= last && first <= high;
}

const ports = others.map(
  (other): Conflict => ({
    setting: 'dnp3_port',
    when: (run) => overlaps(run, other),
    detail: ({ values, originOf }) =>
      `given ${values.dnp3_port}, whose ports meet those of ${originOf(other.port)}; allowed: another port`,
  }),
);

export const dnp3Conflicts: readonly Conflict[] = [
  ...ports,
  {
    setting: 'dnp3_remote_addr',
    when: (run) => enabled(run) && sharedAddress(run) !== undefined,
    detail: (run) =>
      `given ${sharedAddress(run) ?? ''}, which is also the address of an outstation ` +
      `(${run.originOf('dnp3_outstation_addr')}); allowed: other addresses`,
  },
  {
    setting: 'dnp3_outstation_addr',
    when: (run) => enabled(run) && addressesOf(run)[1] > maxDnp3Address,
    detail: (run) =>
      `given ${run.values.dnp3_outstation_addr}, so that the last outstation would have address ` +
      `${addressesOf(run)[1]}; allowed: a last address up to ${maxDnp3Address}`,
  },
  {
    setting: 'dnp3_port',
    when: (run) =>
      enabled(run) && !run.values.dnp3_shared_port && run.values.dnp3_port !== 0 && lastPort(run) > highestPort,
    detail: (run) =>
      `given ${run.values.dnp3_port}, so that the last outstation would be on port ${lastPort(run)}; ` +
      `allowed: a last port up to ${highestPort}, 0, or dnp3_shared_port`,
  },
  {
    setting: 'dnp3_allowed_peers',
    when: (run) => enabled(run) && run.values.dnp3_enc && strangeBinding(run) !== undefined,
    detail: (run) =>
      `given a certificate bound to address ${strangeBinding(run) ?? ''}; allowed: addresses of ${run.originOf('dnp3_remote_addr')}`,
  },
];
