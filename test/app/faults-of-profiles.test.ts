/** Faults that a device profile gives its devices. */
import { expect } from 'chai';
import { createApp } from '../../src/app/build.ts';
import { systemIo } from '../../src/config/layers/files.ts';
import { loadConfig } from '../../src/config/layers/load.ts';
import { SimError } from '../../src/core/errors.ts';
import { createLogBook } from '../../src/core/log/log.ts';
import { ask } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { startApp } from '../support/running-app.ts';
import type { RunningApp } from '../support/running-app.ts';

const profile = (faults: string) => `name: Mine\nmodels: { "702": { WMaxRtg: 5000 } }\nfaults: ${faults}\n`;

/** A simulator that is not started, of a configuration file beside others. */
function appOf(text: string, files: Readonly<Record<string, string>> = {}) {
  const all: Readonly<Record<string, string>> = { '/site/c.yaml': text, ...files };
  const io = {
    cwd: '/site',
    readFile: (path: string, max: number) => all[path] ?? systemIo.readFile(path, max),
    isFile: (path: string) => path in all || systemIo.isFile(path),
  };
  const loaded = loadConfig(['--config', 'c.yaml', '-wp', '0', '-p', '0', '--start_paused', 'yes'], {}, io);
  if (loaded.kind !== 'run') throw new Error('no configuration');
  return createApp(loaded.config, { logBook: createLogBook({ write: () => undefined }) });
}

function refusal(text: string, files: Readonly<Record<string, string>> = {}): string[] {
  try {
    appOf(text, files);
  } catch (error) {
    expect(error).to.be.instanceOf(SimError).that.has.property('code', 'CONFIG_INVALID');
    return (error as SimError).issues.map(({ name, detail }) => `${name}: ${detail}`);
  }
  throw new Error('it was accepted');
}

describe('faults of a device profile', () => {
  it('come before those of the configuration and of the entry, and strike the devices of the profile alone', () => {
    const app = appOf(
      `
first_device: 3
faults: [no-fc6]
devices:
  - {}
  - { profile: lib/mine.yaml, count: 2, faults: [{ kind: duplicate }] }
  - { profile: { faults: [{ kind: bad_crc }] } }
`,
      {
        '/site/lib/mine.yaml': profile('[slow-answers, sets/own.yaml, { kind: drop, every: 3 }]'),
        '/site/lib/sets/own.yaml': 'title: Own\ndescription: Beside the profile.\nfaults: [{ kind: garbage }]\n',
      },
    );
    const struck = (fault: (typeof app.faults.active)[number]) => [3, 4, 5, 6].filter((k) => fault.concerns(k));
    expect(
      app.faults.active.map((fault) => [
        fault.facts.kind.kind,
        fault.facts.deviceIndex,
        struck(fault),
        fault.facts.profile,
        fault.facts.deviceProfile,
      ]),
    ).to.deep.equal([
      ['delay', null, [4, 5], 'slow-answers', 'mine'],
      ['garbage', null, [4, 5], 'own', 'mine'],
      ['drop', null, [4, 5], null, 'mine'],
      ['bad_crc', 6, [6], null, 'inline'],
      ['exception', null, [3, 4, 5, 6], 'no-fc6', null],
      ['duplicate', 4, [4], null, null],
      ['duplicate', 5, [5], null, null],
    ]);
    expect(new Set(app.faults.active.map(({ facts }) => facts.by.source))).to.deep.equal(new Set(['profile']));
    expect(app.faults.active.map(({ isOfAll }) => isOfAll).indexOf(true)).to.equal(4);
  });

  it('outlive a reset, and end with the last of their devices', async () => {
    const app = appOf('devices: [{}, { profile: mine.yaml, count: 2 }]\n', {
      '/site/mine.yaml': profile('[{ protocol: device, kind: alarm, codes: [over_temp] }]'),
    });
    const alarmed = () => app.plant.devices.filter(({ alarms }) => alarms.length > 0).map(({ index }) => index);
    await app.plant.step(1);
    expect(alarmed()).to.deep.equal([1, 2]);
    app.plant.device(1).command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    await app.plant.remove(2);
    expect([app.faults.active[0]?.groupSize, app.faults.active[0]?.concerns(2)]).to.deep.equal([1, false]);
    await app.plant.remove(1);
    expect([app.faults.active, app.faults.ended[0]?.end]).to.deep.equal([[], 'device_removed']);
  });

  it('do not fill the list of faults, however many devices there are', () => {
    const app = appOf('devices: [{ profile: mine.yaml, count: 1200 }]\n', {
      '/site/mine.yaml': profile('[no-fc6]'),
    });
    expect([app.faults.active.length, app.faults.active[0]?.groupSize]).to.deep.equal([1, 1200]);
  });

  it('that are wrong are named where they stand', () => {
    const wrong = (faults: string) => refusal('f: mine.yaml\n', { '/site/mine.yaml': profile(faults) });
    expect(wrong('[{ kind: delay }, { kind: drop, colour: 1 }]')).to.deep.equal([
      'mine.yaml: faults[0].delay_ms: is required',
      'mine.yaml: faults[1].colour: unknown key',
    ]);
    expect(wrong('[no-fc7]')[0]).to.match(
      /^mine\.yaml: faults\[0\]: given "no-fc7"; allowed: the path of a file that exists, or a bundled set of faults .*no-fc6/,
    );
    expect(wrong('[{ kind: drop, device: 1 }]')).to.deep.equal([
      'mine.yaml: faults[0].device: given in a device profile; allowed: no device here',
    ]);
    expect(wrong('[{ kind: freeze, points: [802.SoC] }]')[0]).to.match(/^mine\.yaml: faults\[0\]\.points\[0\]: /);
  });
});

