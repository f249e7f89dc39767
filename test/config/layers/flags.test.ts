import { expect } from 'chai';
import { knownSpellings } from '../../../src/config/layers/flags.ts';
import { helpText } from '../../../src/config/layers/help.ts';
import { loadConfig } from '../../../src/config/layers/load.ts';
import { settingKeys, settingOf, variableOf } from '../../../src/config/settings/settings.ts';
import { dealt } from '../../support/choice.ts';
import { pick } from '../../support/depth.ts';
import { testPki } from '../../support/pki.ts';
import { partsOf, run } from '../support.ts';
import { csipCompanions, csipFiles, csipPlaces, csipSamples } from './csip-samples.ts';
import { dnp3Companions, dnp3Files, dnp3Places, dnp3Samples } from './dnp3-samples.ts';
import { fleetCompanions, fleetFiles, fleetPlaces, fleetSamples } from './fleet-samples.ts';
import { ocppCompanions, ocppFiles, ocppPlaces, ocppSamples } from './ocpp-samples.ts';

const [wind, fuelCell, hybrid, evse] = ['Wind-T4-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase', 'EVSE'];

/** A text for each setting that is accepted and is not its default, and the type of device that shows it. */
const samples: Readonly<Record<string, readonly [text: string, value: unknown, deviceType?: string]>> = {
  device_type: ['PV-1Phase', 'PV-1Phase'],
  N: ['3', 3],
  f: ['5kW-1Phase', '5kW-1Phase'],
  evse_profile: ['EVSE-AC-7.4kW-2port', 'EVSE-AC-7.4kW-2port', evse],
  website_ip: ['0.0.0.0', '0.0.0.0'],
  website_port: ['0', 0],
  wall_clock: ['yes', true],
  wall_clock_timezone: ['Europe/Berlin', 'Europe/Berlin'],
  start_clock_time: ['06:30:00', '06:30:00'],
  start_date: ['2028-02-29', '2028-02-29'],
  dc_profile: ['sun.csv', '/site/sun.csv'],
  irradiance_source: ['clear_sky', 'clear_sky'],
  clouds: ['broken', 'broken'],
  load_profile: ['load.csv', '/site/load.csv'],
  vehicles: ['cars.csv', '/site/cars.csv', evse],
  series_end: ['hold', 'hold'],
  wind_time_scale: ['60', 60, wind],
  wind_anemometer_height_m: ['10', 10, wind],
  map_layout: ['both', 'both'],
  map_float: ['yes', true],
  fuelcell_chemistry: ['SOFC', 'SOFC', fuelCell],
  fuelcell_mode: ['bidirectional', 'bidirectional', fuelCell],
  fuelcell_fuel: ['continuous', 'continuous', fuelCell],
  hybrid_pv_kw: ['12.5', 12_500, hybrid],
  hybrid_batt_kw: ['8', 8000, hybrid],
  hybrid_batt_kwh: ['20', 20_000, hybrid],
  hybrid_inverter_kva: ['20', 20_000, hybrid],
  hybrid_soc_min_pct: ['20', 20, hybrid],
  hybrid_soc_max_pct: ['80', 80, hybrid],
  hybrid_dispatch: ['manual', 'manual', hybrid],
  grid_profile: ['grid.csv', '/site/grid.csv'],
  start_paused: ['yes', true],
  time_rate: ['60', 60],
  remote_clock: ['simulated', 'simulated'],
  tick: ['.5', 0.5],
  seed: ['42', 42],
  device_spread_pct: ['2.5', 2.5],
  first_device: ['100', 100],
  mb_enable: ['no', false],
  mb_host: ['::1', '::1'],
  mb_port: ['1502', 1502],
  mb_shared_port: ['on', true],
  sim_models: ['yes', true],
  mb_framing: ['rtu_over_tcp', 'rtu_over_tcp'],
  mb_foreign_unit: ['gateway', 'gateway'],
  meter_unit: ['240', 240],
  meter_port: ['8600', 8600],
  mb_enc: ['yes', true],
  mb_cert: ['server.pem', '/site/server.pem'],
  mb_key: ['server.key', '/site/server.key'],
  mb_root_cert: ['ca.pem', '/site/ca.pem'],
  mb_ciphers: ['ECDHE-ECDSA-AES128-CCM8', 'ECDHE-ECDSA-AES128-CCM8'],
  mb_tls_version: ['1.3', '1.3'],
  rtu_enable: ['yes', true, 'PV-3Phase'],
  rtu_port: ['COM10', 'COM10', 'PV-3Phase'],
  rtu_baud: ['115200', 115_200, 'PV-3Phase'],
  rtu_parity: ['e', 'even', 'PV-3Phase'],
  rtu_stopbits: ['2', 2, 'PV-3Phase'],
  proxy: ['string-inverter-basic.json', 'string-inverter-basic'],
  proxy_host: ['::1', '::1', 'PV-3Phase'],
  proxy_port: ['1503', 1503, 'PV-3Phase'],
  client_pty: ['yes', true],
  ...csipSamples,
  ...ocppSamples,
  faults: ['slow-answers,no-fc6', ['slow-answers', 'no-fc6']],
  config: ['site.yaml', '/site/site.yaml'],
  scenario: ['storm.yaml', '/site/storm.yaml'],
  state_dir: ['/site/state', '/site/state'],
  history_samples: ['500', 500],
  captures: ['7', 7],
  findings_enable: ['no', false],
  findings_report: ['/site/a.html,/site/b.XML', ['/site/a.html', '/site/b.XML']],
  findings_fail_on: ['risk', 'risk'],
  settings_locked: ['yes', true],
  state_history: ['yes', true],
  state_history_hours: ['48', 48],
  log_level: ['debug', 'debug'],
  log_format: ['json', 'json'],
  cors_origin: ['http://localhost:3000', ['http://localhost:3000']],
  allowed_host: ['Lab.Example', ['lab.example']],
  mb_max_connections: ['4096', 4096],
  mb_idle_timeout_s: ['0', 0],
  mb_frame_timeout_s: ['5', 5],
  ws_max_clients: ['10', 10],
  http_max_connections: ['20', 20],
  ...dnp3Samples,
  ...fleetSamples,
};

