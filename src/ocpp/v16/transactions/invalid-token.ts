/**
 * A running transaction whose token the central system has not accepted: it ends, or it may take only so much energy as
 * MaxEnergyOnInvalidId permits, counted from now on. The device stops it. OCPP 1.6 4.8 and 9.1.
 */
import { errorText } from '../../../core/errors.ts';
import type { StationParts } from '../parts.ts';
import type { TransactionRecord } from './ledger.ts';

export interface InvalidTokens {
  /** The central system has not accepted the token of this transaction. */
  refused(record: TransactionRecord): void;
  ended(key: string): void;
  stop(): void;
}

/** Between two attempts at a device that (under local control) takes no command, on the clock of the central system. */
const retryMs = 1000;

/** @param stop ends the session at a connector. @throws SimError */
export function createInvalidTokens(
  { device, keys, clock, log }: Pick<StationParts, 'device' | 'keys' | 'clock' | 'log'>,
  stop: (connectorId: number, reason: string) => void,
): InvalidTokens {
  /** ends the wait for the next attempt, by transaction */
  const waiting = new Map<string, () => void>();

  function attempt(key: string, act: () => void): void {
    const again = waiting.delete(key);
    try {
      act();
    } catch (error) {
      if (!again) log.warning(`the energy for an invalid token flows on: ${errorText(error)}`, device.deviceIndex);
      const end = clock.at(clock.nowMs() + retryMs, () => {
        attempt(key, act);
      });
      waiting.set(key, end);
    }
  }

  function refused({ key, connectorId }: TransactionRecord): void {
    if (keys.boolean('StopTransactionOnInvalidId')) {
      attempt(key, () => {
        stop(connectorId, 'DeAuthorized');
      });
      return;
    }
    const untilWh = device.connector(connectorId).energyWh + Math.max(0, keys.integer('MaxEnergyOnInvalidId'));
    attempt(key, () => {
      const energyWh = Math.max(0, untilWh - device.connector(connectorId).energyWh);
      device.command({ kind: 'evse.energy_limit', connectorId, energyWh });
    });
  }

  return {
    refused,
    ended(key) {
      waiting.get(key)?.();
      waiting.delete(key);
    },
    stop() {
      for (const end of waiting.values()) end();
      waiting.clear();
    },
  };
}
