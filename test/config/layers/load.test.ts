import { expect } from 'chai';
import { errorOf, issueLines, pvOf, run } from '../support.ts';
import { formatIssues, refused } from '../../../src/config/issues/issues.ts';
import { bundledProfileNames } from '../../../src/config/profile/bundled.ts';
import { settingKeys, variableOf } from '../../../src/config/settings/settings.ts';

const yaml = (text: string) => ({ files: { '/site/c.yaml': text } });

describe('interface 12.1: precedence', () => {
  const env = { DERBENCH_SEED: '3', DERBENCH_CONFIG: 'c.yaml' };
  const { files } = yaml('seed: 2\n');

  it('default, then file, then environment, then flag', () => {
    expect(run([]).seed).to.equal(1);
    expect(run(['--config', 'c.yaml'], { files }).seed).to.equal(2);
    expect(run([], { files, env }).seed).to.equal(3);
    expect(run(['--seed', '4'], { files, env }).seed).to.equal(4);
  });
  it('takes the falsy values of a higher layer', () => {
    const off = run(['-mb', 'no', '-p', '0'], yaml('{}'));
    expect([off.modbus.enabled, off.modbus.port]).to.deep.equal([false, 0]);
    expect(
      run(['--config', 'c.yaml'], { ...yaml('mb_enable: true\n'), env: { DERBENCH_MB_ENABLE: '0' } }).modbus.enabled,
    ).to.equal(false);
  });
  it('replaces a list as a whole', () => {
    expect(
      run(['--config', 'c.yaml', '--allowed_host', 'b'], yaml('allowed_host: [a, c]\n')).web.allowedHosts,
    ).to.deep.equal(['b']);
  });
  it('reports a wrong value although a higher layer covers it', () => {
    expect(issueLines(['--seed', '4'], { env: { DERBENCH_SEED: 'x' } })).to.deep.equal([
      'DERBENCH_SEED: given "x"; allowed: a whole number from 0 to 4294967295',
    ]);
  });
  it('leaves process.env and process.argv alone', () => {
    process.env['DERBENCH_SEED'] = '99';
    try {
      expect(run([]).seed).to.equal(1);
    } finally {
      delete process.env['DERBENCH_SEED'];
    }
  });
});

describe('environment', () => {
  it('refuses an unknown variable and names the nearest', () => {
    expect(issueLines([], { env: { DERBENCH_TICKS: '1' } })).to.deep.equal([
      'DERBENCH_TICKS: unknown environment variable; nearest known: DERBENCH_TICK',
    ]);
  });
  it('ignores the variables of commands and of the Python client', () => {
    const env = { DERBENCH_URL: 'http://127.0.0.1:1', DERBENCH_COMMAND: 'derbench' };
    expect(run([], { env }).ignoredVariables).to.deep.equal([]);
  });
  it('refuses an empty variable, and ignores those of others', () => {
    expect(issueLines([], { env: { DERBENCH_TICK: '', TICK: 'x', DERBENCH_SEED: undefined } })).to.deep.equal([
      'DERBENCH_TICK: given ""; allowed: a number from 0.1 to 60',
    ]);
  });
  it('ignores the variables of a Kubernetes Service whose name begins with derbench, and no other', () => {
    const env = {
      DERBENCH_SERVICE_HOST: '10.96.0.12',
      DERBENCH_SERVICE_PORT: '8111',
      DERBENCH_SERVICE_PORT_HTTP_API: '8111',
      DERBENCH_PORT: 'tcp://10.96.0.12:8111',
      DERBENCH_PORT_8111_TCP: 'tcp://10.96.0.12:8111',
      DERBENCH_PORT_8111_TCP_PROTO: 'tcp',
      DERBENCH_PORT_8111_TCP_PORT: '8111',
      DERBENCH_PORT_8111_TCP_ADDR: '10.96.0.12',
      // a service named derbench-mb
      DERBENCH_MB_PORT: 'tcp://10.96.0.13:502',
      DERBENCH_DNP_PORT_20000_UDP_ADDR: '10.96.0.14',
    };
    const { ignoredVariables, modbus } = run([], { env });
    expect(ignoredVariables).to.deep.equal(Object.keys(env));
    expect(modbus.port).to.equal(run([]).modbus.port);
    expect(run([], { env: { DERBENCH_MB_PORT: '1502' } }).modbus.port).to.equal(1502);
    for (const name of ['DERBENCH_PORT', 'DERBENCH_SERVICE', 'DERBENCH_PORT_8111', 'DERBENCH_SERVICE_HOSTS'])
      expect(issueLines([], { env: { [name]: '8111' } })[0], name).to.match(/unknown environment variable/);
    expect(issueLines([], { env: { DERBENCH_MB_PORT: 'http://10.96.0.13:502' } })).to.have.length(1);
  });
  it('has no setting with the name of a variable of a Service named derbench', () => {
    const taken = settingKeys.map(variableOf).filter((name) => /^DERBENCH_(?:PORT(?:_\d+_.*)?|SERVICE_.*)$/.test(name));
    expect(taken).to.deep.equal([]);
  });
});