/** A single word of these makes a plant that does not exist, or shows nowhere: the others that go with it. */
const companions: Readonly<Record<string, readonly string[]>> = {
  fuelcell_chemistry: ['--fuelcell_fuel', 'continuous'],
  fuelcell_fuel: ['--fuelcell_chemistry', 'SOFC'],
  rtu_enable: ['--rtu_port', '/dev/ttyS9'],
  rtu_port: ['-rtu', 'yes'],
  rtu_baud: ['-rtu', 'yes', '--rtu_port', '/dev/ttyS9'],
  rtu_parity: ['-rtu', 'yes', '--rtu_port', '/dev/ttyS9'],
  rtu_stopbits: ['-rtu', 'yes', '--rtu_port', '/dev/ttyS9'],
  state_history: ['--state_dir', 'lab'],
  state_history_hours: ['--state_dir', 'lab', '--state_history', 'yes'],
  proxy_host: ['--proxy', 'string-inverter-basic'],
  proxy_port: ['--proxy', 'string-inverter-basic'],
  ...tlsCompanions(),
  ...csipCompanions,
  ...ocppCompanions,
  ...dnp3Companions,
  ...fleetCompanions,
};

/** TLS of Modbus as a whole, but for one of its settings. */
function tlsCompanions(): Record<string, readonly string[]> {
  const whole = {
    mb_enc: ['-e', 'yes'],
    mb_cert: ['-mbc', 'server.pem'],
    mb_key: ['-mbk', 'server.key'],
    mb_root_cert: ['-mbr', 'ca.pem'],
  };
  const without = (key: string) => Object.entries(whole).flatMap(([each, words]) => (each === key ? [] : words));
  return Object.fromEntries([...Object.keys(whole), 'mb_ciphers', 'mb_tls_version'].map((key) => [key, without(key)]));
}

const files: Record<string, string> = {
  '/site/sun.csv': '',
  '/site/load.csv': '',
  '/site/cars.csv': '',
  '/site/grid.csv': '',
  '/site/site.yaml': '{}',
};

