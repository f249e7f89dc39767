import { expect } from 'chai';
import { issueLines, issuesOf, partsOf, run } from '../support.ts';

const cell = ['-d', 'Fuelcell-3Phase'];
const hybrid = ['-d', 'HybridDC-3Phase'];
const yaml = (text: string, more: Readonly<Record<string, string>> = {}) => ({
  files: { '/site/c.yaml': text, ...more },
});

/** The source of the first device. */
const sourceOf = (...args: Parameters<typeof run>) => partsOf(run(...args).devices[0]);

describe('interface 12: EVSE profiles', () => {
  it('--evse_profile alone makes an EVSE', () => {
    for (const reference of ['EVSE-AC-22kW-1port', 'EVSE-AC-22kW-1port.json', 'EVSE-AC-22kW-1port.yaml']) {
      expect(run(['--evse_profile', reference]).devices[0]).to.include({
        deviceType: 'EVSE',
        assetType: 'evse',
        profileName: 'EVSE-AC-22kW-1port',
      });
    }
    expect(run([], { env: { DERBENCH_EVSE_PROFILE: 'EVSE-AC-22kW-1port' } }).devices[0]).to.include({
      deviceType: 'EVSE',
    });
    expect(run(['--config', 'c.yaml'], yaml('evse_profile: EVSE-AC-22kW-1port')).devices[0]).to.include({
      deviceType: 'EVSE',
    });
  });
  it('an EVSE without it has the profile of its type, which it does not name', () => {
    const [own] = run(['-d', 'EVSE']).devices;
    expect(own?.profileName).to.equal(null);
    expect(own?.profile).to.deep.equal(run(['--evse_profile', 'EVSE-AC-22kW-1port']).devices[0]?.profile);
  });
  it('may be a path', () => {
    const files = {
      '/site/own.yaml': 'evse: { max_power_w: 7000 }',
      '/site/plain.yaml': 'models: { "702": { WMaxRtg: 5000 } }',
    };
    expect(sourceOf(['--evse_profile', 'own.yaml'], { files }).evse?.maxPowerW).to.equal(7000);
    expect(sourceOf(['--evse_profile', 'plain.yaml'], { files }).evse?.maxPowerW).to.equal(5000);
  });
  it('-f refuses the profile of an EVSE and names --evse_profile', () => {
    const line = ', which is an EVSE profile; allowed: another profile here, or this one with --evse_profile';
    expect(issueLines(['-f', 'EVSE-AC-22kW-1port', '-N', '3'])).to.deep.equal([
      `-f: given "EVSE-AC-22kW-1port"${line}`,
    ]);
    expect(issueLines(['-f', 'own.yaml'], { files: { '/site/own.yaml': 'evse: {}' } })).to.deep.equal([
      `-f: given "/site/own.yaml"${line}`,
    ]);
  });
  it('--evse_profile refuses another profile and names -f', () => {
    const [issue] = issuesOf(['--evse_profile', '10kW-3Phase']);
    expect(issue?.name).to.equal('--evse_profile');
    expect(issue?.detail).to.match(
      /^given "10kW-3Phase", which is not an EVSE profile; allowed: an EVSE profile \(EVSE-.*\), or this one with -f$/,
    );
  });
  it('lists its own profiles for a file that is missing', () => {
    const [issue] = issuesOf(['--evse_profile', 'EVSE-none']);
    expect(issue?.allowed).to.include('EVSE-AC-22kW-1port').and.not.include('10kW-3Phase');
  });
  it('is refused with another device type, as a flag only', () => {
    expect(issueLines(['-d', 'PV', '--evse_profile', 'EVSE-AC-22kW-1port'])).to.deep.equal([
      '--evse_profile: given "EVSE-AC-22kW-1port", but no EVSE is simulated; allowed: with device type EVSE',
    ]);
    expect(run(['-d', 'PV'], { env: { DERBENCH_EVSE_PROFILE: 'EVSE-AC-22kW-1port' } }).devices[0]).to.include({
      deviceType: 'PV',
    });
  });
  it('-f is refused when all devices are EVSE', () => {
    expect(issueLines(['-d', 'EVSE', '-f', '10kW-3Phase'])).to.deep.equal([
      '-f: given "10kW-3Phase", but all devices are EVSE; allowed: --evse_profile',
    ]);
  });
});

