/** Updates of firmware on doubles: the central system, the file, the transactions. */
import { certificatesOf } from '../../../../src/core/tls/material.ts';
import type { Requests } from '../../../../src/ocpp/v16/parts.ts';
import { createFirmware } from '../../../../src/ocpp/v16/firmware-management.ts';
import type { Authority } from '../../../support/pki.ts';
import type { Rig } from '../fakes.ts';
import { expectFits, handTransactions, handTransfer, upkeepRig } from './rig.ts';

export const content = 'derbench-firmware 2.0.0\nand more octets';

export interface FirmwareOptions {
  readonly before?: Rig;
  /** of the manufacturer */
  readonly root?: Authority;
}

export async function firmwareOn({ before, root }: FirmwareOptions = {}) {
  const s = upkeepRig(before);
  const files = handTransfer();
  const transactions = handTransactions();
  const central = { station: false, connectors: new Set<number>() };
  const roots = root === undefined ? [] : (certificatesOf(root.cert) ?? []);
  const part = createFirmware(s.parts, {
    transfer: files.transfer,
    transactions: transactions.part,
    availability: {
      get stationInoperative() {
        return central.station;
      },
      operative: (connectorId) => !central.connectors.has(connectorId),
    },
    certificates: { roots: (use) => (use === 'ManufacturerRootCertificate' ? roots : []) },
  });
  // certificates are of the present
  s.clock.sync(Math.max(Date.now(), s.clock.nowMs()), s.wall.monotonicMs());
  await part.load?.();
  const inS = (seconds: number) => new Date(s.clock.nowMs() + seconds * 1000).toISOString();
  return {
    ...s,
    ...files,
    part,
    transactions,
    central,
    inS,
    operative: () => s.device.port.connectorIds.map((id) => s.device.port.connector(id).operative),
    async update(more: Partial<Requests['UpdateFirmware']> = {}) {
      const request = { location: 'http://files.test/fw.bin', retrieveDate: inS(0), ...more };
      expectFits('UpdateFirmware', 'request', request);
      const reply = await part.handlers.UpdateFirmware?.(request, s.after);
      expectFits('UpdateFirmware', 'reply', reply);
      await s.answered();
    },
  };
}

export async function accepted(options: FirmwareOptions = {}) {
  const s = await firmwareOn(options);
  await s.accept();
  return s;
}
