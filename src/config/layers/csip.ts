/** The client of IEEE 2030.5, from the values in force. */
import { resolve } from 'node:path';
import type { CsipCertificateSource, CsipSettings } from '../../contract/csip-settings.ts';
import type { Gathered } from './gather.ts';

/** Files that certificates are read from when no setting names them, in the working directory. */
const defaultFiles = { csip_cert: 'cert.pem', csip_key: 'key.pem', csip_root_cert: 'root.pem' } as const;

/** Path of one of the three files. */
export function csipFile({ values, io }: Pick<Gathered, 'values' | 'io'>, key: keyof typeof defaultFiles): string {
  return values[key] ?? resolve(io.cwd, defaultFiles[key]);
}

function certificatesOf(gathered: Gathered): CsipCertificateSource {
  const { csip_cert_dir: directory, use_test_pki_certs: pki } = gathered.values;
  if (pki !== null) return { kind: 'test_pki', directory: pki };
  const rootCert = csipFile(gathered, 'csip_root_cert');
  if (directory !== null) return { kind: 'per_device', directory, rootCert };
  return { kind: 'files', cert: csipFile(gathered, 'csip_cert'), key: csipFile(gathered, 'csip_key'), rootCert };
}

/** Null: it is off. */
export function csipOf(gathered: Gathered): CsipSettings | null {
  const { values: v } = gathered;
  if (!v.csip_client_enable) return null;
  return {
    server: { host: v.csip_server_ip, port: v.csip_server_port, dcap: v.dcap, tls: v.csip_enc },
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