describe('interface 12: defaults', () => {
  it('are those of the interface', () => {
    const { devices, deviceOf, settings, ...rest } = run([]);
    expect(deviceOf).to.be.a('function');
    expect(settings.values.tick).to.equal(1.5);
    expect(rest).to.deep.equal({
      ignoredVariables: [],
      configPath: null,
      scenarioPath: null,
      stateDir: null,
      settingsLocked: false,
      web: {
        host: '127.0.0.1',
        port: 8111,
        corsOrigins: [],
        allowedHosts: [],
        maxConnections: 1024,
        maxStreamClients: 1024,
      },
      clock: {
        followsWall: false,
        timezone: 'UTC',
        startTime: '12:00:00',
        startDate: '2026-06-21',
        rate: 1,
        startsPaused: false,
      },
      remoteClock: 'wall',
      tickS: 1.5,
      seed: 1,
      deviceSpreadPct: 1,
      firstDevice: 0,
      fleet: null,
      grid: { nominalFrequencyHz: 60, profilePath: null, feeder: null },
      seriesEnd: 'loop',
      windTimeScale: 1,
      irradianceSource: 'csv',
      clouds: 'scattered',
      modbus: {
        enabled: true,
        host: '127.0.0.1',
        port: 8502,
        sharedPort: false,
        maxConnections: 1024,
        idleTimeoutS: 3600,
        frameTimeoutS: 30,
        tls: null,
        framing: 'tcp',
        advertisedHost: null,
        countsFrom: 0,
        foreignUnit: null,
      },
      proxy: null,
      meter: null,
      rtu: null,
      clientPty: false,
      csip: null,
      ocpp: null,
      dnp3: null,
      chargePointId: 'SIM-CP-1',
      simModels: false,
      faults: [],
      historySamples: 10_000,
      captures: 50,
      stateHistory: null,
      log: { level: 'info', format: 'text' },
      findings: { enabled: true, reports: [], failOn: 'never', block: {} },
      unused: [],
      notices: [],
      startSettings: [],
    });
    expect(run(['--clouds', 'clear']).unused).to.deep.equal([
      'clouds is clear and has no effect until irradiance_source, now csv, is clear_sky',
    ]);
    expect(run(['--clouds', 'clear', '--irradiance_source', 'clear_sky']).unused).to.deep.equal([]);
    expect(run(['--map_float', 'yes']).unused).to.deep.equal([
      'map_float is given and has no effect: no device has map_layout classic or both, and there is no meter',
    ]);
    expect(run(['--map_float', 'yes', '--map_layout', 'both']).unused).to.deep.equal([]);
    expect(devices).to.have.length(1);
    expect(devices[0]).to.include({
      deviceType: 'PV-3Phase',
      assetType: 'pv',
      name: 'PV-3Phase 0',
      phases: 'three',
      profileName: null,
    });
    expect(devices[0]?.profile.models['702']).to.deep.equal({
      WMaxRtg: 10000,
      VAMaxRtg: 10000,
      VNomRtg: 480,
      NorOpCatRtg: 'CAT_B',
      AbnOpCatRtg: 'CAT_3',
    });
    expect(devices[0]?.series).to.deep.equal({ dc: null, load: null, vehicles: null });
    expect(pvOf(devices[0])).to.include({ module: 'CS5P-220M', series: 13, parallel: 4 });
  });
});