describe('faults of the profile of a device that joins', () => {
  let running: RunningApp;
  const get = async (path: string): Promise<Json> => (await ask(running.port, `/api/sim${path}`)).json;
  const add = (body: unknown) => ask(running.port, '/api/sim/devices', { method: 'POST', body });

  beforeEach(async () => {
    running = await startApp();
  });
  afterEach(() => running.app.stop());

  it('begin with it and name it', async () => {
    expect((await add({ profile: { faults: ['no-fc6', { kind: 'drop', every: 2 }] } })).status).to.equal(201);
    const { faults } = await get('/faults?device=1');
    expect(
      faults.map((fault: Json) => [fault.kind, fault.device_index, fault.profile, fault.device_profile, fault.source]),
    ).to.deep.equal([
      ['exception', 1, 'no-fc6', 'inline', 'profile'],
      ['drop', 1, null, 'inline', 'profile'],
    ]);
    expect((await get('/faults?device=0')).faults).to.deep.equal([]);
  });

  it('that do not fit it, or name a file, are refused with their place, and nothing is added', async () => {
    const issuesOf = async (faults: unknown) => {
      const { status, json } = await add({ profile: { faults } });
      expect(status).to.equal(422);
      return json.errors.map(({ name }: Json) => name);
    };
    expect(await issuesOf([{ kind: 'drop' }, { kind: 'freeze', points: ['802.SoC'] }])).to.deep.equal([
      '/profile/faults/1/points/0',
    ]);
    expect(await issuesOf([{ protocol: 'device', kind: 'adoption', result: 'lies', points: ['704'] }])).to.deep.equal([
      '/profile/faults/0/points',
    ]);
    expect(await issuesOf(['./mine.yaml'])).to.deep.equal(['/profile/faults/0']);
    expect(await issuesOf([{ kind: 'drop', device: 0 }])).to.deep.equal(['/profile/faults/0/device']);
    expect([running.app.plant.devices.length, running.app.faults.active.length]).to.deep.equal([1, 0]);
  });

  it('that find no room keep it out', async () => {
    running.app.faults.inject(
      Array.from({ length: 1000 }, () => ({ protocol: 'modbus' as const, kind: 'drop', every: 2 })),
      { source: 'rest' },
    );
    const { status, json } = await add({ profile: { faults: ['no-fc6'] } });
    expect([status, json.code]).to.deep.equal([409, 'conflict']);
    expect(running.app.plant.devices.map(({ index }) => index)).to.deep.equal([0]);
  });
});
