/** Lines of the log over the end of the process. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { defaultLogBounds, LogKeeping, logSlot } from '../../src/app/log-keeping.ts';
import type { App } from '../../src/app/start-stop.ts';
import type { Alarm } from '../../src/contract/device.ts';
import { createLogBook, logCapacity } from '../../src/core/log/log.ts';
import type { LogBook, LogEntry } from '../../src/core/log/log.ts';
import { defaultStoreLimits } from '../../src/core/store.ts';
import type { JsonValue } from '../../src/core/store.ts';
import { createFileStore } from '../../src/state/file-store.ts';
import type { FileStore } from '../../src/state/file-store.ts';
import { journalFile } from '../../src/state/journal.ts';
import { ask } from '../support/http.ts';
import { startApp } from '../support/running-app.ts';
import { TestFolder } from '../support/state-folder.ts';
import { HandTimers } from '../support/timers.ts';
import { HandWall } from '../support/wall.ts';

const silentBook = () => createLogBook({ write: () => undefined });
const bounds = { lines: 4, bytes: 100_000 };

interface Process {
  readonly logBook: LogBook;
  readonly store: FileStore;
  readonly keeping: LogKeeping;
}

/** A process with the log of the one before, on the same folder. */
async function begin(
  folder: TestFolder,
  {
    logBook = silentBook(),
    alarms = [] as readonly string[],
    of = bounds,
    maxBytes = defaultStoreLimits.maxBytes,
  } = {},
): Promise<Process> {
  const wall = new HandWall();
  const log = { info: () => undefined, warning: () => undefined, error: () => undefined };
  const later = new HandTimers(wall).later;
  const store = createFileStore({ folder, log, later, nowMs: () => 0, limits: { maxBytes } });
  const keeping = new LogKeeping({
    logBook,
    store,
    values: () => store.values(logSlot),
    plant: { devices: [{ index: 0, alarms: alarms.map((code) => ({ code }) as Alarm) }] },
    bounds: of,
  });
  await store.open();
  keeping.open();
  return { logBook, store, keeping };
}

const messagesOf = (store: FileStore) => store.values(logSlot).map((value) => (value as unknown as LogEntry).message);
const messages = (book: LogBook) => book.entries().map(({ message }) => message);