describe('the wall clock', () => {
  it('excludes a rate, a start and a paused start, each named together with it', () => {
    expect(issueLines(['-wc', 'yes', '--time_rate', '60'])).to.deep.equal([
      '--time_rate: given 60 together with -wc yes; allowed: one of the two',
    ]);
    const argv = [
      '--start_clock_time',
      '06:00:00',
      '--start_date',
      '2026-01-01',
      '--start_paused',
      'yes',
      '--config',
      'c.yaml',
    ];
    expect(issueLines(argv, { ...yaml('wall_clock: true\n'), env: { DERBENCH_TIME_RATE: '0.5' } })).to.deep.equal([
      'DERBENCH_TIME_RATE: given 0.5 together with c.yaml: wall_clock yes; allowed: one of the two',
      '--start_clock_time: given 06:00:00 together with c.yaml: wall_clock yes; allowed: one of the two',
      '--start_date: given 2026-01-01 together with c.yaml: wall_clock yes; allowed: one of the two',
      '--start_paused: given yes together with c.yaml: wall_clock yes; allowed: one of the two',
    ]);
  });
  it('goes with the defaults, also when they are written out', () => {
    const argv = [
      '-wc',
      'yes',
      '--time_rate',
      '1',
      '--start_clock_time',
      '12:00:00',
      '--start_date',
      '2026-06-21',
      '--start_paused',
      'no',
    ];
    expect(run(argv).clock).to.include({ followsWall: true, rate: 1, startsPaused: false });
  });
  it('is off for a paused start', () => {
    expect(run(['--start_paused', 'yes']).clock).to.include({ followsWall: false, startsPaused: true });
  });
});

