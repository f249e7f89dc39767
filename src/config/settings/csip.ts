/** Settings of the client of IEEE 2030.5 (CSIP). */
import {
  csipAusVersions,
  csipReadingsFlows,
  csipReadingsSigns,
  csipSupersededResponses,
  csipWithoutRegistration,
} from '../../contract/csip-settings.ts';
import { fileAtStart, heldAtStart, hostAtStart, live, restartOf } from './changes.ts';
import { optionalSetting, setting } from './setting.ts';
import {
  choice,
  connectionPointIds,
  csipPin,
  host,
  hostList,
  integer,
  lfdiList,
  onOff,
  path,
  pemSource,
  port,
  uriBase,
  uriPath,
  version,
} from './value-kinds.ts';

const csip = restartOf('csip');
const website = restartOf('csip-website');

/** Server, certificates and revision. */
export const csipSettings = {
  csip_client_enable: setting({
    flags: ['-csip_enable', '--csip_enable', '--csip_client_enable'],
    kind: onOff,
    default: false,
    changes: csip,
    doc: 'Connects the devices to a server of IEEE 2030.5 as CSIP clients.',
  }),
  csip_server_ip: setting({
    flags: ['-csip_serv', '--csip_server_ip'],
    kind: host,
    default: '127.0.0.1',
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'Address of the server.',
  }),
  csip_server_port: setting({
    flags: ['-csip_port', '--csip_server_port'],
    kind: { ...integer(1, 65535), placeholder: 'PORT' },
    default: 8443,
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'Port of the server.',
  }),
  dcap: setting({
    flags: ['--dcap'],
    kind: uriPath,
    default: '/dcap',
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'Path of the DeviceCapability of the server.',
  }),
  csip_discover: setting({
    flags: ['--csip_discover'],
    kind: onOff,
    default: false,
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'Searches for the server by multicast DNS (_smartenergy._tcp); address, port and dcap of the settings are used when none answers.',
  }),
  csip_allowed_host: setting({
    flags: ['--csip_allowed_host'],
    kind: hostList,
    default: [],
    needs: 'csip_client_enable',
    changes: heldAtStart('It limits where the client may connect, so that no request may widen it.'),
    doc: 'Additional host to which links and redirects of the server may lead.',
  }),
  csip_enc: setting({
    flags: ['-ce', '--csip_enc'],
    kind: onOff,
    default: true,
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'TLS 1.2 with client certificate; no = plain HTTP, where the certificate only gives LFDI and SFDI.',
  }),
  csip_cert: optionalSetting({
    flags: ['-cc', '--csip_cert'],
    kind: pemSource,
    needs: 'csip_client_enable',
    changes: csip,
    doc:
      'Certificate of the client, PEM, followed by its intermediate CAs. If not given: cert.pem. This ' +
      'file, csip_key and csip_root_cert are reloaded when they change.',
  }),
  csip_key: optionalSetting({
    flags: ['-ck', '--csip_key'],
    kind: pemSource,
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'Private key for csip_cert, PEM without passphrase. If not given: key.pem.',
  }),
  csip_root_cert: optionalSetting({
    flags: ['-cr', '--csip_root_cert'],
    kind: pemSource,
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'CA certificates that the certificate of the server is checked against, PEM. If not given: root.pem.',
  }),
  csip_identity: setting({
    flags: ['--csip_identity'],
    kind: choice(['per_device', 'aggregator', 'site'], 'IDENTITY'),
    default: 'per_device',
    needs: 'csip_client_enable',
    changes: csip,
    doc:
      'per_device: each device has its own certificate and connection; aggregator: one certificate for ' +
      'all devices, each of which has its own EndDevice; site: one certificate and one EndDevice, with ' +
      'all devices as its DERs.',
  }),
  csip_cert_dir: optionalSetting({
    flags: ['--csip_cert_dir'],
    kind: { ...path, placeholder: 'DIRECTORY' },
    needs: 'csip_client_enable',
    changes: fileAtStart,
    doc:
      'Directory with a certificate and key for each device, by its index: device0.pem and device0.key, ' +
      'device1.pem, ... Required for several devices that do not share one certificate.',
  }),
  use_test_pki_certs: optionalSetting({
    flags: ['--use_test_pki_certs'],
    kind: { ...path, placeholder: 'DIRECTORY' },
    needs: 'csip_client_enable',
    changes: fileAtStart,
    doc:
      'Directory that derbench pki created: certificates of devices and aggregator, root, and ' +
      'chains that a server has to refuse.',
  }),
  csip_strict_cipher: setting({
    flags: ['--csip_strict_cipher'],
    kind: onOff,
    default: false,
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'Offers only ECDHE-ECDSA-AES128-CCM8; otherwise also ECDHE-ECDSA-AES128-GCM-SHA256.',
  }),
  csip_check_hostname: setting({
    flags: ['--csip_check_hostname'],
    kind: onOff,
    default: true,
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'The certificate of the server must name its host; no = any name. Its chain is checked in any case.',
  }),
  csip_revision: optionalSetting({
    flags: ['--csip_revision'],
    kind: version(['2018', '2023'], 'REVISION'),
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'Revision of IEEE 2030.5 that the server speaks. If not given: 2018, which CSIP profiles.',
  }),
  csip_2018_compat: optionalSetting({
    flags: ['--csip_2018_compat'],
    kind: onOff,
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'yes is another spelling of csip_revision 2018.',
  }),
  csip_aus: setting({
    flags: ['--csip_aus'],
    kind: version(['none', ...csipAusVersions], 'VERSION'),
    default: 'none',
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'Extensions of CSIP-AUS.',
  }),
};

