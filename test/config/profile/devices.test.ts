import { expect } from 'chai';
import { fileIssues, run } from '../support.ts';

const csv = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [`/site/conf/${name}.csv`, '']));

function load(text: string, argv: readonly string[] = []) {
  return run(['--config', 'conf/c.yaml', ...argv], {
    files: { ...csv, '/site/conf/c.yaml': text, '/site/conf/station.yaml': 'evse: { max_power_w: 9000 }' },
  });
}

describe('interface 12.1: devices of a mixed site', () => {
  it('have kinds, names and profiles of their own', () => {
    const { devices } = load(
      [
        'devices:',
        '  - { device_type: PV }',
        '  - { device_type: Batt, name: Store }',
        '  - { device_type: Wind-T4-3Phase, profile: Wind-100kW-T4-3Phase }',
        '  - { device_type: Fuelcell-3Phase }',
        '  - { device_type: HybridDC-3Phase }',
        '  - { device_type: EVSE, profile: station.yaml }',
        '  - { evse_profile: station.yaml, name: Charger }',
      ].join('\n'),
    );
    expect(
      devices.map(({ deviceType, assetType, name, profileName }) => [deviceType, assetType, name, profileName]),
    ).to.deep.equal([
      ['PV', 'pv', 'PV 0', null],
      ['Batt', 'battery', 'Store', null],
      ['Wind-T4-3Phase', 'wind', 'Wind-T4-3Phase 2', 'Wind-100kW-T4-3Phase'],
      ['Fuelcell-3Phase', 'fuelcell', 'Fuelcell-3Phase 3', null],
      ['HybridDC-3Phase', 'hybrid-dc', 'HybridDC-3Phase 4', null],
      ['EVSE', 'evse', 'EVSE 5', 'station'],
      ['EVSE', 'evse', 'Charger', 'station'],
    ]);
    for (const { assetType, profile } of devices) expect(profile.source.kind).to.equal(assetType);
    expect(devices[5]?.profile).to.equal(devices[6]?.profile);
  });
  it('take -f and --evse_profile by kind where they name no profile', () => {
    const { devices } = load('devices: [{ device_type: PV }, { device_type: EVSE }]', [
      '-f',
      '500kW-3Phase',
      '--evse_profile',
      'conf/station.yaml',
    ]);
    expect(devices.map(({ profileName }) => profileName)).to.deep.equal(['500kW-3Phase', 'station']);
  });
  it('do not become EVSE by --evse_profile', () => {
    expect(
      load('evse_profile: station.yaml\ndevices: [{}, { device_type: EVSE }]').devices.map(
        ({ assetType }) => assetType,
      ),
    ).to.deep.equal(['pv', 'evse']);
  });

  describe('count', () => {
    it('makes copies that share a profile, numbered from 1 where they have a name', () => {
      const { devices } = load(
        'devices: [{ name: Roof, count: 3 }, { count: 2, profile: { pv: { series: 10 } } }, { name: One, count: 1 }]',
        ['--first_device', '4'],
      );
      expect(devices.map(({ name }) => name)).to.deep.equal([
        'Roof 1',
        'Roof 2',
        'Roof 3',
        'PV-3Phase 7',
        'PV-3Phase 8',
        'One',
      ]);
      expect(devices[3]?.profile).to.equal(devices[4]?.profile);
      expect(new Set(devices.map(({ profile }) => profile)).size).to.equal(2);
    });
    it('counts for -N, ports and unit ids', () => {
      const text = 'devices: [{ count: 248 }]';
      expect(load(text, ['-N', '248']).devices).to.have.length(248);
      expect(fileIssues(`N: 1\n${text}`)).to.deep.equal([
        'c.yaml: N: given 1; allowed: 248, the number of devices listed in c.yaml, or nothing',
      ]);
      expect(fileIssues(`mb_shared_port: yes\n${text}`)).to.have.length(1);
    });
    it('is limited one by one and in all', () => {
      expect(fileIssues('devices: [{ count: 0 }]')).to.deep.equal([
        'c.yaml: devices[0].count: given 0; allowed: a whole number from 1 to 10000',
      ]);
      expect(fileIssues('mb_enable: no\ndevices: [{ count: 10000 }, {}]')).to.deep.equal([
        'c.yaml: devices: given 10001 devices in all; allowed: up to 10000',
      ]);
    });
  });

  describe('series', () => {
    it('are those of the entry, else of the settings, by kind', () => {
      const { devices, seriesEnd } = load(
        [
          'dc_profile: a.csv',
          'load_profile: b.csv',
          'vehicles: c.csv',
          'series_end: hold',
          'devices:',
          '  - { device_type: PV }',
          '  - { device_type: Wind-T4-3Phase, dc_profile: d.csv, load_profile: e.csv }',
          '  - { device_type: HybridDC-3Phase }',
          '  - { device_type: Batt }',
          '  - { device_type: EVSE, vehicles: f.csv }',
          '  - { device_type: EVSE }',
        ].join('\n'),
      );
      const path = (name: string) => `/site/conf/${name}.csv`;
      expect(devices.map(({ series }) => series)).to.deep.equal([
        { dc: path('a'), load: path('b'), vehicles: null },
        { dc: path('d'), load: path('e'), vehicles: null },
        { dc: path('a'), load: path('b'), vehicles: null },
        { dc: null, load: path('b'), vehicles: null },
        { dc: null, load: path('b'), vehicles: path('f') },
        { dc: null, load: path('b'), vehicles: path('c') },
      ]);
      expect(seriesEnd).to.equal('hold');
    });
    it('are none without settings', () => {
      expect(load('devices: [{ device_type: Wind-T4-3Phase }]').devices[0]?.series).to.deep.equal({
        dc: null,
        load: null,
        vehicles: null,
      });
    });
  });

  const files = { '/site/a.csv': '', '/site/station.yaml': 'evse: {}', '/site/roof.yaml': 'pv: {}' };
  const cases: readonly (readonly [string, string])[] = [
    ['{ dc_profile: no.csv }', 'dc_profile: given "no.csv"; allowed: the path of a file that exists'],
    ['{ load_profile: no.csv }', 'load_profile: given "no.csv"; allowed: the path of a file that exists'],
    ['{ device_type: EVSE, vehicles: no.csv }', 'vehicles: given "no.csv"; allowed: the path of a file that exists'],
    [
      '{ device_type: Batt, dc_profile: a.csv }',
      'dc_profile: given for a device of kind battery; allowed for: PV device, wind turbine, hybrid',
    ],
    ['{ vehicles: a.csv }', 'vehicles: given for a device of kind pv; allowed for: EVSE'],
    [
      '{ device_type: PV, evse_profile: station.yaml }',
      'evse_profile: given for a device of kind pv; allowed: profile',
    ],
    [
      '{ device_type: EVSE, profile: station.yaml, evse_profile: station.yaml }',
      'evse_profile: given beside profile; allowed: one of the two',
    ],
    [
      '{ device_type: PV, profile: station.yaml }',
      'profile: given "station.yaml", which is an EVSE profile; allowed: another profile here, or this one with --evse_profile',
    ],
    [
      '{ device_type: PV, profile: { battery: {} } }',
      'profile: battery: belongs to: battery, hybrid; allowed for a device of kind pv: pv',
    ],
    [
      '{ device_type: Batt, profile: { battery: { soc_min_pct: 90, soc_max_pct: 10 } } }',
      'profile: battery.soc_min_pct: given 90; allowed: below soc_max_pct, which is 10',
    ],
    [
      '{ device_type: HybridDC-3Phase, profile: { hybrid: { pv_w: 0 } } }',
      'profile.hybrid.pv_w: given 0; allowed: a number from 1 to 1000000000',
    ],
    [
      '{ device_type: Wind-T3-3Phase, profile: 10kW-3Phase }',
      'profile: given "10kW-3Phase", in which pv: belongs to: PV device, hybrid; allowed for a device of kind wind: wind',
    ],
  ];
  it('know where their profile was chosen, for what is wrong in it', () => {
    const places = (text: string, ...argv: string[]) =>
      load(text, argv).devices.map(({ profilePlace }) => profilePlace);
    expect(
      places('devices: [{ count: 2 }, { profile: {} }, { evse_profile: station.yaml, device_type: EVSE }]'),
    ).to.deep.equal([undefined, undefined, 'c.yaml: devices[1].profile', 'c.yaml: devices[2].evse_profile']);
    expect(places('{}', '-f', '10kW-3Phase')).to.deep.equal(['-f']);
  });
  for (const [entry, line] of cases) {
    it(`refuse ${entry}`, () =>
      expect(fileIssues(`devices: [${entry}]`, files)).to.deep.equal([`c.yaml: devices[0].${line}`]));
  }
  it('refuse the profile of another kind as EVSE', () => {
    expect(fileIssues('devices: [{ evse_profile: roof.yaml }]', files)[0]).to.match(
      /^c.yaml: devices\[0\]\.evse_profile: given "roof.yaml", which is not an EVSE profile; /,
    );
  });
});