describe('devices', () => {
  for (const [type, phases, ratedW, volts, ratedVa = ratedW] of [
    ['PV-3Phase', 'three', 10000, 480],
    ['PV', 'three', 10000, 480],
    ['PV-2Phase', 'split', 10000, 240],
    ['PV-1Phase', 'single', 5000, 240],
    ['Batt-3Phase', 'three', 10000, 480],
    ['Batt', 'three', 10000, 480],
    ['Batt-2Phase', 'split', 10000, 240],
    ['Batt-1Phase', 'single', 5000, 240],
    ['Fuelcell-3Phase', 'three', 5000, 480],
    ['HybridDC-3Phase', 'three', 15000, 480],
    ['EVSE', 'three', 22_000, 400, 22_300],
  ] as const satisfies [string, string, number, number, number?][]) {
    it(`${type} keeps its name and has the bundled profile of its type`, () => {
      const [device] = run(['-d', type]).devices;
      expect(device).to.include({ deviceType: type, phases, profileName: null });
      expect(device?.profile.models['702']).to.include({ WMaxRtg: ratedW, VAMaxRtg: ratedVa, VNomRtg: volts });
    });
  }

  it('made by -N share one profile object', () => {
    const { devices } = run(['-N', '10000', '-mb', 'no', '--first_device', '5']);
    expect(devices).to.have.length(10000);
    expect(new Set(devices.map((device) => device.profile)).size).to.equal(1);
    expect([devices[0]?.name, devices[9999]?.name]).to.deep.equal(['PV-3Phase 5', 'PV-3Phase 10004']);
  });

  for (const reference of ['500kW-3Phase', '500kW-3Phase.yaml', '500kW-3Phase.json']) {
    it(`-f ${reference} is the bundled profile, named without extension`, () => {
      const [device] = run(['-f', reference]).devices;
      expect(device?.profileName).to.equal('500kW-3Phase');
      expect(device?.profile.models['702']).to.include({ WMaxRtg: 500000 });
    });
  }

  it('-f takes a path from the working directory, also beside a bundled name', () => {
    const files = { '/site/own/5kW-1Phase.yaml': 'models: { "702": { WMaxRtg: 7000 } }' };
    const [device] = run(['-d', 'PV-1Phase', '-f', 'own/5kW-1Phase.yaml'], { files }).devices;
    expect(device?.profileName).to.equal('5kW-1Phase');
    expect(device?.profile.models['702']).to.include({ WMaxRtg: 7000, VAMaxRtg: 7000, VNomRtg: 240 });
  });
  it('-f that leads nowhere lists the bundled profiles', () => {
    const [issue] = errorOf(['-f', 'nothing', '-N', '3']).issues;
    expect(issue?.name).to.equal('-f');
    expect(issue?.allowed).to.deep.equal(bundledProfileNames);
  });

  const mixed = {
    '/site/conf/c.yaml': [
      'device_type: PV-2Phase',
      'grid: { nominal_frequency_hz: 50, profile: ../grid.csv }',
      'devices:',
      '  - { device_type: PV, name: Roof, profile: roof.json }',
      '  - { profile: roof.json }',
      '  - { device_type: PV-3Phase, profile: ../conf/roof.json }',
      '  - { device_type: PV-1Phase, profile: { pv: { series: 10 } } }',
      '  - {}',
    ].join('\n'),
    '/site/conf/roof.json': '{ "models": { "702": { "VAMaxRtg": 20000 }, "704": { "WMaxLimPct": 50 } } }',
    '/site/grid.csv': '',
  };

  it('of the list, with paths from the directory of the file', () => {
    const config = run(['--config', 'conf/c.yaml'], { files: mixed });
    expect(config.grid).to.deep.equal({ nominalFrequencyHz: 50, profilePath: '/site/grid.csv', feeder: null });
    expect(
      config.devices.map(({ deviceType, name, phases, profileName }) => [deviceType, name, phases, profileName]),
    ).to.deep.equal([
      ['PV', 'Roof', 'three', 'roof'],
      ['PV-2Phase', 'PV-2Phase 1', 'split', 'roof'],
      ['PV-3Phase', 'PV-3Phase 2', 'three', 'roof'],
      ['PV-1Phase', 'PV-1Phase 3', 'single', null],
      ['PV-2Phase', 'PV-2Phase 4', 'split', null],
    ]);
    const [roof, split, same, inline] = config.devices;
    expect(roof?.profile).to.equal(same?.profile);
    expect(roof?.profile.models).to.deep.equal({
      702: { WMaxRtg: 20000, VAMaxRtg: 20000, VNomRtg: 480, NorOpCatRtg: 'CAT_B', AbnOpCatRtg: 'CAT_3' },
      704: { WMaxLimPct: 50 },
    });
    expect(split?.profile.models['702']).to.include({ VNomRtg: 240 });
    expect(pvOf(inline).series).to.equal(10);
  });
  it('of the list take type and profile from the flags where they give none', () => {
    const { devices } = run(['--config', 'conf/c.yaml', '-d', 'PV', '-f', '500kW-3Phase'], { files: mixed });
    expect(devices[4]).to.include({ deviceType: 'PV', profileName: '500kW-3Phase' });
    expect(devices[0]).to.include({ deviceType: 'PV', profileName: 'roof' });
  });
  it('of the list must agree with -N', () => {
    expect(run(['--config', 'conf/c.yaml', '-N', '5'], { files: mixed }).devices).to.have.length(5);
    expect(issueLines(['--config', 'conf/c.yaml', '-N', '1'], { files: mixed })).to.deep.equal([
      '-N: given 1; allowed: 5, the number of devices listed in c.yaml, or nothing',
    ]);
  });
  it('a feeder is stiff until it has a short-circuit ratio', () => {
    const feeder = (text: string) =>
      run(['--config', 'c.yaml'], { files: { '/site/c.yaml': `grid: { feeder: ${text} }` } }).grid.feeder;
    expect(feeder('{}')).to.equal(null);
    expect(feeder('{ short_circuit_ratio: null, x_over_r: 3 }')).to.equal(null);
    expect(feeder('{ short_circuit_ratio: 20 }')).to.deep.equal({ scr: 20, xOverR: 1 });
    expect(feeder('{ short_circuit_ratio: 1, x_over_r: 0 }')).to.deep.equal({ scr: 1, xOverR: 0 });
  });
  it('a flag wins over the grid block', () => {
    const files = { ...mixed, '/site/other.csv': '' };
    expect(run(['--config', 'conf/c.yaml', '--grid_profile', 'other.csv'], { files }).grid.profilePath).to.equal(
      '/site/other.csv',
    );
  });

  it('must fit the ports and unit ids', () => {
    expect(run(['-N', '247', '--mb_shared_port', 'yes']).devices).to.have.length(247);
    expect(issueLines(['-N', '248', '--mb_shared_port', 'yes'])).to.deep.equal([
      '--mb_shared_port: given yes with 248 devices; allowed: up to 247 devices on one port',
    ]);
    expect(issueLines(['-N', '2', '-p', '65535'])[0]).to.match(
      /^-p: given 65535, so that the last device would be on port 65536;/,
    );
    expect(run(['-N', '10000', '-p', '0']).devices).to.have.length(10000);
  });

  it('lie where the clock has its noon unless the profile says where', () => {
    const longitude = (argv: string[]) => pvOf(run(argv).devices[0]).longitudeDeg;
    expect(longitude([])).to.equal(0);
    expect(longitude(['-wc_tz', 'America/Los_Angeles'])).to.equal(-105);
    expect(longitude(['-wc_tz', 'Asia/Kolkata'])).to.equal(82.5);
    expect(longitude(['-wc_tz', 'Pacific/Kiritimati'])).to.equal(-150);
  });
});

