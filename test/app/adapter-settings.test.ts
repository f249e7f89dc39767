/** Every setting that restarts an adapter: a request has the effect that a flag has at the start. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { settingKeys, settingOf } from '../../src/config/settings/settings.ts';
import type { SettingKey } from '../../src/config/settings/settings.ts';
import { depth } from '../support/depth.ts';
import { headEndPki } from '../support/head-end.ts';
import { ask } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { testPki } from '../support/pki.ts';
import { freePorts } from '../support/ports.ts';
import { startApp } from '../support/running-app.ts';
import type { RunningApp } from '../support/running-app.ts';
import { runSeed } from '../support/seed.ts';

/** Flags of a simulator in which a setting has an effect, by the switch that it needs. */
const bases = {
  modbus: ['--dnp3_enable', 'no'],
  mb_enc: ['--mb_enc', 'yes'],
  proxy: ['--proxy', 'string-inverter-basic', '--proxy_port', '0'],
  csip: ['--csip_client_enable', 'yes', '--csip_server_port', '1', '--csip_website_port', '0'],
  ocpp: ['--ocpp_enable', 'yes', '--ocpp_csms_url', 'ws://127.0.0.1:1/ocpp'],
  dnp3: ['--dnp3_enable', 'yes', '--dnp3_port', '0'],
  dnp3_enc: ['--dnp3_enable', 'yes', '--dnp3_port', '0', '--dnp3_enc', 'yes'],
} as const;
type Base = keyof typeof bases;

/** A value that is not the default, in the form of files. */
interface Sample {
  readonly base: Base;
  readonly value: Json;
  /** further flags in both simulators */
  readonly flags?: readonly string[];
}

/** `port`: a free one. */
const port = Symbol('port');

const samples: Readonly<Partial<Record<SettingKey, Omit<Sample, 'value'> & { readonly value: unknown }>>> = {
  mb_enable: { base: 'modbus', value: false },
  mb_shared_port: { base: 'modbus', value: true },
  mb_enc: { base: 'modbus', value: true },
  mb_ciphers: { base: 'mb_enc', value: 'ECDHE-ECDSA-AES128-GCM-SHA256' },
  mb_tls_version: { base: 'mb_enc', value: '1.3' },
  proxy: { base: 'proxy', value: 'hybrid-little-word-order' },
  proxy_port: { base: 'proxy', value: port },
  csip_client_enable: { base: 'csip', value: false },
  csip_server_ip: { base: 'csip', value: '127.0.0.9' },
  csip_server_port: { base: 'csip', value: 2 },
  dcap: { base: 'csip', value: '/other/dcap' },
  csip_discover: { base: 'csip', value: true },
  csip_enc: { base: 'csip', value: false },
  csip_identity: { base: 'csip', value: 'site' },
  csip_strict_cipher: { base: 'csip', value: true },
  csip_check_hostname: { base: 'csip', value: false },
  csip_revision: { base: 'csip', value: '2023' },
  csip_2018_compat: { base: 'csip', value: false },
  csip_aus: { base: 'csip', value: '1.2' },
  csip_pin: { base: 'csip', value: 111_115 },
  csip_register: { base: 'csip', value: true },
  csip_without_registration: { base: 'csip', value: 'stop' },
  csip_subscribe: { base: 'csip', value: true, flags: ['--csip_notify_port', '0'] },
  csip_notify_port: { base: 'csip', value: port, flags: ['--csip_subscribe', 'yes'] },
  csip_notify_enc: { base: 'csip', value: false, flags: ['--csip_subscribe', 'yes', '--csip_notify_port', '0'] },
  csip_notify_uri: {
    base: 'csip',
    value: 'https://127.0.0.1:9/n',
    flags: ['--csip_subscribe', 'yes', '--csip_notify_port', '0'],
  },
  csip_superseded_response: { base: 'csip', value: 'at_discovery' },
  csip_nmi: { base: 'csip', value: ['4103000001'], flags: ['--csip_aus', '1.2'] },
  csip_pen: { base: 'csip', value: 37_250, flags: ['--csip_identity', 'aggregator'] },
  csip_lfdi: { base: 'csip', value: ['0A'.repeat(20)], flags: ['--csip_identity', 'aggregator'] },
  csip_readings_flow: { base: 'csip', value: 'split' },
  csip_readings_positive: { base: 'csip', value: 'export' },
  csip_readings_device: { base: 'csip', value: false, flags: ['--csip_readings_site', 'yes'] },
  csip_readings_site: { base: 'csip', value: true },
  csip_website_port: { base: 'csip', value: port },
  csip_post_rate_s: { base: 'csip', value: 77 },
  csip_time_stale_s: { base: 'csip', value: 7200 },
  csip_lost_after_s: { base: 'csip', value: 99 },
  csip_lost_expiry_s: { base: 'csip', value: 999 },
  ocpp_enable: { base: 'ocpp', value: false },
  ocpp_version: { base: 'ocpp', value: ['ocpp2.1'] },
  ocpp_csms_url: { base: 'ocpp', value: 'ws://127.0.0.1:2/other' },
  ocpp_security_profile: { base: 'ocpp', value: 1, flags: ['--ocpp_password', 'passwordOfTheStation'] },
  ocpp_auto_authorize: { base: 'ocpp', value: false },
  dnp3_enable: { base: 'dnp3', value: false },
  dnp3_port: { base: 'dnp3', value: port, flags: ['--dnp3_shared_port', 'yes'] },
  dnp3_outstation_addr: { base: 'dnp3', value: 40 },
  dnp3_remote_addr: { base: 'dnp3', value: [3, 4] },
  dnp3_profile: { base: 'dnp3', value: 'ieee1815.2' },
  dnp3_unsolicited: { base: 'dnp3', value: true },
  dnp3_shared_port: { base: 'dnp3', value: true },
  dnp3_enc: { base: 'dnp3', value: true },
  dnp3_allowed_peers: { base: 'dnp3_enc', value: ['master.example'] },
};