describe('interface 12: fuel cell settings', () => {
  const four =
    'allowed: PEMFC fc_only tank, PEMFC bidirectional tank, SOFC bidirectional tank, SOFC fc_only continuous';
  const flags = (chemistry: string, mode: string, fuel: string) => [
    '--fuelcell_chemistry',
    chemistry,
    '--fuelcell_mode',
    mode,
    '--fuelcell_fuel',
    fuel,
  ];

  for (const [chemistry, mode, fuel, ratedW] of [
    ['PEMFC', 'fc_only', 'tank', 5000],
    ['PEMFC', 'bidirectional', 'tank', 5000],
    ['SOFC', 'bidirectional', 'tank', 200_000],
    ['SOFC', 'fc_only', 'continuous', 200_000],
  ] as const) {
    it(`${chemistry} ${mode} ${fuel} has a bundled profile of its own`, () => {
      const [device] = run([...cell, ...flags(chemistry, mode, fuel)]).devices;
      expect(device?.profile.source).to.deep.include({ kind: 'fuelcell' });
      expect(sourceOf([...cell, ...flags(chemistry, mode, fuel)]).fuelCell).to.include({
        chemistry,
        operatingMode: mode,
        fuel,
        ratedPowerW: ratedW,
      });
      expect(device?.profileName).to.equal(null);
    });
  }
  for (const [chemistry, mode, fuel] of [
    ['PEMFC', 'fc_only', 'continuous'],
    ['PEMFC', 'bidirectional', 'continuous'],
    ['SOFC', 'bidirectional', 'continuous'],
    ['SOFC', 'fc_only', 'tank'],
  ] as const) {
    it(`refuses ${chemistry} ${mode} ${fuel} and lists the four that exist`, () => {
      expect(issueLines([...cell, '-N', '3', ...flags(chemistry, mode, fuel)])).to.deep.equal([
        `--fuelcell_chemistry: given ${chemistry} ${mode} ${fuel}; ${four}`,
      ]);
    });
  }
  it('stand over a profile, also where only one is given', () => {
    const profile = {
      '/site/p.yaml': 'models: { "702": { WMaxRtg: 8000 } }\nfuel_cell: { chemistry: PEMFC, operating_mode: fc_only }',
    };
    const over = sourceOf([...cell, '-f', 'p.yaml', '--fuelcell_mode', 'bidirectional'], { files: profile }).fuelCell;
    expect(over).to.include({ operatingMode: 'bidirectional', ratedPowerW: 8000, ratedElPowerW: 8000 });
    expect(
      issueLines([...cell, '-f', 'p.yaml'], { files: profile, env: { DERBENCH_FUELCELL_FUEL: 'continuous' } }),
    ).to.deep.equal([`DERBENCH_FUELCELL_FUEL: given PEMFC fc_only continuous; ${four}`]);
  });
  it('a wrong combination in a profile is an issue of the profile', () => {
    expect(
      issueLines([...cell, '-f', 'p.yaml'], { files: { '/site/p.yaml': 'fuel_cell: { fuel: continuous }' } }),
    ).to.deep.equal([`p.yaml: fuel_cell: given PEMFC fc_only continuous; ${four}`]);
  });
});

