import { expect } from 'chai';
import { SlotOwners } from '../../src/app/slot-owners.ts';
import { disabledCsipClient } from '../../src/contract/csip-disabled.ts';
import type { CsipManagedDevice } from '../../src/contract/csip-client.ts';
import { silentLogger } from '../../src/core/log/log.ts';
import type { JsonValue } from '../../src/core/store.ts';
import { createFileStore } from '../../src/state/file-store.ts';
import { ownersSlot } from '../../src/state/slots.ts';
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
      { deviceIndices: [0], lfdi: 'AA', sfdi: 1 },
      { deviceIndices: [1], lfdi: 'BB', sfdi: 2 },
      { deviceIndices: [0, 2], lfdi: 'CC', sfdi: 3 },
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