describe('lines of the log over a restart', () => {
  it('are those of AC and DC, and warnings and errors of all modules, with their ids', async () => {
    const folder = new TestFolder();
    const { logBook, store } = await begin(folder);
    logBook.logger('AC').info('alarm: manual_shutdown: stopped by operator', 0);
    logBook.logger('Lab').info('POST /commands');
    logBook.logger('DC').info('a session begins', 0);
    logBook.logger('Modbus').warning('the port is lost');
    logBook.logger('Lab').error('failed', undefined, 'the stack');
    await store.durable();
    const kept = logBook.entries().filter(({ message }) => !message.startsWith('POST'));
    const next = await begin(folder.afterPowerLoss(), { alarms: ['manual_shutdown'] });
    expect(next.logBook.entries()).to.deep.equal(kept);
    next.logBook.logger('Lab').info('goes on');
    expect(next.logBook.entries().at(-1)?.id).to.be.above(kept.at(-1)!.id);
  });

  it('stand before the lines that the new process has written by then, which get ids above', async () => {
    const folder = new TestFolder();
    const first = await begin(folder);
    for (const text of ['a', 'b']) first.logBook.logger('AC').info(text);
    await first.store.durable();
    const logBook = silentBook();
    logBook.logger('AC').warning('early');
    const { store } = await begin(folder.afterPowerLoss(), { logBook });
    expect(logBook.entries().map(({ id, message }) => [id, message])).to.deep.equal([
      [1, 'a'],
      [2, 'b'],
      [3, 'early'],
    ]);
    expect(store.values(logSlot)).to.have.length(3);
  });

  it('of several simulators in one process, the log stays as clients have seen it', async () => {
    const folder = new TestFolder();
    const first = await begin(folder);
    first.logBook.logger('AC').info('before the snapshot');
    await first.store.durable();
    const snapshot = folder.afterPowerLoss();
    first.logBook.logger('AC').info('alarm: over_temp: over temperature', 0);
    first.keeping.close();
    const seen = first.logBook.entries();
    const { store } = await begin(snapshot, { logBook: first.logBook });
    expect(first.logBook.entries().slice(0, 2)).to.deep.equal(seen);
    expect(messages(first.logBook).slice(2)).to.deep.equal([
      'alarm ended: over_temp: it is not active after the restart',
    ]);
    const before = first.store.values(logSlot);
    first.logBook.logger('AC').info('of the second');
    expect(first.store.values(logSlot), 'the first one has let go of the log').to.deep.equal(before);
    expect(store.values(logSlot)).to.have.length(4);
  });

  it('are appended one by one, and cut to the newest when twice the bound is passed', async () => {
    const folder = new TestFolder();
    const { logBook, store } = await begin(folder);
    const octets = () => folder.octets(journalFile).length;
    for (let i = 1; i <= 8; i += 1) {
      const before = octets();
      logBook.logger('AC').info(`line ${i}`);
      await store.durable();
      expect(octets() - before, `line ${i}`).to.be.within(1, 260);
    }
    expect(store.values(logSlot)).to.have.length(8);
    const before = octets();
    logBook.logger('Lab').info('no line that is kept');
    await store.durable();
    expect(octets()).to.equal(before);
    logBook.logger('AC').info('line 9');
    expect(store.values(logSlot)).to.have.length(4);
    await store.durable();
    const { logBook: after } = await begin(folder.afterKill());
    expect(messages(after)).to.deep.equal([6, 7, 8, 9].map((i) => `line ${i}`));
  });

  it('have no more octets than the bound at the cut', async () => {
    const folder = new TestFolder();
    const { logBook, store } = await begin(folder, { of: { lines: 100, bytes: 1000 } });
    for (let i = 0; i < 60; i += 1) {
      logBook.logger('AC').info(`${i} ${'é'.repeat(50)}`);
      expect(Buffer.byteLength(messagesOf(store).join(''))).to.be.at.most(2000);
    }
    expect(messages(logBook)).to.have.length(60);
  });

  it('are kept while the log itself has dropped them for lines that are not kept', async () => {
    const folder = new TestFolder();
    const { logBook, store } = await begin(folder);
    logBook.logger('OCPP').warning('first');
    for (let i = 0; i < logCapacity; i += 1) logBook.logger('OCPP').info(`${i}`);
    expect(logBook.entries().some(({ message }) => message === 'first')).to.equal(false);
    for (let i = 0; i < 8; i += 1) logBook.logger('AC').info(`line ${i}`);
    expect(store.values(logSlot)).to.have.length(4);
    expect(messagesOf(store)).to.include('first');
  });

  it('of a verbose module displace only its own', async () => {
    const folder = new TestFolder();
    const { logBook, store } = await begin(folder);
    for (const text of ['a', 'b']) logBook.logger('AC').info(text);
    for (let i = 0; i < 50; i += 1) logBook.logger('OCPP').warning(`warning ${i}`);
    expect(messagesOf(store).slice(0, 2)).to.deep.equal(['a', 'b']);
    await store.durable();
    const { logBook: after, store: next } = await begin(folder.afterKill());
    expect(messages(after)).to.deep.equal(messagesOf(store));
    for (let i = 50; i < 99; i += 1) after.logger('OCPP').warning(`warning ${i}`);
    expect(messagesOf(next).slice(0, 2)).to.deep.equal(['a', 'b']);
    expect(messagesOf(next).at(-1)).to.equal('warning 98');
  });

  it('that are none, or are out of order, are left out', async () => {
    const folder = new TestFolder();
    const { store, logBook } = await begin(folder);
    logBook.logger('AC').info('right');
    const [right] = store.values(logSlot) as unknown as Record<string, JsonValue>[];
    const wrong: JsonValue[] = [
      null,
      7,
      {},
      { ...right, id: 0.5 },
      { ...right, id: 3, level: 'loud' },
      { ...right, id: 3, module: 'X' },
      { ...right, id: 3, message: null },
      { ...right, id: 3, deviceIndex: 'x' },
      { ...right, id: 3, timeMs: null },
    ];
    await store.slot(logSlot).append(...wrong, { ...right, id: 9 }, { ...right!, id: 8 });
    const next = await begin(folder.afterPowerLoss());
    expect(next.logBook.entries().map(({ id }) => id)).to.deep.equal([1, 9]);
  });

  it('close the alarms that are not active any more, once', async () => {
    let folder = new TestFolder();
    const first = await begin(folder, { of: { lines: 100, bytes: 100_000 } });
    const [ac, dc] = [first.logBook.logger('AC'), first.logBook.logger('DC')];
    ac.warning('alarm: ac_over_volt: tripped on over-voltage', 0);
    ac.info('alarm ended: ac_over_volt', 0);
    dc.warning('alarm: soc_low: the state of charge is at its floor', 0);
    dc.warning('alarm: over_temp: over temperature', 0);
    dc.warning('alarm: over_temp: over temperature', 7);
    await first.store.durable();
    folder = folder.afterPowerLoss();
    const second = await begin(folder, { alarms: ['over_temp'], of: { lines: 100, bytes: 100_000 } });
    const ends = second.logBook.entries().slice(5);
    expect(ends.map(({ module, level, deviceIndex, message }) => [module, level, deviceIndex, message])).to.deep.equal([
      ['DC', 'info', 0, 'alarm ended: soc_low: it is not active after the restart'],
      ['DC', 'info', 7, 'alarm ended: over_temp: it is not active after the restart'],
    ]);
    await second.store.durable();
    const third = await begin(folder.afterPowerLoss(), { alarms: ['over_temp'] });
    expect(third.logBook.entries()).to.have.length(7);
  });

  it('of any length fit into their slot', async () => {
    // the true bounds and the true limit, in small
    const [of, maxBytes] = [
      { lines: defaultLogBounds.lines / 40, bytes: defaultLogBounds.bytes / 40 },
      defaultStoreLimits.maxBytes / 40,
    ];
    const { logBook, store } = await begin(new TestFolder(), { of, maxBytes });
    for (let i = 0; i < 50; i += 1) {
      // JSON has two octets for each quote
      logBook.logger('AC').info(`${i} ${'"'.repeat(5000)}`);
      expect(Number.parseInt(messagesOf(store).at(-1) ?? '', 10)).to.equal(i);
    }
  });
});