describe('reliability C4: all issues at once', () => {
  const argv = ['--config', 'c.yaml', '-wp', '70000', '--tik', '2', '-f', 'nothing.yaml', 'stray', '-N'];
  const given = {
    env: { DERBENCH_SEEDS: '1', DERBENCH_LOG_LEVEL: 'loud' },
    files: {
      '/site/c.yaml':
        'tickk: 1\ntick: 99\ngrid: { noise: true }\ndevices: [{ profile: none.yaml }, { profile: bad.yaml }, { device_type: X }, {}]\n',
      '/site/bad.yaml': 'pv: { series: -1 }\n',
    },
  };

  it('names flags, environment, file, ranges and profiles in one error', () => {
    expect(errorOf(argv, given).issues.map((issue) => issue.name)).to.have.members([
      '-wp',
      '--tik',
      '"stray"',
      '-N',
      '-f',
      'DERBENCH_SEEDS',
      'DERBENCH_LOG_LEVEL',
      'c.yaml: tickk',
      'c.yaml: tick',
      'c.yaml: grid.noise',
      'c.yaml: devices[0].profile',
      'bad.yaml: pv.series',
      'c.yaml: devices[2].device_type',
    ]);
  });
  it('prints one line for each', () => {
    const error = errorOf(argv, given);
    const lines = formatIssues(error).split('\n');
    expect(lines).to.have.length(error.issues.length + 1);
    expect(lines[0]).to.equal('The configuration is not valid, 13 issues:');
    expect(lines).to.include('  -wp: given "70000"; allowed: a whole number from 0 to 65535');
  });
  it('prints no control characters and cuts long values', () => {
    const text = formatIssues(errorOf([`--tick=\u001b[31m\n${'9'.repeat(500)}`, '-\u009b']));
    expect(text).to.not.match(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(text.split('\n')).to.have.length(3);
    expect(text.length).to.be.below(400);
  });
});

describe('reliability K3: secrets', () => {
  it('are not repeated in an issue', () => {
    expect(refused('--password', 'S3CR3T-marker', 'a long one', { secret: true }).detail).to.equal(
      'given a secret value; allowed: a long one',
    );
  });
});
