/**
 * Tokens presented at an EVSE: by a person, over REST, by plugging in, or by the central system with a remote start.
 * OCPP 2.0.1 C01, C02, C09 and C16, E07. An accepted token authorises the device, and becomes the token of the
 * transaction.
 */
import type { OcppAuthorization } from '../../../contract/ocpp.ts';
import { errorText } from '../../../core/errors.ts';
import { autoToken, checkFree, conflict, createTurns, followReader, offlineStatus } from '../../authorization.ts';
import type { Turns } from '../../authorization.ts';
import { createSignal } from '../../station/stack.ts';
import type { Signal } from '../../station/stack.ts';
import type { IdToken, IdTokenInfo } from '../messages.ts';
import type { Authorization, Part, StationParts, Transaction, Replies, Transactions } from '../parts.ts';
import { bearerOf, deviceText, noAuthorization, sameToken, tokenOf, infoAtEvse, needsNoAuthorize } from './tokens.ts';
import type { TokenStatus, Tokens } from './tokens.ts';
import type { Reservations } from '../reservation.ts';

// Decision about a token: list and cache decide where they may, the central system otherwise. OCPP 2.0.1 C01, C02,
// C05, C06 and C10 to C15.

interface Verdict {
  /** information about the token; from `decide` its status is the one at the EVSE */
  readonly info: IdTokenInfo;
  /** true: decided offline, because Authorize could not be sent or got no answer */
  readonly isUnanswered: boolean;
}

/** An answer to Authorize; in 2.1 it may include energy transfer modes and a tariff. */
interface AnsweredToken {
  readonly evseId: number;
  readonly idToken: IdToken;
  readonly reply: Replies['Authorize'];
}

export interface DecisionDeps {
  readonly tokens: Pick<Tokens, 'find' | 'learn' | 'used'>;
  readonly answered: (answer: AnsweredToken) => void;
  /** False: the token is Invalid, whatever its status in the answer (I08); default: true. */
  readonly mayCharge?: (answer: AnsweredToken) => boolean;
}

function verdict(info: IdTokenInfo, isUnanswered = false): Verdict {
  return { info, isUnanswered };
}

const withStatus = (status: TokenStatus): IdTokenInfo => ({ status });

/** Decision without the central system; null: the central system has to decide. */
function localVerdict({ variables }: StationParts, { tokens }: DecisionDeps, idToken: IdToken): Verdict | null {
  if (!variables.boolean('AuthCtrlr', 'Enabled') || needsNoAuthorize(idToken)) return verdict(withStatus('Accepted'));
  const stored = tokens.find(idToken);
  const isAccepted = stored?.info.status === 'Accepted';
  if (variables.boolean('AuthCtrlr', 'DisableRemoteAuthorization'))
    return verdict(stored?.info ?? withStatus('Unknown'));
  if (stored === null) return null;
  if (isAccepted) return variables.boolean('AuthCtrlr', 'LocalPreAuthorize') ? verdict(stored.info) : null;
  return stored.mayReauthorize ? null : verdict(stored.info);
}

function offlineVerdict({ variables }: StationParts, { tokens }: DecisionDeps, idToken: IdToken): Verdict {
  if (!variables.boolean('AuthCtrlr', 'Enabled') || needsNoAuthorize(idToken)) return verdict(withStatus('Accepted'));
  const storedInfo = tokens.find(idToken)?.info ?? null;
  const rules = {
    known: variables.boolean('AuthCtrlr', 'LocalAuthorizeOffline'),
    unknown: variables.boolean('AuthCtrlr', 'OfflineTxForUnknownIdEnabled'),
  };
  const status = offlineStatus<TokenStatus>(storedInfo?.status ?? null, rules, 'Unknown');
  return verdict({ ...storedInfo, status }, true);
}