describe('alarms of a simulator that is killed', () => {
  let root: string;
  let app: App;
  let port: number;

  before(() => {
    root = mkdtempSync(join(tmpdir(), 'derbench-log-'));
  });
  after(() => {
    rmSync(root, { recursive: true });
  });
  afterEach(() => app.stop());

  const start = async (folder: string, types: readonly string[]): Promise<void> => {
    ({ app, port } = await startApp(types, ['--state_dir', join(root, folder)]));
  };
  const done = async (path: string, body: unknown): Promise<void> => {
    const { status, text } = await ask(port, `/api/sim${path}`, { method: 'POST', body });
    expect(status, text).to.be.within(200, 299);
  };
  const lines = async (): Promise<{ id: number; device_index: number; message: string }[]> =>
    (await ask(port, '/api/sim/logs?modules=AC&limit=100')).json.logs;

  it('are on disk before a client sees their lines', async () => {
    const folder = new TestFolder();
    mkdirSync(join(root, 'slow'));
    ({ app, port } = await startApp(['PV-3Phase'], ['--state_dir', join(root, 'slow')], {
      openStateFolder: () => folder,
    }));
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    await ask(port, '/api/sim/health');
    folder.beforeStep = () => gate;
    app.logBook.logger('AC').warning('alarm: cabinet_open: the cabinet is open', 0);
    let isAnswered = false;
    const answer = lines().finally(() => {
      isAnswered = true;
    });
    await ask(port, '/api/sim/health');
    const wasEarly = isAnswered;
    open();
    expect(wasEarly).to.equal(false);
    expect((await answer).at(-1)?.message).to.include('cabinet_open');
    expect(folder.afterPowerLoss().octets(journalFile).toString()).to.include('cabinet_open');
  });

  it('are in the log with their ids; those of a device that starts anew are closed', async () => {
    await start('first', ['PV-3Phase', 'PV-3Phase']);
    await done('/controls/grid', { voltage_pu: 1.35 });
    await done('/controls/time/step', { ticks: 3 });
    const seen = await lines();
    expect(seen.filter(({ message }) => message.startsWith('alarm: ac_over_volt')).map((line) => line.device_index))
      .to //
      .deep.equal([0, 1]);
    mkdirSync(join(root, 'killed'));
    copyFileSync(join(root, 'first', journalFile), join(root, 'killed', journalFile));
    await app.stop();
    await start('killed', ['PV-3Phase', 'Batt-3Phase']);
    const after = await lines();
    expect(after.slice(0, seen.length)).to.deep.equal(seen);
    const closed = after.slice(seen.length).filter(({ message }) => message.startsWith('alarm ended'));
    expect(closed.map(({ device_index, message }) => [device_index, message])).to.deep.equal([
      [1, 'alarm ended: ac_over_volt: it is not active after the restart'],
    ]);
    expect(app.plant.device(0).alarms.map(({ code }) => code)).to.deep.equal(['ac_over_volt']);
    expect(readFileSync(join(root, 'killed', journalFile), 'utf8')).to.include('"slot":"log/lines","append"');
  });
});
