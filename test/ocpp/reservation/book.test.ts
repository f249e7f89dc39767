/** Reservations of a version that is restored while the device still holds what another one has left. */
import { expect } from 'chai';
import { silentLogger } from '../../../src/core/log/log.ts';
import { createMemoryStore } from '../../../src/core/store.ts';
import { createBook } from '../../../src/ocpp/reservations.ts';
import { rig } from '../v16/fakes.ts';

describe('Reservations that the device has not given up yet', () => {
  const expiresMs = 4e12;
  const stored = (connectorId: number) => ({
    reservationId: 7,
    connectorId,
    idToken: 'TAG-1',
    tokenKey: 'tag-1',
    groupKey: null,
    madeMs: 0,
    expiresMs,
  });
  /** @returns true: the attempts to release it have ended */
  const stays = async (connectorId: number, heldAt: number, idToken: string) => {
    const { device, clock } = rig();
    const store = createMemoryStore();
    await store.slot('reservations').replace([stored(connectorId)]);
    const reservation = { reservationId: 7, idToken, expiresAtS: null };
    device.change(heldAt, { status: 'reserved', reservation });
    const ended: string[] = [];
    const releases = { insist: () => undefined, end: (key: string) => void ended.push(key), stop: () => undefined };
    const { port } = device;
    const book = createBook({ device: port, clock, log: silentLogger, store: (name) => store.slot(name), releases });
    await book.load();
    book.stop();
    return ended.includes(`reservation of connector ${heldAt}`);
  };

  it('stay where they are those of the version, with the same id, connector and token', async () => {
    expect(await stays(2, 2, 'TAG-1')).to.equal(true);
    expect(await stays(0, 2, 'TAG-1')).to.equal(true);
    expect(await stays(1, 2, 'TAG-1')).to.equal(false);
  });

  it('end where another version has given the id to another token', async () => {
    expect(await stays(0, 2, 'TAG-9')).to.equal(false);
  });
});
