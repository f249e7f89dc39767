/** The history of a simulator over the end of its process. */
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createApp } from '../../src/app/build.ts';
import type { App } from '../../src/app/start-stop.ts';
import { HistoryKeeping } from '../../src/app/history-keeping.ts';
import { createHistory } from '../../src/api/history/history.ts';
import { createLogBook } from '../../src/core/log/log.ts';
import { configOf } from '../support/configured.ts';
import { ask } from '../support/http.ts';
import { testPlant } from '../support/plant.ts';

const row = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe('History over the end of the process', () => {
  let root: string;
  let app: App | undefined;
  let port: number;
  let lines: string[];

  before(() => {
    root = mkdtempSync(join(tmpdir(), 'derbench-history-'));
  });

  after(() => {
    rmSync(root, { recursive: true });
  });

  afterEach(async () => {
    await app?.stop();
    app = undefined;
  });

  async function start(name: string, ...flags: string[]): Promise<App> {
    lines = [];
    const words = ['-wp', '0', '-p', '0', '--start_paused', 'yes', '--state_dir', join(root, name)];
    app = createApp(configOf(...words, ...flags), {
      logBook: createLogBook({ write: (line) => lines.push(line) }),
      checkReplies: true,
    });
    ({ port } = (await app.start()).http);
    return app;
  }

  const samples = async (query = ''): Promise<Record<string, unknown>[]> =>
    (await ask(port, `/api/sim/history?limit=100000${query}`)).json.samples as Record<string, unknown>[];
  const ticks = async (query = '') => (await samples(query)).map(({ tick }) => tick);
  const kept = ['--state_history', 'yes'];

  it('all samples are there after a restart, once each and in their order, and recording goes on', async () => {
    const flags = ['-d', 'PV-3Phase', '-N', '2', '--time_rate', '60', ...kept];
    const first = await start('whole', ...flags);
    await first.plant.step(30);
    const before = [await samples('&device=0'), await samples('&device=1')];
    await first.stop();
    const second = await start('whole', ...flags);
    expect([await samples('&device=0'), await samples('&device=1')]).to.deep.equal(before);
    await second.plant.step(5);
    expect(await ticks()).to.deep.equal(row(0, 35));
    await second.stop();
    await start('whole', ...flags);
    expect(await ticks('&device=1')).to.deep.equal(row(0, 35));
    expect((await samples())[30]).to.deep.equal(before[0]?.[30]);
    expect(lines.filter((line) => / WARN | ERROR /.test(line))).to.deep.equal([]);
  });

  it('ticks that a killed process has to run again have one sample', async () => {
    const first = await start('killed', ...kept);
    await first.plant.step(10);
    // the folder of state at tick 10, with the history of tick 15
    await ask(port, '/api/sim/controls/grid', { method: 'POST', body: { voltage_pu: 1 } });
    cpSync(join(root, 'killed'), join(root, 'killed-copy'), { recursive: true });
    await first.plant.step(5);
    await first.stop();
    cpSync(join(root, 'killed', 'history'), join(root, 'killed-copy', 'history'), { recursive: true });
    rmSync(join(root, 'killed-copy', 'lock'));
    const second = await start('killed-copy', ...kept);
    expect(second.plant.time.tick).to.equal(10);
    expect(await ticks()).to.deep.equal(row(0, 10));
    await second.plant.step(2);
    expect(await ticks()).to.deep.equal(row(0, 12));
    await second.stop();
    await start('killed-copy', ...kept);
    expect(await ticks()).to.deep.equal(row(0, 12));
  });

  it('a device that has started anew has no samples of the one before, also later', async () => {
    const first = await start('anew', '-N', '2', ...kept);
    await first.plant.step(10);
    await first.stop();
    writeFileSync(join(root, 'anew.yaml'), 'devices: [{ device_type: PV-3Phase }, { device_type: Batt-3Phase }]\n');
    const flags = ['--config', join(root, 'anew.yaml')];
    const second = await start('anew', ...flags);
    await second.plant.step(3);
    await second.stop();
    const third = await start('anew', ...flags, ...kept);
    expect(await ticks('&device=0'), 'without those of the process that kept none').to.deep.equal([...row(0, 10), 13]);
    expect(await ticks('&device=1')).to.deep.equal([13]);
    await third.plant.step(2);
    await third.stop();
    await start('anew', ...flags, ...kept);
    expect(await ticks('&device=1')).to.deep.equal(row(13, 15));
  });

  it('as many samples as the memory holds are loaded, the newest', async () => {
    const first = await start('bound', ...kept);
    await first.plant.step(250);
    await first.stop();
    const second = await start('bound', '--history_samples', '100', ...kept);
    expect(await ticks()).to.deep.equal(row(151, 250));
    await second.plant.step(1);
    expect(await ticks()).to.deep.equal(row(152, 251));
  });

  it('devices that join and leave are followed', async () => {
    const first = await start('joins', ...kept);
    await first.plant.step(2);
    await ask(port, '/api/sim/devices', { method: 'POST', body: { device_type: 'Batt-3Phase' } });
    await first.plant.step(3);
    await ask(port, '/api/sim/devices/0/remove', { method: 'POST', body: {} });
    await first.stop();
    await start('joins', ...kept);
    expect(await ticks('&device=1')).to.deep.equal(row(2, 5));
  });

  it('a device of another kind in the place of one has its own samples', async () => {
    const flags = ['-d', 'PV-3Phase', ...kept];
    const first = await start('replaced', ...flags);
    await first.plant.step(3);
    await ask(port, '/api/sim/devices/0', { method: 'PATCH', body: { device_type: 'Batt-3Phase' } });
    await first.plant.step(2);
    const before = await samples();
    expect(before.map(({ tick }) => tick)).to.deep.equal([3, 4, 5]);
    expect(before.at(-1)).to.have.property('state_of_charge_pct').that.is.a('number');
    await first.stop();
    await start('replaced', ...flags);
    expect(await samples()).to.deep.equal(before);
  });

  it('the site and groups go on, also a group whose limits had ended', async () => {
    const flags = ['-N', '3', ...kept];
    const first = await start('scopes', ...flags);
    const limit = (exportKw: number | null) =>
      ask(port, '/api/sim/site', { method: 'POST', body: { devices: [0, 2], export_limit_kw: exportKw } });
    await first.plant.step(2);
    await limit(4);
    await first.plant.step(2);
    await limit(null);
    await first.plant.step(1);
    await first.stop();
    const second = await start('scopes', ...flags);
    await second.plant.step(1);
    const of = async (query: string) =>
      (await ask(port, `/api/sim/site/scopes/history?metrics=export_limit_kw${query}`)).json.samples.map(
        (sample: Record<string, unknown>) => [sample['tick'], sample['export_limit_kw']],
      );
    expect(await of('&devices=0,2')).to.deep.equal([
      [3, 4],
      [4, 4],
      [5, null],
      [6, null],
    ]);
    expect((await of('')).map(([tick]: number[]) => tick)).to.deep.equal(row(0, 6));
  });

  it('the chart of the site goes on where it was', async () => {
    const flags = ['-N', '2', ...kept];
    const first = await start('site', ...flags);
    await first.plant.step(20);
    const past = async () => (await ask(port, '/api/sim/site/history')).json;
    const before = await past();
    expect(before.timestamp.length).to.be.above(4);
    await first.stop();
    await start('site', ...flags);
    expect(await past()).to.deep.equal(before);
  });

  it('without the setting no file is written and none is read', async () => {
    const first = await start('off');
    await first.plant.step(3);
    await first.stop();
    expect(readdirSync(join(root, 'off'))).to.not.include('history');
    await start('off');
    expect(await ticks()).to.deep.equal([3]);
  });

  it('the samples of another device in the place of one begin anew in the same file', async () => {
    const writes: Buffer[] = [];
    let life = 'first';
    let second = (): void => undefined;
    const keeping = new HistoryKeeping({
      files: {
        read: () => Promise.resolve(),
        write(encode) {
          writes.push(encode(writes.length === 0));
          return Promise.resolve();
        },
        close: () => Promise.resolve(),
      },
      lifeOf: () => life,
      log: { warning: () => undefined },
      every(_ms, run) {
        second = run;
        return () => undefined;
      },
    });
    await keeping.open(createHistory(testPlant(), { samplesPerDevice: 100 }));
    for (const next of ['first', 'first', 'second']) {
      life = next;
      keeping.add(7, [{ name: `metric of the ${life}` }], Float64Array.of(0, 0, 1, 5));
      second();
      await new Promise(setImmediate);
    }
    const begins = writes.map((batch) => /"metrics":\["metric of the (\w+)"\]/.exec(batch.toString('latin1'))?.[1]);
    expect(begins).to.deep.equal(['first', undefined, 'second']);
    await keeping.close();
  });

  it('samples are written at most once a second, none waits longer, and no tick waits for the disk', async () => {
    const plant = testPlant();
    const writes: Buffer[] = [];
    let second = (): void => undefined;
    let endWrite = (): void => undefined;
    const keeping = new HistoryKeeping({
      files: {
        read: () => Promise.resolve(),
        write(encode) {
          writes.push(encode(writes.length === 0));
          return new Promise((resolve) => {
            endWrite = resolve;
          });
        },
        close: () => Promise.resolve(),
      },
      lifeOf: () => 'life',
      log: { warning: () => undefined },
      every(ms, run) {
        expect(ms).to.equal(1000);
        second = run;
        return () => undefined;
      },
    });
    await keeping.open(createHistory(plant, { samplesPerDevice: 100 }));
    await plant.step(5);
    expect(writes).to.have.length(0);
    second();
    expect(writes).to.have.length(1);
    await plant.step(2);
    second();
    expect(writes, 'the disk is slow').to.have.length(1);
    const closed = keeping.close();
    endWrite();
    await Promise.resolve();
    while (writes.length < 2) await new Promise(setImmediate);
    endWrite();
    await closed;
    const rows = writes.map((batch) => JSON.parse(/"rows":(\[\[.*?\]\])/.exec(batch.toString('latin1'))?.[1] ?? '[]'));
    const counts = rows.map((of: [number | string, number][]) => new Map(of));
    expect(counts).to.deep.equal(
      [6, 2].map(
        (count) =>
          new Map<number | string, number>([
            [0, count],
            ['site', count],
          ]),
      ),
    );
    expect(writes.map((batch) => batch.includes('"life":"life"'))).to.deep.equal([true, false]);
  });
});
