/** Settings that are valid by themselves, but conflict with other settings or with the number of devices. */
import { maxUnitId } from '../../contract/modbus-report.ts';
import type { Issue } from '../../core/errors.ts';
import { dnp3AddressOf } from '../../contract/device-protocols.ts';
import type { DevicePlace } from './place-issues.ts';
import { isGiven, issueNameOf } from '../layers/gather.ts';
import type { Gathered } from '../layers/gather.ts';
import { flagOf, settingOf } from '../settings/settings.ts';
import type { SettingKey } from '../settings/settings.ts';
import { quoted } from './issues.ts';
import { countsFromOf } from '../layers/places.ts';
import { dnp3AllowedPeer, maxDnp3Address } from '../../contract/dnp3-settings.ts';
import { isUrlOfProfile, needsPassword } from '../../contract/ocpp-settings.ts';
import type { OcppSecurityProfile } from '../../contract/ocpp-settings.ts';
import { securityProfileOf } from '../layers/protocols.ts';
import { pemSourceText } from '../settings/value-kinds.ts';

/** The settings in force, and the devices. */
interface Run extends Gathered {
  readonly count: number;
  readonly devices: readonly DevicePlace[];
}

/** A row of the table of settings that conflict. */
interface Conflict {
  /** the setting that the issue is named after */
  readonly setting: SettingKey;
  /** name of the issue; absent: the origin of the setting */
  readonly name?: (run: Run) => string;
  readonly when: (run: Run) => boolean;
  /** the refused value and the allowed ones */
  readonly detail: (run: Run) => string;
}

const dnp3Enabled = ({ values }: Run) => values.dnp3_enable;
const csipEnabled = ({ values }: Run) => values.csip_client_enable;

/** Settings of certificates that cannot be combined with a directory of certificates. */
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
    when: (run) => csipEnabled(run) && isGiven(run, setting) && isGiven(run, directory),
    detail: ({ originOf }) => `given together with ${originOf(directory)}; allowed: one of the two`,
  }),
);

const csipConflicts: readonly Conflict[] = [
  ...besideDirectory,
  {
    setting: 'csip_revision',
    when: (run) => csipEnabled(run) && run.values.csip_2018_compat === true && run.values.csip_revision === '2023',
    detail: ({ originOf }) => `given 2023 together with ${originOf('csip_2018_compat')} yes; allowed: one of the two`,
  },
  {
    setting: 'csip_cert_dir',
    when: (run) => csipEnabled(run) && run.values.csip_identity !== 'per_device' && isGiven(run, 'csip_cert_dir'),
    detail: ({ values: { csip_identity: identity }, originOf }) =>
      `given together with ${originOf('csip_identity')} ${identity}; allowed: csip_cert and csip_key, the certificate of the ${identity}`,
  },
  {
    setting: 'csip_cert_dir',
    when: (run) => {
      const { csip_identity: identity, csip_cert_dir: directory, use_test_pki_certs: pki } = run.values;
      return csipEnabled(run) && identity === 'per_device' && run.count > 1 && directory === null && pki === null;
    },
    detail: ({ count }) =>
      `not given with ${count} devices; allowed: a directory with device0.pem, device0.key, ..., or csip_identity aggregator or site`,
  },
  {
    setting: 'csip_nmi',
    when: (run) => csipEnabled(run) && run.values.csip_identity === 'site' && run.values.csip_nmi.length > 1,
    detail: ({ values }) =>
      `given ${values.csip_nmi.length} identifiers; allowed: one, since the devices of a site share their connection point`,
  },
  {
    setting: 'csip_nmi',
    when: (run) =>
      csipEnabled(run) &&
      run.values.csip_identity !== 'site' &&
      run.values.csip_nmi.length > 1 &&
      run.values.csip_nmi.length !== run.count,
    detail: ({ values, count }) =>
      `given ${values.csip_nmi.length} identifiers; allowed: one, or one for each of the ${count} devices`,
  },
  {
    setting: 'csip_lfdi',
    when: (run) => csipEnabled(run) && run.values.csip_lfdi.length > 0 && run.values.csip_identity !== 'aggregator',
    detail: ({ originOf, values }) =>
      `given together with ${originOf('csip_identity')} ${values.csip_identity}; allowed: with csip_identity aggregator, ` +
      'because other LFDIs follow from certificates',
  },
  {
    setting: 'csip_lfdi',
    when: (run) => csipEnabled(run) && run.values.csip_lfdi.length > run.count,
    detail: ({ values, count }) =>
      `given ${values.csip_lfdi.length} LFDIs; allowed: at most one for each of the ${count} devices`,
  },
  {
    setting: 'csip_lfdi',
    when: (run) => csipEnabled(run) && new Set(run.values.csip_lfdi).size < run.values.csip_lfdi.length,
    detail: () => 'given the same LFDI twice; allowed: each LFDI once',
  },
];

