/** Connectors that take no vehicle while a firmware waits for its installation and while it is installed (L01.FR.07). */
import type { EvseTransition } from '../../contract/kinds/evse-transitions.ts';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { StationPort } from '../station/port.ts';

/** Operative states that the central system has set. */
export interface OperativeStates {
  readonly stationInoperative: boolean;
  operative(connectorId: number): boolean;
}

export interface ConnectorHold {
  /** Every connector without a transaction becomes unavailable; call it again when a transaction has ended. */
  take(): void;
  /** What the central system has set returns. */
  release(): void;
}

/** @param transactions null at a connector without one */
export function createConnectorHold(
  { device, log }: { readonly device: StationPort; readonly log: Logger },
  availability: OperativeStates,
  transactions: { at(connectorId: number): object | null },
): ConnectorHold {
  const held = new Set<number>();
  const set = (connectorId: number, operative: boolean) => {
    try {
      device.command({ kind: 'evse.availability', connectorId, operative });
    } catch (error) {
      log.warning(`connector ${connectorId} keeps its availability: ${errorText(error)}`, device.deviceIndex);
    }
  };
  const hold = (connectorId: number) => {
    if (transactions.at(connectorId) !== null || !device.connector(connectorId).operative) return;
    held.add(connectorId);
    set(connectorId, false);
  };
  let endHeard: (() => void) | null = null;
  /** ChangeAvailability to Operative meanwhile counts once the connectors are released. */
  const heard = (transition: EvseTransition) => {
    if (transition.event === 'availability') hold(transition.connectorId);
  };
  return {
    take() {
      endHeard ??= device.onTransition(heard);
      for (const connectorId of device.connectorIds) hold(connectorId);
    },
    release() {
      endHeard?.();
      endHeard = null;
      for (const connectorId of held)
        if (!availability.stationInoperative && availability.operative(connectorId)) set(connectorId, true);
      held.clear();
    },
  };
}
