/** Updates of the firmware of a 2.x station on doubles; every request and answer fits its schema. */
import type { Store } from '../../../../src/core/store.ts';
import { certificatesOf } from '../../../../src/core/tls/material.ts';
import type { Requests, Transaction } from '../../../../src/ocpp/v201/parts.ts';
import type { Version2 } from '../../../../src/ocpp/station/stack.ts';
import { createFirmware } from '../../../../src/ocpp/v201/firmware-management.ts';
import type { Authority } from '../../../support/pki.ts';
import { settled } from '../../v16/fakes.ts';
import { handTransactions, handTransfer } from '../../v16/firmware-management/rig.ts';
import { rig } from '../rig.ts';

export const content = 'derbench-firmware 2.0.0\nand more octets';

export interface FirmwareOptions {
  readonly version?: Version2;
  /** of the manufacturer */
  readonly root?: Authority;
  /** of an earlier process */
  readonly store?: Store;
}

export async function firmwareOn({ version = 'ocpp2.1', root, store }: FirmwareOptions = {}) {
  const s = rig({ version });
  const kept = store ?? s.store;
  const files = handTransfer();
  const hand = handTransactions();
  const stopped: unknown[] = [];
  const central = { station: false, evses: new Set<number>() };
  const roots = root === undefined ? [] : (certificatesOf(root.cert) ?? []);
  // certificates are of the present
  s.clock.sync(Math.max(Date.now(), s.clock.nowMs()), s.wall.monotonicMs());
  const part = createFirmware(
    { ...s.parts, store: (name) => kept.slot(name) },
    {
      transfer: files.transfer,
      transactions: {
        running: hand.part.running as unknown as readonly Transaction[],
        at: (evseId) => hand.part.at(evseId) as unknown as Transaction | null,
        stopAll: (why) => stopped.push(why),
        onEnded: (listener) => hand.part.onEnded(listener as never),
      },
      availability: {
        get stationInoperative() {
          return central.station;
        },
        operative: (evseId) => !central.evses.has(evseId),
      },
      certificates: { roots: (use) => (use === 'ManufacturerRootCertificate' ? roots : []) },
    },
  );
  await part.load?.();
  const inS = (seconds: number) => new Date(s.clock.nowMs() + seconds * 1000).toISOString();
  const told = () =>
    s.line.of('FirmwareStatusNotification') as unknown as readonly Requests['FirmwareStatusNotification'][];
  return {
    ...s,
    ...files,
    store: kept,
    part,
    hand,
    stopped,
    central,
    inS,
    told,
    statuses: () =>
      told().map(({ status, requestId }) => (requestId === undefined ? status : `${status} ${requestId}`)),
    operative: () => s.device.port.connectorIds.map((id) => s.device.port.connector(id).operative),
    async update(requestId: number, firmware: Partial<Requests['UpdateFirmware']['firmware']> = {}, retries = 0) {
      const reply = await s.ask(part, 'UpdateFirmware', {
        requestId,
        retries,
        retryInterval: 5,
        firmware: { location: 'http://files.test/fw.bin', retrieveDateTime: inS(0), ...firmware },
      });
      await settled();
      return reply;
    },
    async triggered() {
      part.triggers?.FirmwareStatusNotification?.(undefined);
      await settled();
      return told().at(-1);
    },
  };
}
