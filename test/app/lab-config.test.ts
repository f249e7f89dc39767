/** `GET config`: a file from which the same lab starts. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { createApp } from '../../src/app/build.ts';
import type { App } from '../../src/app/start-stop.ts';
import { configOfOptions, loadConfig } from '../../src/config/layers/load.ts';
import { systemIo } from '../../src/config/layers/files.ts';
import {
  bundledEvseProfileNames,
  bundledExampleNames,
  bundledProfileNames,
  bundledProfilePath,
} from '../../src/config/profile/bundled.ts';
import { deviceProfileSchema } from '../../src/config/profile/device-profile.ts';
import { faultListSchema } from '../../src/config/profile/fault-list.ts';
import { readFaultProfiles } from '../../src/config/profile/fault-profiles.ts';
import { deviceTypeNames } from '../../src/config/profile/device-types.ts';
import type { AppConfig } from '../../src/config/settings/app-config.ts';
import { declarations } from '../../src/config/settings/describe.ts';
import { settingOf } from '../../src/config/settings/settings.ts';
import { SimError } from '../../src/core/errors.ts';
import { createLogBook } from '../../src/core/log/log.ts';
import { parseYaml } from '../../src/core/yaml.ts';
import { configOf } from '../support/configured.ts';
import { pick } from '../support/depth.ts';
import type { Json } from '../support/http.ts';
import { holdsAsync } from '../support/property.ts';

type Format = 'yaml' | 'json';

/** A simulator without listeners. */
class Lab {
  readonly app: App;

  constructor(config: AppConfig) {
    const logBook = createLogBook({ write: () => undefined });
    this.app = createApp(config, { logBook, checkReplies: true });
  }

  static of(...flags: readonly string[]): Lab {
    return new Lab(configOf('--mb_enable', 'no', '--start_paused', 'yes', ...flags));
  }

  static ofOptions(options: Readonly<Record<string, unknown>>): Lab {
    return new Lab(configOfOptions({ mb_enable: false, ...options }));
  }

  perform(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: Json }> {
    return this.app.api.perform({ method, path, body, by: { source: 'rest' } });
  }

  async call(method: string, path: string, body?: unknown): Promise<Json> {
    const answer = await this.perform(method, path, body);
    expect(answer.status, JSON.stringify(answer.body)).to.be.within(200, 299);
    return answer.body;
  }

  async text(format: Format): Promise<string> {
    const body = await this.call('GET', `/config?format=${format}`);
    return format === 'yaml' ? body : JSON.stringify(body);
  }

  /** The simulator that starts from the answer, in another directory than the first. */
  async again(format: Format = 'yaml'): Promise<Lab> {
    const [path, text] = [`/elsewhere/lab.${format}`, await this.text(format)];
    const readFile: typeof systemIo.readFile = (file, max) => (file === path ? text : systemIo.readFile(file, max));
    const isFile = (file: string) => file === path || systemIo.isFile(file);
    const loaded = loadConfig(['--config', path], {}, { cwd: '/elsewhere', readFile, isFile });
    if (loaded.kind !== 'run') throw new Error('no configuration');
    return new Lab(loaded.config);
  }

  async settings(): Promise<Record<string, Json>> {
    const { settings } = await this.call('GET', '/settings');
    const ofFiles = settings.filter(({ key, secret }: Json) => !secret && settingOf(key).noFile !== true);
    return Object.fromEntries(ofFiles.map(({ key, value }: Json) => [key, value]));
  }

  get devices(): Json {
    return this.app.plant.devices.map(({ index, name, deviceType, profileName, ocpp, csip, dnp3, modbus }) => ({
      index,
      name,
      deviceType,
      profileName,
      versions: ocpp?.versions,
      csip,
      dnp3,
      modbus,
    }));
  }

  get dumps(): readonly string[] {
    return this.app.plant.devices.map(({ bank }) => Buffer.from(bank.image()).toString('hex'));
  }
}

async function expectSame(first: Lab, format: Format = 'yaml'): Promise<Lab> {
  const second = await first.again(format);
  expect(await second.settings()).to.deep.equal(await first.settings());
  expect(second.devices).to.deep.equal(first.devices);
  expect(second.dumps).to.deep.equal(first.dumps);
  expect(second.app.faults.active.length).to.equal(first.app.faults.active.length);
  return second;
}