/** Addresses of the outstations. */
function addressesOf({ values, devices }: Run): readonly number[] {
  const { dnp3_outstation_addr: outstationAddress, dnp3_shared_port: sharedPort } = values;
  const row = { outstationAddress, sharedPort, countsFrom: countsFromOf(values) };
  return devices.map((device) => dnp3AddressOf(row, device));
}

/** The address of a master that is also the address of an outstation; undefined: none. */
function sharedAddress(run: Run): number | undefined {
  const addresses = new Set(addressesOf(run));
  return run.values.dnp3_remote_addr.find((master) => addresses.has(master));
}

/** The address that an allowed peer is bound to, but no master has; undefined: none. */
function unknownBinding({ values }: Run): number | undefined {
  return values.dnp3_allowed_peers
    ?.map((text) => dnp3AllowedPeer(text)?.masterAddress ?? null)
    .find((address): address is number => address !== null && !values.dnp3_remote_addr.includes(address));
}

const dnp3Conflicts: readonly Conflict[] = [
  {
    setting: 'dnp3_remote_addr',
    when: (run) => dnp3Enabled(run) && sharedAddress(run) !== undefined,
    detail: (run) =>
      `given ${sharedAddress(run) ?? ''}, which is also the address of an outstation ` +
      `(${run.originOf('dnp3_outstation_addr')}); allowed: other addresses`,
  },
  {
    setting: 'dnp3_outstation_addr',
    when: (run) => dnp3Enabled(run) && Math.max(...addressesOf(run)) > maxDnp3Address,
    detail: (run) =>
      `given ${run.values.dnp3_outstation_addr}, so that the last outstation would have address ` +
      `${Math.max(...addressesOf(run))}; allowed: a last address up to ${maxDnp3Address}`,
  },
  {
    setting: 'dnp3_allowed_peers',
    when: (run) => dnp3Enabled(run) && run.values.dnp3_enc && unknownBinding(run) !== undefined,
    detail: (run) =>
      `given a certificate bound to address ${unknownBinding(run) ?? ''}; allowed: addresses of ${run.originOf('dnp3_remote_addr')}`,
  },
];

const ocppEnabled = ({ values }: Run) => values.ocpp_enable;
const profileOf = ({ values }: Run) => securityProfileOf(values);

/** The detail for a URL that does not suit `profile`; null: it does. @param profileName origin of `profile` */
export function transportDetail(url: string, profile: OcppSecurityProfile, profileName: string): string | null {
  if (isUrlOfProfile(url, profile)) return null;
  const scheme = profile >= 2 ? 'wss' : 'ws';
  return `given ${quoted(url)} with ${profileName} ${profile}; allowed: a ${scheme}:// URL, or another security profile`;
}

/** A file that is required from a security profile on. */
const requiredFile = (
  setting: SettingKey & ('ocpp_cert' | 'ocpp_key' | 'ocpp_root_cert'),
  from: OcppSecurityProfile,
): Conflict => ({
  setting,
  when: (run) => ocppEnabled(run) && profileOf(run) >= from && run.values[setting] === null,
  detail: ({ values, originOf }) =>
    `not given with ${originOf('ocpp_security_profile')} ${values.ocpp_security_profile}; allowed: ${pemSourceText}`,
});

