import type { EvsePhase, EvseReservation, EvseSession } from '../../../contract/kinds/evse.ts';
import { phaseTraits } from './phases.ts';

/** Token of a session that starts by plugging in alone. */
export const autoIdToken = 'AUTO';

const maxSessions = 200;

/** A transaction while it runs and after its end. */
export type SessionRecord = { -readonly [K in Exclude<keyof EvseSession, 'state' | 'chargingState'>]: EvseSession[K] };

export interface SessionLog {
  /** newest last */
  readonly records: SessionRecord[];
  /** number of transactions since the source was created, for the next id; a reset of the device does not reset it */
  count: number;
}

/** State of the connector that a new session records. */
interface SessionStart {
  readonly p: { readonly connectorId: number };
  readonly idToken: string | null;
  readonly remoteStartId: number | null;
  readonly reservation: EvseReservation | null;
  readonly energyWh: number;
}

export function openSession(log: SessionLog, c: SessionStart, nowS: number): SessionRecord {
  log.count += 1;
  const record: SessionRecord = {
    transactionId: String(log.count),
    connectorId: c.p.connectorId,
    idToken: c.idToken,
    remoteStartId: c.remoteStartId,
    // a session begins with the token of a reservation or without a reservation
    reservationId: c.reservation?.reservationId ?? null,
    startedAtS: nowS,
    endedAtS: null,
    meterStartWh: c.energyWh,
    energyWh: 0,
    energyDischargedWh: 0,
    stopReason: null,
  };
  log.records.push(record);
  if (log.records.length > maxSessions) log.records.shift();
  return record;
}

/** A session for REST; the state of a running session follows from its connector. */
export function sessionDetail(
  record: SessionRecord,
  { phase, errorCode }: { readonly phase: EvsePhase; readonly errorCode: string | null },
): EvseSession {
  const ended = record.endedAtS !== null;
  const running =
    phase === 'starting' ? 'starting' : phase === 'energised' && errorCode === null ? 'active' : 'suspended';
  return {
    transactionId: record.transactionId,
    connectorId: record.connectorId,
    state: ended ? 'ended' : running,
    idToken: record.idToken,
    remoteStartId: record.remoteStartId,
    reservationId: record.reservationId,
    startedAtS: record.startedAtS,
    endedAtS: record.endedAtS,
    meterStartWh: record.meterStartWh,
    energyWh: record.energyWh,
    energyDischargedWh: record.energyDischargedWh,
    stopReason: record.stopReason,
    chargingState: ended ? 'idle' : phaseTraits[phase].chargingState,
  };
}
