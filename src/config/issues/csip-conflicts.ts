/** Rows of settings of the client of IEEE 2030.5 that conflict with others or with the number of devices. */
import { isGiven } from '../layers/gather.ts';
import type { SettingKey } from '../settings/settings.ts';
import type { Conflict, Run } from './conflict.ts';

const enabled = ({ values }: Run) => values.csip_client_enable;

/** Files that have no meaning beside a directory that holds them. */
const besideDirectory = (
  [
    ['csip_cert', 'csip_cert_dir'],
    ['csip_key', 'csip_cert_dir'],
    ['csip_cert', 'use_test_pki_certs'],
    ['csip_key', 'use_test_pki_certs'],
    ['csip_root_cert', 'use_test_pki_certs'],
    ['csip_cert_dir', 'use_test_pki_certs'],
  ] as const
).map(
  ([setting, directory]): Conflict => ({
    setting,
    when: (run) => enabled(run) && isGiven(run, setting) && isGiven(run, directory),
    detail: ({ originOf }) => `given together with ${originOf(directory)}; allowed: one of the two`,
  }),
);

/** A listener by its settings, and the last of its ports; 0: any free one. */
interface Listener {
  readonly port: SettingKey & ('website_port' | 'mb_port' | 'csip_website_port' | 'csip_notify_port');
  readonly host: SettingKey & ('website_ip' | 'mb_host' | 'csip_website_ip' | 'csip_notify_host');
  readonly when: (run: Run) => boolean;
}

const csipListeners: readonly Listener[] = [
  { port: 'csip_website_port', host: 'csip_website_ip', when: enabled },
  {
    port: 'csip_notify_port',
    host: 'csip_notify_host',
    when: (run) => enabled(run) && run.values.csip_subscribe,
  },
];
const otherListeners: readonly Listener[] = [
  { port: 'website_port', host: 'website_ip', when: () => true },
  { port: 'mb_port', host: 'mb_host', when: ({ values }) => values.mb_enable },
];

const everyAddress = new Set(['0.0.0.0', '::']);

function overlap(run: Run, listener: Listener, other: Listener): boolean {
  if (!listener.when(run) || !other.when(run)) return false;
  const { values, count } = run;
  const [port, first] = [values[listener.port], values[other.port]];
  const forEach = other.port === 'mb_port' && !values.mb_shared_port;
  const [low, high] = forEach ? [first + values.first_device, first + values.first_device + count - 1] : [first, first];
  const hosts = [values[listener.host], values[other.host]];
  const meet = hosts[0] === hosts[1] || hosts.some((host) => everyAddress.has(host));
  return port !== 0 && first !== 0 && meet && port >= low && port <= high;
}

const ports = csipListeners.flatMap((listener, at) =>
  [...otherListeners, ...csipListeners.slice(0, at)].map(
    (other): Conflict => ({
      setting: listener.port,
      when: (run) => overlap(run, listener, other),
      detail: ({ values, originOf }) =>
        `given ${values[listener.port]}, which ${originOf(other.port)} uses; allowed: another port`,
    }),
  ),
);

export const csipConflicts: readonly Conflict[] = [
  ...besideDirectory,
  ...ports,
  {
    setting: 'csip_revision',
    when: (run) => enabled(run) && run.values.csip_2018_compat === true && run.values.csip_revision === '2023',
    detail: ({ originOf }) => `given 2023 together with ${originOf('csip_2018_compat')} yes; allowed: one of the two`,
  },
  {
    setting: 'csip_cert_dir',
    when: (run) => enabled(run) && run.values.csip_identity !== 'per_device' && isGiven(run, 'csip_cert_dir'),
    detail: ({ values: { csip_identity: identity }, originOf }) =>
      `given together with ${originOf('csip_identity')} ${identity}; allowed: csip_cert and csip_key, the certificate of the ${identity}`,
  },
  {
    setting: 'csip_cert_dir',
    when: (run) => {
      const { csip_identity: identity, csip_cert_dir: directory, use_test_pki_certs: pki } = run.values;
      return enabled(run) && identity === 'per_device' && run.count > 1 && directory === null && pki === null;
    },
    detail: ({ count }) =>
      `not given with ${count} devices; allowed: a directory with device0.pem, device0.key, ..., or csip_identity aggregator or site`,
  },
  {
    setting: 'csip_nmi',
    when: (run) => enabled(run) && run.values.csip_identity === 'site' && run.values.csip_nmi.length > 1,
    detail: ({ values }) =>
      `given ${values.csip_nmi.length} identifiers; allowed: one, since the devices of a site share their connection point`,
  },
  {
    setting: 'csip_nmi',
    when: (run) =>
      enabled(run) &&
      run.values.csip_identity !== 'site' &&
      run.values.csip_nmi.length > 1 &&
      run.values.csip_nmi.length !== run.count,
    detail: ({ values, count }) =>
      `given ${values.csip_nmi.length} identifiers; allowed: one, or one for each of the ${count} devices`,
  },
];
