/**
 * A running transaction whose token the central system has not accepted: it ends, or it may take only so much energy as
 * MaxEnergyOnInvalidId permits, counted from now on. The device stops it. OCPP 1.6 4.8, 9.1.15 and 9.1.26.
 */
import { errorText } from '../../../core/errors.ts';
import type { StationParts } from '../parts.ts';
import type { Ledger, TransactionRecord } from './ledger.ts';

export interface InvalidTokens {
  /** The central system has not accepted the token of this transaction. */
  refused(record: TransactionRecord): void;
  /** A transition at a connector: a limit that the device has not taken is tried again. */
  review(connectorId: number): void;
  ended(key: string): void;
  stop(): void;
}

/** @param stop ends the session at a connector */
export function createInvalidTokens(
  { device, keys, log }: Pick<StationParts, 'device' | 'keys' | 'log'>,
  ledger: Ledger,
  stop: (connectorId: number, reason: string) => void,
): InvalidTokens {
  /** meter up to which energy flows, by transaction, while the device (under local control) takes no command */
  const waiting = new Map<string, number>();

  function limit({ key, connectorId }: TransactionRecord, untilWh: number): void {
    const again = waiting.delete(key);
    const energyWh = Math.max(0, untilWh - device.connector(connectorId).energyWh);
    try {
      device.command({ kind: 'evse.energy_limit', connectorId, energyWh });
    } catch (error) {
      if (!again)
        log.warning(`energy for an invalid token is not limited yet: ${errorText(error)}`, device.deviceIndex);
      waiting.set(key, untilWh);
    }
  }

  return {
    refused(record) {
      if (keys.boolean('StopTransactionOnInvalidId')) {
        stop(record.connectorId, 'DeAuthorized');
        return;
      }
      const { energyWh } = device.connector(record.connectorId);
      limit(record, energyWh + Math.max(0, keys.integer('MaxEnergyOnInvalidId')));
    },
    review(connectorId) {
      const record = ledger.at(connectorId);
      const untilWh = record === null ? undefined : waiting.get(record.key);
      if (record !== null && untilWh !== undefined) limit(record, untilWh);
    },
    ended(key) {
      waiting.delete(key);
    },
    stop() {
      waiting.clear();
    },
  };
}
