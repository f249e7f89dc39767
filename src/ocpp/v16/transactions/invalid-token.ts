/**
 * A running transaction whose token the central system has not accepted: it ends, or its energy stops once
 * MaxEnergyOnInvalidId is used up. OCPP 1.6 4.8, 9.1.15 and 9.1.26.
 */
import { errorText } from '../../../core/errors.ts';
import type { StationParts } from '../parts.ts';
import type { Ledger, TransactionRecord } from './ledger.ts';

/** between two readings of the meter while energy is still allowed */
const checkMs = 1000;

export interface InvalidTokens {
  /** The central system has not accepted the token of this transaction. */
  refused(record: TransactionRecord): void;
  /** A transition at a connector: energy that has begun to flow is stopped. */
  review(connectorId: number): void;
  ended(key: string): void;
  stop(): void;
}

interface Held {
  /** meter up to which energy flows */
  readonly untilWh: number;
  endCheck: (() => void) | null;
}

/** Whether energy has to stop now; pure. */
export function isUsedUp(energyWh: number, untilWh: number): boolean {
  return energyWh >= untilWh;
}

/** @param stop ends the session at a connector */
export function createInvalidTokens(
  { device, keys, later, log }: StationParts,
  ledger: Ledger,
  stop: (connectorId: number, reason: string) => void,
): InvalidTokens {
  const held = new Map<string, Held>();

  function review(connectorId: number): void {
    const record = ledger.at(connectorId);
    const hold = record && held.get(record.key);
    if (!hold) return;
    hold.endCheck?.();
    hold.endCheck = null;
    const connector = device.connector(connectorId);
    if (!isUsedUp(connector.energyWh, hold.untilWh)) {
      hold.endCheck = later(checkMs, () => {
        review(connectorId);
      });
      return;
    }
    // before the first energy there is nothing to suspend; the transition that begins it calls again
    if (!connector.contactorClosed) return;
    try {
      device.command({ kind: 'evse.suspend', connectorId, by: 'evse' });
    } catch (error) {
      log.warning(`energy for an invalid token could not be stopped: ${errorText(error)}`, device.deviceIndex);
    }
  }

  return {
    refused(record) {
      if (keys.boolean('StopTransactionOnInvalidId')) {
        stop(record.connectorId, 'DeAuthorized');
        return;
      }
      const untilWh = record.meterStartWh + Math.max(0, keys.integer('MaxEnergyOnInvalidId'));
      held.set(record.key, { untilWh, endCheck: null });
      review(record.connectorId);
    },
    review,
    ended(key) {
      held.get(key)?.endCheck?.();
      held.delete(key);
    },
    stop() {
      for (const { endCheck } of held.values()) endCheck?.();
      held.clear();
    },
  };
}
