import { expect } from 'chai';
import { SimError } from '../../src/core/errors.ts';
import { createApp } from '../../src/app/build.ts';
import { loadConfig } from '../../src/config/layers/load.ts';
import { createLogBook } from '../../src/core/log/log.ts';
import { systemIo } from '../../src/config/layers/files.ts';
import { openHandles, settled } from '../support/handles.ts';
import { ask } from '../support/http.ts';
import type { Json } from '../support/http.ts';
import { RawClient } from '../support/modbus-client.ts';
import { modbusEndpoint, startApp } from '../support/running-app.ts';
import type { RunningApp } from '../support/running-app.ts';

const logBook = () => createLogBook({ write: () => undefined });

/** A configuration from the text of its file; bundled files are real. */
function configOf(text: string, files: Readonly<Record<string, string>> = {}, argv: readonly string[] = []) {
  const all: Readonly<Record<string, string>> = { '/site/c.yaml': text, ...files };
  const loaded = loadConfig(
    ['--config', '/site/c.yaml', '-wp', '0', '-p', '0', '--start_paused', 'yes', ...argv],
    {},
    {
      cwd: '/site',
      readFile: (path, max) => all[path] ?? systemIo.readFile(path, max),
      isFile: (path) => path in all || systemIo.isFile(path),
    },
  );
  if (loaded.kind !== 'run') throw new Error('no configuration');
  return loaded.config;
}

describe('faults of a running simulator', () => {
  let running: RunningApp;
  const get = async (path: string): Promise<Json> => (await ask(running.port, `/api/sim${path}`)).json;
  const post = async (path: string, body: unknown): Promise<Json> =>
    (await ask(running.port, `/api/sim${path}`, { method: 'POST', body })).json;

  beforeEach(async () => {
    running = await startApp(['PV-3Phase', 'PV-3Phase']);
  });
  afterEach(() => running.app.stop());

  const three = { inject: [{ kind: 'drop' }, { kind: 'drop', device: 1 }, { kind: 'drop', device: 'all' }] };
  const idsOf = ({ faults }: Json): number[] => faults.map(({ id }: Json) => id);

  it('a device that leaves takes its own faults with it', async () => {
    await post('/faults', three);
    await post('/devices/1/remove', {});
    const reply = await get('/faults');
    expect(idsOf(reply)).to.deep.equal([1, 3]);
    expect(reply.ended.map(({ id, end }: Json) => [id, end])).to.deep.equal([[2, 'device_removed']]);
  });

  it('a reset of a device ends its own faults, a reset of alarms none', async () => {
    await post('/faults', three);
    for (const [scope, left] of [
      ['alarms', [1, 2, 3]],
      ['device', [2, 3]],
    ] as const) {
      await post('/commands', { command: 'reset', scope });
      await post('/controls/time/step', { ticks: 1 });
      expect(idsOf(await get('/faults')), scope).to.deep.equal(left);
    }
    expect((await get('/faults')).ended[0]).to.include({ id: 1, end: 'device_reset' });
  });

  it('faults of the wire end by the wall clock while the simulation is paused', async () => {
    const over = new Promise<void>((resolve) => {
      running.app.faults.onChange(({ ended }) => {
        if (ended.length > 0) resolve();
      });
    });
    await post('/modbus/fault', { kind: 'drop', duration_s: 0.02 });
    await over;
    expect((await get('/modbus/fault')).ended[0]).to.include({ kind: 'drop', end: 'duration' });
  });

  it('GET modbus has listeners, masters and counters, also of one device', async () => {
    const all = await get('/modbus');
    expect(all.enabled).to.equal(true);
    expect(all.interfaces.map(({ comm, state }: Json) => [comm, state])).to.deep.equal([['modbus_tcp', 'listening']]);
    const [{ listeners, counters, foreign_unit: foreign }] = all.interfaces;
    const ports = [0, 1].map((index) => modbusEndpoint(running.app, index).port);
    expect(listeners).to.deep.equal(
      ports.map((port, index) => ({
        transport: 'tcp',
        endpoint: `tcp://127.0.0.1:${port}`,
        device_index: index,
        accepting: true,
        clients: [],
      })),
    );
    expect([counters.requests, foreign]).to.deep.equal([0, 'gateway']);
    await post('/modbus/fault', { kind: 'drop', device: 1 });
    const one = await get('/modbus?device=0');
    expect(one.interfaces[0].listeners).to.have.length(1);
    expect([one.faults, (await get('/modbus')).faults.length]).to.deep.equal([[], 1]);
  });
});

describe('GET modbus without Modbus', () => {
  it('shows the proxy, which executes no fault', async () => {
    const { app, port } = await startApp(
      ['PV-3Phase'],
      ['--mb_enable', 'no', '--proxy', 'string-inverter-basic', '--proxy_port', '0'],
    );
    const { enabled, interfaces } = (await ask(port, '/api/sim/modbus')).json;
    expect([enabled, interfaces.map(({ comm, listeners }: Json) => [comm, listeners.length])]).to.deep.equal([
      true,
      [['modbus_proxy', 1]],
    ]);
    expect((await ask(port, '/api/sim/modbus/fault', { method: 'POST', body: { kind: 'drop' } })).json.code).to.equal(
      'disabled',
    );
    await app.stop();
  });

  it('says that it is off', async () => {
    const { app, port } = await startApp(['PV-3Phase'], ['--mb_enable', 'no']);
    expect((await ask(port, '/api/sim/modbus')).json).to.deep.equal({ enabled: false, interfaces: [], faults: [] });
    expect((await ask(port, '/api/sim/modbus/fault', { method: 'POST', body: { kind: 'drop' } })).status).to.equal(409);
    await app.stop();
  });
});