const ocppConflicts: readonly Conflict[] = [
  {
    setting: 'ocpp_csms_url',
    when: (run) => ocppEnabled(run) && run.values.ocpp_csms_url === null,
    detail: ({ originOf }) =>
      `not given with ${originOf('ocpp_enable')} yes; allowed: the endpoint of a central system, for example ws://127.0.0.1:8180/ocpp`,
  },
  {
    setting: 'ocpp_csms_url',
    when: (run) => {
      const { ocpp_csms_url: url } = run.values;
      return ocppEnabled(run) && url !== null && !isUrlOfProfile(url, profileOf(run));
    },
    detail: (run) =>
      transportDetail(run.values.ocpp_csms_url ?? '', profileOf(run), run.originOf('ocpp_security_profile')) ?? '',
  },
  {
    setting: 'ocpp_password',
    when: (run) => ocppEnabled(run) && run.values.ocpp_password !== null && run.values.ocpp_password_file !== null,
    detail: ({ originOf }) => `given together with ${originOf('ocpp_password_file')}; allowed: one of the two`,
  },
  {
    setting: 'ocpp_password_file',
    when: (run) =>
      ocppEnabled(run) &&
      needsPassword(profileOf(run)) &&
      run.values.ocpp_password === null &&
      run.values.ocpp_password_file === null,
    detail: ({ values, originOf }) =>
      `not given with ${originOf('ocpp_security_profile')} ${values.ocpp_security_profile}; allowed: the ` +
      'path of a file with the password, or DERBENCH_OCPP_PASSWORD',
  },
  requiredFile('ocpp_root_cert', 2),
  requiredFile('ocpp_cert', 3),
  requiredFile('ocpp_key', 3),
];

/** Unit ids of the devices on a shared port, or on a line. */
function unitsOf({ values, count }: Run): readonly [first: number, last: number] {
  const before = values.first_device - countsFromOf(values);
  return [before + 1, before + count];
}

/** First and last unit id of the devices on the ports and lines of the meter; the first is above the last if none. */
function deviceUnits(run: Run): readonly [number, number] {
  const { mb_enable: served, mb_shared_port: shared, rtu_enable: line, meter_port: meterPort } = run.values;
  if (line || (served && shared && meterPort === null)) return unitsOf(run);
  return served && meterPort === null ? [1, 1] : [1, 0];
}

/** Settings of the simulated clock, which wall_clock excludes. */
const clockConflicts = (['time_rate', 'start_clock_time', 'start_date', 'start_paused'] as const).map(
  (setting): Conflict => ({
    setting,
    when: ({ values }) => values.wall_clock && values[setting] !== settingOf(setting).default,
    detail: ({ values, originOf }) => {
      const value = values[setting];
      return `given ${value === true ? 'yes' : value} together with ${originOf('wall_clock')} yes; allowed: one of the two`;
    },
  }),
);

/** Logins of a fleet, of which a connection has one. */
const fleetLogins = ['fleet_creds', 'fleet_nkey', 'fleet_user'] as const;

/** Settings of a fleet of which one is useless without the other. */
const fleetPairs = [
  ['fleet_user', 'fleet_password_file'],
  ['fleet_password_file', 'fleet_user'],
  ['fleet_cert', 'fleet_key'],
  ['fleet_key', 'fleet_cert'],
] as const;

const { high: maxFirstDevice = 0 } = settingOf('first_device').kind.range ?? {};

const fleetConflicts: readonly Conflict[] = [
  ...fleetLogins.slice(1).map((setting, i): Conflict => {
    const former = ({ values }: Run) => fleetLogins.slice(0, i + 1).find((login) => values[login] !== null);
    return {
      setting,
      when: (run) => run.values.fleet !== null && run.values[setting] !== null && former(run) !== undefined,
      detail: (run) => `given together with ${run.originOf(former(run) ?? setting)}; allowed: one of the two`,
    };
  }),
  ...fleetPairs.map(
    ([setting, other]): Conflict => ({
      setting,
      when: ({ values }) => values.fleet !== null && values[setting] !== null && values[other] === null,
      detail: () => `given without ${flagOf(other)}; allowed: both, or neither`,
    }),
  ),
  {
    setting: 'shard_ordinal',
    when: (run) => run.values.shard_ordinal !== null && isGiven(run, 'first_device'),
    detail: ({ originOf }) => `given together with ${originOf('first_device')}; allowed: one of the two`,
  },
  {
    setting: 'shard_ordinal',
    when: (run) => run.values.shard_ordinal !== null && run.values.first_device > maxFirstDevice,
    detail: ({ values }) =>
      `given ${values.shard_ordinal ?? ''}, so that the first device would have the index ${values.first_device}; ` +
      `allowed: an index up to ${maxFirstDevice}`,
  },
  {
    setting: 'fleet_room',
    when: ({ values, count }) => values.fleet !== null && values.fleet_room !== null && values.fleet_room < count,
    detail: ({ values, count }) =>
      `given ${values.fleet_room ?? ''} with ${count} devices; allowed: at least the number of devices`,
  },
];

