import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from 'chai';
import { noCertificates } from '../../../src/contract/certificates.ts';
import { SimError } from '../../../src/core/errors.ts';
import type { RestartableAdapter } from '../../../src/contract/settings.ts';
import { loadConfig } from '../../../src/config/layers/load.ts';
import type { SettingKey } from '../../../src/config/settings/settings.ts';
import { configOf } from '../../support/configured.ts';
import { testPki } from '../../support/pki.ts';

/** The configuration after a request, or the names of its issues. */
function requested(argv: readonly string[], values: Partial<Record<SettingKey, unknown>>) {
  const { settings } = configOf(...argv);
  try {
    return settings.with(new Map(Object.entries(values) as [SettingKey, unknown][]), noCertificates);
  } catch (error) {
    if (error instanceof SimError) return error.issues.map(({ name }) => name);
    throw error;
  }
}

describe('addresses of peers in the settings', () => {
  const url = 'ws://central.example/ocpp';
  const ocpp = ['--ocpp_enable', 'yes', '--ocpp_csms_url', url];
  const isGuarded = (values: Partial<Record<SettingKey, unknown>>) => {
    const config = requested(ocpp, values);
    return 'ocpp' in config && config.ocpp?.guarded;
  };

  it('follow the outbound rules where a request has changed them', () => {
    expect(isGuarded({})).to.equal(false);
    expect(isGuarded({ ocpp_auto_authorize: false })).to.equal(false);
    expect(isGuarded({ ocpp_csms_url: url })).to.equal(false);
    expect(isGuarded({ ocpp_csms_url: 'ws://other.example/ocpp' })).to.equal(true);
  });

  it('may be anywhere at the start; a request leads to no other port of such a server', () => {
    const server = ['--csip_server_ip', '169.254.1.1', '--csip_server_port', '8443'];
    expect(requested(server, { csip_server_port: 8443 })).to.not.be.an('array');
    expect(requested(server, { csip_server_port: 22 })).to.deep.equal(['/csip_server_port']);
    expect(requested([], { csip_server_ip: '169.254.1.1' })).to.deep.equal(['/csip_server_ip']);
    expect(requested([], { ocpp_csms_url: 'ws://169.254.1.1/x' })).to.deep.equal(['/ocpp_csms_url']);
  });
});

describe('files of the settings', () => {
  it('are read again where their adapter opens, and at a start', async () => {
    const { server, ca } = await testPki();
    const pem = (prefix: string) => ({
      [`${prefix}-cert.pem`]: server.cert,
      [`${prefix}-key.pem`]: server.key,
      [`${prefix}-root.pem`]: ca.cert,
    });
    const files: Record<string, string> = {
      ...pem('modbus'),
      ...pem('csip'),
      ...pem('ocpp'),
      ...pem('dnp3'),
      'ocpp-password.txt': 'a password of 20 characters',
      'dnp3-points.json': '{"points": [{"type": "AI", "index": 0, "name": "Active power", "bind": "701.W"}]}',
      'proxy-map.json': readFileSync('config/proxy/string-inverter-basic.json', 'utf8'),
    };
    const tls = (setting: string, adapter: string) =>
      ['cert', 'key', 'root_cert'].flatMap((end) => [
        `--${setting}_${end}`,
        `${adapter}-${end.replace('_cert', '')}.pem`,
      ]);
    const flags = [
      ...['--mb_enc', 'yes', ...tls('mb', 'modbus')],
      ...['--csip_client_enable', 'yes', '--csip_enc', 'yes', ...tls('csip', 'csip')],
      ...['--ocpp_enable', 'yes', '--ocpp_csms_url', 'ws://central.example/', ...tls('ocpp', 'ocpp')],
      ...[
        '--ocpp_password_file',
        'ocpp-password.txt',
        '--dnp3_enable',
        'yes',
        '--dnp3_enc',
        'yes',
        ...tls('dnp3', 'dnp3'),
      ],
      ...['--dnp3_points', 'dnp3-points.json', '--proxy', 'proxy-map.json'],
    ];
    let used = new Set<string>();
    const use = (path: string) => {
      used.add(basename(path));
      return files[basename(path)];
    };
    const loaded = loadConfig(
      flags,
      {},
      { cwd: '/', readFile: (path) => use(path) ?? '', isFile: (path) => use(path) !== undefined },
    );
    if (loaded.kind !== 'run') throw new Error('no configuration');
    const former = loaded.config;
    const adapters = ['modbus', 'csip', 'ocpp', 'dnp3', 'proxy'] as const;
    const usedBy = (opened?: readonly RestartableAdapter[]) => {
      used = new Set();
      const over = new Map<SettingKey, unknown>([
        ['log_level', 'debug'],
        ['proxy_port', 8504],
      ]);
      const { ocpp, proxy } = former.settings.with(over, noCertificates, opened && { former, opened: new Set(opened) });
      expect([ocpp?.password, proxy?.map]).to.deep.equal([former.ocpp?.password, former.proxy?.map]);
      return [...used].map((name) => name.split('-')[0]);
    };
    expect(new Set(usedBy())).to.deep.equal(new Set(adapters));
    expect(usedBy([])).to.deep.equal([]);
    for (const adapter of adapters) expect(new Set(usedBy([adapter]))).to.deep.equal(new Set([adapter]));
  });
});

describe('issues of a lab that a request loads', () => {
  const issuesOf = (argv: readonly string[], lab: Readonly<Record<string, unknown>>) => {
    try {
      configOf(...argv).settings.lab(lab);
      return [];
    } catch (error) {
      if (!(error instanceof SimError)) throw error;
      return error.issues.map(({ name, detail }) => `${name} ${detail.split(';')[0] ?? ''}`);
    }
  };

  it('point to members of the file, also to those that it lacks', () => {
    const flags = ['--ocpp_enable', 'yes', '--ocpp_csms_url', 'ws://central.example/ocpp'];
    expect(issuesOf(flags, { ocpp_enable: true })).to.deep.equal(['/ocpp_csms_url not given with /ocpp_enable yes']);
    expect(issuesOf([], { mb_port: 20000, dnp3_enable: true, dnp3_shared_port: true })).to.deep.equal([
      '/mb_port given 20000, which /dnp3_port uses',
    ]);
  });

  it('have one of a refused member alone', () => {
    const lab = {
      dnp3_enable: true,
      dnp3_enc: true,
      dnp3_cert: 7,
      dnp3_key: 'certificate:a',
      dnp3_root_cert: 'certificate:a',
    };
    expect(issuesOf([], lab)).to.deep.equal(['/dnp3_cert given 7']);
  });

  it('name settings that a lab cannot change as the command line does', () => {
    expect(issuesOf(['-wp', '8123'], { mb_port: 8123, mb_shared_port: true })).to.deep.equal([
      '/mb_port given 8123, which -wp uses',
    ]);
    expect(
      issuesOf([], { ocpp_enable: true, ocpp_csms_url: 'ws://a.example/', ocpp_security_profile: 1 }),
    ).to.deep.equal(['--ocpp_password_file not given with /ocpp_security_profile 1']);
  });
});
