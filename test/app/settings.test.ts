/** Settings of a simulator that change while it runs. */
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { examplesOf } from '../../src/api/description/openapi.ts';
import { allRoutes } from '../../src/api/routes.ts';
import { createApp } from '../../src/app/build.ts';
import type { App, AppOptions } from '../../src/app/start-stop.ts';
import { loadConfig } from '../../src/config/layers/load.ts';
import { settingKeys, settingOf, variableOf } from '../../src/config/settings/settings.ts';
import type { LiveKey, SettingKey } from '../../src/config/settings/settings.ts';
import { noCertificates } from '../../src/contract/certificates.ts';
import type { SimError } from '../../src/core/errors.ts';
import { createLogBook } from '../../src/core/log/log.ts';
import type { WallClock } from '../../src/core/time/clock.ts';
import { headEndPki } from '../support/head-end.ts';
import { ask } from '../support/http.ts';
import type { Json, JsonAnswer } from '../support/http.ts';
import { modbusEndpoint } from '../support/running-app.ts';
import { TestFolder } from '../support/state-folder.ts';

const path = '/api/sim/settings';

/** variables of the environment */
type Env = Readonly<Record<string, string>>;

/** A running simulator with what it has printed. */
interface Lab {
  readonly app: App;
  readonly port: number;
  readonly printed: string[];
}

const open: App[] = [];

async function stopAll(): Promise<void> {
  await Promise.all(open.splice(0).map((app) => app.stop()));
}

async function start(flags: readonly string[] = [], env: Env = {}, options: AppOptions = {}): Promise<Lab> {
  const loaded = loadConfig(['-wp', '0', '-p', '0', '--start_paused', 'yes', ...flags], env);
  if (loaded.kind !== 'run') throw new Error('no configuration');
  const printed: string[] = [];
  const logBook = createLogBook({ ...loaded.config.log, write: (line) => printed.push(line) });
  const app = createApp(loaded.config, { logBook, checkReplies: true, ...options });
  open.push(app);
  const { http } = await app.start();
  return { app, port: http.port, printed };
}

const patch = ({ port }: Lab, body: unknown): Promise<JsonAnswer> => ask(port, path, { method: 'PATCH', body });

async function settingsOf({ port }: Lab): Promise<Record<string, Json>> {
  const { json } = await ask(port, path);
  return Object.fromEntries(json.settings.map((each: Json) => [each.key, each]));
}

const modbusLimits = async ({ port }: Lab): Promise<Json> =>
  (await ask(port, '/api/sim/modbus')).json.interfaces[0].limits;

/** The unit id of the first answer to two requests: to a unit id that no device has, and to a device. */
async function firstToAnswer({ app }: Lab): Promise<number | undefined> {
  const { port, unitId } = modbusEndpoint(app, 0);
  const socket = connect(port, '127.0.0.1');
  for (const unit of [200, unitId]) socket.write(Buffer.from([0, unit, 0, 0, 0, 6, unit, 3, 0x9c, 0x40, 0, 1]));
  const [octets] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return octets[1];
}

/** How many connections are served at once, at most three. */
async function servedConnections({ port }: Lab): Promise<number> {
  const sockets: Socket[] = [];
  let served = 0;
  for (let i = 0; i < 3; i++) {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.write('GET /api/sim/health HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const isServed = await Promise.race([
      once(socket, 'data').then(() => true),
      once(socket, 'close').then(() => false),
    ]);
    if (isServed) served++;
  }
  for (const socket of sockets) socket.destroy();
  return served;
}

/** A lab with the history of hours 0 and 2, started at hour 4. */
class OldHistory {
  readonly #root = mkdtempSync(join(tmpdir(), 'derbench-settings-'));
  #count = 0;

  async prepare(): Promise<void> {
    for (const hour of [0, 2]) {
      const { app } = await this.#startAt(hour, 'old');
      await app.plant.step(1);
      await app.stop();
    }
  }

  /** Flags of a client whose server nothing listens for. */
  csipFlags: readonly string[] = [];