/** Registration, subscriptions, reports and times. */
export const csipConduct = {
  csip_pin: optionalSetting({
    flags: ['--csip_pin'],
    kind: csipPin,
    secret: true,
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'PIN that the Registration of the server must show: 5 digits and their check digit. If not given: any PIN is accepted.',
  }),
  csip_register: setting({
    flags: ['--csip_register'],
    kind: onOff,
    default: false,
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'In-band registration: adds an EndDevice to the list of the server if it is missing there.',
  }),
  csip_without_registration: setting({
    flags: ['--csip_without_registration'],
    kind: choice(csipWithoutRegistration, 'CONDUCT'),
    default: 'continue',
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'Conduct of a client with a PIN whose EndDevice has no RegistrationLink.',
  }),
  csip_subscribe: setting({
    flags: ['--csip_subscribe'],
    kind: onOff,
    default: false,
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'Subscribes to resources and listens for notifications; polling continues.',
  }),
  csip_notify_host: setting({
    flags: ['--csip_notify_host'],
    kind: host,
    default: '127.0.0.1',
    needs: 'csip_client_enable',
    changes: hostAtStart,
    doc: 'Address of the listener for notifications.',
  }),
  csip_notify_port: setting({
    flags: ['--csip_notify_port'],
    kind: port,
    default: 0,
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'Port of the listener for notifications; 0 = any free port.',
  }),
  csip_notify_enc: optionalSetting({
    flags: ['--csip_notify_enc'],
    kind: onOff,
    needs: 'csip_client_enable',
    changes: csip,
    doc:
      'Receives notifications over TLS, from any peer with a certificate of csip_root_cert; no = from any peer. ' +
      'If not given: as csip_enc.',
  }),
  csip_notify_uri: optionalSetting({
    flags: ['--csip_notify_uri'],
    kind: uriBase,
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'URI by which the server reaches the listener for notifications. If not given: its address and port.',
  }),
  csip_superseded_response: setting({
    flags: ['--csip_superseded_response'],
    kind: choice(csipSupersededResponses, 'INSTANT'),
    default: 'at_start',
    needs: 'csip_client_enable',
    changes: csip,
    doc:
      'Time of the response of a superseded event (7, or 13 and 14 for events of others): at the start of the ' +
      'superseding event, or as soon as that event is known.',
  }),
  csip_nmi: setting({
    flags: ['--csip_nmi'],
    kind: connectionPointIds,
    default: [],
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'Identifier of the connection point (NMI) for CSIP-AUS: one for all devices, or one for each in their order.',
  }),
  csip_pen: setting({
    flags: ['--csip_pen'],
    kind: integer(0, 4_294_967_295),
    default: 0,
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'IANA private enterprise number in the mRIDs of readings and in the LFDIs of devices behind an aggregator.',
  }),
  csip_lfdi: setting({
    flags: ['--csip_lfdi'],
    kind: lfdiList,
    default: [],
    needs: 'csip_client_enable',
    changes: csip,
    doc:
      'LFDIs of the devices behind an aggregator, in their order, as the server has registered them. The ' +
      'LFDI of any other device is derived from that of the aggregator, the index of the device and csip_pen.',
  }),
  csip_readings_flow: setting({
    flags: ['--csip_readings_flow'],
    kind: choice(csipReadingsFlows, 'FORM'),
    default: 'net',
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'Active and reactive power as one signed reading, or as two readings by direction that are never negative.',
  }),
  csip_readings_positive: setting({
    flags: ['--csip_readings_positive'],
    kind: choice(csipReadingsSigns, 'DIRECTION'),
    default: 'import',
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'Direction of power in which a signed reading is positive.',
  }),
  csip_readings_device: setting({
    flags: ['--csip_readings_device'],
    kind: onOff,
    default: true,
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'Sends readings of each device (roleFlags 0x49).',
  }),
  csip_readings_site: setting({
    flags: ['--csip_readings_site'],
    kind: onOff,
    default: false,
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'Sends readings of the connection point (roleFlags 0x03).',
  }),
  csip_poll_rate_s: optionalSetting({
    flags: ['--csip_poll_rate_s'],
    kind: integer(1, 86_400),
    needs: 'csip_client_enable',
    changes: live,
    doc: 'Seconds between two polls of a resource. If not given: the pollRate of the server.',
  }),
  csip_post_rate_s: optionalSetting({
    flags: ['--csip_post_rate_s'],
    kind: integer(1, 86_400),
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'Seconds between two reports of status and readings. If not given: the postRate of the server.',
  }),
  csip_time_stale_s: setting({
    flags: ['--csip_time_stale_s'],
    kind: integer(60, 2_592_000),
    default: 86_400,
    needs: 'csip_client_enable',
    changes: csip,
    doc:
      'Age in seconds above which a Time is stale. The Time of the server replaces a stale Time of an FSA; a stale ' +
      'Time of the server is logged.',
  }),
  csip_lost_after_s: setting({
    flags: ['--csip_lost_after_s'],
    kind: integer(1, 604_800),
    default: 60,
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'Seconds of failing requests after which communication counts as lost (alarm csip_connection_lost).',
  }),
  csip_lost_expiry_s: optionalSetting({
    flags: ['--csip_lost_expiry_s'],
    kind: integer(0, 2_592_000),
    needs: 'csip_client_enable',
    changes: csip,
    doc: 'Seconds of lost communication after which events end and default controls act. If not given: events run to their end.',
  }),
  csip_website_ip: setting({
    flags: ['--csip_website_ip'],
    kind: host,
    default: '127.0.0.1',
    needs: 'csip_client_enable',
    changes: hostAtStart,
    doc: 'Address of the management page of the CSIP client, which has no authentication.',
  }),
  csip_website_port: setting({
    flags: ['--csip_website_port'],
    kind: port,
    default: 5000,
    needs: 'csip_client_enable',
    changes: website,
    doc: 'Port of the management page of the CSIP client; 0 = no such page.',
  }),
};
