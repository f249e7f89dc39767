import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ClockOwner } from '../../../src/contract/scenarios.ts';
import type { StateControl } from '../../../src/contract/state.ts';
import { createStateControl } from '../../../src/app/state-control.ts';
import type { Restart } from '../../../src/app/start-stop.ts';
import { folderState } from '../../../src/app/state.ts';
import type { State } from '../../../src/app/state.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

/** A snapshot of another process. */
const otherName = 'other';

describe('REST: state', () => {
  let rest: Rest;
  let folder = '';
  let state: State | null = null;
  let saves = 0;
  let restarts: Restart[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'derbench-rest-state-'));
    restarts = [];
    saves = 0;
  });
  afterEach(async () => {
    await rest.api.stop();
    await state?.close();
    state = null;
    rmSync(folder, { recursive: true });
  });

  async function open(canRestart = true, clockOwner: ClockOwner = { name: null }): Promise<StateControl> {
    const wall = new HandWall();
    state = folderState(folder, { log: silentLogger, wall, later: new HandTimers(wall).later });
    await state.open();
    const control = createStateControl({
      state,
      owners: {
        save: () => {
          saves += 1;
        },
      },
      wall: systemClock,
      log: silentLogger,
      version: '1.2.3',
      commit: async () => {
        await state?.store.slot('plant/device/0/x').replace([saves]);
      },
      onRestart: canRestart ? (restart) => restarts.push(restart) : undefined,
    });
    rest = await Rest.open(testPlant(), { state: control, clockOwner });
    return control;
  }

  it('without a folder is shown as such, and everything else is refused as switched off', async () => {
    rest = await Rest.open();
    expect(await rest.get('/state')).to.deep.equal({
      configured: false,
      folder: null,
      words: 'nothing is kept over a restart',
      format: null,
      octets: null,
      records: null,
      last_save: null,
      failure: null,
      can_restore: false,
      snapshots: [],
    });
    const name = { name: 'x' };
    for (const [path, body] of [['/state/snapshots'], ['/state/snapshot', name], ['/state/restore', name]] as const) {
      const { detail } = await rest.refused(path, 409, 'disabled', body);
      expect(detail).to.include('--state_dir');
    }
    const { status } = await rest.call('/state/snapshots/x', { method: 'DELETE' });
    expect(status).to.equal(409);
  });

  it('shows folder, size and last write', async () => {
    await open();
    const shown = await rest.get('/state');
    expect(shown).to.include({ configured: true, folder, format: 2, records: 1, failure: null, can_restore: true });
    expect(shown.octets).to.be.above(0);
    expect(Date.parse(shown.last_save)).to.be.closeTo(Date.now(), 60_000);
  });

  it('takes, lists and deletes snapshots, with the changes of the devices that waited', async () => {
    const control = await open();
    const { headers, json, status } = await rest.call('/state/snapshot', { method: 'POST', body: { name: 'before' } });
    expect(status).to.equal(201);
    expect(headers['location']).to.equal('/api/sim/state/snapshots/before');
    expect(json).to.include({ name: 'before', version: '1.2.3', damage: null });
    expect(saves).to.equal(1);
    expect((await rest.get('/state/snapshots')).snapshots).to.deep.equal([json]);
    expect((await rest.get('/state')).snapshots).to.deep.equal([json]);
    await rest.refused('/state/snapshot', 409, 'conflict', { name: 'before' });
    await rest.post('/state/snapshot', { name: 'before', overwrite: true }, 201);
    (await control.prepare('before')).begin('test');
    expect([...(restarts[0]?.contents ?? [])]).to.deep.equal([['plant/device/0/x', ['2']]]);
    expect((await rest.call('/state/snapshots/before', { method: 'DELETE' })).json).to.include({ name: 'before' });
    expect(readdirSync(join(folder, 'snapshots'))).to.deep.equal([]);
    const again = await rest.call('/state/snapshots/before', { method: 'DELETE' });
    expect([again.status, again.json.code]).to.deep.equal([404, 'unknown-resource']);
  });

  it('refuses names of another form, in the body and in the path', async () => {
    await open();
    const { errors } = await rest.refused('/state/snapshot', 422, 'validation', { name: '../x' });
    expect(errors[0]).to.include({ name: '/name' });
    await rest.refused('/state/restore', 422, 'validation', { name: '' });
    const { status, json } = await rest.call('/state/snapshots/..%2Fx', { method: 'DELETE' });
    expect([status, json.code]).to.deep.equal([422, 'validation']);
  });

  it('restores after the answer; until then other requests are refused', async () => {
    await open();
    await rest.post('/state/snapshot', { name: 'x' }, 201);
    expect(await rest.post('/state/restore', { name: 'x' }, 202)).to.deep.equal({ state: 'restarting', name: 'x' });
    await rest.refused('/state/restore', 503, 'stopping', { name: 'x' });
    expect(restarts.map(({ contents, reason }) => [contents.size, reason])).to.deep.equal([[1, 'rest request']]);
  });

  it('restores no snapshot that is missing or damaged, and goes on', async () => {
    await open();
    await rest.post('/state/snapshot', { name: 'x' }, 201);
    await rest.refused('/state/restore', 404, 'unknown-resource', { name: otherName });
    writeFileSync(join(folder, 'snapshots', `${otherName}.json`), '{"derbench_snapshot":1,"slots":{}}');
    await rest.refused('/state/restore', 409, 'conflict', { name: otherName });
    const [damaged] = (await rest.get('/state/snapshots')).snapshots;
    expect(damaged).to.include({ name: otherName, taken_at: null, version: null });
    expect(damaged.damage).to.include('damaged');
    expect(restarts).to.deep.equal([]);
  });

  it('restores nothing while a scenario runs, which may take snapshots', async () => {
    await open(true, { name: 'volt-watt' });
    await rest.post('/state/snapshot', { name: 'x' }, 201);
    const { detail } = await rest.refused('/state/restore', 409, 'conflict', { name: 'x' });
    expect(detail).to.include('"volt-watt"');
    expect(restarts).to.deep.equal([]);
    await rest.get('/state');
  });

  it('restores nothing in a simulator that cannot be built anew', async () => {
    await open(false);
    await rest.post('/state/snapshot', { name: 'x' }, 201);
    await rest.refused('/state/restore', 409, 'conflict', { name: 'x' });
    expect((await rest.get('/state')).can_restore).to.equal(false);
  });
});
