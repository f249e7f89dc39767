import { expect } from 'chai';
import { csipPemFiles, hasCheckDigit, withCheckDigit } from '../../../src/contract/csip-settings.ts';
import type { CsipSettings } from '../../../src/contract/csip-settings.ts';
import { headEndPki } from '../../support/head-end.ts';
import type { HeadEndPki } from '../../support/head-end.ts';
import { fileIssues, issueLines, run } from '../support.ts';

const on = ['--csip_client_enable', 'yes'] as const;

const lfdi = '3E4F45AB31EDFE5B67E343E5E4562E31984E23E5';
const aggregator = ['--csip_identity', 'aggregator', '-N', '2'] as const;

describe('settings of the client of IEEE 2030.5', () => {
  let pki: HeadEndPki;
  let files: Record<string, string>;

  before(async () => {
    pki = await headEndPki();
    files = {
      '/site/cert.pem': pki.device.cert,
      '/site/key.pem': pki.device.key,
      '/site/root.pem': pki.root.cert,
    };
  });

  const csip = (argv: readonly string[], more: Readonly<Record<string, string>> = {}): CsipSettings => {
    const found = run([...on, ...argv], { files: { ...files, ...more } }).csip;
    if (found === null) throw new Error('expected a client');
    return found;
  };
  const issues = (argv: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    issueLines([...on, ...argv], { files: { ...files, ...more } });
  /** Files of a directory for so many devices. */
  const directory = (path: string, names: readonly string[]) =>
    Object.fromEntries(
      names.flatMap((name) => [
        [`${path}/${name}.pem`, pki.device.cert],
        [`${path}/${name}.key`, pki.device.key],
      ]),
    );

  it('there is no client by default; settings given without it are named', () => {
    expect(run([]).csip).to.equal(null);
    expect(run([]).unused).to.be.empty;
    const { csip: none, unused } = run(['--csip_pin', '111115', '-csip_serv', 'head-end.example', '--dcap', '/x']);
    expect(none).to.equal(null);
    expect(unused).to.deep.equal(
      ['csip_server_ip', 'dcap', 'csip_pin'].map(
        (key) => `${key} is given and has no effect, because csip_client_enable is off`,
      ),
    );
  });

  it('defaults: the server on loopback, files in the working directory', () => {
    expect(csip([])).to.deep.equal({
      server: { host: '127.0.0.1', port: 8443, dcap: '/dcap', tls: true, guarded: false },
      discover: false,
      allowedHosts: [],
      strictCipher: false,
      checkHostname: true,
      identity: 'per_device',
      certificates: { kind: 'files', cert: '/site/cert.pem', key: '/site/key.pem', rootCert: '/site/root.pem' },
      revision: '2018',
      aus: null,
      pin: null,
      register: false,
      withoutRegistration: 'continue',
      notifications: { subscribe: false, host: '127.0.0.1', port: 0, tls: true, uri: null },
      website: { host: '127.0.0.1', port: 5000 },
      nmis: [],
      pen: 0,
      lfdis: [],
      readings: { flow: 'net', positive: 'import', device: true, site: false },
      rates: { pollS: null, postS: null },
      timeStaleS: 86_400,
      supersededResponse: 'at_start',
      lost: { afterS: 60, expiryS: null },
    });
  });

  for (const [argv, part] of [
    [['-csip_serv', 'Utility.example', '-csip_port', '443'], { server: { host: 'utility.example', port: 443 } }],
    [['--dcap', '/sep2/dcap?x=1'], { server: { dcap: '/sep2/dcap?x=1' } }],
    [['-ce', 'no'], { server: { tls: false }, notifications: { tls: false } }],
    [['-ce', 'no', '--csip_notify_enc', 'yes'], { notifications: { tls: true } }],
    [['--csip_pin', '111115'], { pin: 111_115 }],
    [['--csip_pin', '000019'], { pin: 19 }],
    [['--csip_revision', '2023'], { revision: '2023' }],
    [['--csip-2018-compat', 'yes'], { revision: '2018' }],
    [['--csip-2018-compat', 'no', '--csip_revision', '2023'], { revision: '2023' }],
    [['--csip_aus', '1.3'], { aus: '1.3' }],
    [['--csip_aus', 'none'], { aus: null }],
    [['--csip_website_port', '0'], { website: null }],
    [['--csip_website_ip', '::1'], { website: { host: '::1' } }],
    [['--csip_discover', 'yes', '--csip_allowed_host', 'A.example,b.example'], { discover: true }],
    [['--csip_allowed_host', 'A.example,b.example'], { allowedHosts: ['a.example', 'b.example'] }],
    [['--csip_strict_cipher', 'yes', '--csip_check_hostname', 'no'], { strictCipher: true, checkHostname: false }],
    [['--csip_register', 'yes', '--csip_without_registration', 'stop'], { register: true }],
    [['--csip_without_registration', 'stop'], { withoutRegistration: 'stop' }],
    [
      ['--csip_subscribe', 'yes', '--csip_notify_uri', 'https://a.example:1/', '--csip_notify_port', '9443'],
      { notifications: { subscribe: true, uri: 'https://a.example:1', port: 9443 } },
    ],
    [['--csip_nmi', 'NMI 1', '--csip_pen', '64415'], { nmis: ['NMI 1'], pen: 64_415 }],
    [['--csip_lfdi', `${lfdi},${'0'.repeat(40)}`, ...aggregator], { lfdis: [lfdi, '0'.repeat(40)] }],
    [['--csip_readings_flow', 'split', '--csip_readings_positive', 'export'], { readings: { flow: 'split' } }],
    [['--csip_readings_device', 'no', '--csip_readings_site', 'yes'], { readings: { device: false, site: true } }],
    [['--csip_poll_rate_s', '5', '--csip_post_rate_s', '60'], { rates: { pollS: 5, postS: 60 } }],
    [['--csip_time_stale_s', '600', '--csip_lost_after_s', '5'], { timeStaleS: 600, lost: { afterS: 5 } }],
    [['--csip_lost_expiry_s', '0'], { lost: { expiryS: 0 } }],
    [['--csip_superseded_response', 'at_discovery'], { supersededResponse: 'at_discovery' }],
  ] as const)
    it(argv.join(' '), () => {
      const found: Readonly<Record<string, unknown>> = { ...csip(argv) };
      for (const [name, value] of Object.entries(part))
        if (typeof value === 'object' && value !== null && !Array.isArray(value))
          expect(found[name]).to.deep.include(value);
        else expect(found[name]).to.deep.equal(value);
    });

  it('versions and PIN may stand in a file without quotes', () => {
    const text = 'csip_client_enable: yes\ncsip_revision: 2023\ncsip_aus: 1.2\ncsip_pin: 111115\n';
    expect(run(['--config', 'c.yaml'], { files: { ...files, '/site/c.yaml': text } }).csip).to.include({
      revision: '2023',
      aus: '1.2',
      pin: 111_115,
    });
  });

  it('a PIN is never repeated in an issue', () => {
    const lines = [
      ...issueLines(['--csip_pin', '271828']),
      ...issueLines([], { env: { DERBENCH_CSIP_PIN: '271828' } }),
      ...fileIssues('csip_pin: 271828\n'),
      ...fileIssues('csip_pin: "271828"\n'),
      ...fileIssues('csip_pin: [271828]\n'),
    ];
    expect(lines).to.have.lengthOf(5);
    for (const line of lines) expect(line).to.match(/PIN.*given a secret value|pin.*given a secret value/);
    expect(lines.join()).to.not.include('271828');
    expect(lines.join()).to.include('5 digits and their check digit');
  });

  it('several devices need a certificate each, or an aggregator', () => {
    expect(issues(['-N', '2'])).to.deep.equal([
      '--csip_cert_dir: not given with 2 devices; allowed: a directory with device0.pem, device0.key, ..., ' +
        'or csip_identity aggregator or site',
    ]);
    for (const identity of ['aggregator', 'site'])
      expect(csip(['-N', '2', '--csip_identity', identity]).certificates.kind).to.equal('files');
    const ofTwo = directory('/site/own', ['device0', 'device1']);
    const settings = csip(['-N', '2', '--csip_cert_dir', 'own'], ofTwo);
    expect(csipPemFiles(settings, 1)).to.deep.equal({
      cert: '/site/own/device1.pem',
      tls: { key: '/site/own/device1.key', rootCert: '/site/root.pem' },
    });
    expect(issues(['-N', '3', '--csip_cert_dir', 'own'], ofTwo)).to.deep.equal([
      '--csip_cert_dir: given "/site/own"; allowed: a directory with device2.pem, device2.key',
    ]);
    expect(issues(['-N', '9', '--csip_cert_dir', 'own'], ofTwo)).to.deep.equal([
      '--csip_cert_dir: given "/site/own"; allowed: a directory with device2.pem, device2.key, ' +
        'device3.pem, device3.key, device4.pem and 9 more',
    ]);
    // devices of a split fleet keep their number
    expect(
      issues(['--first_device', '7', '--csip_cert_dir', 'own'], directory('/site/own', ['device0'])),
    ).to.deep.equal(['--csip_cert_dir: given "/site/own"; allowed: a directory with device7.pem, device7.key']);
  });

  it('a directory of test certificates has root, devices and aggregator', () => {
    const made = { ...directory('/site/pki', ['device0', 'aggregator']), '/site/pki/root.pem': pki.root.cert };
    const argv = ['--use_test_pki_certs', 'pki'] as const;
    expect(csipPemFiles(csip(argv, made), 0).tls?.rootCert).to.equal('/site/pki/root.pem');
    const aggregator = csip([...argv, '-N', '5', '--csip_identity', 'aggregator'], made);
    expect(csipPemFiles(aggregator, 3).cert).to.equal('/site/pki/aggregator.pem');
    expect(issues([...argv, '-cc', 'cert.pem'], made)).to.deep.equal([
      '-cc: given together with --use_test_pki_certs; allowed: one of the two',
    ]);
    expect(issues([...argv, '-N', '2'], made)[0]).to.contain('a directory with device1.pem, device1.key');
  });

  it('files are there and fit, and an issue names setting and file', () => {
    expect(issueLines([...on, '-cr', 'ca.pem'])).to.deep.equal([
      '--csip_cert: given "/site/cert.pem"; allowed: the path of a file that exists',
      '--csip_key: given "/site/key.pem"; allowed: the path of a file that exists',
      '-cr: given "/site/ca.pem"; allowed: the path of a file that exists',
    ]);
    expect(issues([], { '/site/key.pem': pki.foreignDevice.key })).to.deep.equal([
      '--csip_key: /site/key.pem: does not belong to the certificate',
    ]);
    expect(issues([], { '/site/root.pem': 'S3CR3T-marker', '/site/key.pem': 'S3CR3T-marker' })).to.deep.equal([
      '--csip_key: /site/key.pem: is not an unencrypted private key in PEM',
      '--csip_root_cert: /site/root.pem: is not a certificate in PEM',
    ]);
    expect(issueLines([...on, '-ce', 'no'], { files: { '/site/cert.pem': '' } })).to.deep.equal([
      '--csip_cert: /site/cert.pem: is not a certificate in PEM',
    ]);
    const plain = run([...on, '-ce', 'no'], { files: { '/site/cert.pem': pki.device.cert } }).csip;
    expect(plain && csipPemFiles(plain, 0).tls).to.equal(null);
    const secured = ['--csip_subscribe', 'yes', '--csip_notify_enc', 'yes'];
    expect(issues(['-ce', 'no', ...secured], { '/site/key.pem': pki.foreignDevice.key })).to.deep.equal([
      '--csip_key: /site/key.pem: does not belong to the certificate',
    ]);
  });

  const conflicts: readonly (readonly [string[], string[]])[] = [
    [
      ['--csip_revision', '2023', '--csip_2018_compat', 'yes'],
      ['--csip_revision: given 2023 together with --csip_2018_compat yes; allowed: one of the two'],
    ],
    [
      ['--csip_identity', 'aggregator', '--csip_cert_dir', 'x'],
      [
        '--csip_cert_dir: given together with --csip_identity aggregator; allowed: csip_cert and csip_key, ' +
          'the certificate of the aggregator',
      ],
    ],
    [
      ['--csip_identity', 'site', '--csip_cert_dir', 'x'],
      [
        '--csip_cert_dir: given together with --csip_identity site; allowed: csip_cert and csip_key, the certificate of the site',
      ],
    ],
    [
      ['--csip_nmi', 'a,b', '-N', '3', '--csip_identity', 'aggregator'],
      ['--csip_nmi: given 2 identifiers; allowed: one, or one for each of the 3 devices'],
    ],
    [
      ['--csip_nmi', 'a,b', '-N', '2', '--csip_identity', 'site'],
      ['--csip_nmi: given 2 identifiers; allowed: one, since the devices of a site share their connection point'],
    ],
    [
      ['--csip_lfdi', lfdi, '--csip_identity', 'site', '-N', '2'],
      [
        '--csip_lfdi: given together with --csip_identity site; allowed: with csip_identity aggregator, because other LFDIs ' +
          'follow from certificates',
      ],
    ],
    [
      ['--csip_lfdi', `${lfdi},${lfdi.toLowerCase()},${'0'.repeat(40)}`, ...aggregator],
      [
        '--csip_lfdi: given 3 LFDIs; allowed: at most one for each of the 2 devices',
        '--csip_lfdi: given the same LFDI twice; allowed: each LFDI once',
      ],
    ],
    [
      ['--csip_website_port', '8111'],
      ['--csip_website_port: given 8111, which website_port uses; allowed: another port'],
    ],
    [
      ['--csip_website_port', '8504', '-N', '3', '--csip_identity', 'aggregator'],
      ['--csip_website_port: given 8504, which mb_port uses; allowed: another port'],
    ],
    [
      ['--csip_subscribe', 'yes', '--csip_notify_port', '5000', '--csip_notify_host', '0.0.0.0'],
      ['--csip_notify_port: given 5000, which csip_website_port uses; allowed: another port'],
    ],
    [
      ['--csip_pin', '111111'],
      ['--csip_pin: given a secret value; allowed: 5 digits and their check digit, for example 111115'],
    ],
    [['--dcap', 'dcap'], ['--dcap: given "dcap"; allowed: a path of a URI that begins with /, up to 1000 characters']],
    [['--dcap', '/a b'], ['--dcap: given "/a b"; allowed: a path of a URI that begins with /, up to 1000 characters']],
    [
      ['--csip_notify_uri', 'https://a.example/?x'],
      [
        '--csip_notify_uri: given "https://a.example/?..."; allowed: an http or https URI of up to 1000 characters without user name, password, query and fragment, for example https://client.example:9443',
      ],
    ],
    [['--csip_aus', '1.1'], ['--csip_aus: given "1.1"; allowed: none, 1.2, 1.3']],
    [['-csip_port', '0'], ['-csip_port: given "0"; allowed: a whole number from 1 to 65535']],
  ];
  for (const [argv, lines] of conflicts)
    it(`refused: ${argv.join(' ')}`, () => {
      expect(issues(argv)).to.deep.equal(lines);
    });

  it('ports of listeners that are off, or on other addresses, do not conflict', () => {
    expect(csip(['--csip_notify_port', '5000']).notifications.port).to.equal(5000);
    expect(csip(['--csip_website_port', '8111', '--csip_website_ip', '127.0.0.2']).website?.port).to.equal(8111);
    expect(csip(['--csip_website_port', '8502', '-mb', 'no']).website?.port).to.equal(8502);
  });

  it('check digits: the PIN and the SFDI of the standard, and one of a real certificate', () => {
    expect(withCheckDigit(11_111)).to.equal(111_115);
    expect(withCheckDigit(16_726_121_139)).to.equal(167_261_211_391);
    expect(withCheckDigit(49_219_196_369)).to.equal(492_191_963_691);
    expect(withCheckDigit(0)).to.equal(0);
    expect(hasCheckDigit(492_191_963_691)).to.equal(true);
    expect(hasCheckDigit(111_111)).to.equal(false);
  });
});
