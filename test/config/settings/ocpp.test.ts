import { expect } from 'chai';
import { createChargePointIds } from '../../../src/contract/charge-point-ids.ts';
import { ocppPasswordOctets, versionWithoutId } from '../../../src/contract/ocpp-settings.ts';
import type { OcppSettings } from '../../../src/contract/ocpp-settings.ts';
import { formatIssues } from '../../../src/config/issues/issues.ts';
import { loadConfig } from '../../../src/config/layers/load.ts';
import { headEndPki } from '../../support/head-end.ts';
import type { HeadEndPki } from '../../support/head-end.ts';
import { errorOf, fileIssues, issueLines, run } from '../support.ts';

const evse = ['-d', 'EVSE', '--ocpp_enable', 'yes'] as const;
const on = [...evse, '--ocpp_csms_url', 'ws://csms.example/ocpp'] as const;
const secure = [...evse, '--ocpp_csms_url', 'wss://csms.example/ocpp'] as const;
const secret = 'correct horse battery';

describe('settings of OCPP charge points', () => {
  let pki: HeadEndPki;
  let files: Record<string, string>;

  before(async () => {
    pki = await headEndPki();
    files = {
      '/site/own.pem': pki.device.cert,
      '/site/own.key': pki.device.key,
      '/site/root.pem': pki.root.cert,
      '/site/pw': `${secret}\n`,
      '/site/short': 'short\n',
    };
  });

  const ocpp = (argv: readonly string[]): OcppSettings => {
    const found = run(argv, { files }).ocpp;
    if (found === null) throw new Error('expected charge points');
    return found;
  };
  const issues = (argv: readonly string[]) => issueLines(argv, { files });

  it('off by default; settings given without ocpp_enable are named, but not the identity, which evse has too', () => {
    const { ocpp: none, unused, chargePointId } = run(['--ocpp_csms_url', 'ws://a.example', '--ocpp_csid', 'CP 7']);
    expect(none).to.equal(null);
    expect(chargePointId).to.equal('CP 7');
    expect(unused).to.deep.equal(['ocpp_csms_url is given and has no effect, because ocpp_enable is off']);
  });

  it('defaults', () => {
    const config = run(on);
    expect(config.ocpp).to.deep.equal({
      id: 'SIM-CP-1',
      versions: ['ocpp1.6j'],
      url: 'ws://csms.example/ocpp',
      guarded: false,
      securityProfile: 0,
      password: null,
      pem: null,
      autoAuthorize: true,
    });
    expect(config.notices).to.be.empty;
    expect(config.unused).to.be.empty;
  });

  it('the slash at the end of the endpoint goes; the identity has its own', () => {
    expect(ocpp([...evse, '--ocpp-csms-url', 'ws://h:8180/steve/websocket/CentralSystemService/']).url).to.equal(
      'ws://h:8180/steve/websocket/CentralSystemService',
    );
  });

  for (const url of [
    'http://csms.example',
    'ws://',
    'ws://user:pw@csms.example',
    'ws://csms.example/a?x=1',
    'ws://csms.example/a#b',
    'ws://csms.example/a b',
    'csms.example',
  ])
    it(`refuses the endpoint ${url}`, () => {
      expect(issues([...evse, '--ocpp_csms_url', url])).to.have.lengthOf(1);
      expect(issues([...evse, '--ocpp_csms_url', url])[0]).to.match(
        /^--ocpp_csms_url: given .*allowed: a ws or wss URL/,
      );
    });

  it('a refused endpoint is shown without user name, password and query', () => {
    const secrets = ['S3CR3T', 'T0K3N'];
    for (const url of [`ws://user:${secrets[0]}@a.example/x?token=${secrets[1]}`, `ws://a.example/?${secrets[1]}`]) {
      const [line = ''] = issues(['-d', 'EVSE', '--ocpp_csms_url', url]);
      expect(line).to.contain('a.example/');
      for (const secret of secrets) expect(line).not.to.contain(secret);
    }
  });

  it('ocpp_enable needs an endpoint', () => {
    expect(issues(evse)).to.deep.equal([
      '--ocpp_csms_url: not given with --ocpp_enable yes; allowed: the endpoint of a central system, for example ws://127.0.0.1:8180/ocpp',
    ]);
  });

  for (const [profile, url, scheme] of [
    ['0', 'wss://a.example', 'ws'],
    ['1', 'wss://a.example', 'ws'],
    ['2', 'ws://a.example', 'wss'],
    ['3', 'ws://a.example', 'wss'],
  ] as const)
    it(`security profile ${profile} needs ${scheme}`, () => {
      expect(
        issues([...evse, '--ocpp_csms_url', url, '--ocpp_security_profile', profile]).find((line) =>
          line.startsWith('--ocpp_csms_url'),
        ),
      ).to.equal(
        `--ocpp_csms_url: given "${url}" with --ocpp_security_profile ${profile}; allowed: a ${scheme}:// URL, or another security profile`,
      );
    });

  it('profile 1: the password of a file without its line break, and a warning about the clear line', () => {
    const config = run([...on, '--ocpp_security_profile', '1', '--ocpp_password_file', 'pw'], { files });
    expect(config.ocpp?.password?.toString()).to.equal(secret);
    expect(config.notices).to.deep.equal([
      'with ocpp_security_profile 1 the password of OCPP is sent over the network in clear',
    ]);
  });

  it('a password on the command line is taken with a warning, one of the environment without', () => {
    const profile = [...on, '--ocpp_security_profile', '1'];
    expect(run([...profile, '--ocpp_password', secret]).notices[0]).to.match(/^ocpp_password is given on the command/);
    const { ocpp: found, notices } = run(profile, { env: { DERBENCH_OCPP_PASSWORD: secret } });
    expect(found?.password?.toString()).to.equal(secret);
    expect(notices).to.have.lengthOf(1);
  });

  it('password: 16 to 64 octets; 1.6 decodes 32 to 40 hexadecimal digits (white paper, AuthorizationKey)', () => {
    const octets = (text: string) => ocppPasswordOctets(text, ['ocpp1.6j', 'ocpp2.1']);
    expect(octets('x'.repeat(15))).to.equal(null);
    expect(octets('x'.repeat(16))?.length).to.equal(16);
    expect(octets('é'.repeat(8))?.length).to.equal(16);
    expect(octets('x'.repeat(65))).to.equal(null);
    expect(octets(`${'x'.repeat(16)}\n`)).to.equal(null);
    expect(octets('00ff'.repeat(8))).to.deep.equal(Buffer.from('00ff'.repeat(8), 'hex'));
    expect(octets('0f'.repeat(21))?.length, 'longer than an AuthorizationKey').to.equal(42);
    expect(octets('a'.repeat(33))?.length, 'no whole octets').to.equal(33);
    expect(ocppPasswordOctets('00ff'.repeat(8), ['ocpp2.1', 'ocpp1.6j'])?.length, 'the first one offered').to.equal(32);
  });

  it('a password that cannot be one is refused and not repeated', () => {
    const profile = [...on, '--ocpp_security_profile', '1'];
    for (const lines of [
      issues([...profile, '--ocpp_password', 'short-pw']),
      issueLines(profile, { files, env: { DERBENCH_OCPP_PASSWORD: 'short-pw' } }),
      fileIssues(
        `device_type: EVSE\nocpp_enable: yes\nocpp_csms_url: ws://a\nocpp_security_profile: 1\nocpp_password: short-pw\n`,
      ),
      issues([...profile, '--ocpp_password_file', 'short']),
    ]) {
      expect(lines.join()).to.contain('given a secret value; allowed: 16 to 64 octets');
      expect(lines.join().replaceAll('/site/short', '')).to.not.contain('short');
    }
  });

  it('no issue of a run with a password shows it', () => {
    const error = errorOf([...on, '--ocpp_security_profile', '1', '--ocpp_password', secret, '--tick', 'x'], { files });
    expect(formatIssues(error)).to.not.contain(secret);
  });

  it('profiles 1 and 2 need a password, 2 and 3 a root, 3 a certificate with its key', () => {
    const missing = (argv: readonly string[], profile: string) =>
      issues([...argv, '--ocpp_security_profile', profile]).map((line) => line.split(':')[0]);
    expect(missing(on, '1')).to.deep.equal(['--ocpp_password_file']);
    expect(missing(secure, '2')).to.deep.equal(['--ocpp_password_file', '--ocpp_root_cert']);
    expect(missing(secure, '3')).to.deep.equal(['--ocpp_root_cert', '--ocpp_cert', '--ocpp_key']);
    expect(issues([...on, '--ocpp_security_profile', '4'])[0]).to.match(/a whole number from 0 to 3/);
    expect(issues([...on, '--ocpp_password', secret, '--ocpp_password_file', 'pw'])).to.deep.equal([
      '--ocpp_password: given together with --ocpp_password_file; allowed: one of the two',
    ]);
  });

  it('profiles 2 and 3: absolute paths of the files', () => {
    const two = ['--ocpp_security_profile', '2', '--ocpp_root_cert', 'root.pem', '--ocpp_password_file', 'pw'];
    expect(ocpp([...secure, ...two]).pem).to.deep.equal({ rootCert: '/site/root.pem', own: null });
    const three = ['--ocpp_security_profile', '3', '--ocpp_root_cert', 'root.pem'];
    const own = ['--ocpp_cert', 'own.pem', '--ocpp_key', 'own.key'];
    const found = ocpp([...secure, ...three, ...own]);
    expect(found.pem).to.deep.equal({
      rootCert: '/site/root.pem',
      own: { cert: '/site/own.pem', key: '/site/own.key' },
    });
    expect(found.password).to.equal(null);
  });

  it('files that are missing, no PEM, or do not belong together', () => {
    const three = [...secure, '--ocpp_security_profile', '3', '--ocpp_root_cert'];
    expect(issues([...three, 'none.pem', '--ocpp_cert', 'own.pem', '--ocpp_key', 'own.key'])).to.deep.equal([
      '--ocpp_root_cert: given "/site/none.pem"; allowed: the path of a file that exists',
    ]);
    expect(issues([...three, 'root.pem', '--ocpp_cert', 'pw', '--ocpp_key', 'own.key'])).to.deep.equal([
      '--ocpp_cert: /site/pw: is not a certificate in PEM',
    ]);
    expect(issues([...three, 'root.pem', '--ocpp_cert', 'root.pem', '--ocpp_key', 'own.key'])).to.deep.equal([
      '--ocpp_key: /site/own.key: does not belong to the certificate',
    ]);
    expect(issues([...on, '--ocpp_security_profile', '1', '--ocpp_password_file', 'none'])).to.deep.equal([
      '--ocpp_password_file: given "/site/none"; allowed: the path of a file that exists',
    ]);
  });

  it('a certificate that cannot count is named', () => {
    expect(run([...on, '--ocpp_cert', 'own.pem'], { files }).unused).to.deep.equal([
      'ocpp_cert is given and has no effect without ocpp_root_cert and ocpp_key',
    ]);
  });

  it('certificates of a lower profile are kept for one that is raised later, and checked', () => {
    const given = [...on, '--ocpp_root_cert', 'root.pem', '--ocpp_cert', 'own.pem', '--ocpp_key', 'own.key'];
    const { ocpp: found, unused } = run(given, { files });
    expect(found?.pem).to.deep.equal({
      rootCert: '/site/root.pem',
      own: { cert: '/site/own.pem', key: '/site/own.key' },
    });
    expect(unused).to.deep.equal([]);
    expect(issues([...on, '--ocpp_root_cert', 'none.pem'])).to.deep.equal([
      '--ocpp_root_cert: given "/site/none.pem"; allowed: the path of a file that exists',
    ]);
  });

  it('a password of profile 0 is kept for a profile that is raised later, and checked', () => {
    for (const given of [
      ['--ocpp_password', secret],
      ['--ocpp_password_file', 'pw'],
    ]) {
      const { ocpp: found, unused } = run([...on, ...given], { files });
      expect(found?.securityProfile).to.equal(0);
      expect(found?.password?.toString()).to.equal(secret);
      expect(unused).to.deep.equal([]);
    }
    expect(issues([...on, '--ocpp_password_file', 'none'])).to.deep.equal([
      '--ocpp_password_file: given "/site/none"; allowed: the path of a file that exists',
    ]);
  });

  it('without an EVSE there is a notice, since one may be added later', () => {
    expect(run(['--ocpp_enable', 'yes', '--ocpp_csms_url', 'ws://a.example']).notices).to.deep.equal([
      'ocpp_enable is yes, but no EVSE is simulated: there is no charge point until one is added',
    ]);
  });

  for (const id of ['', ' x', 'a\tb', 'ü', 'profiles', '..', 'x'.repeat(49)])
    it(`refuses the identity ${JSON.stringify(id).slice(0, 20)}`, () => {
      expect(issues([...on, `--ocpp_csid=${id}`])[0]).to.match(/^--ocpp_csid/);
    });

  it('an identity of 48 characters leaves no room for the index of further stations', () => {
    const id = `RDAM|${'1'.repeat(43)}`;
    expect(ocpp([...on, '--ocpp_csid', id]).id).to.equal(id);
    expect(issues([...on, '--ocpp_csid', id, '-N', '2'])[0]).to.contain(`given "${id}-1"; allowed: text of 1 to 48`);
  });

  it('2.x forbids a colon in the identity (OCPP-J 2.0.1 3.1.1)', () => {
    expect(versionWithoutId('a:b', ['ocpp1.6j'])).to.equal(null);
    expect(versionWithoutId('a:b', ['ocpp1.6j', 'ocpp2.1', 'ocpp2.0.1j'])).to.equal('ocpp2.1');
    expect(versionWithoutId('ab', ['ocpp2.1'])).to.equal(null);
    expect(issues([...on, '--ocpp_csid', 'a:b', '--ocpp_version', 'ocpp1.6j,ocpp2.0.1j'])).to.deep.equal([
      '--ocpp_csid: given "a:b"; allowed: an identity without colon, as ocpp2.0.1j requires',
    ]);
  });

  describe('several versions', () => {
    const version = (...given: readonly string[]) => [...on, ...given.flatMap((text) => ['--ocpp_version', text])];

    it('in the order of preference, with commas, a repeated flag or a list', () => {
      const wanted = ['ocpp2.0.1j', 'ocpp1.6j'];
      expect(ocpp(version('ocpp2.0.1j,ocpp1.6j')).versions).to.deep.equal(wanted);
      expect(ocpp(version('ocpp2.0.1j', 'ocpp1.6j')).versions).to.deep.equal(wanted);
      expect(ocpp(version('ocpp2.0.1j , ocpp1.6j')).versions).to.deep.equal(wanted);
      const text = 'device_type: EVSE\nocpp_enable: yes\nocpp_csms_url: ws://a\nocpp_version: [ocpp2.0.1j, ocpp1.6j]\n';
      expect(run(['--config', 'c.yaml'], { files: { '/site/c.yaml': text } }).ocpp?.versions).to.deep.equal(wanted);
    });

    const allowed = 'allowed: ocpp1.6j, ocpp2.0.1j, ocpp2.1; several in the order of preference, each once';
    for (const [given, detail] of [
      ['ocpp1.6j,ocpp2.1,ocpp1.6j', `given "ocpp1.6j,ocpp2.1,ocpp1.6j", in which ocpp1.6j stands twice; ${allowed}`],
      ['ocpp1.6j,ocpp1.5', `given "ocpp1.6j,ocpp1.5"; ${allowed}`],
      ['ocpp1.6j,', `given "ocpp1.6j,"; ${allowed}`],
      ['ocpp1.6', `given "ocpp1.6"; ${allowed}`],
    ] as const)
      it(`refuses ${given}`, () => {
        expect(issues(version(given))).to.deep.equal([`--ocpp_version: ${detail}`]);
      });

    it('refuses an empty list', () => {
      const text = 'device_type: EVSE\nocpp_enable: yes\nocpp_csms_url: ws://a\nocpp_version: []\n';
      expect(fileIssues(text)).to.have.lengthOf(1);
      expect(fileIssues(text)[0]).to.contain(`ocpp_version: given []; ${allowed}`);
    });
  });

  describe('of an entry of devices', () => {
    const file = (devices: string) =>
      `ocpp_enable: yes\nocpp_csms_url: ws://csms.example/ocpp\nocpp_csid: CP\ndevices:\n${devices}`;

    it('identity, version and endpoint of its own', () => {
      const text = file(
        '  - device_type: PV-3Phase\n  - device_type: EVSE\n    ocpp: { id: West, version: [ocpp2.1, ocpp1.6j], url: "ws://b.example/" }\n  - device_type: EVSE\n    ocpp: { url: "ws://c.example/x" }\n  - device_type: EVSE\n',
      );
      const config = run(['--config', 'c.yaml'], { files: { ...files, '/site/c.yaml': text } });
      const devices = config.devices.map(({ assetType, ocpp }, index) => ({
        assetType,
        index,
        ...(ocpp !== undefined && { ocpp }),
      }));
      expect(devices.map(({ ocpp }) => ocpp)).to.deep.equal([
        undefined,
        { id: 'West', versions: ['ocpp2.1', 'ocpp1.6j'], url: 'ws://b.example' },
        { url: 'ws://c.example/x' },
        undefined,
      ]);
      const idOf = createChargePointIds({ devices }, config.chargePointId);
      expect(devices.map(idOf)).to.deep.equal([null, 'West', 'CP-2', 'CP-3']);
    });

    for (const [what, devices, issue] of [
      ['another kind', '  - ocpp: { id: A }\n', 'devices[0].ocpp: given for a device of kind pv; allowed for: EVSE'],
      [
        'several devices with one identity',
        '  - { device_type: EVSE, count: 2, ocpp: { id: A } }\n',
        'devices[0].ocpp.id: given for 2 devices; allowed: for one device',
      ],
      [
        'a transport that the security profile does not have',
        '  - { device_type: EVSE, ocpp: { url: "wss://a.example" } }\n',
        'devices[0].ocpp.url: given "wss://a.example" with ocpp_security_profile 0; allowed: a ws:// URL, or another security profile',
      ],
      [
        'an identity that another station has',
        '  - { device_type: EVSE }\n  - { device_type: EVSE, ocpp: { id: CP } }\n',
        'ocpp.id of device 1: given "CP", which device 0 has too; allowed: another identity',
      ],
      [
        'a version that stands twice',
        '  - { device_type: EVSE, ocpp: { version: [ocpp1.6j, ocpp1.6j] } }\n',
        'devices[0].ocpp.version',
      ],
      [
        'an identity that one of the versions forbids',
        '  - { device_type: EVSE, ocpp: { id: "a:b", version: [ocpp1.6j, ocpp2.1] } }\n',
        'ocpp.id of device 0: given "a:b"; allowed: an identity without colon, as ocpp2.1 requires',
      ],
      ['an unknown member', '  - { device_type: EVSE, ocpp: { csid: A } }\n', 'devices[0].ocpp.csid: unknown key'],
    ] as const)
      it(`refuses ${what}`, () => {
        const [line] = fileIssues(file(devices));
        expect(line).to.contain(issue);
      });

    it('of a device that is added: guarded by the outbound rules', () => {
      const { deviceOf } = run(on);
      expect(deviceOf({ device_type: 'EVSE', ocpp: { url: 'ws://b.example/' } }, 1).ocpp).to.deep.equal({
        url: 'ws://b.example',
        guarded: true,
      });
      expect(deviceOf({ device_type: 'EVSE', ocpp: { version: 'ocpp2.1' } }, 1).ocpp?.versions).to.deep.equal([
        'ocpp2.1',
      ]);
    });
  });

  it('help names every flag, and no default password', () => {
    const help = loadConfig(['--help'], {});
    if (help.kind !== 'help') throw new Error('expected help');
    for (const flag of ['enable', 'version', 'csms_url', 'csid', 'security_profile', 'password_file', 'password'])
      expect(help.text).to.contain(`--ocpp_${flag}`);
    expect(help.text).to.contain('Charge points (OCPP) (docs/protocols/ocpp.md)');
  });
});
