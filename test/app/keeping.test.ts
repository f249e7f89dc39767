/** A simulator with a state folder, over the end of its process. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createApp } from '../../src/app/build.ts';
import type { App } from '../../src/app/start-stop.ts';
import { createLogBook } from '../../src/core/log/log.ts';
import { callLater } from '../../src/core/time/timers.ts';
import { TestFolder } from '../support/state-folder.ts';
import type { JsonAnswer } from '../support/http.ts';
import { configOf } from '../support/configured.ts';
import { ask } from '../support/http.ts';

const allKinds = `
devices:
  - { device_type: PV-3Phase }
  - { device_type: Batt-3Phase }
  - { device_type: HybridDC-3Phase }
  - { device_type: Wind-T4-3Phase }
  - { device_type: Fuelcell-3Phase }
  - { device_type: EVSE }
clouds: broken
irradiance_source: clear_sky
`;

describe('State of the devices over the end of the process', () => {
  let root: string;
  let app: App;
  let port: number;
  let lines: string[];
  /** in place of the disk; undefined: the disk */
  let folder: TestFolder | undefined;
  /** ends the wait for the next attempt to write */
  let passRetry: (() => void) | undefined;

  before(() => {
    root = mkdtempSync(join(tmpdir(), 'derbench-state-'));
    writeFileSync(join(root, 'lab.yaml'), allKinds);
  });

  after(() => {
    rmSync(root, { recursive: true });
  });

  afterEach(async () => {
    await app.stop();
    folder = undefined;
  });

  /** @param folder below the folder of the tests */
  async function start(name: string, ...flags: string[]): Promise<void> {
    lines = [];
    const config = configOf('-wp', '0', '-p', '0', '--state_dir', join(root, name), ...flags);
    app = createApp(config, {
      logBook: createLogBook({ write: (line) => lines.push(line) }),
      checkReplies: true,
      ...(folder && {
        openStateFolder: () => folder!,
        later(ms, run) {
          passRetry = run;
          return callLater(ms, run);
        },
      }),
    });
    ({ port } = (await app.start()).http);
  }

  const call = (path: string, body?: unknown): Promise<JsonAnswer> =>
    ask(port, `/api/sim${path}`, body === undefined ? {} : { method: 'POST', body });

  async function done(path: string, body: unknown = {}): Promise<void> {
    const { status, text } = await call(path, body);
    expect(status, text).to.be.within(200, 299);
  }

  /** The files as a process that is killed now would leave them. */
  function copyOfFiles(folder: string): string {
    const name = `${folder}-killed`;
    mkdirSync(join(root, name));
    copyFileSync(join(root, folder, 'journal.jsonl'), join(root, name, 'journal.jsonl'));
    return name;
  }

  const dumps = () => app.plant.devices.map(({ bank }) => Buffer.from(bank.image()).toString('hex'));
  const paused = ['--start_paused', 'yes'];

  it('all kinds of devices go on byte-identically', async () => {
    const flags = ['--config', join(root, 'lab.yaml'), '--tick', '1', ...paused];
    const act = async (): Promise<void> => {
      await done('/controls/time', { rate: 60 });
      await app.plant.step(10);
      await done('/site', { export_limit_kw: 12 });
      await done('/controls/grid?device=1', { voltage_pu: 1.03 });
      await done('/grid-support?device=0', {
        max_power: {
          enabled: true,
          limit_pct: 40,
          reversion_time_s: 900,
          reversion_limit_pct: 90,
          reversion_enabled: true,
        },
      });
      await app.plant.step(20);
    };
    await start('through', ...flags);
    await act();
    await app.plant.step(30);
    const through = dumps();
    await app.stop();
    await start('broken', ...flags);
    await act();
    await app.stop();
    await start('broken', ...flags);
    expect(app.plant.time.tick).to.equal(30);
    await app.plant.step(30);
    expect(dumps()).to.deep.equal(through);
    expect(lines.filter((line) => / WARN | ERROR /.test(line))).to.deep.equal([]);
  });

  it('a request that was answered is in force after the process was killed', async () => {
    await start('killed', '-N', '2', ...paused);
    await done('/site', { export_limit_kw: 3 });
    await done('/devices', { device_type: 'Batt-3Phase' });
    await done('/devices', { device_type: 'PV-3Phase' });
    await done('/devices/3/remove');
    await done('/devices/0/remove');
    await done('/controls/time/step', { ticks: 3 });
    await done('/commands?device=2', { command: 'stop' });
    await done('/grid-support?device=1', { max_power: { enabled: true, limit_pct: 40 } });
    const [before, time] = [dumps(), app.plant.time.tick];
    const copy = copyOfFiles('killed');
    await app.stop();
    await start(copy, '-N', '2', ...paused);
    expect(app.plant.devices.map(({ index, deviceType }) => [index, deviceType])).to.deep.equal([
      [1, 'PV-3Phase'],
      [2, 'Batt-3Phase'],
    ]);
    expect(app.plant.time.tick).to.equal(time);
    expect(dumps()).to.deep.equal(before);
    expect((await call('/site')).json.export_limit_kw).to.equal(3);
    expect(app.plant.commands.list().map(({ command, state }) => [command, state])).to.deep.equal([['stop', 'queued']]);
    await done('/devices', { device_type: 'PV-3Phase' });
    expect(app.plant.devices.at(-1)?.index, 'an index is not used again').to.equal(4);
  });

  it('a device whose configuration has changed starts anew, and the others do not', async () => {
    await start('changed', '-N', '2', ...paused);
    await app.plant.step(40);
    await app.stop();
    writeFileSync(
      join(root, 'changed.yaml'),
      'devices:\n  - { device_type: PV-3Phase }\n  - { device_type: Batt-3Phase }\n',
    );
    await start('changed', '--config', join(root, 'changed.yaml'), ...paused);
    const [pv, battery] = app.plant.devices;
    expect(Number(pv?.bank.map.m701.TotWhInj)).to.be.greaterThan(0);
    expect(Number(battery?.bank.map.m701.TotWhInj)).to.equal(0);
    expect(lines.join('\n')).to.include('device 1 starts anew: its configuration has changed');
    await app.plant.step(1);
    expect(battery?.now).to.equal(app.plant.time.sim);
  });

  it('a part of the state that does not fit starts anew with a warning', async () => {
    await start('unfit', '-N', '2', ...paused);
    await app.plant.step(40);
    await app.stop();
    const file = join(root, 'unfit', 'journal.jsonl');
    const { changeLine } = await import('../../src/state/record.ts');
    const last = readFileSync(file, 'utf8').trimEnd().split('\n').length;
    const text = (slot: string) =>
      readFileSync(file, 'utf8')
        .match(new RegExp(`"slot":"${slot}","value":(.*)\\}\n`, 'g'))!
        .at(-1)!
        .split('"value":')[1]!
        .slice(0, -2);
    const wrong = [
      ['plant/device/1', text('plant/device/1').replace('"source":{', '"source":7,"none":{')],
      ['plant/shared/site', '"none"'],
    ] as const;
    writeFileSync(
      file,
      readFileSync(file, 'utf8') +
        wrong.map(([slot, value], at) => changeLine(last + at, { slot, change: 'value', texts: [value] })).join(''),
    );
    await start('unfit', '-N', '2', ...paused);
    expect(app.plant.devices.map(({ bank }) => (bank.map.m701.TotWhInj ?? 0n) > 0n)).to.deep.equal([true, false]);
    expect(app.plant.time.tick).to.equal(40);
    expect(lines.join('\n')).to.match(/kept state of device 1 cannot be used: .*it starts anew/);
    expect(lines.join('\n')).to.match(/kept state of site cannot be used: .*it starts anew/);
  });

  it('a device that was left out meanwhile takes up the time of the others', async () => {
    await start('left-out', '-N', '2', ...paused);
    await app.plant.step(4);
    await app.stop();
    await start('left-out', '-N', '1', ...paused);
    await app.plant.step(400);
    await app.stop();
    await start('left-out', '-N', '2', ...paused);
    const energy = () => app.plant.devices.map(({ bank }) => Number(bank.map.m701.TotWhInj));
    const [first, second] = energy();
    await app.plant.step(1);
    expect(energy()[1]! - second!, 'no energy for the time between').to.be.below(30);
    expect(first).to.be.greaterThan(50 * second!);
  });

  it('the clock keeps date, rate and pause, unless its settings have changed', async () => {
    await start('clock', ...paused);
    await done('/controls/time', { rate: 5 });
    await app.plant.step(2);
    const { sim } = app.plant.time;
    await app.stop();
    await start('clock');
    expect(app.plant.time).to.include({ mode: 'paused', rate: 5, sim });
    await app.stop();
    await start('clock', '-wc_tz', 'Asia/Kolkata');
    expect(app.plant.time).to.include({ mode: 'accelerated', rate: 1, timezone: 'Asia/Kolkata' });
    await app.stop();
    await start('clock', '-wc_tz', 'Asia/Kolkata', ...paused);
    expect(app.plant.time).to.include({ mode: 'paused', timezone: 'Asia/Kolkata' });
  });

  it('scenarios stay, with their ids, until they are removed', async () => {
    const scenario = { name: 'two steps', steps: [{ after: '1 s', grid: { voltage_pu: 1 } }] };
    await start('scenarios', ...paused);
    await done('/scenarios', { scenario });
    await done('/scenarios', { scenario: { ...scenario, name: 'again' } });
    const before = (await call('/scenarios')).json;
    expect((await ask(port, '/api/sim/scenarios/1', { method: 'DELETE' })).status).to.equal(200);
    const copy = copyOfFiles('scenarios');
    await app.stop();
    await start(copy, ...paused);
    const kept = (await call('/scenarios')).json;
    expect(kept.scenarios).to.deep.equal(before.scenarios.filter(({ id }: { id: string }) => id === '2'));
    await done('/scenarios', { scenario });
    expect((await call('/scenarios')).json.scenarios.map(({ id }: { id: string }) => id)).to.deep.equal(['2', '3']);
    await done('/scenarios/3/start');
  });

  it('runs of scenarios stay with their reports, also of those that are removed', async () => {
    const scenario = { name: 'two steps', steps: [{ after: '1 s', expect: { point: '701.W', above: -1 } }] };
    await start('runs', ...paused);
    await done('/scenarios', { scenario });
    await done('/scenarios/1/start');
    await done('/scenario-runs', { scenario });
    const ended = async (): Promise<readonly { run: { state: string } }[]> => {
      const { runs } = (await call('/scenario-runs')).json;
      return runs.some(({ run }: { run: { state: string } }) => run.state === 'running') ? ended() : runs;
    };
    const before = await ended();
    expect(before.map(({ run }) => run.state)).to.deep.equal(['passed', 'passed']);
    const { json: report } = await call('/scenario-runs/1/report');
    await ask(port, '/api/sim/scenarios/1', { method: 'DELETE' });
    const copy = copyOfFiles('runs');
    await app.stop();
    await start(copy, ...paused);
    expect((await call('/scenario-runs')).json.runs).to.deep.equal(before);
    expect((await call('/scenario-runs/1/report')).json).to.deep.equal(report);
    await done('/scenario-runs', { scenario });
    expect((await ended())[0]).to.deep.include({ id: '3' });
    await ask(port, '/api/sim/scenario-runs/1', { method: 'DELETE' });
    const next = copyOfFiles(copy);
    await app.stop();
    await start(next, ...paused);
    const ids = (await call('/scenario-runs')).json.runs.map(({ id: kept }: { id: string }) => kept);
    expect(ids).to.deep.equal(['3', '2']);
  });

  it('a folder that takes no writes is an alarm of each device, and stops nothing', async () => {
    folder = new TestFolder();
    // the lock is one of the disk
    mkdirSync(join(root, 'failing'));
    await start('failing', '-N', '2', ...paused);
    const alarms = async () =>
      ((await call('/overview')).json.alarms.active as { code: string; device_index: number }[])
        .filter(({ code }) => code === 'state_not_kept')
        .map(({ device_index }) => device_index);
    const trouble = async () => {
      const [health, state, metrics] = await Promise.all(['/health', '/state', '/metrics'].map((path) => call(path)));
      const failed = /^derbench_state_failed (\d)$/m.exec(metrics!.text)?.[1];
      return [health!.status, health!.json.status, state!.json.failure, failed];
    };
    expect(await alarms()).to.deep.equal([]);
    expect(await trouble()).to.deep.equal([200, 'ok', null, '0']);
    folder.failure = 'ENOSPC: no space left on device';
    await done('/site', { export_limit_kw: 3 });
    expect(await alarms()).to.deep.equal([0, 1]);
    expect(await trouble()).to.deep.equal([200, 'degraded', 'ENOSPC: no space left on device', '1']);
    await done('/site', { export_limit_kw: 4 });
    expect((await call('/site')).json.export_limit_kw).to.equal(4);
    expect(lines.filter((line) => line.includes('ENOSPC'))).to.have.length(1);
    folder.failure = null;
    passRetry?.();
    while (!lines.some((line) => line.includes('is written to /state again'))) await call('/health');
    await done('/site', { export_limit_kw: 5 });
    expect(await alarms()).to.deep.equal([]);
    expect(await trouble()).to.deep.equal([200, 'ok', null, '0']);
    expect(folder.octets('journal.jsonl').toString()).to.include('"limitW":5000');
  });

  it('a hold and its registers come back together, wherever the journal ends', async () => {
    await start('holds', '-N', '2', ...paused);
    await done('/controls/holds?device=1', { id: 'h', values: { '704.WMaxLimPct': 30 }, duration_s: 3 });
    await done('/controls/time/step', { ticks: 1 });
    await done('/controls/time/step', { ticks: 3 });
    await app.stop();
    const lines = readFileSync(join(root, 'holds', 'journal.jsonl'), 'utf8').split(/(?<=\n)/);
    const stages = new Set<string>();
    for (let length = 2; length <= lines.length; length += 1) {
      mkdirSync(join(root, `holds-${length}`));
      writeFileSync(join(root, `holds-${length}`, 'journal.jsonl'), lines.slice(0, length).join(''));
      await start(`holds-${length}`, '-N', '2', ...paused);
      const { holds } = (await call('/controls/holds?device=1')).json as { holds: { state: string }[] };
      const running = holds.filter(({ state }) => state === 'active').length;
      const limitPct = app.plant.device(1).bank.map.m704.WMaxLimPct;
      stages.add(`${running} ${limitPct}`);
      await app.stop();
    }
    expect([...stages]).to.deep.equal(['0 100', '1 30']);
  });

  it('added devices that do not fit the configuration any more are left out, and removed ones stay away', async () => {
    await start('misfit', ...paused);
    await done('/devices', { device_type: 'PV-3Phase' });
    await app.stop();
    await start('misfit', '-N', '2', ...paused);
    expect(lines.join('\n')).to.include('device 1, added earlier, cannot join again');
    expect((await ask(port, '/api/sim/devices/1', { method: 'DELETE' })).status).to.equal(200);
    await app.stop();
    await start('misfit', '-N', '2', ...paused);
    expect(app.plant.devices.map(({ index }) => index)).to.deep.equal([0]);
  });

  it('an added station with the identity of another one is left out', async () => {
    const ocpp = ['--ocpp_enable', 'yes', '--ocpp_csms_url', 'ws://127.0.0.1:9/ocpp'];
    await start('identity', ...ocpp, ...paused);
    await done('/devices', { device_type: 'EVSE', ocpp: { id: 'CPX' } });
    await app.stop();
    await start('identity', '-d', 'EVSE', '--ocpp_csid', 'CPX', ...ocpp, ...paused);
    expect(app.plant.devices.map(({ index }) => index)).to.deep.equal([0]);
    expect(lines.join('\n')).to.include('another device has the charge point identity "CPX"');
  });

  it('odd values in the journal start their part anew', async () => {
    await start('odd', ...paused);
    await app.plant.step(40);
    await app.stop();
    const { changeLine } = await import('../../src/state/record.ts');
    const journal = readFileSync(join(root, 'odd', 'journal.jsonl'), 'utf8');
    const last = journal.trimEnd().split('\n').length;
    const odd: readonly (readonly [slot: string, text: string])[] = [
      ['plant/device/0', 'null'],
      ['plant/device/0', '{"configuration":1}'],
      ['plant/shared/changes', '{}'],
      ['plant/shared/changes', '[{"joined":null,"left":[-1,"x"]}]'],
      ['plant/shared/changes', '{"joined":[{"index":-1,"entry":{}},{"index":0.5,"entry":{}},null],"left":null}'],
      ['plant/shared/clock', '{"mode":"paused","rate":1,"timezone":"Mars/X","now":0,"shiftMs":0}'],
      ['plant/shared/clock', '{"mode":"paused","rate":0,"timezone":"UTC","now":0,"shiftMs":0}'],
      ['plant/shared/clock', '{"mode":"paused","rate":1,"timezone":"UTC","now":1e30,"shiftMs":0}'],
      ['scenarios/index', '{"lastId":1}'],
      ['scenario-runs', '{"lastId":1,"ids":["1","2"]}'],
    ];
    for (const [at, [slot, text]] of odd.entries()) {
      mkdirSync(join(root, `odd-${at}`));
      const line = changeLine(last, { slot, change: 'value', texts: [text] });
      writeFileSync(join(root, `odd-${at}`, 'journal.jsonl'), journal + line);
      await start(`odd-${at}`, ...paused);
      await done('/controls/time/step', { ticks: 1 });
      expect(app.plant.devices[0]?.now, text).to.equal(app.plant.time.sim);
      await app.stop();
    }
  });

  it('devices without changes write nothing', async () => {
    await start('quiet', '-N', '3', ...paused);
    await done('/site', { export_limit_kw: 3 });
    await app.stop();
    await start('quiet', '-N', '3', ...paused);
    const file = join(root, 'quiet', 'journal.jsonl');
    const slots = () =>
      readFileSync(file, 'utf8')
        .split('\n')
        .flatMap((line) => /"slot":"([^"]*)"/.exec(line)?.[1] ?? []);
    const before = slots().length;
    await done('/site', { export_limit_kw: 3 });
    expect(
      slots()
        .slice(before)
        .filter((slot) => slot.includes('device')),
    ).to.deep.equal([]);
  });
});
