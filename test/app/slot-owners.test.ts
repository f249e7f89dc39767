import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { createApp } from '../../src/app/build.ts';
import { SlotOwners } from '../../src/app/slot-owners.ts';
import { disabledCsipClient } from '../../src/contract/csip-disabled.ts';
import type { CsipManagedDevice } from '../../src/contract/csip-client.ts';
import { createLogBook, silentLogger } from '../../src/core/log/log.ts';
import type { JsonValue } from '../../src/core/store.ts';
import { createFileStore } from '../../src/state/file-store.ts';
import { replay } from '../../src/state/record.ts';
import { changesSlot, ownersSlot } from '../../src/state/slots.ts';
import { startRawServer, switching } from '../ocpp/rpc/raw-server.ts';
import { configOf } from '../support/configured.ts';
import { ask } from '../support/http.ts';
import { testPlant } from '../support/plant.ts';
import { TestFolder } from '../support/state-folder.ts';
import { HandTimers } from '../support/timers.ts';
import { HandWall } from '../support/wall.ts';

describe('table of the slots of devices', () => {
  it('follows identities of stations and LFDIs; an EndDevice of several devices is none of theirs', async () => {
    const wall = new HandWall();
    const folder = new TestFolder();
    const { later } = new HandTimers(wall);
    const store = createFileStore({ folder, log: silentLogger, later, nowMs: () => wall.nowMs() });
    await store.open();
    const plant = testPlant({ types: ['PV-3Phase', 'EVSE', 'PV-1Phase'] });
    let endDevices: readonly CsipManagedDevice[] = [];
    const owners = new SlotOwners({
      files: { path: folder.path, store, openFolder: () => folder },
      plant,
      chargePointId: ({ assetType }) => (assetType === 'evse' ? 'CP|1' : null),
      csip: { certificates: () => ({ ...disabledCsipClient.certificates(null), endDevices }) },
      log: silentLogger,
    });
    const table = (): Promise<readonly JsonValue[]> => store.slot(ownersSlot).read();
    owners.save();
    expect(await table()).to.deep.equal([{ device: 1, slots: ['ocpp/CP%7C1'] }]);
    endDevices = [
      { deviceIndices: [0], lfdi: 'AA', nmi: null, sfdi: 1 },
      { deviceIndices: [1], lfdi: 'BB', nmi: null, sfdi: 2 },
      { deviceIndices: [0, 2], lfdi: 'CC', nmi: null, sfdi: 3 },
    ];
    owners.save();
    const whole = [
      { device: 0, slots: ['csip/AA'] },
      { device: 1, slots: ['ocpp/CP%7C1', 'csip/BB'] },
    ];
    expect(await table()).to.deep.equal(whole);
    await store.settled();
    const { records } = store.report;
    owners.save();
    await store.settled();
    expect(store.report.records, 'nothing has changed').to.equal(records);
    await plant.remove(1);
    expect(await table(), 'its adapters still have it').to.deep.equal([whole[0], { ...whole[1], hasLeft: true }]);
    owners.forget(1);
    expect(await table()).to.deep.equal(whole.slice(0, 1));
  });

  it('a device that has left loses its slots; a charge point that another device had starts anew', async () => {
    const wall = new HandWall();
    const folder = new TestFolder();
    const { later } = new HandTimers(wall);
    const store = createFileStore({ folder, log: silentLogger, later, nowMs: () => wall.nowMs() });
    await store.open();
    const names = [
      'ocpp/CP-1/ocpp1.6/queue',
      'ocpp/CP-2/ocpp1.6/queue',
      'dnp3/1%20b%20an2018/values',
      'ocpp/CP-10/x/y',
    ];
    for (const name of names) await store.slot(name).append(1);
    await store.slot(ownersSlot).append({ device: 0, slots: ['ocpp/CP-2'] });
    const plant = testPlant({ types: ['EVSE', 'EVSE', 'EVSE'] });
    const warnings: string[] = [];
    const owners = new SlotOwners({
      files: { path: folder.path, store, openFolder: () => folder },
      plant,
      chargePointId: ({ index }) => `CP-${index}`,
      csip: disabledCsipClient,
      log: { ...silentLogger, warning: (line) => void warnings.push(line) },
    });
    const left = () => Array.from(store.contents(), ([name]) => name).filter((name) => name !== ownersSlot);
    owners.settleMoves();
    expect(left()).to.deep.equal(names.filter((name) => !name.includes('CP-2')));
    expect(warnings).to.deep.equal(['the kept state of the charge point CP-2 is that of device 0: it starts anew']);
    owners.save();
    await plant.remove(1);
    expect(left(), 'before the adapters have let go').to.have.length(3);
    owners.forget(1);
    expect(left()).to.deep.equal(['ocpp/CP-10/x/y']);
  });

  it('a device that was removed when its process ended loses its slots at the next start, one left out keeps them', async () => {
    const wall = new HandWall();
    const folder = new TestFolder();
    const { later } = new HandTimers(wall);
    const store = createFileStore({ folder, log: silentLogger, later, nowMs: () => wall.nowMs() });
    await store.open();
    for (const name of ['ocpp/CP-1/queue', 'ocpp/CP-2/queue', 'ocpp/CP-3/queue']) await store.slot(name).append(1);
    await store.slot(ownersSlot).append({ device: 1, slots: ['ocpp/CP-1'], hasLeft: true });
    await store.slot(ownersSlot).append({ device: 2, slots: ['ocpp/CP-2'], hasLeft: 1 });
    const owners = new SlotOwners({
      files: { path: folder.path, store, openFolder: () => folder },
      plant: testPlant({ types: ['EVSE'] }),
      chargePointId: () => 'CP-3',
      csip: disabledCsipClient,
      log: silentLogger,
    });
    owners.settleMoves();
    owners.save();
    expect([...store.contents()].map(([name]) => name).sort()).to.deep.equal([
      'ocpp/CP-2/queue',
      'ocpp/CP-3/queue',
      ownersSlot,
    ]);
    expect(await store.slot(ownersSlot).read()).to.deep.equal([{ device: 0, slots: ['ocpp/CP-3'] }]);
  });

  it('without CSIP the table keeps the slots of EndDevices', async () => {
    const wall = new HandWall();
    const folder = new TestFolder();
    const { later } = new HandTimers(wall);
    const store = createFileStore({ folder, log: silentLogger, later, nowMs: () => wall.nowMs() });
    await store.open();
    await store.slot(ownersSlot).append({ device: 0, slots: ['csip/AA'] });
    const owners = new SlotOwners({
      files: { path: folder.path, store, openFolder: () => folder },
      plant: testPlant({ types: ['PV-3Phase'] }),
      chargePointId: () => null,
      csip: disabledCsipClient,
      log: silentLogger,
    });
    owners.save();
    expect(await store.slot(ownersSlot).read()).to.deep.equal([{ device: 0, slots: ['csip/AA'] }]);
  });
});

