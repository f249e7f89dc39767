import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemIo } from '../../../src/config/layers/files.ts';
import { fileReason } from '../../../src/core/text-file.ts';
import { issueLines, fileIssues, run } from '../support.ts';

const load = (name: string, text: string) => run(['--config', name], { files: { [`/site/${name}`]: text } });

describe('interface 12.1: configuration file', () => {
  it('is YAML or JSON by extension', () => {
    expect(load('c.yaml', 'seed: 5\n').seed).to.equal(5);
    expect(load('c.yml', '# only a comment behind a mark\n{ seed: 5 }').seed).to.equal(5);
    expect(load('c.json', '\uFEFF{ "seed": 5 }').seed).to.equal(5);
    expect(load('C.JSON', '{ "seed": 5 }').seed).to.equal(5);
  });
  it('takes switch words, which YAML 1.2 reads as text, times and dates', () => {
    const config = load(
      'c.yaml',
      'mb_enable: no\nstart_paused: on\nmb_shared_port: 1\nstart_clock_time: 06:00:00\nstart_date: 2026-01-02\n',
    );
    expect([config.modbus.enabled, config.clock.startsPaused, config.modbus.sharedPort]).to.deep.equal([
      false,
      true,
      true,
    ]);
    expect([config.clock.startTime, config.clock.startDate]).to.deep.equal(['06:00:00', '2026-01-02']);
    expect(load('c.yaml', 'mb_enable: No\nstart_paused: TRUE\n').modbus.enabled).to.equal(false);
  });
  it('takes one entry of a list without the list', () => {
    expect(load('c.yaml', 'allowed_host: a\n').web.allowedHosts).to.deep.equal(['a']);
  });
  it('is a bundled one by its bare name; with an extension it is a file of the user', () => {
    expect(run(['--config', 'fleet-1000']).devices).to.have.length(1000);
    expect(run([], { env: { DERBENCH_CONFIG: 'one-evse' } }).devices.map(({ assetType }) => assetType)).to.deep.equal([
      'evse',
    ]);
    expect(load('fleet-1000.yaml', 'devices: [{ device_type: PV }]\n').devices).to.have.length(1);
    expect(issueLines(['--config', 'fleet-1000.yaml']).join()).to.contain('/site/fleet-1000.yaml');
  });
  it('resolves paths against its own directory', () => {
    const files = {
      '/site/sub/c.yaml': 'dc_profile: sun.csv\nf: roof.yaml\n',
      '/site/sub/sun.csv': '',
      '/site/sub/roof.yaml': '{}',
    };
    const config = run(['--config', 'sub/c.yaml'], { files });
    expect([config.devices[0]?.series.dc, config.devices[0]?.profileName]).to.deep.equal(['/site/sub/sun.csv', 'roof']);
  });

  const cases: readonly (readonly [string, string, string | RegExp])[] = [
    ['an unknown key', 'website_prt: 1', 'c.yaml: website_prt: unknown key; nearest known: website_port'],
    ['a short flag', 'wp: 1', 'c.yaml: wp: unknown key; the key of the flag -wp is website_port'],
    ['an abbreviated key', 'web_port: 1', 'c.yaml: web_port: unknown key; nearest known: website_port'],
    ['a key of flags only', 'config: d.yaml', /^c.yaml: config: unknown key/],
    ['a number in quotes', 'tick: "0.5"', 'c.yaml: tick: given "0.5"; allowed: a number from 0.1 to 60'],
    ['null', 'tick: null', 'c.yaml: tick: given null; allowed: a number from 0.1 to 60'],
    ['infinity', 'tick: .inf', 'c.yaml: tick: given Infinity; allowed: a number from 0.1 to 60'],
    ['a fraction of a port', 'mb_port: 1.5', 'c.yaml: mb_port: given 1.5; allowed: a whole number from 0 to 65535'],
    [
      'a key of later versions',
      'grid: { noise: false }',
      'c.yaml: grid.noise: unknown key; allowed: nominal_frequency_hz, profile, feeder',
    ],
    [
      'a feeder weaker than its device',
      'grid: { feeder: { short_circuit_ratio: 0.5 } }',
      'c.yaml: grid.feeder.short_circuit_ratio: given 0.5; allowed: a number from 1 to 1000000, or another value',
    ],
    ['an unknown feeder key', 'grid: { feeder: { x_r: 1 } }', /^c.yaml: grid.feeder.x_r: unknown key/],
    [
      'a negative reactance',
      'grid: { feeder: { x_over_r: -1 } }',
      'c.yaml: grid.feeder.x_over_r: given -1; allowed: a number from 0 to 1000',
    ],
    [
      'an impossible frequency',
      'grid: { nominal_frequency_hz: 71 }',
      'c.yaml: grid.nominal_frequency_hz: given 71; allowed: a number from 40 to 70',
    ],
    ['a block that is no mapping', 'grid: 5', 'c.yaml: grid: given 5; allowed: a mapping'],
    ['an empty device list', 'devices: []', 'c.yaml: devices: given []; allowed: a list of 1 to 10000 entries'],
    ['a device list that is none', 'devices: PV', 'c.yaml: devices: given "PV"; allowed: a list of 1 to 10000 entries'],
    ['an unknown device key', 'devices: [{ nam: x }]', 'c.yaml: devices[0].nam: unknown key; nearest known: name'],
    [
      'a device type not served',
      'devices: [{ device_type: Tidal }]',
      /^c.yaml: devices\[0\]\.device_type: given "Tidal"; allowed: PV-3Phase, PV, .*, EVSE$/,
    ],
    ['a name with control characters', 'devices: [{ name: "a\\x1bb" }]', /^c.yaml: devices\[0\]\.name: given /],
    [
      'a profile of the wrong kind',
      'devices: [{ profile: 7 }]',
      'c.yaml: devices[0].profile: given 7; allowed: text of 1 to 4096 characters, or a mapping',
    ],
    [
      'an issue in an inline profile',
      'devices: [{ profile: { pv: { modul: X } } }]',
      'c.yaml: devices[0].profile.pv.modul: unknown key; nearest known: module',
    ],
    [
      'a rating across members',
      'devices: [{ profile: { models: { "702": { WMaxRtg: 0 } } } }]',
      'c.yaml: devices[0].profile: models.702.WMaxRtg: given 0; allowed: a number from 1 to 1e9',
    ],
    ['a prototype member', '__proto__: { seed: 2 }', /^c.yaml: __proto__: unknown key/],
    [
      'two values of one key',
      'seed: 1\nseed: 2',
      /^--config: \/site\/c.yaml: cannot be parsed: the key "\w+" stands twice in its mapping/,
    ],
    ['broken YAML', 'a: [', /^--config: \/site\/c.yaml: cannot be parsed: /],
    ['an unknown tag', 'seed: !thing 5', /^--config: \/site\/c.yaml: cannot be parsed: Unresolved tag/],
    [
      'two documents',
      'seed: 1\n---\nseed: 2',
      '--config: /site/c.yaml: cannot be parsed: it holds more than one document; allowed: one',
    ],
    ['a list', '[1]', '--config: /site/c.yaml: given no mapping; allowed: a mapping of keys to values'],
    ['nothing', '', '--config: /site/c.yaml: given no mapping; allowed: a mapping of keys to values'],
    [
      'both grid profiles',
      'grid_profile: g.csv\ngrid: { profile: g.csv }',
      'c.yaml: grid.profile: given beside grid_profile; allowed: one of the two',
    ],
    [
      'a grid profile that is missing',
      'grid: { profile: no.csv }',
      'c.yaml: grid.profile: given "no.csv"; allowed: the path of a file that exists',
    ],
  ];
  for (const [what, text, line] of cases) {
    it(`refuses ${what}`, () => {
      const lines = fileIssues(text, { '/site/g.csv': '' });
      expect(lines).to.have.length(1);
      if (typeof line === 'string') expect(lines[0]).to.equal(line);
      else expect(lines[0]).to.match(line);
    });
  }

  it('refuses another extension, a missing file and broken JSON', () => {
    const files = { '/site/c.toml': '', '/site/c.json': '{' };
    expect(issueLines(['--config', 'c.toml'], { files })).to.deep.equal([
      '--config: /site/c.toml: given extension ".toml"; allowed: .yaml, .yml, .json',
    ]);
    expect(issueLines([], { env: { DERBENCH_CONFIG: 'd.yaml' } })).to.deep.equal([
      'DERBENCH_CONFIG: /site/d.yaml: cannot be read: there is no such file',
    ]);
    expect(issueLines(['--config', 'mixd-site'])).to.deep.equal([
      '--config: /site/mixd-site: cannot be read: there is no such file; did you mean mixed-site?',
    ]);
    expect(issueLines(['--config', 'elsewhere'])[0]).to.match(/there is no such file; bundled: .*fleet-1000/);
    expect(issueLines(['--config', 'c.json'], { files })[0]).to.match(/^--config: \/site\/c.json: cannot be parsed: /);
  });
});