/** Decision that does not consider at which EVSEs the token is valid. */
async function decideRegardlessOfEvse(
  parts: StationParts,
  deps: DecisionDeps,
  idToken: IdToken,
  evseId: number,
): Promise<Verdict> {
  if (!parts.registration.isReady) return offlineVerdict(parts, deps, idToken);
  const local = localVerdict(parts, deps, idToken);
  if (local !== null) return local;
  const outcome = await parts.calls.send('Authorize', { idToken });
  if (outcome.kind === 'error') return verdict(withStatus('Invalid'));
  if (outcome.kind !== 'result') return offlineVerdict(parts, deps, idToken);
  const answer = { evseId, idToken, reply: outcome.payload };
  deps.answered(answer);
  // not cached: the cache would accept the token the next time
  if (deps.mayCharge?.(answer) === false) return verdict(withStatus('Invalid'));
  deps.tokens.learn(idToken, outcome.payload.idTokenInfo);
  return verdict(outcome.payload.idTokenInfo);
}

export async function decide(
  parts: StationParts,
  deps: DecisionDeps,
  idToken: IdToken,
  evseId: number,
): Promise<Verdict> {
  const { info, isUnanswered } = await decideRegardlessOfEvse(parts, deps, idToken, evseId);
  const infoHere = infoAtEvse(info, evseId);
  if (infoHere.status === 'Accepted') deps.tokens.used(idToken);
  return { info: infoHere, isUnanswered };
}

export interface AuthorizationDeps {
  readonly tokens: Pick<Tokens, 'find' | 'groupOf' | 'learn' | 'used'>;
  readonly transactions: Pick<Transactions, 'at' | 'authorized' | 'running' | 'stop'>;
  readonly reservations: Pick<Reservations, 'blocks' | 'groupCounts' | 'claim'>;
  /** plugging in presents the token `AUTO` */
  readonly autoAuthorize: boolean;
  /** as `DecisionDeps` */
  readonly mayCharge?: (answer: AnsweredToken) => boolean;
}

interface AuthorizationState {
  readonly parts: StationParts;
  readonly deps: AuthorizationDeps;
  readonly turns: Turns;
  readonly answered: Signal<AnsweredToken>;
  /** last accepted token, by EVSE */
  readonly granted: Map<number, IdToken>;
  /** EVSEs whose `AUTO` the central system has not answered */
  readonly unanswered: Set<number>;
}

function answer(info: IdTokenInfo): OcppAuthorization {
  return { status: info.status, info: { ...info } };
}

function checkToken({ parts, deps, answered }: AuthorizationState, idToken: IdToken, evseId: number): Promise<Verdict> {
  const onReply = (reply: AnsweredToken) => {
    answered.emit(reply);
  };
  const { tokens, mayCharge = () => true } = deps;
  return decide(parts, { tokens, answered: onReply, mayCharge }, idToken, evseId);
}

/** True for the master pass group, whose tokens stop transactions and start none (C16). */
function isMasterPass({ variables }: StationParts, group: IdToken | null): boolean {
  const id = variables.text('AuthCtrlr', 'MasterPassGroupId').toLowerCase();
  return id !== '' && group?.idToken.toLowerCase() === id;
}

// A token at a transaction that already has a token: it stops the transaction or is refused. OCPP 2.0.1 C09, C16, E07.

/**
 * Stops all authorised transactions: the station has no means by which a person could choose one (C16.FR.02).
 * @returns false: none was authorised. @throws the first refusal of the device
 */
function stopAllByMaster({ parts, deps }: AuthorizationState, idToken: IdToken): boolean {
  const refusals: unknown[] = [];
  const authorised = deps.transactions.running.filter(({ evseId }) => parts.device.connector(evseId).authorised);
  for (const { evseId } of authorised)
    try {
      deps.transactions.stop(evseId, { reason: 'MasterPass', trigger: 'StopAuthorized', idToken });
    } catch (error) {
      refusals.push(error);
    }
  if (refusals.length > 0) throw refusals[0];
  return authorised.length > 0;
}

/**
 * Stops a transaction by an accepted token of its group, and all authorised ones by a token of the master pass group.
 * @returns false: the token is of neither group, or not accepted
 */
