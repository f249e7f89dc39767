/** What a transaction knows after each event of the device: session, token, charging time, meter. */
import type { EvseConnectorTransition } from '../../../contract/kinds/evse-transitions.ts';
import type { EvseConnectorDetail } from '../../../contract/kinds/evse.ts';
import { maxTokenLength } from '../auth/limits.ts';
import { deviceText, noAuthorization, typeOfText } from '../auth/token.ts';
import type { IdToken } from '../messages.ts';
import type { Version2 } from '../version.ts';
import { chargingStateOf } from './points.ts';
import { chargedMsAt } from './record.ts';
import type { TransactionRecord } from './record.ts';
import type { Work } from './work.ts';

interface Instant {
  readonly atMs: number;
  readonly connector: EvseConnectorDetail;
  readonly t?: EvseConnectorTransition;
}

/** A token that was taken at the device itself: no part of the station has brought it. */
function localToken(text: string | null, version: Version2): IdToken {
  if (text === null || text === '') return noAuthorization;
  return { idToken: text.slice(0, maxTokenLength[version]), type: typeOfText(text) };
}

/** Notes the token of an authorisation that the device tells, or that it has at the start. */
export function noteBearer(
  { parts, grants, bearers }: Work,
  connector: EvseConnectorDetail,
  t?: EvseConnectorTransition,
) {
  const { connectorId, session } = connector;
  const text = t?.idToken ?? session?.idToken ?? null;
  const known = grants.get(connectorId);
  const grant = known !== undefined && text === deviceText(known.idToken) ? known : null;
  bearers.set(connectorId, {
    idToken: grant?.idToken ?? localToken(text, parts.version),
    groupIdToken: grant?.info.groupIdToken ?? null,
    remoteStartId: grant?.remoteStartId ?? session?.remoteStartId ?? null,
    reservationId: grant?.reservationId ?? null,
  });
}

/** Token, and what came with it, of an authorisation that the record does not know yet. */
function authorisation({ bearers }: Work, record: TransactionRecord, { t }: Instant): Partial<TransactionRecord> {
  const bearer = bearers.get(record.evseId);
  if (bearer === undefined || (record.idToken !== null && t?.event !== 'authorize')) return {};
  return {
    ...bearer,
    reservationId: bearer.reservationId ?? record.reservationId,
    // told again with each authorisation
    told: { ...record.told, idToken: false, remoteStartId: false },
    why: null,
  };
}

/** The changes of a record by what has happened at its EVSE. */
export function courseOf(work: Work, record: TransactionRecord, instant: Instant): Partial<TransactionRecord> {
  const { atMs, connector } = instant;
  const { session } = connector;
  const running = session !== null && session.endedAtS === null ? session : null;
  const chargingState = chargingStateOf(connector);
  const reservationId = record.reservationId ?? running?.reservationId ?? null;
  return {
    sessionId: running?.transactionId ?? null,
    lastSessionId: running?.transactionId ?? record.lastSessionId,
    chargingState,
    chargedMs: chargedMsAt(record, atMs),
    chargingSinceMs: chargingState === 'Charging' ? atMs : null,
    lastMs: atMs,
    lastWh: Math.round(connector.energyWh),
    reservationId,
    ...authorisation(work, { ...record, reservationId }, instant),
  };
}
