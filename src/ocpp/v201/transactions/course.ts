/** What a transaction knows after each event of the device: session, token, charging time, meter. */
import type { EvseConnectorTransition } from '../../../contract/kinds/evse-transitions.ts';
import type { EvseConnectorDetail } from '../../../contract/kinds/evse.ts';
import { deviceText } from '../auth/token.ts';
import type { IdToken } from '../messages.ts';
import type { Version2 } from '../version.ts';
import { chargingStateOf } from './points.ts';
import { chargedMsAt } from './record.ts';
import type { TransactionRecord } from './record.ts';
import type { Grant, Work } from './work.ts';

interface Instant {
  readonly atMs: number;
  readonly connector: EvseConnectorDetail;
  readonly t?: EvseConnectorTransition;
}

/** Longest idToken. */
const maxLength: Readonly<Record<Version2, number>> = { 'ocpp2.0.1': 36, 'ocpp2.1': 255 };

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

/** The token of an authorisation; one that no grant has brought was taken at the device. */
function tokenOf(text: string | null, grant: Grant | undefined, version: Version2): IdToken {
  if (grant !== undefined && (text === null || same(text, deviceText(grant.idToken)))) return grant.idToken;
  if (text === null || text === '') return { idToken: '', type: 'NoAuthorization' };
  return { idToken: text.slice(0, maxLength[version]), type: 'Local' };
}

/** Token, and what came with it, of an authorisation that the record does not know yet. */
function authorisation({ parts, grants }: Work, record: TransactionRecord, { connector, t }: Instant) {
  const again = t?.event === 'authorize';
  if (!connector.authorised || (record.idToken !== null && !again)) return {};
  const grant = grants.get(record.evseId);
  const { session } = connector;
  const idToken = tokenOf(t?.idToken ?? session?.idToken ?? null, grant, parts.version);
  return {
    idToken,
    groupIdToken: grant?.info.groupIdToken ?? null,
    remoteStartId: grant?.remoteStartId ?? session?.remoteStartId ?? null,
    reservationId: grant?.reservationId ?? record.reservationId,
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
