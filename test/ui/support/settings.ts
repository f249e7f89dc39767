/** Settings and certificates of a daemon, made from the examples of one each. */
import type { Daemon } from './daemon.ts';
import type { Json } from './description.ts';

const declarations: readonly Json[] = [
  { key: 'mb_enable', group: 'Modbus TCP', type: 'switch', value: true, default: true, adapter: 'modbus' },
  {
    key: 'mb_port',
    group: 'Modbus TCP',
    type: 'integer',
    value: 8502,
    default: 8502,
    min: 0,
    max: 65535,
    adapter: 'modbus',
  },
  { key: 'mb_host', group: 'Modbus TCP', value: '127.0.0.1', changes: 'start', why: 'It decides who may reach it.' },
  { key: 'mb_foreign_unit', group: 'Modbus TCP', type: 'choice', choices: ['silent', 'gateway'], changes: 'live' },
  { key: 'mb_cert', group: 'Modbus over TLS', value: '/etc/pki/mb.pem', adapter: 'modbus' },
  { key: 'csip_client_enable', type: 'switch', value: false, default: false, adapter: 'csip' },
  { key: 'csip_server_ip', value: '127.0.0.1', default: '127.0.0.1', adapter: 'csip' },
  {
    key: 'csip_identity',
    type: 'choice',
    value: 'per_device',
    default: 'per_device',
    choices: ['per_device', 'aggregator'],
    adapter: 'csip',
  },
  { key: 'csip_cert', adapter: 'csip' },
  { key: 'csip_root_cert', adapter: 'csip' },
  { key: 'csip_pin', secret: true, is_set: true, origin: 'rest', adapter: 'csip' },
  { key: 'csip_notify_enc', type: 'switch', adapter: 'csip' },
  { key: 'dnp3_remote_addr', type: 'list', value: [4], default: [4], adapter: 'dnp3' },
  { key: 'csip_nmi', type: 'list', value: [], default: [], adapter: 'csip' },
  {
    key: 'log_level',
    type: 'choice',
    value: 'debug',
    default: 'info',
    choices: ['debug', 'info'],
    changes: 'live',
    origin: 'rest',
  },
  { key: 'ocpp_enable', type: 'switch', value: false, default: false, adapter: 'ocpp' },
  { key: 'ocpp_csms_url', adapter: 'ocpp' },
  { key: 'ocpp_version', type: 'list', value: ['ocpp1.6j'], default: ['ocpp1.6j'], adapter: 'ocpp' },
];

const plain = {
  group: 'Others',
  value: null,
  is_set: true,
  origin: 'default',
  changes: 'adapter',
  adapter: null,
  why: null,
  type: 'text',
  min: null,
  max: null,
  choices: null,
  allowed: 'a text',
  unit: null,
  default: null,
  secret: false,
  needs: null,
};

/** `GET settings` with settings of each type. @param members by key, in place of those of the declaration */
export function answerWithSettings(daemon: Daemon, members: Json = {}, locked = false): void {
  const [example] = daemon.exampleOf('GET', 'settings').settings;
  const settings = declarations.map((each) => ({ ...example, ...plain, doc: '', ...each, ...members[each.key] }));
  daemon.on('GET settings', () => ({ locked, settings }));
}

const certificates: readonly Json[] = [
  { name: 'aggregator', issuer: 'CN=MICA' },
  { name: 'comm_004a', issuer: 'CN=MICA' },
  {
    name: 'device0',
    subject: '',
    issuer: 'CN=MICA',
    lfdi: '3E4F45AB31EDFE5B67E343E5E4562E31984E23E5',
    sfdi: '167261211391',
  },
  { name: 'keyless', has_key: false },
  { name: 'mica', kind: 'ca', subject: 'CN=MICA', issuer: 'CN=Root' },
  { name: 'root', kind: 'ca', subject: 'CN=Root', issuer: 'CN=Root' },
];

/** `GET certificates` with a hierarchy: `device0` and `aggregator` descend from `root`. */
export function answerWithCertificates(daemon: Daemon): void {
  const reply = daemon.exampleOf('GET', 'certificates');
  const common = {
    kind: 'device',
    subject: 'CN=x',
    issuer: 'CN=Root',
    has_key: true,
    has_ca: false,
    lfdi: '0'.repeat(40),
    sfdi: '1',
    used_by: [],
    warnings: [],
  };
  const all = certificates.map((each) => ({
    ...reply.certificates[0],
    ...common,
    ...(each.kind === 'ca' && { lfdi: null, sfdi: null }),
    ...each,
  }));
  daemon.on('GET certificates', () => ({ ...reply, certificates: all }));
}
