/** Samples of the settings of the client of IEEE 2030.5, as `flags.test.ts` needs them. */
import type { AppConfig } from '../../../src/config/settings/app-config.ts';
import { headEndPki } from '../../support/head-end.ts';

const lfdi = '3E4F45AB31EDFE5B67E343E5E4562E31984E23E5';

const values = {
  csip_client_enable: ['yes', true],
  csip_server_ip: ['Utility.example', 'utility.example'],
  csip_server_port: ['443', 443],
  dcap: ['/sep2', '/sep2'],
  csip_discover: ['yes', true],
  csip_allowed_host: ['A.example', ['a.example']],
  csip_enc: ['no', false],
  csip_cert: ['own/cert.pem', '/site/own/cert.pem'],
  csip_key: ['own/key.pem', '/site/own/key.pem'],
  csip_root_cert: ['own/root.pem', '/site/own/root.pem'],
  csip_identity: ['aggregator', 'aggregator'],
  csip_cert_dir: ['own', '/site/own'],
  use_test_pki_certs: ['own', '/site/own'],
  csip_strict_cipher: ['yes', true],
  csip_check_hostname: ['no', false],
  csip_revision: ['2023', '2023'],
  csip_2018_compat: ['yes', '2018'],
  csip_aus: ['1.2', '1.2'],
  csip_pin: ['111115', 111_115],
  csip_register: ['yes', true],
  csip_without_registration: ['stop', 'stop'],
  csip_subscribe: ['yes', true],
  csip_notify_host: ['::1', '::1'],
  csip_notify_port: ['9443', 9443],
  csip_notify_enc: ['no', false],
  csip_notify_uri: ['https://a.example', 'https://a.example'],
  csip_superseded_response: ['at_discovery', 'at_discovery'],
  csip_nmi: ['NMI1', ['NMI1']],
  csip_pen: ['64415', 64_415],
  csip_lfdi: [lfdi.toLowerCase(), [lfdi]],
  csip_readings_flow: ['split', 'split'],
  csip_readings_positive: ['export', 'export'],
  csip_readings_device: ['no', false],
  csip_readings_site: ['yes', true],
  csip_poll_rate_s: ['5', 5],
  csip_post_rate_s: ['10', 10],
  csip_time_stale_s: ['600', 600],
  csip_lost_after_s: ['5', 5],
  csip_lost_expiry_s: ['0', 0],
  csip_website_ip: ['::1', '::1'],
  csip_website_port: ['5001', 5001],
} as const;

export const csipSamples: Readonly<Record<string, readonly [text: string, value: unknown, deviceType: string]>> =
  Object.fromEntries(Object.entries(values).map(([key, [text, value]]) => [key, [text, value, 'PV-3Phase']]));

/** The switch, which no other of these settings does without. */
export const csipCompanions: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.keys(values).map((key) => [
    key,
    [
      ...(key === 'csip_client_enable' ? [] : ['-csip_enable', 'yes']),
      ...(key === 'csip_lfdi' ? ['--csip_identity', 'aggregator'] : []),
    ],
  ]),
);

export async function csipFiles(): Promise<Readonly<Record<string, string>>> {
  const { device, root } = await headEndPki();
  const names = { cert: device.cert, key: device.key, root: root.cert };
  return Object.fromEntries([
    ...['/site', '/site/own'].flatMap((path) =>
      Object.entries(names).map(([name, text]) => [`${path}/${name}.pem`, text]),
    ),
    ['/site/own/device0.pem', device.cert],
    ['/site/own/device0.key', device.key],
  ]) as Readonly<Record<string, string>>;
}

/** The part of a configuration that each setting shows in. */
// eslint-disable-next-line complexity -- a table of members
export function csipPlaces({ csip }: AppConfig): Readonly<Record<keyof typeof values, unknown>> {
  const source = csip?.certificates;
  return {
    csip_client_enable: csip !== null,
    csip_server_ip: csip?.server.host,
    csip_server_port: csip?.server.port,
    dcap: csip?.server.dcap,
    csip_discover: csip?.discover,
    csip_allowed_host: csip?.allowedHosts,
    csip_enc: csip?.server.tls,
    csip_cert: source?.kind === 'files' && source.cert,
    csip_key: source?.kind === 'files' && source.key,
    csip_root_cert: source?.kind === 'files' && source.rootCert,
    csip_identity: csip?.identity,
    csip_cert_dir: source?.kind === 'per_device' && source.directory,
    use_test_pki_certs: source?.kind === 'test_pki' && source.directory,
    csip_strict_cipher: csip?.strictCipher,
    csip_check_hostname: csip?.checkHostname,
    csip_revision: csip?.revision,
    csip_2018_compat: csip?.revision,
    csip_aus: csip?.aus,
    csip_pin: csip?.pin,
    csip_register: csip?.register,
    csip_without_registration: csip?.withoutRegistration,
    csip_subscribe: csip?.notifications.subscribe,
    csip_notify_host: csip?.notifications.host,
    csip_notify_port: csip?.notifications.port,
    csip_notify_enc: csip?.notifications.tls,
    csip_notify_uri: csip?.notifications.uri,
    csip_superseded_response: csip?.supersededResponse,
    csip_nmi: csip?.nmis,
    csip_pen: csip?.pen,
    csip_lfdi: csip?.lfdis,
    csip_readings_flow: csip?.readings.flow,
    csip_readings_positive: csip?.readings.positive,
    csip_readings_device: csip?.readings.device,
    csip_readings_site: csip?.readings.site,
    csip_poll_rate_s: csip?.rates.pollS,
    csip_post_rate_s: csip?.rates.postS,
    csip_time_stale_s: csip?.timeStaleS,
    csip_lost_after_s: csip?.lost.afterS,
    csip_lost_expiry_s: csip?.lost.expiryS,
    csip_website_ip: csip?.website?.host,
    csip_website_port: csip?.website?.port,
  };
}