describe('interface 12: hybrid settings', () => {
  const own = [
    'models: { "702": { WMaxRtg: 30000, VAMaxRtg: 30000, WChaRteMaxRtg: 9000 } }',
    'pv: { parallel: 7 }',
    'battery: { power_w: 5000, capacity_wh: 6000, soc_min_pct: 20, soc_max_pct: 80, chemistry: lfp }',
    'hybrid: { policy: pv_priority, pv_w: 20000, battery_w: 5500 }',
  ].join('\n');
  const all = [
    '--hybrid_pv_kw',
    '9',
    '--hybrid_batt_kw',
    '4',
    '--hybrid_batt_kwh',
    '11',
    '--hybrid_inverter_kva',
    '12',
    '--hybrid_soc_min_pct',
    '5',
    '--hybrid_soc_max_pct',
    '99',
    '--hybrid_dispatch',
    'manual',
  ];

  it('are 10 kW, 10 kW, 15 kWh, 15 kVA, 10 to 95 %, self_consumption by default', () => {
    const [device] = run(hybrid).devices;
    const source = partsOf(device);
    expect(source.hybrid).to.include({
      pvW: 10_000,
      batteryW: 10_000,
      batteryWh: 15_000,
      socMinPct: 10,
      socMaxPct: 95,
      policy: 'self_consumption',
    });
    expect(source.battery).to.include({ powerW: 10_000, capacityWh: 15_000, socMinPct: 10, socMaxPct: 95 });
    expect(device?.profile.models['702']).to.include({ WMaxRtg: 15_000, VAMaxRtg: 15_000, WChaRteMaxRtg: 15_000 });
  });
  it('stand over every block of a profile', () => {
    const files = { '/site/p.yaml': own };
    const source = sourceOf([...hybrid, '-f', 'p.yaml', ...all], { files });
    expect(source.hybrid).to.include({
      pvW: 9000,
      batteryW: 4000,
      batteryWh: 11_000,
      socMinPct: 5,
      socMaxPct: 99,
      policy: 'manual',
    });
    expect(source.battery).to.include({
      powerW: 4000,
      capacityWh: 11_000,
      socMinPct: 5,
      socMaxPct: 99,
      chemistry: 'lfp',
    });
    expect(source.pv!.series * source.pv!.parallel * 46.9 * 4.69).to.be.closeTo(9000, 1e-6);
    expect(run([...hybrid, '-f', 'p.yaml', ...all], { files }).devices[0]?.profile.models['702']).to.include({
      WMaxRtg: 12_000,
      VAMaxRtg: 12_000,
      WChaRteMaxRtg: 12_000,
    });
  });
  it('another inverter has none of the powers that the profile gave the old one', () => {
    const points =
      'WMax: 25000, VAMax: 26000, WChaRteMax: 8000, VarMaxInj: 9000, VarMaxAbs: 9000, VarMaxInjRtg: 13000, WOvrExtRtg: 29000, AMax: 50';
    const files = { '/site/p.yaml': `models: { "702": { WMaxRtg: 30000, ${points}, VNomRtg: 400, VMaxRtg: 460 } }` };
    const rated = (argv: readonly string[]) =>
      run([...hybrid, '-f', 'p.yaml', ...argv], { files }).devices[0]?.profile.models['702'];
    expect(rated(['--hybrid_inverter_kva', '12'])).to.deep.equal({
      WMaxRtg: 12_000,
      VAMaxRtg: 12_000,
      WChaRteMaxRtg: 12_000,
      // of the battery, which is the old one
      WDisChaRteMaxRtg: 10_000,
      VADisChaRteMaxRtg: 10_000,
      VNomRtg: 400,
      VMaxRtg: 460,
      NorOpCatRtg: 'CAT_B',
      AbnOpCatRtg: 'CAT_3',
    });
    expect(rated(['--hybrid_batt_kw', '12'])).to.include({ WMax: 25_000, VarMaxInjRtg: 13_000 });
  });
  it('leave a profile alone where they are not given', () => {
    const source = sourceOf([...hybrid, '-f', 'p.yaml'], { files: { '/site/p.yaml': own } });
    expect(source.hybrid).to.include({
      batteryW: 5000,
      batteryWh: 6000,
      socMinPct: 20,
      socMaxPct: 80,
      policy: 'pv_priority',
    });
    expect(source.pv?.parallel).to.equal(7);
  });
  it('a flag wins over the environment, that over the file', () => {
    const given = {
      ...yaml('hybrid_pv_kw: 1\nhybrid_batt_kw: 1\nhybrid_batt_kwh: 1\n'),
      env: { DERBENCH_HYBRID_BATT_KW: '2', DERBENCH_HYBRID_BATT_KWH: '2' },
    };
    const source = sourceOf([...hybrid, '--config', 'c.yaml', '--hybrid_batt_kwh', '3'], given);
    expect(source.hybrid).to.include({ pvW: 1000, batteryW: 2000, batteryWh: 3000 });
  });
  it('SoC limits in the wrong order are an issue of the flag, reported once', () => {
    expect(issueLines([...hybrid, '--hybrid_soc_min_pct', '96', '-N', '2'])).to.deep.equal([
      '--hybrid_soc_min_pct: given 96; allowed: below soc_max_pct, which is 95',
    ]);
    expect(issueLines([...hybrid, '--hybrid_soc_min_pct', '60', '--hybrid_soc_max_pct', '60'])).to.have.length(1);
    const lists = yaml(
      'devices: [{ device_type: HybridDC-3Phase }, { device_type: HybridDC-3Phase, profile: { hybrid: {} } }]',
    );
    expect(issueLines(['--config', 'c.yaml', '--hybrid_soc_min_pct', '96'], lists)).to.deep.equal([
      '--hybrid_soc_min_pct: given 96; allowed: below soc_max_pct, which is 95',
    ]);
  });
});

