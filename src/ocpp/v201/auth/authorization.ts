/**
 * Tokens presented at an EVSE: by a person, over REST, by plugging in, or by the central system with a remote start. OCPP
 * 2.0.1 C01, C02, C09 and C16, E07. An accepted token tells the device to authorise, and the transaction which token it is.
 */
import type { OcppAuthorization } from '../../../contract/ocpp.ts';
import { autoToken, checkFree, conflict, createTurns, followReader } from '../../auth/reader.ts';
import { createSignal } from '../../station/signal.ts';
import type { IdToken, IdTokenInfo } from '../messages.ts';
import type { Authorization, Part, StationParts } from '../parts.ts';
import type { AnsweredToken } from './decision.ts';
import { followPlugs } from './plugs.ts';
import { stopAllByMaster, stopByToken } from './stopping.ts';
import { bearerOf, deviceText, noAuthorization, sameToken, tokenOf } from './token.ts';
import { answer, ask, isMasterPass } from './work.ts';
import type { AuthorizationDeps, Work } from './work.ts';

export type { AuthorizationDeps } from './work.ts';

/** A start that the central system has asked for. */
export interface RemoteStart {
  readonly idToken: IdToken;
  /** group that the central system has told with it */
  readonly groupIdToken: IdToken | null;
  readonly remoteStartId: number;
  /** false: the token counts as accepted */
  readonly ask: boolean;
}

export interface Authorizations extends Authorization {
  /** @throws SimError COMMAND_CONFLICT, MAP_LOCAL_CONTROL, UNKNOWN_RESOURCE */
  startRemote(evseId: number, start: RemoteStart): Promise<OcppAuthorization>;
  /** a token is being checked at the EVSE */
  checking(evseId: number): boolean;
  /** An answer to Authorize, for what it says beside the token. */
  onAnswered(listener: (answer: AnsweredToken) => void): () => void;
}

interface Start {
  readonly idToken: IdToken;
  readonly groupIdToken?: IdToken | null;
  readonly remoteStartId?: number;
  readonly ask: boolean;
}

/** Tells the transaction and the device. @throws SimError COMMAND_CONFLICT, MAP_LOCAL_CONTROL */
function grant({ parts, deps, granted }: Work, evseId: number, start: Start, info: IdTokenInfo): void {
  const { idToken, remoteStartId } = start;
  const groupIdToken = groupOf(deps, start, info);
  const bearer = bearerOf(idToken, groupIdToken);
  if (deps.reservations.blocks(evseId, bearer)) throw conflict(evseId, 'it is reserved for another token');
  const claim = deps.reservations.claim(evseId, bearer);
  const { reservationId } = claim;
  const remote = remoteStartId === undefined ? {} : { remoteStartId };
  // before the device tells it: its events carry the token
  deps.transactions.authorized(evseId, {
    idToken,
    info: { ...info, ...(groupIdToken !== null && { groupIdToken }) },
    ...remote,
    ...(reservationId !== null && { reservationId }),
  });
  try {
    parts.device.command({ kind: 'evse.authorize', connectorId: evseId, idToken: deviceText(idToken), ...remote });
  } catch (error) {
    claim.undo();
    throw error;
  }
  granted.set(evseId, idToken);
}

function groupOf({ tokens }: AuthorizationDeps, start: Start, info: IdTokenInfo | null): IdToken | null {
  return info?.groupIdToken ?? start.groupIdToken ?? tokens.groupOf(start.idToken);
}

async function begin(work: Work, evseId: number, start: Start): Promise<OcppAuthorization> {
  const { parts, deps, unanswered } = work;
  const { idToken } = start;
  checkFree(parts.device.connector(evseId));
  if (parts.registration.boots === 0 && !parts.variables.boolean('TxCtrlr', 'TxBeforeAcceptedEnabled')) {
    if (idToken.idToken === autoToken) unanswered.add(evseId);
    throw conflict(evseId, 'the central system has not accepted the station yet');
  }
  const group = groupOf(deps, start, null);
  const mayBeOfGroup = start.ask && group === null && deps.reservations.groupCounts(evseId);
  if (!mayBeOfGroup && deps.reservations.blocks(evseId, bearerOf(idToken, group)))
    throw conflict(evseId, 'it is reserved for another token');
  const accepted: IdTokenInfo = { status: 'Accepted', ...(group !== null && { groupIdToken: group }) };
  const { info, isUnanswered } = start.ask ? await ask(work, idToken, evseId) : { info: accepted, isUnanswered: false };
  if (info.status !== 'Accepted') {
    if (idToken.idToken === autoToken && isUnanswered) unanswered.add(evseId);
    return answer(info);
  }
  if (isMasterPass(parts, groupOf(deps, start, info))) {
    if (start.remoteStartId === undefined && stopAllByMaster(work, idToken)) return answer(info);
    throw conflict(evseId, 'a master pass starts no transaction');
  }
  // the EVSE may have changed while the central system was asked
  checkFree(parts.device.connector(evseId));
  grant(work, evseId, start, info);
  return answer(info);
}

/** Presents a token that a reader has read. */
async function show(work: Work, evseId: number, idToken: IdToken): Promise<OcppAuthorization> {
  const { parts, deps, granted } = work;
  const { phase, authorised } = parts.device.connector(evseId);
  return await work.turns.alone(evseId, async () => {
    const running = deps.transactions.at(evseId);
    // one whose authorisation has ended goes on with the cable, and takes a token again
    if (authorised && running !== null && running.idToken !== null) return await stopByToken(work, running, idToken);
    if (phase === 'authorised' && sameToken(granted.get(evseId) ?? null, idToken)) {
      parts.device.command({ kind: 'evse.stop', connectorId: evseId });
      return answer({ status: 'Accepted' });
    }
    return await begin(work, evseId, { idToken, ask: true });
  });
}

/** Without authorisation plugging in brings no token, whatever the device presents (C02). */
function plugToken({ parts }: Work, text: string): IdToken {
  const isOff = text === autoToken && !parts.variables.boolean('AuthCtrlr', 'Enabled');
  return isOff ? noAuthorization : tokenOf(parts.version, text);
}

function follow(work: Work): readonly (() => void)[] {
  const { parts, deps, unanswered } = work;
  const { device, log, registration } = parts;
  const { autoAuthorize } = deps;
  return [
    followReader({
      device,
      log,
      registration,
      autoAuthorize,
      unanswered,
      present: async (evseId, text) => await show(work, evseId, plugToken(work, text)),
    }),
    followPlugs(parts, (evseId) => show(work, evseId, noAuthorization)),
  ];
}

export function createAuthorization(parts: StationParts, deps: AuthorizationDeps): Part & Authorizations {
  const work: Work = {
    parts,
    deps,
    turns: createTurns(),
    answered: createSignal(parts.log),
    granted: new Map(),
    unanswered: new Set(),
  };
  const { turns, answered } = work;
  let ends: readonly (() => void)[] = [];
  return {
    present: async (evseId, text, type) => await show(work, evseId, tokenOf(parts.version, text, type)),
    startRemote: (evseId, start) => turns.alone(evseId, () => begin(work, evseId, start)),
    checking: (evseId) => turns.busy(evseId),
    onAnswered: (listener) => answered.on(listener),
    load() {
      ends = follow(work);
      return Promise.resolve();
    },
    stop() {
      for (const end of ends) end();
    },
  };
}
