/** Settings of the client of IEEE 2030.5, the charge points and the outstations, from the values in force. */
import { resolve } from 'node:path';
import type { CsipCertificateSource, CsipSettings } from '../../contract/csip-settings.ts';
import type { Gathered } from './gather.ts';
import { countsFromOf } from './places.ts';
import { dnp3AllowedPeer } from '../../contract/dnp3-settings.ts';
import type { Dnp3Settings, Dnp3TlsSettings } from '../../contract/dnp3-settings.ts';
import type { Values } from '../settings/settings.ts';
import { ocppPasswordOctets, ocppSecurityProfiles } from '../../contract/ocpp-settings.ts';
import type { OcppPemFiles, OcppSecurityProfile, OcppSettings } from '../../contract/ocpp-settings.ts';
import type { AppConfig, DeviceConfig } from '../settings/app-config.ts';

/** Files that certificates are read from when no setting names them, in the working directory. */
const defaultFiles = { csip_cert: 'cert.pem', csip_key: 'key.pem', csip_root_cert: 'root.pem' } as const;

/** Path of one of the three files. */
function csipFile({ values, io }: Pick<Gathered, 'values' | 'io'>, key: keyof typeof defaultFiles): string {
  return values[key] ?? resolve(io.cwd, defaultFiles[key]);
}

function certificatesOf(gathered: Gathered): CsipCertificateSource {
  const { csip_cert_dir: directory, use_test_pki_certs: pki } = gathered.values;
  if (pki !== null) return { kind: 'test_pki', directory: pki };
  const rootCert = csipFile(gathered, 'csip_root_cert');
  if (directory !== null) return { kind: 'per_device', directory, rootCert };
  return { kind: 'files', cert: csipFile(gathered, 'csip_cert'), key: csipFile(gathered, 'csip_key'), rootCert };
}

/** Settings of the address of the server: outbound rules apply to one that a request has set. */
export const csipAddressKeys = ['csip_server_ip', 'csip_server_port'] as const;

/** Settings of the client; null: it is off. */
export function csipOf(gathered: Gathered): CsipSettings | null {
  const { values: v, requested } = gathered;
  if (!v.csip_client_enable) return null;
  const guarded = csipAddressKeys.some((key) => requested.has(key));
  return {
    server: { host: v.csip_server_ip, port: v.csip_server_port, dcap: v.dcap, tls: v.csip_enc, guarded },
    discover: v.csip_discover,
    allowedHosts: v.csip_allowed_host,
    strictCipher: v.csip_strict_cipher,
    checkHostname: v.csip_check_hostname,
    identity: v.csip_identity,
    certificates: certificatesOf(gathered),
    revision: v.csip_revision ?? '2018',
    aus: v.csip_aus === 'none' ? null : v.csip_aus,
    pin: v.csip_pin,
    register: v.csip_register,
    withoutRegistration: v.csip_without_registration,
    notifications: {
      subscribe: v.csip_subscribe,
      host: v.csip_notify_host,
      port: v.csip_notify_port,
      tls: v.csip_notify_enc ?? v.csip_enc,
      uri: v.csip_notify_uri,
    },
    website: v.csip_website_port === 0 ? null : { host: v.csip_website_ip, port: v.csip_website_port },
    nmis: v.csip_nmi,
    pen: v.csip_pen,
    lfdis: v.csip_lfdi,
    readings: {
      flow: v.csip_readings_flow,
      positive: v.csip_readings_positive,
      device: v.csip_readings_device,
      site: v.csip_readings_site,
    },
    rates: { pollS: v.csip_poll_rate_s, postS: v.csip_post_rate_s },
    timeStaleS: v.csip_time_stale_s,
    supersededResponse: v.csip_superseded_response,
    lost: { afterS: v.csip_lost_after_s, expiryS: v.csip_lost_expiry_s },
  };
}

function tlsOf(v: Values): Dnp3TlsSettings | null {
  const { dnp3_cert: cert, dnp3_key: key, dnp3_root_cert: rootCert, dnp3_allowed_peers: peers } = v;
  if (!v.dnp3_enc || cert === null || key === null || rootCert === null) return null;
  const allowedPeers = peers?.map(dnp3AllowedPeer).filter((peer) => peer !== null) ?? null;
  return { cert, key, rootCert, allowedPeers };
}

/** Settings of the outstations; null: they are off. Call it only without issues. */
export function dnp3Of(v: Values): Dnp3Settings | null {
  if (!v.dnp3_enable) return null;
  return {
    host: v.dnp3_host,
    advertisedHost: v.advertise_host,
    port: v.dnp3_port,
    sharedPort: v.dnp3_shared_port,
    countsFrom: countsFromOf(v),
    outstationAddress: v.dnp3_outstation_addr,
    masterAddresses: v.dnp3_remote_addr,
    profile: v.dnp3_profile,
    pointsFile: v.dnp3_points,
    unsolicited: v.dnp3_unsolicited,
    tls: tlsOf(v),
  };
}

