/** Connectors that take no vehicle while a firmware waits for its installation and while it is installed (L01.FR.07). */
import { errorText } from '../../../core/errors.ts';
import type { Availability, StationParts, Transactions } from '../parts.ts';

export interface ConnectorHold {
  /** Every connector without a transaction becomes unavailable; call it again when a transaction has ended. */
  take(): void;
  /** What the central system has set returns. */
  release(): void;
}

export function createConnectorHold(
  { device, log }: Pick<StationParts, 'device' | 'log'>,
  availability: Availability,
  transactions: Pick<Transactions, 'at'>,
): ConnectorHold {
  const held = new Set<number>();
  const set = (connectorId: number, operative: boolean) => {
    try {
      device.command({ kind: 'evse.availability', connectorId, operative });
    } catch (error) {
      log.warning(`connector ${connectorId} keeps its availability: ${errorText(error)}`, device.deviceIndex);
    }
  };
  return {
    take() {
      for (const connectorId of device.connectorIds) {
        if (transactions.at(connectorId) !== null || !device.connector(connectorId).operative) continue;
        held.add(connectorId);
        set(connectorId, false);
      }
    },
    release() {
      for (const connectorId of held)
        if (!availability.stationInoperative && availability.operative(connectorId)) set(connectorId, true);
      held.clear();
    },
  };
}