describe('a device that is removed', () => {
  it('is listed as removed when its registers go, and its station has an owner until the central system lets go', async () => {
    const root = mkdtempSync(join(tmpdir(), 'derbench-leaves-'));
    const central = await startRawServer((key) => switching(key, 'ocpp1.6'));
    const ocpp = ['--ocpp_enable', 'yes', '--ocpp_csms_url', central.url, '--ocpp_csid', 'CP'];
    const flags = ['-wp', '0', '-p', '0', '-d', 'EVSE', '-N', '2', '--start_paused', 'yes', '--state_dir', root];
    const app = createApp(configOf(...flags, ...ocpp), { logBook: createLogBook({ write: () => undefined }) });
    const journal = () => readFileSync(join(root, 'journal.jsonl'), 'utf8');
    try {
      const { port } = (await app.start()).http;
      while (central.requests.length < 2) await nextTurn();
      await ask(port, '/api/sim/controls/time/step', { method: 'POST', body: { ticks: 1 } });
      const removed = ask(port, '/api/sim/devices/1', { method: 'DELETE' });
      while (!journal().includes('"left":[1]')) await nextTurn();
      for (const socket of central.sockets) socket.destroy();
      expect((await removed).status).to.equal(200);
    } finally {
      await central.close();
      await app.stop();
    }
    const lines = journal().split(/(?<=\n)/);
    rmSync(root, { recursive: true });
    const stages = lines.map((_, at) => {
      const { slots } = replay(Buffer.from(lines.slice(0, at + 1).join('')));
      const isKept = ([name, texts]: readonly [string, readonly string[]]) =>
        texts.length > 0 && (name === 'plant/device/1' || name.startsWith('ocpp/CP-1/'));
      const places = new Set([...slots].filter(isKept).map(([name]) => name.split('/', 2).join('/')));
      const isOwned = (slots.get(ownersSlot) ?? []).some((row) => row.includes('"ocpp/CP-1"'));
      const hasLeft = (slots.get(changesSlot) ?? []).some((text) => text.includes('"left":[1]'));
      return [...places, ...(isOwned ? ['owner'] : []), ...(hasLeft ? ['removed'] : [])].sort().join(' ');
    });
    const begin = stages.findIndex((stage) => stage.includes('plant/device'));
    expect([...new Set(stages.slice(begin))]).to.deep.equal([
      'ocpp/CP-1 owner plant/device',
      'ocpp/CP-1 owner removed',
      'removed',
    ]);
  });
});