function stopByGroup(
  state: AuthorizationState,
  { evseId, groupIdToken }: Transaction,
  idToken: IdToken,
  info: IdTokenInfo,
): boolean {
  const group = info.groupIdToken ?? null;
  if (info.status !== 'Accepted') return false;
  if (isMasterPass(state.parts, group)) stopAllByMaster(state, idToken);
  else if (sameToken(group, groupIdToken))
    state.deps.transactions.stop(evseId, { reason: 'Local', trigger: 'StopAuthorized', idToken });
  else return false;
  return true;
}

/**
 * Presents a token where a transaction runs that a token has authorised.
 * @throws SimError COMMAND_CONFLICT for another token, or when the device refuses
 */
async function stopByToken(
  state: AuthorizationState,
  running: Transaction,
  idToken: IdToken,
): Promise<OcppAuthorization> {
  const { parts, deps } = state;
  const { evseId, transactionId, groupIdToken } = running;
  const storedInfo = deps.tokens.find(idToken)?.info ?? null;
  if (sameToken(idToken, running.idToken)) {
    deps.transactions.stop(evseId, { reason: 'Local', trigger: 'StopAuthorized', idToken });
    return answer(storedInfo ?? { status: 'Accepted' });
  }
  if (storedInfo !== null && stopByGroup(state, running, idToken, storedInfo)) return answer(storedInfo);
  const refusal = conflict(evseId, 'another token has started the transaction');
  const isGroupless = groupIdToken === null && parts.variables.text('AuthCtrlr', 'MasterPassGroupId') === '';
  if (isGroupless || (storedInfo?.status === 'Accepted' && storedInfo.groupIdToken !== undefined)) throw refusal;
  // the central system may know the group of the token
  const { info } = await checkToken(state, idToken, evseId);
  if (info.status !== 'Accepted') return answer(info);
  if (deps.transactions.at(evseId)?.transactionId !== transactionId) throw refusal;
  if (!stopByGroup(state, running, idToken, info)) throw refusal;
  return answer(info);
}

// Starts without authorisation: while AuthCtrlr.Enabled is false, plugging in is enough. OCPP 2.0.1 C02.

/** @param start begins a transaction without a token. @returns function that unsubscribes */
function followPlugs(
  { device, variables, log, registration }: StationParts,
  start: (evseId: number) => Promise<unknown>,
): () => void {
  // with `plugToken` the device itself presents a token at plugging in
  const isOn = () => !variables.boolean('AuthCtrlr', 'Enabled') && device.detail.plugToken === null;
  const isWaiting = (evseId: number) => device.connector(evseId).phase === 'connected';
  const begin = (evseId: number) => {
    start(evseId).catch((error: unknown) => {
      log.info(`a start without authorisation is refused: ${errorText(error)}`, device.deviceIndex);
    });
  };
  const beginAll = () => {
    for (const evseId of device.connectorIds) if (isOn() && isWaiting(evseId)) begin(evseId);
  };
  const startEvents = new Set(['plugged', 'clear_fault', 'availability', 'reserve_end']);
  const ends = [
    device.onTransition((transition) => {
      const { event, connectorId } = transition;
      if (startEvents.has(event) && isOn() && isWaiting(connectorId)) begin(connectorId);
    }),
    variables.onChange('AuthCtrlr', 'Enabled', beginAll),
    // for vehicles that were plugged in before
    registration.onAccepted(beginAll),
  ];
  return () => {
    for (const end of ends) end();
  };
}

/** A start that the central system has requested. */
interface RemoteStart {
  readonly idToken: IdToken;
  /** group in the request */
  readonly groupIdToken: IdToken | null;
  readonly remoteStartId: number;
  /** false: the token counts as accepted */
  readonly ask: boolean;
}

export interface Authorizations extends Authorization {
  /** @throws SimError COMMAND_CONFLICT, MAP_LOCAL_CONTROL, UNKNOWN_RESOURCE */
  startRemote(evseId: number, start: RemoteStart): Promise<OcppAuthorization>;
  /** True while a token is being checked at the EVSE. */
  checking(evseId: number): boolean;
  /** Calls back with each answer to Authorize; the returned function unsubscribes. */
  onAnswered(listener: (answer: AnsweredToken) => void): () => void;
}

interface Start {
  readonly idToken: IdToken;
  readonly groupIdToken?: IdToken | null;
  readonly remoteStartId?: number;
  readonly ask: boolean;
}

