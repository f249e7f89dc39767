/** Pinned captures over the end of the process. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { CaptureKeeping, captureSlot } from '../../src/app/capture-keeping.ts';
import { memoryState } from '../../src/app/state.ts';
import type { State } from '../../src/app/state.ts';
import type { App } from '../../src/app/start-stop.ts';
import { Captures } from '../../src/capture/book.ts';
import type { Capture } from '../../src/contract/captures.ts';
import type { JsonValue } from '../../src/core/store.ts';
import { LoopShare } from '../../src/core/turns.ts';
import { ask } from '../support/http.ts';
import { testPlant } from '../support/plant.ts';
import { startApp } from '../support/running-app.ts';

function begin(state: State, { maxBytes, shiftMs = 0 }: { maxBytes?: number; shiftMs?: number } = {}) {
  const plant = testPlant({ types: ['PV-3Phase', 'Batt-3Phase'], tickIntervalS: 0.5 });
  plant.setSurroundings({ irradianceWm2: 800, cellTemperatureC: 25 });
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const keeping = new CaptureKeeping({
    state,
    plant: { dateMs: (t) => plant.dateMs(t), simAt: (dateMs) => plant.simAt(dateMs - shiftMs) },
    log: { warning: warn, error: warn },
    share: new LoopShare(),
    ...(maxBytes !== undefined && { maxBytes }),
  });
  const captures = new Captures({
    plant,
    nowMs: () => 0,
    run: () => null,
    earlier: keeping.earlier(),
    keep: (pinned) => keeping.keep(pinned),
  });
  captures.capacity = 5;
  return { plant, captures, warnings };
}

type Process = ReturnType<typeof begin>;

async function sag({ plant, captures }: Process): Promise<number> {
  plant.startGridEvent('sag', { residual_pu: 0.4, duration_s: 0.3 }, undefined, { source: 'rest', peer: 'test' });
  await plant.step(12);
  return captures.list.at(-1)!.id;
}

async function pinned(process: Process): Promise<number> {
  const id = await sag(process);
  process.captures.pin(id, true);
  await process.captures.pinsAreKept();
  return id;
}

const idsOf = ({ captures }: Process) => captures.list.map(({ id }) => id);

const rowsOf = ({ rows }: Capture) =>
  rows.map(({ deviceIndex, columns: { length, extremes, tS, vLowPct, pKw, state, tick } }) => ({
    deviceIndex,
    extremes,
    columns: [tS, vLowPct, pKw, state, tick].map((column) => [...column.subarray(0, length)]),
  }));

function shownOf(capture: Capture) {
  const { id, state, pinned: isPinned, start, startedWallMs, endS, scenario, devicesLeftOut } = capture;
  return { id, state, isPinned, start, startedWallMs, endS, scenario, devicesLeftOut, rows: rowsOf(capture) };
}

describe('pinned captures over a restart', () => {
  it('are what they were, and later ones have ids above theirs', async () => {
    const state = memoryState();
    const first = begin(state);
    await sag(first);
    const id = await pinned(first);
    const second = begin(state);
    expect(idsOf(second), 'those that are not pinned end with the process').to.deep.equal([id]);
    const [before, after] = [first.captures.get(id), second.captures.get(id)];
    expect(shownOf(after)).to.deep.equal(shownOf(before));
    expect(after.triggers).to.deep.equal(before.triggers);
    expect(after.report()).to.deep.equal(before.report());
    expect(await sag(second)).to.equal(id + 1);
  });

  it('have their simulated dates, also where a clock that follows the wall has other instants', async () => {
    const state = memoryState();
    const first = begin(state);
    const id = await pinned(first);
    const { start } = begin(state, { shiftMs: 60_000 }).captures.get(id);
    expect(first.captures.get(id).start - start).to.equal(60e6);
  });

  it('one that is pinned while it records is kept when it ends', async () => {
    const state = memoryState();
    const first = begin(state);
    first.captures.start({ source: 'rest', peer: 'test' });
    first.captures.pin(1, true);
    await first.captures.pinsAreKept();
    expect(idsOf(begin(state))).to.deep.equal([]);
    await first.plant.step(12);
    await first.captures.pinsAreKept();
    expect(idsOf(begin(state))).to.deep.equal([1]);
  });

  it('are forgotten when they are no longer pinned, or dropped', async () => {
    const state = memoryState();
    const first = begin(state);
    for (let n = 0; n < 2; n += 1) await pinned(first);
    const second = begin(state);
    second.captures.pin(1, false);
    second.captures.remove(2);
    await second.captures.pinsAreKept();
    expect(idsOf(second)).to.deep.equal([1]);
    expect(idsOf(begin(state))).to.deep.equal([]);
  });

  it('count as pinned, and without a pin give way to newer ones', async () => {
    const state = memoryState();
    const first = begin(state);
    for (let n = 0; n < 4; n += 1) await pinned(first);
    const second = begin(state);
    await sag(second);
    expect(() => second.captures.pin(5, true)).to.throw('at most 4 captures may be pinned');
    second.captures.pin(2, false);
    await sag(second);
    expect(idsOf(second)).to.deep.equal([1, 3, 4, 5, 6]);
  });

  it('beyond the bound of bytes end with the process, with one warning', async () => {
    const state = memoryState();
    const sizes = begin(state);
    await pinned(sizes);
    const bytes = JSON.stringify(state.values(captureSlot)[0]).length;
    const small = memoryState();
    const first = begin(small, { maxBytes: 1.5 * bytes });
    for (let n = 0; n < 3; n += 1) await pinned(first);
    expect(idsOf(begin(small))).to.deep.equal([1]);
    expect(first.warnings).to.deep.equal([
      'capture 2 ends with the process: the pinned ones are too large to keep it',
      'capture 3 ends with the process: the pinned ones are too large to keep it',
    ]);
  });

  it('values that are none are left out with a warning each', async () => {
    const state = memoryState();
    const first = begin(state);
    await pinned(first);
    const [whole] = state.values(captureSlot) as readonly Record<string, JsonValue>[];
    const rows = whole!['rows'] as readonly Record<string, JsonValue>[];
    await state.store
      .slot(captureSlot)
      .replace([
        null,
        { ...whole, id: 'one' },
        { ...whole, report: {} },
        { ...whole, rows: [{ ...rows[0], columns: 'AAAA' }] },
        { ...whole, rows: [{ ...rows[0], count: Number(rows[0]!['count']) + 1 }] },
        whole!,
        whole!,
      ]);
    const second = begin(state);
    expect(idsOf(second)).to.deep.equal([1]);
    expect(second.warnings).to.have.length(6);
    expect(second.warnings[0]).to.equal('a value of captures/pinned in the kept state is left out: it is no capture');
    expect(second.warnings.at(-1)).to.include('capture 1 is not in its order');
  });
});

describe('pinned captures of a simulator with a state folder', () => {
  let folder: string;
  let app: App;
  let port: number;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-captures-'));
  });
  after(async () => {
    await app.stop();
    rmSync(folder, { recursive: true });
  });

  const call = async (path: string, body?: unknown) =>
    (await ask(port, `/api/sim${path}`, body === undefined ? {} : { method: 'POST', body })).json;

  it('are shown after the next start', async () => {
    const start = async () => ({ app, port } = await startApp(['PV-3Phase'], ['--state_dir', folder]));
    await start();
    await call('/controls/grid/event', { event: 'sag', parameters: { residual_pu: 0.4, duration_s: 0.3 } });
    await call('/controls/time/step', { ticks: 20 });
    const before = await call('/captures/1', { pinned: true });
    const rows = await call('/captures/1/rows');
    await app.stop();
    await start();
    const after = await call('/captures/1');
    const ofCapture = (answer: object) => ({ ...answer, tick: 0, sim_time: '' });
    expect(after).to.include({ id: 1, state: 'complete', pinned: true });
    expect(ofCapture(after)).to.deep.equal(ofCapture(before));
    expect(ofCapture(await call('/captures/1/rows'))).to.deep.equal(ofCapture(rows));
  });
});
