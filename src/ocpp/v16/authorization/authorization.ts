/**
 * Tokens presented at a connector: by a person, over REST, or by plugging in. OCPP 1.6 3.5, 4.1, 4.8 and 4.10. Local
 * list and cache decide if the configuration permits, otherwise the central system; then the device is authorised.
 */
import type { OcppAuthorization } from '../../../contract/ocpp.ts';
import { autoToken, checkFree, conflict, createTurns, followReader, offlineStatus } from '../../authorization.ts';
import type { Turns } from '../../authorization.ts';
import type { Authorization, Part, StationParts, Transaction } from '../parts.ts';
import type { Reservations } from '../reservation.ts';
import type { TransactionBook } from '../transactions/transactions.ts';
import { infoOf, maxIdTagLength, sameGroup, sameTag, statusAt } from './tokens.ts';
import type { IdTagInfo, Tokens, TokenStatus } from './tokens.ts';

interface AuthorizationDeps {
  readonly tokens: Pick<Tokens, 'find' | 'parentOf' | 'learn'>;
  readonly transactions: Pick<TransactionBook, 'at' | 'stopByToken'>;
  readonly reservations: Pick<Reservations, 'blocks' | 'groupCounts' | 'claim'>;
  /** true: plugging in presents the token `AUTO` */
  readonly autoAuthorize: boolean;
}

export interface Authorizations extends Authorization {
  /**
   * Authorises a connector for a token. The caller has checked that no transaction of the token runs there.
   * @param ask false: the token counts as accepted, and the answer to StartTransaction decides
   * @throws SimError COMMAND_CONFLICT, MAP_LOCAL_CONTROL, UNKNOWN_RESOURCE
   */
  start(connectorId: number, idTag: string, ask: boolean): Promise<OcppAuthorization>;
  /** True if a token is being checked at the connector. */
  checking(connectorId: number): boolean;
}

interface AuthorizationState {
  readonly parts: StationParts;
  readonly deps: AuthorizationDeps;
  readonly turns: Turns;
  /** last accepted token by connector */
  readonly granted: Map<number, string>;
  /** connectors whose `AUTO` the central system has not answered */
  readonly unanswered: Set<number>;
}

interface Verdict {
  readonly status: TokenStatus;
  /** null: the central system, local list and cache have none */
  readonly info: IdTagInfo | null;
  /** true: the central system could not be asked, or has not answered */
  readonly isUnanswered?: boolean;
}

async function decide({ parts, deps: { tokens } }: AuthorizationState, idTag: string): Promise<Verdict> {
  const { keys, clock, calls, registration } = parts;
  const local = (): Verdict | null => {
    const token = tokens.find(idTag);
    return token && { status: statusAt(token, clock.nowMs()), info: infoOf(token, clock.nowMs()) };
  };
  const localVerdict = local();
  if (registration.isReady) {
    if (localVerdict?.status === 'Accepted' && keys.boolean('LocalPreAuthorize')) return localVerdict;
    const outcome = await calls.send('Authorize', { idTag });
    if (outcome.kind === 'error') return { status: 'Invalid', info: null };
    if (outcome.kind === 'result') {
      const { idTagInfo } = outcome.payload;
      tokens.learn(idTag, idTagInfo);
      return { status: idTagInfo.status, info: idTagInfo };
    }
  }
  const verdict = local();
  const rules = {
    known: keys.boolean('LocalAuthorizeOffline'),
    unknown: keys.boolean('AllowOfflineTxForUnknownId'),
  };
  return {
    status: offlineStatus<TokenStatus>(verdict?.status ?? null, rules, 'Invalid'),
    info: verdict?.info ?? null,
    isUnanswered: true,
  };
}

function answer({ status, info }: Verdict): OcppAuthorization {
  return { status, info: info && { ...info } };
}