describe('reliability K2: size and depth', () => {
  it('refuses more than 1 MiB', () => {
    expect(fileIssues(`# ${'x'.repeat(1024 * 1024)}\nseed: 1`)[0]).to.include('larger than 1048576 bytes');
  });
  it('refuses more than 16 levels, however they come about', () => {
    const deep = (levels: number) => `grid: ${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}`;
    expect(fileIssues(deep(16))[0]).to.match(/^c.yaml: grid: /);
    expect(fileIssues(deep(17))[0]).to.include('nested too deeply');
    expect(fileIssues(deep(100_000))[0]).to.include('nested too deeply');
    expect(fileIssues('grid: &a [*a]')).to.have.length(1);
  });
  it('refuses aliases that multiply', () => {
    const lines = ['a: &a [1,1,1,1,1,1,1,1,1,1]'];
    for (let k = 1; k < 9; k += 1)
      lines.push(
        `${'abcdefghi'[k]}: &${'abcdefghi'[k]} [${Array(10)
          .fill(`*${'abcdefghi'[k - 1]}`)
          .join(',')}]`,
      );
    expect(fileIssues(lines.join('\n'))[0]).to.include('cannot be parsed: its aliases make too many copies');
  });
});

describe('file system', () => {
  let directory = '';
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'derbench-config-'));
  });
  after(() => rmSync(directory, { recursive: true }));

  it('gives the text of a regular file within the limit', () => {
    const path = join(directory, 'a.yaml');
    writeFileSync(path, 'seed: 1');
    expect(systemIo.readFile(path, 7)).to.equal('seed: 1');
    expect(() => systemIo.readFile(path, 6)).to.throw('larger than 6 bytes');
    expect([systemIo.isFile(path), systemIo.isFile(directory), systemIo.isFile(`${path}x`)]).to.deep.equal([
      true,
      false,
      false,
    ]);
  });
  it('has no file where a path leads nowhere', () => {
    const path = join(directory, 'c.yaml');
    writeFileSync(path, '');
    symlinkSync('loop', join(directory, 'loop'));
    for (const [nowhere, code] of [
      [join(path, 'below'), 'ENOTDIR'],
      [join(directory, 'loop'), 'ELOOP'],
      [join(directory, 'x'.repeat(300)), 'ENAMETOOLONG'],
      [`${path}\0`, 'ERR_INVALID_ARG_VALUE'],
    ] as const) {
      expect(systemIo.isFile(nowhere), nowhere).to.equal(false);
      expect(() => systemIo.readFile(nowhere, 100), nowhere)
        .to.throw()
        .with.property('code', code);
    }
  });
  it('is told in words why a file cannot be read, without the path', () => {
    const reasonOf = (path: string) => {
      try {
        return systemIo.readFile(path, 100);
      } catch (error) {
        return fileReason(error);
      }
    };
    symlinkSync('circle', join(directory, 'circle'));
    const reasons = ['none', 'circle', 'y'.repeat(300)].map((name) => reasonOf(join(directory, name)));
    expect(reasons).to.deep.equal(['there is no such file', 'too many symbolic links encountered', 'name too long']);
  });
  it('refuses directories, devices and text that is not UTF-8', () => {
    const path = join(directory, 'b.yaml');
    writeFileSync(path, Buffer.from([0xff, 0xfe, 0x00]));
    expect(() => systemIo.readFile(path, 100)).to.throw('not UTF-8');
    expect(() => systemIo.readFile(directory, 100)).to.throw('not a regular file');
    expect(() => systemIo.readFile('/dev/zero', 100)).to.throw('not a regular file');
  });
});