const overRtuFraming = ({ values }: Run) => values.mb_enable && values.mb_framing === 'rtu_over_tcp';

const conflicts: readonly Conflict[] = [
  ...clockConflicts,
  {
    setting: 'state_history',
    when: ({ values }) => values.state_history && values.state_dir === null,
    detail: () => `given yes without ${flagOf('state_dir')}; allowed: with the folder of a state, or no`,
  },
  {
    setting: 'N',
    when: ({ values, file, count, ...run }) => file?.devices != null && isGiven(run, 'N') && values.N !== count,
    detail: ({ values, file, count }) =>
      `given ${quoted(values.N)}; allowed: ${count}, the number of devices listed in ${file?.label ?? ''}, or nothing`,
  },
  {
    setting: 'grid_profile',
    name: ({ file }) => `${file?.label ?? ''}: grid.profile`,
    when: ({ file, layers }) => file?.grid.profile !== undefined && layers.file.has('grid_profile'),
    detail: () => 'given beside grid_profile; allowed: one of the two',
  },
  {
    setting: 'mb_shared_port',
    when: ({ values, count }) => values.mb_enable && values.mb_shared_port && count > maxUnitId,
    detail: ({ count }) => `given yes with ${count} devices; allowed: up to ${maxUnitId} devices on one port`,
  },
  {
    setting: 'meter_unit',
    when: (run) => {
      const [from, to] = deviceUnits(run);
      return run.values.meter_unit !== null && run.values.meter_unit >= from && run.values.meter_unit <= to;
    },
    detail: (run) => {
      const [from, to] = deviceUnits(run);
      const units = from === to ? `unit id ${from}` : `unit ids ${from} to ${to}`;
      return `given ${run.values.meter_unit ?? ''}, but devices have ${units}; allowed: another unit id up to ${maxUnitId}`;
    },
  },
  {
    setting: 'rtu_port',
    when: ({ values }) => values.rtu_enable && values.rtu_port === null,
    detail: ({ originOf }) =>
      `not given, but ${originOf('rtu_enable')} is yes; allowed: a serial device, for example /dev/ttyUSB0 or COM10`,
  },
  {
    setting: 'rtu_enable',
    when: (run) => run.values.rtu_enable && unitsOf(run)[1] > maxUnitId,
    detail: (run) =>
      `given yes, so that the last device would have unit id ${unitsOf(run)[1]}; allowed: unit ids up to ${maxUnitId} on one line`,
  },
  {
    setting: 'mb_foreign_unit',
    when: (run) => overRtuFraming(run) && run.values.mb_foreign_unit === 'gateway',
    detail: ({ originOf }) => `given gateway together with ${originOf('mb_framing')} rtu_over_tcp; allowed: silent`,
  },
  {
    setting: 'mb_enc',
    when: (run) => overRtuFraming(run) && run.values.mb_enc,
    detail: ({ originOf }) => `given yes together with ${originOf('mb_framing')} rtu_over_tcp; allowed: one of the two`,
  },
  ...csipConflicts,
  ...ocppConflicts,
  ...dnp3Conflicts,
  ...fleetConflicts,
];

/** One issue for each row that holds. */
export function conflictIssues(gathered: Gathered, devices: readonly DevicePlace[]): Issue[] {
  const run = { ...gathered, devices, count: devices.length };
  return conflicts
    .filter(({ when }) => when(run))
    .map(({ setting, name, detail }) => ({ name: name?.(run) ?? issueNameOf(gathered, setting), detail: detail(run) }));
}