/** The part of a configuration that a setting shows in. */
// eslint-disable-next-line complexity -- a table of members
function shownBy(key: string, config: ReturnType<typeof run>): unknown {
  const device = config.devices[0];
  const source = partsOf(device);
  const places: Readonly<Record<string, unknown>> = {
    device_type: device?.deviceType,
    N: config.devices.length,
    f: device?.profileName,
    website_ip: config.web.host,
    website_port: config.web.port,
    wall_clock: config.clock.followsWall,
    wall_clock_timezone: config.clock.timezone,
    start_clock_time: config.clock.startTime,
    start_date: config.clock.startDate,
    evse_profile: device?.profileName,
    load_profile: device?.series.load,
    vehicles: device?.series.vehicles,
    series_end: config.seriesEnd,
    wind_time_scale: config.windTimeScale,
    wind_anemometer_height_m: source.wind?.anemometerHeightM,
    map_layout: config.devices[0]?.profile.map.layout,
    map_float: config.devices[0]?.profile.map.float,
    fuelcell_chemistry: source.fuelCell?.chemistry,
    fuelcell_mode: source.fuelCell?.operatingMode,
    fuelcell_fuel: source.fuelCell?.fuel,
    hybrid_pv_kw: source.hybrid?.pvW,
    hybrid_batt_kw: source.battery?.powerW,
    hybrid_batt_kwh: source.battery?.capacityWh,
    hybrid_inverter_kva: device?.profile.models['702']?.['VAMaxRtg'],
    hybrid_soc_min_pct: source.battery?.socMinPct,
    hybrid_soc_max_pct: source.battery?.socMaxPct,
    hybrid_dispatch: source.hybrid?.policy,
    dc_profile: device?.series.dc,
    irradiance_source: config.irradianceSource,
    clouds: config.clouds,
    grid_profile: config.grid.profilePath,
    start_paused: config.clock.startsPaused,
    time_rate: config.clock.rate,
    remote_clock: config.remoteClock,
    tick: config.tickS,
    seed: config.seed,
    device_spread_pct: config.deviceSpreadPct,
    first_device: config.firstDevice,
    mb_enable: config.modbus.enabled,
    mb_host: config.modbus.host,
    mb_port: config.modbus.port,
    mb_shared_port: config.modbus.sharedPort,
    config: config.configPath,
    scenario: config.scenarioPath,
    client_pty: config.clientPty,
    ...csipPlaces(config),
    ...ocppPlaces(config),
    ...dnp3Places(config),
    ...fleetPlaces(config),
    sim_models: config.simModels,
    mb_framing: config.modbus.framing,
    mb_foreign_unit: config.modbus.foreignUnit,
    meter_unit: config.meter?.unitId,
    meter_port: config.meter?.port,
    rtu_enable: config.rtu !== null,
    rtu_port: config.rtu?.port,
    mb_enc: config.modbus.tls !== null,
    mb_cert: config.modbus.tls?.files.cert,
    mb_key: config.modbus.tls?.files.key,
    mb_root_cert: config.modbus.tls?.files.rootCert,
    mb_ciphers: config.modbus.tls?.ciphers,
    mb_tls_version: config.modbus.tls?.minVersion,
    rtu_baud: config.rtu?.baud,
    rtu_parity: config.rtu?.parity,
    rtu_stopbits: config.rtu?.stopBits,
    proxy: config.proxy?.mapLabel,
    proxy_host: config.proxy?.host,
    proxy_port: config.proxy?.port,
    faults: config.faults.map(({ profile }) => profile),
    state_dir: config.stateDir,
    history_samples: config.historySamples,
    captures: config.captures,
    findings_enable: config.findings.enabled,
    findings_report: config.findings.reports,
    findings_fail_on: config.findings.failOn,
    settings_locked: config.settingsLocked,
    state_history: config.stateHistory !== null,
    state_history_hours: config.stateHistory?.hours,
    log_level: config.log.level,
    log_format: config.log.format,
    cors_origin: config.web.corsOrigins,
    allowed_host: config.web.allowedHosts,
    mb_max_connections: config.modbus.maxConnections,
    mb_idle_timeout_s: config.modbus.idleTimeoutS,
    mb_frame_timeout_s: config.modbus.frameTimeoutS,
    ws_max_clients: config.web.maxStreamClients,
    http_max_connections: config.web.maxConnections,
  };
  if (!(key in places)) throw new Error(`${key} shows nowhere`);
  return places[key];
}

