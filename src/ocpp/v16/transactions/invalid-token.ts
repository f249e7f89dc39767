/**
 * A running transaction whose token the central system has not accepted: it ends, or it may take only so much energy as
 * MaxEnergyOnInvalidId permits, counted from now on. The device stops it. OCPP 1.6 4.8 and 9.1.
 */
import { createInsistence } from '../../transactions/insistence.ts';
import type { StationParts } from '../parts.ts';
import type { TransactionRecord } from './ledger.ts';

export interface InvalidTokens {
  /** The central system has not accepted the token of this transaction. */
  refused(record: TransactionRecord): void;
  ended(key: string): void;
  stop(): void;
}

/** @param stop ends the session at a connector. @throws SimError */
export function createInvalidTokens(
  { device, keys, clock, log }: Pick<StationParts, 'device' | 'keys' | 'clock' | 'log'>,
  stop: (connectorId: number, reason: string) => void,
): InvalidTokens {
  const insistence = createInsistence(clock, log, device.deviceIndex);
  const refusal = 'the energy for an invalid token flows on';

  function refused({ key, connectorId }: TransactionRecord): void {
    if (keys.boolean('StopTransactionOnInvalidId')) {
      insistence.insist(key, refusal, () => {
        stop(connectorId, 'DeAuthorized');
      });
      return;
    }
    const untilWh = device.connector(connectorId).energyWh + Math.max(0, keys.integer('MaxEnergyOnInvalidId'));
    insistence.insist(key, refusal, () => {
      const energyWh = Math.max(0, untilWh - device.connector(connectorId).energyWh);
      device.command({ kind: 'evse.energy_limit', connectorId, energyWh });
    });
  }

  return {
    refused,
    ended(key) {
      insistence.end(key);
    },
    stop() {
      insistence.stop();
    },
  };
}