  async writeCertificates(): Promise<void> {
    const { device, root } = await headEndPki();
    const texts = { csip_cert: device.cert, csip_key: device.key, csip_root_cert: root.cert };
    const files = Object.entries(texts).flatMap(([key, text]) => {
      const file = join(this.#root, `${key}.pem`);
      writeFileSync(file, text, { mode: 0o600 });
      return [`--${key}`, file];
    });
    const ports = ['--csip_server_port', '1', '--csip_website_port', '0'];
    this.csipFlags = ['--csip_client_enable', 'yes', ...ports, ...files];
  }

  start(env: Env): Promise<Lab> {
    const name = `copy-${++this.#count}`;
    cpSync(join(this.#root, 'old'), join(this.#root, name), { recursive: true });
    return this.#startAt(4, name, env);
  }

  /** Segments of the history after one more hour has its samples. */
  async segments({ app }: Lab): Promise<number> {
    await app.plant.step(1);
    await app.stop();
    return readdirSync(join(this.#root, `copy-${this.#count}`, 'history')).length;
  }

  remove(): void {
    rmSync(this.#root, { recursive: true });
  }

  #startAt(hour: number, name: string, env: Env = {}): Promise<Lab> {
    const startMs = Date.UTC(2026, 0, 1, hour);
    const wall: WallClock = { nowMs: () => startMs, monotonicMs: () => performance.now() };
    const flags = ['--state_dir', join(this.#root, name), '--state_history', 'yes'];
    return start(flags, env, { wall });
  }
}

/** What a live setting does, for a value that is not its default. */
interface Observation {
  readonly value: string | number | boolean;
  /** starts a simulator of its own; absent: one that the settings share will do */
  readonly start?: (env: Env) => Promise<Lab>;
  readonly observe: (lab: Lab) => Promise<unknown>;
}

const history = new OldHistory();

const observations: Readonly<Record<LiveKey, Observation>> = {
  log_level: {
    value: 'debug',
    observe({ app, printed }) {
      printed.length = 0;
      const logger = app.logBook.logger('AC');
      logger.debug('a detail');
      return Promise.resolve([logger.keepsDebug, printed.length]);
    },
  },
  log_format: {
    value: 'json',
    observe({ app, printed }) {
      printed.length = 0;
      app.logBook.logger('AC').warning('a line');
      return Promise.resolve(printed[0]?.[0]);
    },
  },
  captures: { value: 7, observe: async ({ port }) => (await ask(port, '/api/sim/captures')).json.capacity },
  findings_enable: { value: false, observe: ({ app }) => Promise.resolve(app.findings.on) },
  csip_poll_rate_s: {
    value: 77,
    start: (env) => start(history.csipFlags, env),
    observe: async ({ port }) => (await ask(port, '/api/sim/csip/config')).json.poll_rate_s,
  },
  mb_foreign_unit: { value: 'silent', observe: firstToAnswer },
  mb_max_connections: { value: 7, observe: async (lab) => (await modbusLimits(lab)).max_connections },
  mb_idle_timeout_s: { value: 5.5, observe: async (lab) => (await modbusLimits(lab)).idle_timeout_s },
  mb_frame_timeout_s: { value: 2.5, observe: async (lab) => (await modbusLimits(lab)).frame_timeout_s },
  ws_max_clients: {
    value: 3,
    observe: async ({ port }) => (await ask(port, '/api/sim/stream/clients')).json.max_clients,
  },
  http_max_connections: {
    value: 1,
    start: (env) => start([], { DERBENCH_WS_MAX_CLIENTS: '1', ...env }),
    observe: servedConnections,
  },
  state_history_hours: {
    value: 1,
    start: (env) => history.start(env),
    observe: (lab) => history.segments(lab),
  },
};

const liveKeys = settingKeys.filter((key): key is LiveKey => settingOf(key).changes.by === 'live');

describe('Live settings have the same value and effect by the environment and by PATCH', () => {
  /** one with all values by the environment, one for PATCH */
  let shared: readonly [given: Lab, patched: Lab];

  before(async () => {
    await history.prepare();
    await history.writeCertificates();
    const plain = liveKeys.filter((key) => observations[key].start === undefined);
    const env = Object.fromEntries(plain.map((key) => [variableOf(key), `${observations[key].value}`]));
    shared = [await start([], env), await start()];
  });

  after(async () => {
    await stopAll();
    history.remove();
  });

  for (const key of liveKeys)
    it(key, async () => {
      const { value, start: startOwn, observe } = observations[key];
      const given = (await startOwn?.({ [variableOf(key)]: `${value}` })) ?? shared[0];
      expect((await settingsOf(given))[key]).to.include({ value, origin: 'environment', changes: 'live' });
      const effect = await observe(given);
      const byDefault = (await startOwn?.({})) ?? shared[1];
      expect(await observe(byDefault), 'another effect than the default').to.not.deep.equal(effect);
      const patched = (await startOwn?.({})) ?? shared[1];
      const { status, json } = await patch(patched, { [key]: value });
      expect(status, JSON.stringify(json)).to.equal(200);
      expect((await settingsOf(patched))[key]).to.include({ value, origin: 'rest' });
      expect(await observe(patched)).to.deep.equal(effect);
    });
});

describe('Settings that change while the simulator runs', () => {
  let root: string;

  before(() => {
    root = mkdtempSync(join(tmpdir(), 'derbench-settings-'));
  });

  after(() => {
    rmSync(root, { recursive: true });
  });

  afterEach(stopAll);

  it('null takes a change back: the flag applies again', async () => {
    const lab = await start(['--log_level', 'warning']);
    await patch(lab, { log_level: 'debug' });
    const { json } = await patch(lab, { log_level: null });
    expect(json.settings[0]).to.include({ key: 'log_level', value: 'warning', origin: 'flag' });
    expect(lab.app.logBook.logger('AC').keepsDebug).to.equal(false);
  });

  it('GET settings: every setting with origin, class and declaration; secrets without a value', async () => {
    const lab = await start(['--map_layout', 'both', '--seed=7'], { DERBENCH_OCPP_PASSWORD: 'not-for-anybody-else' });
    const all = await settingsOf(lab);
    expect(Object.keys(all)).to.have.members([...settingKeys]);
    expect(all['seed']).to.include({ value: 7, origin: 'flag', changes: 'start', type: 'integer', min: 0 });
    expect(all['tick']).to.include({ value: 1.5, origin: 'default', unit: 's', type: 'number', max: 60 });
    expect(all['map_float']).to.include({ value: null, is_set: false, origin: 'profile', type: 'switch' });
    expect(all['ocpp_password']).to.include({ value: null, is_set: true, origin: 'environment', secret: true });
    expect(all['csip_pin']).to.include({ changes: 'adapter', adapter: 'csip', needs: 'csip_client_enable' });
    for (const key of settingKeys) {
      const { changes, why, adapter } = all[key];
      expect(changes, key).to.equal(settingOf(key).changes.by);
      expect([why !== null, adapter !== null], key).to.deep.equal([changes === 'start', changes === 'adapter']);
    }
    expect(JSON.stringify(all)).to.not.contain('not-for-anybody-else');
  });

  it('one value that is not allowed: nothing changes, and every issue is named as at the start', async () => {
    const lab = await start();
    const { status, json } = await patch(lab, { log_level: 'debug', mb_idle_timeout_s: -1, loglevel: 'info' });
    expect([status, json.code]).to.deep.equal([422, 'validation']);
    expect(json.errors.map(({ name, detail }: Json) => `${name}: ${detail}`)).to.deep.equal([
      '/mb_idle_timeout_s: given -1; allowed: a number from 0 to 604800',
      '/loglevel: unknown setting; nearest known: log_level',
    ]);
    expect((await settingsOf(lab))['log_level']).to.include({ value: 'info', origin: 'default' });
    expect(lab.app.logBook.logger('AC').keepsDebug).to.equal(false);
  });

  it('settings of another class: 409 with the reason of each, and nothing changes', async () => {
    const lab = await start();
    const { status, json } = await patch(lab, { log_level: 'debug', website_port: 80, seed: 1 });
    expect([status, json.code]).to.deep.equal([409, 'conflict']);
    expect(json.detail).to.equal(
      'website_port is not changed: a change takes effect at the next start. Requests come through this listener, ' +
        'also the one that would change it; seed is not changed: a change takes effect at the next start. ' +
        'All random numbers derive from it',
    );
    expect((await settingsOf(lab))['log_level'].value).to.equal('info');
  });

  it('rules across settings are checked as at the start, over all layers', () => {
    const loaded = loadConfig(['--mb_enable', 'no', '-wp', '8112'], {});
    if (loaded.kind !== 'run') throw new Error('no configuration');
    const { settings } = loaded.config;
    const over = new Map<SettingKey, unknown>([
      ['dnp3_enable', true],
      ['dnp3_port', 8112],
    ]);
    const names = () => {
      try {
        settings.with(over, noCertificates);
        return [];
      } catch (error) {
        return (error as SimError).issues.map(({ name }) => name);
      }
    };
    expect(names()).to.deep.equal(['/dnp3_port']);
    over.set('dnp3_port', 8113);
    expect(names()).to.deep.equal([]);
    expect(settings.with(over, noCertificates).dnp3?.port).to.equal(8113);
  });

  it('a request that breaks a rule across settings is refused', async () => {
    const lab = await start(['--mb_framing', 'rtu_over_tcp']);
    const { status, json } = await patch(lab, { mb_foreign_unit: 'gateway', log_level: 'debug' });
    expect([status, json.code]).to.deep.equal([422, 'validation']);
    expect(json.errors[0]).to.include({
      name: '/mb_foreign_unit',
      detail: 'given gateway together with --mb_framing rtu_over_tcp; allowed: silent',
    });
    expect((await settingsOf(lab))['log_level']).to.include({ value: 'info', origin: 'default' });
  });

  it('--settings_locked yes: reads only', async () => {
    const lab = await start(['--settings_locked', 'yes']);
    const { status, json } = await patch(lab, { log_level: 'debug' });
    expect([status, json.code]).to.deep.equal([403, 'settings-locked']);
    expect(json.detail).to.contain('--settings_locked yes');
    expect((await ask(lab.port, path)).json.locked).to.equal(true);
    expect((await settingsOf(lab))['log_level'].value).to.equal('info');
  });

  it('--settings_locked yes: nothing changes the set-up of the lab', async () => {
    const { app } = await start(['--settings_locked', 'yes']);
    const setups = allRoutes.filter(({ isSetup }) => isSetup);
    const codes = await Promise.all(
      setups.map(async (each) => {
        const place = each.path.replace('{index}', '0').replaceAll(/\{\w+\}/g, 'x');
        const body = each.method === 'delete' ? undefined : (examplesOf(each).body ?? {});
        const answer = await app.api.perform({
          method: each.method.toUpperCase(),
          path: place,
          body,
          by: { source: 'rest' },
        });
        return (answer.body as Json).code;
      }),
    );
    expect(codes.filter((code) => code !== 'settings-locked')).to.deep.equal([]);
    expect(setups.map(({ method, path: place }) => `${method} ${place}`)).to.include.members([
      'patch /settings',
      'post /config',
      'post /state/restore',
      'post /csip/config',
      'post /ocpp/{id}/connect',
      'delete /certificates/{name}',
      'patch /devices/{index}',
      'post /dnp3/disable',
    ]);
  });

  it('100 requests at once: each has all of its effect or none', async () => {
    const folder = new TestFolder();
    const lab = await start(['--state_dir', root], {}, { openStateFolder: () => folder });
    const bodyOf = (i: number) => ({
      mb_max_connections: i + 1,
      // every third request is refused
      ws_max_clients: i % 3 === 0 ? 0 : i + 1,
    });
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => patch(lab, bodyOf(i))));
    for (const [i, { status, json }] of answers.entries()) {
      expect(status, `request ${i}`).to.equal(i % 3 === 0 ? 422 : 200);
      if (status === 200) expect(json.settings.map(({ value }: Json) => value)).to.deep.equal([i + 1, i + 1]);
    }
    const { mb_max_connections: masters, ws_max_clients: clients } = await settingsOf(lab);
    expect(masters.value).to.equal(clients.value);
    expect((masters.value - 1) % 3).to.not.equal(0);
  });

  describe('with a state folder', () => {
    let folder: TestFolder;
    const inFolder = (...flags: string[]) =>
      start(['--state_dir', root, ...flags], {}, { openStateFolder: () => folder });

    beforeEach(() => {
      folder = new TestFolder();
    });

    it('an acknowledged change is there after a loss of power', async () => {
      const lab = await inFolder();
      const { status } = await patch(lab, { log_level: 'debug', mb_idle_timeout_s: 60 });
      expect(status).to.equal(200);
      folder = folder.afterPowerLoss();
      await lab.app.stop();
      const again = await inFolder();
      const all = await settingsOf(again);
      expect(all['log_level']).to.include({ value: 'debug', origin: 'rest' });
      expect((await modbusLimits(again)).idle_timeout_s).to.equal(60);
      expect(again.app.logBook.logger('AC').keepsDebug).to.equal(true);
      expect(again.printed.filter((line) => line.includes('as a request has set it'))).to.deep.equal([]);
    });

    it('a request that breaks a rule with the changed configuration is left out, with the reason in the log', async () => {
      const lab = await inFolder();
      await patch(lab, { mb_foreign_unit: 'gateway', log_level: 'debug' });
      await lab.app.stop();
      const again = await inFolder('--mb_framing', 'rtu_over_tcp');
      expect((await settingsOf(again))['log_level']).to.include({ value: 'info', origin: 'default' });
      const [line, ...more] = again.printed.filter((each) => each.includes('are not restored'));
      expect(line).to.contain(
        '/mb_foreign_unit: given gateway together with --mb_framing rtu_over_tcp; allowed: silent',
      );
      expect(more).to.deep.equal([]);
      await again.app.stop();
      const { app, port, printed } = await inFolder();
      expect((await settingsOf({ app, port, printed }))['log_level']).to.include({ value: 'debug', origin: 'rest' });
    });

    it('a process that is killed during a restart of an adapter leaves all of the change or nothing', async () => {
      const lab = await inFolder();
      const kills: TestFolder[] = [];
      folder.beforeStep = () => {
        kills.push(folder.afterKill(), folder.afterPowerLoss(), folder.afterPowerLoss(40));
        return Promise.resolve();
      };
      await patch(lab, { mb_shared_port: true, mb_idle_timeout_s: 60 });
      kills.push(folder.afterKill(), folder.afterPowerLoss());
      folder.beforeStep = () => Promise.resolve();
      await lab.app.stop();
      const states = new Set<string>();
      for (const killed of kills) {
        folder = killed;
        const again = await inFolder();
        const { mb_shared_port: shared, mb_idle_timeout_s: idle } = await settingsOf(again);
        states.add(`${shared.origin} ${idle.origin}`);
        await again.app.stop();
      }
      expect([...states].sort()).to.deep.equal(['default default', 'rest rest']);
    });

    it('requests that are not restored stay in the folder until another one changes settings', async () => {
      const lab = await inFolder();
      await patch(lab, { mb_foreign_unit: 'gateway', log_level: 'debug' });
      await lab.app.stop();
      const again = await inFolder('--mb_framing', 'rtu_over_tcp');
      await patch(again, { mb_idle_timeout_s: 60 });
      await again.app.stop();
      const all = await settingsOf(await inFolder());
      expect([all['log_level'].origin, all['mb_idle_timeout_s'].value]).to.deep.equal(['default', 60]);
    });

    it('the value of a secret is in no line of the log', async () => {
      const lab = await inFolder();
      await patch(lab, { ocpp_password: 'requested-secret' });
      await lab.app.stop();
      const { printed } = await start(
        ['--state_dir', root],
        { DERBENCH_OCPP_PASSWORD: 'configured-secret' },
        { openStateFolder: () => folder },
      );
      expect(printed.join('\n'))
        .to.include('ocpp_password is as a request has set it, not as the changed configuration says')
        .and.not.match(/requested-secret|configured-secret/);
    });

    it('a request wins over a configuration that has changed since, with one line in the log', async () => {
      const lab = await inFolder();
      await patch(lab, { mb_idle_timeout_s: 60, log_level: 'debug' });
      await lab.app.stop();
      const again = await inFolder('--log_level', 'error');
      expect((await settingsOf(again))['log_level'].value).to.equal('debug');
      const lines = again.printed.filter((line) => line.includes('as a request has set it'));
      expect(lines).to.have.length(1);
      expect(lines[0]).to.contain('log_level is "debug" as a request has set it, not "error"');
      await patch(again, { log_level: null });
      expect((await settingsOf(again))['log_level']).to.include({ value: 'error', origin: 'flag' });
    });
  });
});