describe('the shutdown of a simulator whose faults delay answers', () => {
  for (const fault of [
    { kind: 'delay', delay_ms: 600_000 },
    { kind: 'split', octets: 1, gap_ms: 60_000 },
    { kind: 'deaf_after_connect', deaf_ms: 600_000 },
    { kind: 'drop', duration_s: 1e9 },
  ]) {
    it(`comes at once and leaves nothing open: ${fault.kind}`, async () => {
      await settled();
      const before = openHandles();
      const { app, port } = await startApp();
      await ask(port, '/api/sim/modbus/fault', { method: 'POST', body: fault });
      const master = await RawClient.open(modbusEndpoint(app, 0).port);
      master.send('00010000000601039c400002' + '0002000000060106' + '9d770000');
      for (let turn = 0; turn < 20; turn += 1) await settled();
      await app.stop();
      master.socket.destroy();
      await settled();
      expect(openHandles()).to.deep.equal(before);
    });
  }
});

describe('faults of a configuration', () => {
  const activeOf = (text: string, files?: Readonly<Record<string, string>>, argv?: readonly string[]) => {
    const app = createApp(configOf(text, files, argv), { logBook: logBook() });
    return app.faults.active.map(({ facts }) => [facts.kind.kind, facts.deviceIndex, facts.profile]);
  };

  function refusal(text: string, files?: Readonly<Record<string, string>>): string[] {
    try {
      createApp(configOf(text, files), { logBook: logBook() });
    } catch (error) {
      expect(error).to.be.instanceOf(SimError).that.has.property('code', 'CONFIG_INVALID');
      return (error as SimError).issues.map(({ name, detail }) => `${name}: ${detail}`);
    }
    throw new Error('it was accepted');
  }

  it('are in force from the start, by name, by file and inline', () => {
    const files = {
      '/site/mine.yaml':
        'title: Mine\ndescription: Of our own.\nfaults: [{ kind: drop, every: 3 }, { protocol: device, kind: ' +
        'alarm, codes: [over_temp] }]\n',
    };
    expect(
      activeOf(
        `
N: 2
faults: [slow-answers, mine.yaml, { kind: freeze, points: [701.W], device: 1 }]
`,
        files,
      ),
    ).to.deep.equal([
      ['delay', null, 'slow-answers'],
      ['drop', null, 'mine'],
      ['alarm', null, 'mine'],
      ['freeze', 1, null],
    ]);
  });

  it('of the entry of a device apply to that device, also with a count above 1', () => {
    expect(
      activeOf(`
first_device: 5
devices:
  - { device_type: PV-3Phase, faults: [no-fc6] }
  - { device_type: PV-3Phase, count: 2, faults: [{ kind: drop }] }
`),
    ).to.deep.equal([
      ['exception', 5, 'no-fc6'],
      ['drop', 6, null],
      ['drop', 7, null],
    ]);
  });

  it('of the command line replace those of the file', () => {
    expect(activeOf('faults: [no-fc6]\n', {}, ['--faults', 'unit-id-strict,base-0'])).to.deep.equal([
      ['ignore_unit', null, 'unit-id-strict'],
      ['base', null, 'base-0'],
    ]);
  });

  it('show the profile as their source, and outlive a reset of the device', () => {
    const config = configOf('devices: [{ device_type: PV-3Phase, faults: [no-fc6] }]\n');
    const app = createApp(config, { logBook: logBook() });
    expect(app.faults.active[0]?.facts.by).to.deep.equal({ source: 'profile' });
    app.plant.device(0).command({ kind: 'reset', scope: 'device' }, { source: 'rest' });
    expect(app.faults.active).to.have.length(1);
  });

  it('of Modbus while it is off are in force, with a warning that they have no effect', () => {
    const warningsOf = (argv: readonly string[]) => {
      const book = logBook();
      createApp(configOf('faults: [no-fc6]\n', {}, argv), { logBook: book });
      return book
        .entries()
        .filter(({ level }) => level === 'warning')
        .map(({ message }) => message);
    };
    expect(warningsOf(['--mb_enable', 'no'])).to.deep.equal([
      'the configuration has faults of Modbus, but Modbus is switched off: they have no effect',
    ]);
    expect(warningsOf([])).to.deep.equal([]);
  });

  it('that fit no device are named by their place in the configuration', () => {
    const files = {
      '/site/mine.yaml':
        'title: Mine\ndescription: Of our own.\nfaults: [{ kind: drop }, { kind: not_implemented, points: [701.W, 713.Nothing] }]\n',
    };
    expect(refusal('faults: [mine.yaml, { kind: drop, device: 3 }]\n', files)).to.deep.equal([
      'c.yaml: faults[1].device: there is no device 3; devices: 0',
    ]);
    expect(
      refusal('faults: [mine.yaml, { kind: drop, when: { point: 701.Nothing, below: 1 } }]\n', files),
    ).to.deep.equal([
      'mine.yaml: faults[1].points[1]: the device has no point, group or model 713.Nothing',
      'c.yaml: faults[1].when.point: the device has no point 701.Nothing',
    ]);
    expect(
      refusal('devices: [{ device_type: PV-3Phase, faults: [{ kind: freeze, points: ["802"] }] }]\n'),
    ).to.deep.equal(['c.yaml: devices[0].faults[0].points[0]: the device has no point, group or model 802']);
  });

  it('fit a mixed site if one device has the points that they name', () => {
    const text =
      'faults: [{ kind: freeze, points: ["802"] }]\ndevices: [{ device_type: PV-3Phase }, { device_type: Batt-3Phase }]\n';
    expect(activeOf(text)).to.deep.equal([['freeze', null, null]]);
  });
});