async function start(
  state: AuthorizationState,
  connectorId: number,
  idTag: string,
  ask: boolean,
): Promise<OcppAuthorization> {
  const { parts, deps, granted } = state;
  const { device } = parts;
  const parent = deps.tokens.parentOf(idTag);
  checkFree(device.connector(connectorId));
  const mayBeOfGroup = ask && parent === null && deps.reservations.groupCounts(connectorId);
  if (!mayBeOfGroup && deps.reservations.blocks(connectorId, idTag, parent))
    throw conflict(connectorId, 'it is reserved for another token');
  const verdict: Verdict = ask ? await decide(state, idTag) : { status: 'Accepted', info: null };
  if (verdict.status !== 'Accepted') {
    if (idTag === autoToken && verdict.isUnanswered === true) state.unanswered.add(connectorId);
    return answer(verdict);
  }
  // the connector may have changed while the central system was asked
  checkFree(device.connector(connectorId));
  const latestParent = verdict.info?.parentIdTag ?? parent;
  if (deps.reservations.blocks(connectorId, idTag, latestParent))
    throw conflict(connectorId, 'it is reserved for another token');
  const undo = deps.reservations.claim(connectorId, idTag, latestParent);
  try {
    device.command({ kind: 'evse.authorize', connectorId, idToken: idTag });
  } catch (error) {
    undo();
    throw error;
  }
  granted.set(connectorId, idTag);
  return answer(verdict);
}

/** Stops a running transaction if the token is that of the transaction or of its group (4.10). */
async function stopRunning(state: AuthorizationState, running: Transaction, idTag: string): Promise<OcppAuthorization> {
  const { parts, deps } = state;
  const { connectorId, parentIdTag } = running;
  const token = deps.tokens.find(idTag);
  const info = token && infoOf(token, parts.clock.nowMs());
  const stop = (shownInfo: IdTagInfo | null): OcppAuthorization => {
    deps.transactions.stopByToken(connectorId, idTag);
    return answer({ status: 'Accepted', info: shownInfo });
  };
  if (sameTag(idTag, running.idTag)) return stop(info);
  const refusal = conflict(connectorId, 'another token has started the transaction');
  if (parentIdTag === null) throw refusal;
  const parent = deps.tokens.parentOf(idTag);
  if (sameGroup(parent, parentIdTag) && (info === null || info.status === 'Accepted')) return stop(info);
  if (parent !== null && info !== null) throw refusal;
  // the central system knows the group of the token
  const verdict = await decide(state, idTag);
  if (verdict.status !== 'Accepted') return answer(verdict);
  const isStillRunning = deps.transactions.at(connectorId)?.key === running.key;
  if (!isStillRunning || !sameGroup(verdict.info?.parentIdTag ?? null, parentIdTag)) throw refusal;
  return stop(verdict.info);
}

async function present(state: AuthorizationState, connectorId: number, idTag: string): Promise<OcppAuthorization> {
  const { parts, deps, granted } = state;
  const { device } = parts;
  const { phase } = device.connector(connectorId);
  if (idTag.length === 0 || idTag.length > maxIdTagLength) return answer({ status: 'Invalid', info: null });
  return await state.turns.alone(connectorId, async () => {
    const running = deps.transactions.at(connectorId);
    if (running !== null) return await stopRunning(state, running, idTag);
    if (phase === 'authorised' && sameTag(granted.get(connectorId) ?? '', idTag)) {
      device.command({ kind: 'evse.stop', connectorId });
      return answer({ status: 'Accepted', info: null });
    }
    return await start(state, connectorId, idTag, true);
  });
}

export function createAuthorization(parts: StationParts, deps: AuthorizationDeps): Part & Authorizations {
  const { device, log, registration } = parts;
  const state: AuthorizationState = { parts, deps, turns: createTurns(), granted: new Map(), unanswered: new Set() };
  const { turns, unanswered } = state;
  let endReading: (() => void) | null = null;
  return {
    present: (connectorId, idTag) => present(state, connectorId, idTag),
    start: (connectorId, idTag, ask) => turns.alone(connectorId, () => start(state, connectorId, idTag, ask)),
    checking: (connectorId) => turns.busy(connectorId),
    load() {
      endReading = followReader({
        device,
        log,
        registration,
        autoAuthorize: deps.autoAuthorize,
        unanswered,
        present: (connectorId, idTag) => present(state, connectorId, idTag),
      });
      return Promise.resolve();
    },
    stop() {
      endReading?.();
    },
  };
}