const defaults = new Map<string | undefined, ReturnType<typeof run>>();

/** The configuration of a device type without other flags, loaded once. */
function defaultOf(type: string | undefined): ReturnType<typeof run> {
  const config = defaults.get(type) ?? run(type === undefined ? [] : ['-d', type]);
  defaults.set(type, config);
  return config;
}

describe('command line', () => {
  before(async () => {
    const { server, ca } = await testPki();
    Object.assign(files, { '/site/server.pem': server.cert, '/site/server.key': server.key, '/site/ca.pem': ca.cert });
    Object.assign(files, await csipFiles(), ocppFiles, dnp3Files, fleetFiles);
  });

  it('has a sample for every setting', () => {
    expect(Object.keys(samples)).to.have.members([...settingKeys]);
  });

  let spellings = 0;
  for (const key of settingKeys) {
    const [text, value, type] = samples[key]!;
    const others = [...(type === undefined ? [] : ['-d', type]), ...(companions[key] ?? [])];
    for (const spelling of settingOf(key).flags ?? []) {
      const variants = new Set([spelling, spelling.replaceAll('_', '-')]);
      for (const variant of variants) {
        const forms = [[variant, text], [`${variant}=${text}`]];
        const tried = pick({ quick: dealt(forms, 2, (spellings += 1)), ci: forms });
        it(`takes ${variant} with the value as next word or behind =`, () => {
          for (const words of tried)
            expect(shownBy(key, run([...others, ...words], { files })), words.join(' ')).to.deep.equal(value);
        });
      }
    }
    it(`takes ${variableOf(key)}`, () => {
      expect(shownBy(key, run(others, { files, env: { [variableOf(key)]: text } }))).to.deep.equal(value);
    });
    it(`does not hold the sample of ${key} by default`, () => {
      expect(shownBy(key, defaultOf(type))).to.not.deep.equal(value);
    });
  }

  it('knows no spelling twice', () => {
    expect(new Set(knownSpellings).size).to.equal(knownSpellings.length);
  });

  for (const [words, value] of [
    [['yes', 'true', '1', 'on', 'YES'], true],
    [['no', 'false', '0', 'off', 'Off'], false],
  ] as const) {
    for (const word of words) {
      it(`reads the switch word ${word} as ${value}`, () => {
        expect(run(['-mb', word, '-wc', word]).modbus.enabled).to.equal(value);
        expect(run(['-mb', word, '-wc', word]).clock.followsWall).to.equal(value);
      });
    }
  }

  it('joins repeated list flags and comma lists, without doubles', () => {
    const { web } = run(['--allowed_host', 'a,b', '--allowed-host=c', '--allowed_host', 'A']);
    expect(web.allowedHosts).to.deep.equal(['a', 'b', 'c']);
  });

  it('joins repeated flags with semicolons, where the values may contain commas', () => {
    const key = 'dnp3_allowed_peers';
    const words = [...(companions[key] ?? []), '--dnp3_allowed_peers', 'CN=a,O=b@4', '--dnp3-allowed-peers=c'];
    expect(shownBy(key, run(words, { files }))).to.deep.equal(samples[key]?.[1]);
  });

  it('keeps words that look like numbers or quotes as they are', () => {
    const odd = { '/site/007.yaml': '{}', '/site/"q".yaml': '{}', '/site/=.csv': '' };
    expect(run(['-f', './007.yaml'], { files: odd }).devices[0]?.profileName).to.equal('007');
    expect(run(['-f', '"q".yaml'], { files: odd }).devices[0]?.profileName).to.equal('"q"');
    expect(run(['--grid_profile==.csv'], { files: odd }).grid.profilePath).to.equal('/site/=.csv');
  });

  describe('help and version', () => {
    it('answers help whatever else is given', () => {
      for (const argv of [['-h'], ['--help'], ['--nonsense', '-h'], ['-N', '-h']]) {
        expect(loadConfig(argv, {})).to.deep.equal({ kind: 'help', text: helpText() });
      }
    });
    it('answers the version', () => {
      const result = loadConfig(['--version'], {});
      expect(result.kind).to.equal('version');
      expect(result.kind === 'version' && result.text).to.match(/^derbench \d+\.\d+\.\d+/);
    });
  });
});