const pv = 'PV-3Phase';

describe('GET config', () => {
  for (const name of bundledExampleNames.filter((each) => each !== 'fleet-1000'))
    it(`starts the bundled lab ${name} again`, async () => {
      const first = Lab.of('--config', name);
      expect(parseYaml(await first.text('yaml'))).to.deep.equal(JSON.parse(await first.text('json')));
      await expectSame(first);
    });

  it('has each group of equal devices once', async () => {
    const first = Lab.ofOptions({
      devices: [{ device_type: pv, count: 40 }, { device_type: pv, name: 'Roof', count: 3 }, { device_type: 'EVSE' }],
    });
    expect((await first.call('GET', '/config')).devices).to.deep.equal([
      { device_type: pv, count: 40 },
      { device_type: pv, name: 'Roof', count: 3 },
      { device_type: 'EVSE' },
    ]);
    await expectSame(first);
  });

  it('has settings of flags and requests, and no default', async () => {
    const first = Lab.of('-N', '2', '--seed', '5', '--tick', '2', '--faults', 'slow-answers', '--log_level', 'info');
    await first.call('PATCH', '/settings', { log_level: 'debug', mb_frame_timeout_s: 30 });
    expect(await first.call('GET', '/config')).to.deep.equal({
      N: 2,
      start_paused: true,
      seed: 5,
      tick: 2,
      mb_enable: false,
      log_level: 'debug',
      faults: ['slow-answers'],
      devices: [{ device_type: pv, count: 2 }],
    });
    await expectSame(first);
  });

  it('has the names of peers in force', async () => {
    const peers = [{ name: 'A', match: [{ protocol: 'modbus', address: '127.0.0.2' }] }];
    const lab = Lab.ofOptions({ findings: { peers } });
    lab.app.findings.peers.setName({ name: 'B', match: [{ protocol: 'dnp3', address: '1@127.0.0.2' }] });
    const again = await lab.again();
    expect(again.app.findings.peers.names).to.deep.equal([
      ...peers,
      { name: 'B', match: [{ protocol: 'dnp3', address: '1@127.0.0.2' }] },
    ]);
  });

  it('leaves out secrets and names them', async () => {
    const secret = 'a-password-of-20-chars';
    const flags = ['--ocpp_password', secret, '--csip_pin', '111115'];
    const first = Lab.of(...flags);
    expect((await first.call('GET', '/config')).left_out).to.have.members(['ocpp_password', 'csip_pin']);
    const yaml = await first.text('yaml');
    expect(yaml)
      .to.match(/^# left out: .*ocpp_password/m)
      .and.match(/^# left out: .*csip_pin/m);
    expect(yaml + (await first.text('json'))).not.to.match(new RegExp(`${secret}|111115`));
    await expectSame(first, 'yaml');
    await expectSame(first, 'json');
  });

  it('has devices that clients have added, and not those that they have removed', async () => {
    const first = Lab.of('-N', '2', '--device_spread_pct', '0');
    await first.call('POST', '/devices', { device_type: 'EVSE', name: 'Guest' });
    await first.call('POST', '/devices', { device_type: 'Batt-3Phase', profile: { battery: { soc_pct: 20 } } });
    await first.call('DELETE', '/devices/0');
    const { first_device: index, N, devices, notes } = await first.call('GET', '/config');
    expect([index, N, notes]).to.deep.equal([1, undefined, undefined]);
    expect(devices).to.deep.equal([
      { device_type: pv },
      { device_type: 'EVSE', name: 'Guest', ocpp: { id: 'SIM-CP-1' } },
      { device_type: 'Batt-3Phase', profile: { battery: { soc_pct: 20 } } },
    ]);
    const second = await first.again();
    expect(second.devices).to.deep.equal(first.devices);
    expect(second.dumps).to.deep.equal(first.dumps);
  });

  it('has the number of the shard while its first device follows from it, then the index', async () => {
    const first = Lab.ofOptions({ device_type: 'PV-3Phase', N: 2, shard_ordinal: 3 });
    const place = async () => {
      const { shard_ordinal: ordinal, first_device: index } = await first.call('GET', '/config');
      return [ordinal, index];
    };
    expect(await place()).to.deep.equal([3, undefined]);
    expect((await first.again()).devices).to.deep.equal(first.devices);
    await first.call('DELETE', '/devices/6');
    expect(await place()).to.deep.equal([undefined, 7]);
    expect((await first.again()).devices).to.deep.equal(first.devices);
  });

  it('closes a gap between indexes, with names and faults that follow', async () => {
    const first = Lab.ofOptions({
      devices: [{ device_type: pv, count: 4 }],
      faults: [
        { protocol: 'modbus', kind: 'drop', device: 1 },
        { protocol: 'modbus', kind: 'drop', device: 3 },
        { protocol: 'modbus', kind: 'drop', device: 'all' },
      ],
    });
    await first.call('DELETE', '/devices/1');
    const { notes, devices, faults } = await first.call('GET', '/config');
    expect(notes).to.deep.equal(['indexes of a configuration have no gaps: device 2 to 3 is device 1 to 2 here']);
    expect(devices).to.deep.equal([
      { device_type: pv },
      { device_type: pv, name: `${pv} 2` },
      { device_type: pv, name: `${pv} 3` },
    ]);
    expect(faults.map(({ device }: Json) => device)).to.deep.equal([2, 'all']);
    await first.again();
  });

  it('has absolute paths', async () => {
    const series = 'config/examples/workshop-load.csv';
    const first = Lab.ofOptions({
      devices: [{ device_type: pv, load_profile: series, faults: ['config/faults/spikes.yaml'] }],
    });
    const [entry] = (await first.call('GET', '/config')).devices;
    expect([entry.load_profile, entry.faults]).to.deep.equal([resolve(series), [resolve('config/faults/spikes.yaml')]]);
    await expectSame(first);
  });

  it('keeps the frequency of the grid when the device is gone whose profile has set it', async () => {
    const first = Lab.ofOptions({ devices: [{ device_type: pv, profile: '10kW-3Phase-EU' }, { device_type: 'Batt' }] });
    await first.call('DELETE', '/devices/0');
    const { grid, devices } = await first.call('GET', '/config');
    expect(grid).to.deep.equal({ nominal_frequency_hz: 50 });
    expect(devices).to.deep.equal([{ device_type: 'Batt' }]);
  });

  it('leaves out lists by device when clients have changed the devices', async () => {
    const first = Lab.of('-N', '2', '--csip_nmi', '4100000001,4100000002');
    expect(await first.call('GET', '/config')).to.have.property('csip_nmi');
    await first.call('DELETE', '/devices/1');
    const { csip_nmi: list, notes } = await first.call('GET', '/config');
    expect(list).to.equal(undefined);
    expect(notes.join()).to.match(/^csip_nmi is left out/);
  });

  it('keeps the type of devices that are added without one', async () => {
    const devices = [{ device_type: 'EVSE' }];
    const first = Lab.ofOptions({ device_type: pv, evse_profile: 'EVSE-AC-22kW-1port', devices });
    const second = await first.again();
    for (const each of [first, second]) await each.call('POST', '/devices', {});
    expect(second.devices).to.deep.equal(first.devices);
  });

  it('keeps the identity of a station whose index changes', async () => {
    const first = Lab.ofOptions({
      devices: [
        { device_type: pv, count: 2 },
        { device_type: 'EVSE', count: 2 },
      ],
    });
    await first.call('DELETE', '/devices/1');
    const ids = (await first.call('GET', '/config')).devices.map(({ ocpp }: Json) => ocpp?.id);
    expect(ids).to.deep.equal([undefined, undefined, 'SIM-CP-1-3']);
  });

  it('profiles and sets of faults are read again as they were read', () => {
    for (const name of [...bundledProfileNames, ...bundledEvseProfileNames]) {
      const input = deviceProfileSchema.parse(parseYaml(readFileSync(bundledProfilePath(name)!, 'utf8')));
      expect(deviceProfileSchema.parse(JSON.parse(JSON.stringify(input))), name).to.deep.equal(input);
    }
    for (const { name, faults } of readFaultProfiles())
      expect(faultListSchema.parse(JSON.parse(JSON.stringify(faults))), name).to.deep.equal(faults);
  });

  it('refuses a lab without devices', async () => {
    const lab = Lab.of();
    await lab.call('DELETE', '/devices/0');
    const { status, body } = await lab.perform('GET', '/config');
    expect([status, body.code]).to.deep.equal([409, 'conflict']);
  });

  it('leaves out the state folder when clients have changed the devices', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'derbench-lab-'));
    const first = Lab.of('--state_dir', folder, '--state_history', 'yes');
    expect(await first.call('GET', '/config')).to.include({ state_dir: folder, state_history: true });
    await first.call('POST', '/devices', { device_type: 'Batt' });
    const { notes, ...changed } = await first.call('GET', '/config');
    expect(changed).not.to.have.any.keys('state_dir', 'state_history');
    expect(notes.join()).to.match(/^state_dir is left out/);
    expect(await first.text('yaml')).to.match(/^# state_dir is left out/);
    await first.app.stop();
    rmSync(folder, { recursive: true });
  });

  // heavy ones, the clock of the machine, the place, which follows the devices, and the lock that refuses devices
  const without = [
    'N',
    'history_samples',
    'first_device',
    'shard_ordinal',
    'mb_enable',
    'wall_clock',
    'settings_locked',
  ];
  const setting = fc
    .constantFrom(
      ...declarations().filter(
        ({ key, range, choices, type }) => !without.includes(key) && (range ?? choices ?? type === 'switch'),
      ),
    )
    .chain(({ key, range, choices, type }) => {
      const values = choices ? fc.constantFrom(...choices) : fc.boolean();
      const numbers = range && fc.integer({ min: Math.ceil(range.min), max: Math.floor(range.max) });
      return fc.tuple(fc.constant(key), type === 'switch' ? fc.boolean() : (numbers ?? values));
    });
  const entry = fc
    .record({
      device_type: fc.constantFrom(...deviceTypeNames),
      name: fc.option(fc.constantFrom('Roof', 'Roof 1', 'yes', '007', ': #'), { nil: undefined }),
      count: fc.integer({ min: 1, max: 3 }),
      faults: fc.constantFrom(undefined, ['slow-answers']),
      profile: fc.constantFrom(undefined, { inverter: { cessation_return_s: 3 } }),
    })
    .map((each) => JSON.parse(JSON.stringify(each)));
  const blocks = {
    csip: fc.constantFrom(undefined, { nmi: 'N1' }),
    dnp3: fc.constantFrom(undefined, { address: 900 }, { profile: 'ieee1815.2', port: 45_100 }),
    modbus: fc.constantFrom(undefined, { port: 45_200, unit_id: 7 }),
  };
  const change = fc.record({
    ...blocks,
    name: fc.constantFrom(undefined, null, 'Cellar'),
    profile: fc.constantFrom(undefined, null, { inverter: { cessation_return_s: 4 } }),
  });
  const labs = fc.record({
    settings: fc.array(setting, { maxLength: 4 }),
    devices: fc.array(entry, { minLength: 1, maxLength: 2 }),
    added: fc.array(fc.record({ device_type: fc.constantFrom(...deviceTypeNames), ...blocks }), { maxLength: 1 }),
    change,
    removesFirst: fc.boolean(),
    format: fc.constantFrom<Format>('yaml', 'json'),
  });

  it('starts any lab again', async () => {
    await holdsAsync(
      'a lab and the one of its file are equal',
      labs,
      async ({ settings, devices, added, change: members, removesFirst, format }) => {
        const isChanged = Object.values(members).some((member) => member !== undefined);
        let first: Lab;
        try {
          // a changed device of a group is the first of the inline profile in its entry
          const equal = isChanged ? { device_spread_pct: 0 } : {};
          first = Lab.ofOptions({ ...Object.fromEntries(settings), ...equal, devices });
        } catch (error) {
          // settings that exclude each other
          if (error instanceof SimError && error.code === 'CONFIG_INVALID') fc.pre(false);
          throw error;
        }
        // refused where the settings do not fit its type
        for (const body of added) await first.perform('POST', '/devices', body);
        const last = first.devices.length - 1;
        if (isChanged) await first.call('PATCH', `/devices/${last}`, members);
        await expectSame(first, format);
        if (!removesFirst || first.devices.length === 1) return;
        await first.call('DELETE', '/devices/0');
        const second = await first.again(format);
        expect(second.devices).to.deep.equal(first.devices);
      },
      { runs: pick({ quick: 20, ci: 50 }) },
    );
  });
});
