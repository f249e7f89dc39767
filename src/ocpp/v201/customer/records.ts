/** What the parts of a station keep about customers, as lines of text. */
import type { OcppReservationEntry, OcppTokenEntry, OcppTransactionEntry } from '../../../contract/ocpp.ts';
import type { Tokens } from '../auth/tokens.ts';
import { stamp } from '../parts.ts';
import type { CustomerRecords } from './model.ts';

function tokenLine(kind: string, { status, expiresMs, parentIdToken }: OcppTokenEntry): string {
  const group = parentIdToken === null ? '' : `, group ${parentIdToken}`;
  const until = expiresMs === null ? '' : `, until ${stamp(expiresMs)}`;
  return `${kind}: ${status}${group}${until}`;
}

/** The cache, which forgets, and the local list, which is the central system's. */
export function tokenRecords(tokens: Pick<Tokens, 'list' | 'forget'>): CustomerRecords {
  return {
    about(isCustomer) {
      const { entries, cache } = tokens.list();
      return [
        ...cache.filter(isCustomer).map((entry) => tokenLine('authorization cache', entry)),
        ...entries.filter(isCustomer).map((entry) => tokenLine('local list', entry)),
      ];
    },
    clear(isCustomer) {
      const count = tokens.forget(isCustomer);
      return count === 0 ? [] : [`authorization cache: ${count} removed`];
    },
  };
}

export function transactionRecords(entries: () => readonly OcppTransactionEntry[]): CustomerRecords {
  return {
    about: (isCustomer) =>
      entries()
        .filter(isCustomer)
        .map(({ transactionId, connectorId, startedMs, endedMs, meterStartWh, meterStopWh }) => {
          const end = endedMs === null ? 'running' : stamp(endedMs);
          const energy = meterStopWh === null ? '' : `, ${meterStopWh - meterStartWh} Wh`;
          return `transaction ${transactionId ?? 'without id'}: EVSE ${connectorId}, ${stamp(startedMs)} to ${end}${energy}`;
        }),
  };
}

export function reservationRecords(entries: () => readonly OcppReservationEntry[]): CustomerRecords {
  return {
    about: (isCustomer) =>
      entries()
        .filter(isCustomer)
        .map(({ reservationId, connectorId, expiresMs }) => {
          const place = connectorId === 0 ? 'any EVSE' : `EVSE ${connectorId}`;
          return `reservation ${reservationId}: ${place}, until ${stamp(expiresMs)}`;
        }),
  };
}