/** Settings whose effect other tests compare. */
const elsewhere: Readonly<Partial<Record<SettingKey, string>>> = {
  mb_port: 'every simulator of a test has another one: test/app/protocol-switches.test.ts',
  ocpp_password: 'no view shows it: test/app/protocol-switches.test.ts',
  rtu_baud: 'needs a serial line: test/sunspec/modbus',
  rtu_parity: 'needs a serial line: test/sunspec/modbus',
  rtu_stopbits: 'needs a serial line: test/sunspec/modbus',
};

const restarting = settingKeys.filter((key) => settingOf(key).changes.by === 'adapter');
/** values of these are the names of certificates, for which other tests stand */
const isCertificate = (key: SettingKey) => settingOf(key).kind.isFile === true && !(key in samples);
const compared = restarting.filter((key) => !(key in elsewhere) && !isCertificate(key));
/** a part of them, another one with each seed; all at depth `full` */
const parts = { quick: 12, ci: 3, full: 1 }[depth];
const chosen = compared.filter((_, at) => (at + runSeed) % parts === 0);

const views = [
  'overview',
  'devices',
  'modbus',
  'csip/config',
  'csip/status',
  'csip/certificates',
  'csip/subscriptions',
  'ocpp',
  'ocpp/SIM-CP-1',
  'ocpp/SIM-CP-1/configuration',
  'dnp3',
  'dnp3/points',
];

/** Members that tell one moment or one process from another. */
const fleeting =
  /(^|_)(request_id|reconnect_in_s|at|time|timestamp|since|ms|activity|count|connections|attempts|failures|age|uptime|pid|serial.*|retry.*|next.*|last.*|state|detail|error.*|messages|bytes|frames|requests)$/;

/** Lines of a view without what tells two runs apart; the port `free` is compared, others are any free ones. */
function* linesOf(place: string, value: Json, free: number | null): Iterable<string> {
  if (typeof value === 'object' && value !== null) {
    for (const [name, each] of Object.entries(value as Readonly<Record<string, Json>>))
      if (!fleeting.test(name)) yield* linesOf(`${place}/${name}`, each, free);
    return;
  }
  const ports = (all: string, number: string) => (Number(number) === free ? all : ':any');
  const isPort = typeof value === 'number' && Number.isInteger(value) && value > 9999 && value !== free;
  yield `${place}: ${
    isPort
      ? 'any'
      : String(value)
          .replace(/(?<=:1)\/dcap$/, '')
          .replace(/:(\d{4,5})\b/g, ports)
          .replace(/^\d{4}-\d\d-\d\dT.*/, 'a date')
  }`;
}