/** Passes the token to the transaction and the device. @throws SimError COMMAND_CONFLICT, MAP_LOCAL_CONTROL */
function grant({ parts, deps, granted }: AuthorizationState, evseId: number, start: Start, info: IdTokenInfo): void {
  const { idToken, remoteStartId } = start;
  const groupIdToken = groupOf(deps, start, info);
  const bearer = bearerOf(idToken, groupIdToken);
  if (deps.reservations.blocks(evseId, bearer)) throw conflict(evseId, 'it is reserved for another token');
  const claim = deps.reservations.claim(evseId, bearer);
  const { reservationId } = claim;
  const remote = remoteStartId === undefined ? {} : { remoteStartId };
  // before the command: the transition of the device queues events that contain the token
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

async function begin(state: AuthorizationState, evseId: number, start: Start): Promise<OcppAuthorization> {
  const { parts, deps, unanswered } = state;
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
  const { info, isUnanswered } = start.ask
    ? await checkToken(state, idToken, evseId)
    : { info: accepted, isUnanswered: false };
  if (info.status !== 'Accepted') {
    if (idToken.idToken === autoToken && isUnanswered) unanswered.add(evseId);
    return answer(info);
  }
  if (isMasterPass(parts, groupOf(deps, start, info))) {
    if (start.remoteStartId === undefined && stopAllByMaster(state, idToken)) return answer(info);
    throw conflict(evseId, 'a master pass starts no transaction');
  }
  // the EVSE may have changed while the token was checked
  checkFree(parts.device.connector(evseId));
  grant(state, evseId, start, info);
  return answer(info);
}

/** Presents a token at an EVSE. */
async function present(state: AuthorizationState, evseId: number, idToken: IdToken): Promise<OcppAuthorization> {
  const { parts, deps, granted } = state;
  const { phase, authorised } = parts.device.connector(evseId);
  return await state.turns.alone(evseId, async () => {
    const running = deps.transactions.at(evseId);
    // a transaction whose authorisation has ended continues until the cable is unplugged, and accepts a new token
    if (authorised && running !== null && running.idToken !== null) return await stopByToken(state, running, idToken);
    if (phase === 'authorised' && sameToken(granted.get(evseId) ?? null, idToken)) {
      parts.device.command({ kind: 'evse.stop', connectorId: evseId });
      return answer({ status: 'Accepted' });
    }
    return await begin(state, evseId, { idToken, ask: true });
  });
}

/** Token for the text that the device presents; `AUTO` is no token while AuthCtrlr.Enabled is false (C02). */
function plugToken({ parts }: AuthorizationState, text: string): IdToken {
  const isOff = text === autoToken && !parts.variables.boolean('AuthCtrlr', 'Enabled');
  return isOff ? noAuthorization : tokenOf(parts.version, text);
}

function follow(state: AuthorizationState): readonly (() => void)[] {
  const { parts, deps, unanswered } = state;
  const { device, log, registration } = parts;
  const { autoAuthorize } = deps;
  return [
    followReader({
      device,
      log,
      registration,
      autoAuthorize,
      unanswered,
      present: async (evseId, text) => await present(state, evseId, plugToken(state, text)),
    }),
    followPlugs(parts, (evseId) => present(state, evseId, noAuthorization)),
  ];
}

export function createAuthorization(parts: StationParts, deps: AuthorizationDeps): Part & Authorizations {
  const state: AuthorizationState = {
    parts,
    deps,
    turns: createTurns(),
    answered: createSignal(parts.log),
    granted: new Map(),
    unanswered: new Set(),
  };
  const { turns, answered } = state;
  let ends: readonly (() => void)[] = [];
  return {
    present: async (evseId, text, type) => await present(state, evseId, tokenOf(parts.version, text, type)),
    startRemote: (evseId, start) => turns.alone(evseId, () => begin(state, evseId, start)),
    checking: (evseId) => turns.busy(evseId),
    onAnswered: (listener) => answered.on(listener),
    load() {
      ends = follow(state);
      return Promise.resolve();
    },
    stop() {
      for (const end of ends) end();
    },
  };
}