describe('interface 12: settings of kinds that are not there', () => {
  const cases: readonly (readonly [string[], string])[] = [
    [
      ['--hybrid_pv_kw', '5'],
      '--hybrid_pv_kw: given 5, but no hybrid is simulated; allowed: with device type HybridDC-3Phase',
    ],
    [
      ['--fuelcell_mode', 'fc_only'],
      '--fuelcell_mode: given "fc_only", but no fuel cell is simulated; allowed: with device type Fuelcell-3Phase',
    ],
    [
      ['--wind-time-scale', '2'],
      '--wind-time-scale: given 2, but no wind turbine is simulated; allowed: with device type Wind-T3-3Phase, Wind-T4-3Phase',
    ],
    [
      ['--vehicles', 'x.csv'],
      '--vehicles: given "/site/x.csv", but no EVSE is simulated; allowed: with device type EVSE',
    ],
    [
      ['-d', 'Batt', '-dc_p', 'x.csv'],
      '-dc_p: given "/site/x.csv", but no PV device or wind turbine or hybrid is simulated; allowed: with ' +
        'device type PV-3Phase, PV, PV-2Phase, PV-1Phase, Wind-T3-3Phase, Wind-T4-3Phase, HybridDC-3Phase',
    ],
  ];
  for (const [argv, line] of cases) {
    it(`${argv.join(' ')} is refused`, () =>
      expect(issueLines(argv, { files: { '/site/x.csv': '' } })).to.deep.equal([line]));
  }
  it('are ignored in a file and in the environment', () => {
    const text = 'hybrid_pv_kw: 5\nfuelcell_fuel: continuous\nwind_time_scale: 2\nvehicles: x.csv\n';
    const config = run(['--config', 'c.yaml'], {
      ...yaml(text, { '/site/x.csv': '' }),
      env: { DERBENCH_HYBRID_BATT_KW: '3' },
    });
    expect(config.devices[0]?.series).to.deep.equal({ dc: null, load: null, vehicles: null });
  });
  it('are fine when one device of the list is of the kind', () => {
    const text = 'devices: [{}, { device_type: HybridDC-3Phase }]';
    expect(run(['--config', 'c.yaml', '--hybrid_pv_kw', '5'], yaml(text)).devices).to.have.length(2);
  });
  it('say nothing while it is not known which kinds are meant', () => {
    expect(issueLines(['-d', 'Hybrid', '--hybrid_pv_kw', '5']).map((line) => line.split(':')[0])).to.deep.equal(['-d']);
    expect(
      issueLines(['--config', 'c.yaml', '--hybrid_pv_kw', '5'], yaml('devices: [{ device_type: X }]')),
    ).to.have.length(1);
  });
});

describe('interface 12: wind settings', () => {
  it('the height of the anemometer stands over the profile', () => {
    const files = { '/site/p.yaml': 'wind: { anemometer_height_m: 20 }' };
    const height = (argv: readonly string[]) =>
      sourceOf(['-d', 'Wind-T4-3Phase', ...argv], { files }).wind?.anemometerHeightM;
    expect([
      height([]),
      height(['-f', 'p.yaml']),
      height(['-f', 'p.yaml', '--wind_anemometer_height_m', '7']),
    ]).to.deep.equal([5, 20, 7]);
  });
  it('a type III turbine refuses the profile of a type IV one', () => {
    expect(issueLines(['-d', 'Wind-T3-3Phase', '-f', 'Wind-100kW-T4-3Phase'])).to.deep.equal([
      '-f: given "Wind-100kW-T4-3Phase", in which wind.turbine: given farm-100kw, which is of type T4; allowed: nrel-5mw',
    ]);
  });
});