/** What a simulator shows, line by line. */
async function shownBy({ port: http }: RunningApp, free: number | null): Promise<readonly string[]> {
  const answers = await Promise.all(views.map((view) => ask(http, `/api/sim/${view}`)));
  const { json } = await ask(http, '/api/sim/settings');
  const settings = Object.fromEntries(json.settings.map(({ key, value, is_set }: Json) => [key, { value, is_set }]));
  return [
    ...linesOf('settings', settings, free),
    ...answers.flatMap(({ status, json: answer }, at) => [...linesOf(`${views[at]} ${status}`, answer, free)]),
  ];
}

function differences(one: readonly string[], other: readonly string[]): readonly string[] {
  const [before, after] = [new Set(one), new Set(other)];
  return [
    ...one.filter((line) => !after.has(line)).map((line) => `- ${line}`),
    ...other.filter((line) => !before.has(line)).map((line) => `+ ${line}`),
  ];
}

/** Flags of a value; a list is one flag for each of its members. */
const flagsOf = (key: SettingKey, value: Json): readonly string[] =>
  [value]
    .flat()
    .flatMap((each: unknown) => [`--${key}`, typeof each === 'boolean' ? (each ? 'yes' : 'no') : String(each)]);

describe('A setting that restarts an adapter, by a flag and by PATCH', () => {
  let folder = '';
  let files: Readonly<Record<'modbus' | 'csip' | 'dnp3', readonly string[]>>;
  let running: RunningApp | null = null;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-settings-'));
    const write = (prefix: string, cert: string, key: string, root: string): readonly string[] =>
      Object.entries({ cert, key, root_cert: root }).flatMap(([name, text]) => {
        const file = join(folder, `${prefix}-${name}.pem`);
        writeFileSync(file, text, { mode: 0o600 });
        return [`--${prefix}_${name}`, file];
      });
    const [pki, { device, root }] = await Promise.all([testPki(), headEndPki()]);
    files = {
      modbus: write('mb', pki.server.cert, pki.server.key, pki.ca.cert),
      csip: write('csip', device.cert, device.key, root.cert),
      dnp3: write('dnp3', pki.server.cert, pki.server.key, pki.ca.cert),
    };
  });
  afterEach(async () => {
    await running?.app.stop();
    running = null;
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  const start = async (flags: readonly string[]): Promise<RunningApp> => {
    running = await startApp([flags.includes('--proxy') ? 'Batt-3Phase' : 'EVSE'], flags);
    return running;
  };
  const stop = async () => {
    await running?.app.stop();
    running = null;
  };

  it('has a sample here for each setting, but for named ones', () => {
    expect(restarting.filter((key) => !(key in samples) && !(key in elsewhere) && !isCertificate(key))).to.deep.equal(
      [],
    );
    expect(Object.keys(samples).filter((key) => !restarting.includes(key as SettingKey))).to.deep.equal([]);
  });

  for (const key of chosen)
    it(key, async () => {
      const sample = samples[key]!;
      const free = sample.value === port ? await freePorts(1) : null;
      const value: Json = free ?? sample.value;
      const flags = [...files.modbus, ...files.csip, ...files.dnp3, ...bases[sample.base], ...(sample.flags ?? [])];

      const byFlag = await start([...flags.filter((_, at) => !isFlagOf(key, flags, at)), ...flagsOf(key, value)]);
      const expected = await shownBy(byFlag, free);
      await stop();

      const byPatch = await start(flags);
      const former = await shownBy(byPatch, null);
      const patch = (body: Json) => ask(byPatch.port, '/api/sim/settings', { method: 'PATCH', body });
      const { status, text } = await patch({ [key]: value });
      expect(status, text).to.equal(200);
      expect(differences(expected, await shownBy(byPatch, free))).to.deep.equal([]);
      expect(differences(former, expected), 'the sample is no default').to.not.deep.equal([]);
      expect((await patch({ [key]: null })).status).to.equal(200);
      expect(differences(former, await shownBy(byPatch, null))).to.deep.equal([]);
    });
});

/** True for the spelling of a setting and for its value behind it. */
function isFlagOf(key: SettingKey, flags: readonly string[], at: number): boolean {
  return flags[at] === `--${key}` || (at > 0 && flags[at - 1] === `--${key}`);
}