function modbusTlsOf(values: Values): AppConfig['modbus']['tls'] {
  const { mb_enable: served, mb_enc: secured, mb_cert: cert, mb_key: key, mb_root_cert: rootCert } = values;
  if (!served || !secured || cert === null || key === null || rootCert === null) return null;
  return { files: { cert, key, rootCert }, ciphers: values.mb_ciphers, minVersion: values.mb_tls_version };
}

/** Settings of the Modbus TCP listeners. */
export function modbusOf(v: Values): AppConfig['modbus'] {
  return {
    enabled: v.mb_enable,
    host: v.mb_host,
    advertisedHost: v.advertise_host,
    port: v.mb_port,
    sharedPort: v.mb_shared_port,
    countsFrom: countsFromOf(v),
    framing: v.mb_framing,
    foreignUnit: v.mb_foreign_unit,
    maxConnections: v.mb_max_connections,
    idleTimeoutS: v.mb_idle_timeout_s,
    frameTimeoutS: v.mb_frame_timeout_s,
    tls: modbusTlsOf(v),
  };
}

/** Log lines about risks of the settings. */
export function dnp3Notices(v: Values): readonly string[] {
  if (!v.dnp3_enable || !v.dnp3_enc || v.dnp3_allowed_peers !== null) return [];
  return ['dnp3_enc is yes without dnp3_allowed_peers: every certificate of dnp3_root_cert may act as any master'];
}

const maxPasswordFileBytes = 4096;

/** The security profile of the settings. */
export function securityProfileOf({ ocpp_security_profile: number }: Values): OcppSecurityProfile {
  return ocppSecurityProfiles.find((profile) => profile === number) ?? 0;
}

/**
 * The password of the setting, else of its file; null: none.
 * @throws Error with the reason when the file cannot be read
 */
export function passwordText({
  values: { ocpp_password: password, ocpp_password_file: file },
  io,
}: Gathered): string | null {
  if (password !== null || file === null) return password;
  return io.readFile(file, maxPasswordFileBytes).replace(/\r?\n$/, '');
}

/** The password, also for a security profile without one: the key SecurityProfile and REST may raise the profile. */
function passwordOf(gathered: Gathered): Buffer | null {
  const text = passwordText(gathered);
  return text === null ? null : ocppPasswordOctets(text, gathered.values.ocpp_version);
}

/** The PEM files, which like the password apply also to a profile that is raised later; null: none. */
export function pemOf({ ocpp_root_cert: rootCert, ocpp_cert: cert, ocpp_key: key }: Values): OcppPemFiles | null {
  if (rootCert === null) return null;
  return { rootCert, own: cert !== null && key !== null ? { cert, key } : null };
}

/**
 * Settings of the charge points; null: they are off. Call it only without issues.
 * @param former settings in force, whose password stays; absent: a file is read for it
 */
export function ocppOf(gathered: Gathered, former?: OcppSettings | null): OcppSettings | null {
  const { values: v } = gathered;
  const { ocpp_csms_url: url } = v;
  if (!v.ocpp_enable || url === null) return null;
  return {
    id: v.ocpp_csid,
    versions: v.ocpp_version,
    url,
    guarded: gathered.requested.has('ocpp_csms_url'),
    securityProfile: securityProfileOf(v),
    password: former ? former.password : passwordOf(gathered),
    pem: pemOf(v),
    autoAuthorize: v.ocpp_auto_authorize,
  };
}

const certificateKeys = ['ocpp_root_cert', 'ocpp_cert', 'ocpp_key'] as const;

/** Log lines about certificate settings that have no effect without others. */
export function ocppUnused(v: Values): readonly string[] {
  const pem = pemOf(v);
  if (!v.ocpp_enable || pem?.own != null) return [];
  return (['ocpp_cert', 'ocpp_key'] as const)
    .filter((key) => v[key] !== null)
    .map((key) => {
      const missing = certificateKeys.filter((other) => v[other] === null).join(' and ');
      return `${key} is given and has no effect without ${missing}`;
    });
}

/** Log lines about risks, and about settings without effect. */
export function ocppNotices(
  { values: v, layers }: Pick<Gathered, 'values' | 'layers'>,
  devices: readonly DeviceConfig[],
): readonly string[] {
  if (!v.ocpp_enable) return [];
  const lines: string[] = [];
  if (layers.flags.has('ocpp_password'))
    lines.push(
      'ocpp_password is given on the command line, where other users of this machine can see it; ' +
        'use ocpp_password_file or DERBENCH_OCPP_PASSWORD instead',
    );
  if (securityProfileOf(v) === 1)
    lines.push('with ocpp_security_profile 1 the password of OCPP is sent over the network in clear');
  if (!devices.some(({ assetType }) => assetType === 'evse'))
    lines.push('ocpp_enable is yes, but no EVSE is simulated: there is no charge point until one is added');
  return lines;
}
