/**
 * Tokens presented at an EVSE: by a person, over REST, by plugging in, or by the central system with a remote start. OCPP
 * 2.0.1 C01, C02, C09 and C16, E07. An accepted token authorises the device, and becomes the token of the transaction.
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
  /** its status is what the token counts as at the EVSE */
  readonly info: IdTokenInfo;
  /** the central system could not be asked, or has not answered */
  readonly isUnanswered: boolean;
}

/** An answer to Authorize: 2.1 may bring energy transfer modes, and a tariff. */
interface AnsweredToken {
  readonly evseId: number;
  readonly idToken: IdToken;
  readonly reply: Replies['Authorize'];
}

export interface DecisionDeps {
  readonly tokens: Pick<Tokens, 'find' | 'learn' | 'used'>;
  readonly answered: (answer: AnsweredToken) => void;
  /** False: the token does not charge, whatever the answer says of it (I08); default: it does. */
  readonly mayCharge?: (answer: AnsweredToken) => boolean;
}

function verdict(info: IdTokenInfo, isUnanswered = false): Verdict {
  return { info, isUnanswered };
}

const said = (status: TokenStatus): IdTokenInfo => ({ status });

/** Null: list and cache leave it to the central system. */
function ownVerdict({ variables }: StationParts, { tokens }: DecisionDeps, idToken: IdToken): Verdict | null {
  if (!variables.boolean('AuthCtrlr', 'Enabled') || needsNoAuthorize(idToken)) return verdict(said('Accepted'));
  const knowledge = tokens.find(idToken);
  const isAccepted = knowledge?.info.status === 'Accepted';
  if (variables.boolean('AuthCtrlr', 'DisableRemoteAuthorization')) return verdict(knowledge?.info ?? said('Unknown'));
  if (knowledge === null) return null;
  if (isAccepted) return variables.boolean('AuthCtrlr', 'LocalPreAuthorize') ? verdict(knowledge.info) : null;
  return knowledge.mayReauthorize ? null : verdict(knowledge.info);
}

function offlineVerdict({ variables }: StationParts, { tokens }: DecisionDeps, idToken: IdToken): Verdict {
  if (!variables.boolean('AuthCtrlr', 'Enabled') || needsNoAuthorize(idToken)) return verdict(said('Accepted'));
  const knownInfo = tokens.find(idToken)?.info ?? null;
  const rules = {
    known: variables.boolean('AuthCtrlr', 'LocalAuthorizeOffline'),
    unknown: variables.boolean('AuthCtrlr', 'OfflineTxForUnknownIdEnabled'),
  };
  const status = offlineStatus<TokenStatus>(knownInfo?.status ?? null, rules, 'Unknown');
  return verdict({ ...knownInfo, status }, true);
}

async function decideAnywhere(
  parts: StationParts,
  deps: DecisionDeps,
  idToken: IdToken,
  evseId: number,
): Promise<Verdict> {
  if (!parts.registration.isReady) return offlineVerdict(parts, deps, idToken);
  const localVerdict = ownVerdict(parts, deps, idToken);
  if (localVerdict !== null) return localVerdict;
  const outcome = await parts.calls.send('Authorize', { idToken });
  if (outcome.kind === 'error') return verdict(said('Invalid'));
  if (outcome.kind !== 'result') return offlineVerdict(parts, deps, idToken);
  const answer = { evseId, idToken, reply: outcome.payload };
  deps.answered(answer);
  // the cache would let it charge another time
  if (deps.mayCharge?.(answer) === false) return verdict(said('Invalid'));
  deps.tokens.learn(idToken, outcome.payload.idTokenInfo);
  return verdict(outcome.payload.idTokenInfo);
}

export async function decide(
  parts: StationParts,
  deps: DecisionDeps,
  idToken: IdToken,
  evseId: number,
): Promise<Verdict> {
  const { info, isUnanswered } = await decideAnywhere(parts, deps, idToken, evseId);
  const here = infoAtEvse(info, evseId);
  if (here.status === 'Accepted') deps.tokens.used(idToken);
  return { info: here, isUnanswered };
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
  /** token accepted last at an EVSE */
  readonly granted: Map<number, IdToken>;
  /** EVSEs whose `AUTO` the central system has not answered */
  readonly unanswered: Set<number>;
}

function answer(info: IdTokenInfo): OcppAuthorization {
  return { status: info.status, info: { ...info } };
}

function ask({ parts, deps, answered }: AuthorizationState, idToken: IdToken, evseId: number): Promise<Verdict> {
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

// A token at a transaction that has one already: it stops it, or it is refused. OCPP 2.0.1 C09, C16 and E07.

/**
 * Stops all that tokens have authorised: the station has no means by which a person could choose (C16.FR.02).
 * @returns false: there was none. @throws the first refusal of the device
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

/** @returns true if the token has stopped the transaction: it is of its group, or of the master pass group */
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
  const knownInfo = deps.tokens.find(idToken)?.info ?? null;
  if (sameToken(idToken, running.idToken)) {
    deps.transactions.stop(evseId, { reason: 'Local', trigger: 'StopAuthorized', idToken });
    return answer(knownInfo ?? { status: 'Accepted' });
  }
  if (knownInfo !== null && stopByGroup(state, running, idToken, knownInfo)) return answer(knownInfo);
  const refusal = conflict(evseId, 'another token has started the transaction');
  const isGroupless = groupIdToken === null && parts.variables.text('AuthCtrlr', 'MasterPassGroupId') === '';
  if (isGroupless || (knownInfo?.status === 'Accepted' && knownInfo.groupIdToken !== undefined)) throw refusal;
  // its group is unknown: the central system has it
  const { info } = await ask(state, idToken, evseId);
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
  // a device that presents a token at plugging in does so by itself
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
  const returns = new Set(['plugged', 'clear_fault', 'availability', 'reserve_end']);
  const ends = [
    device.onTransition((transition) => {
      const { event, connectorId } = transition;
      if (returns.has(event) && isOn() && isWaiting(connectorId)) begin(connectorId);
    }),
    variables.onChange('AuthCtrlr', 'Enabled', beginAll),
    // a vehicle that was there before the station listened
    registration.onAccepted(beginAll),
  ];
  return () => {
    for (const end of ends) end();
  };
}

/** A start that the central system has asked for. */
interface RemoteStart {
  readonly idToken: IdToken;
  /** group that the central system sent with it */
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

/** Passes the token to the transaction and the device. @throws SimError COMMAND_CONFLICT, MAP_LOCAL_CONTROL */
function grant({ parts, deps, granted }: AuthorizationState, evseId: number, start: Start, info: IdTokenInfo): void {
  const { idToken, remoteStartId } = start;
  const groupIdToken = groupOf(deps, start, info);
  const bearer = bearerOf(idToken, groupIdToken);
  if (deps.reservations.blocks(evseId, bearer)) throw conflict(evseId, 'it is reserved for another token');
  const claim = deps.reservations.claim(evseId, bearer);
  const { reservationId } = claim;
  const remote = remoteStartId === undefined ? {} : { remoteStartId };
  // before the transition of the device: its events carry the token
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
    ? await ask(state, idToken, evseId)
    : { info: accepted, isUnanswered: false };
  if (info.status !== 'Accepted') {
    if (idToken.idToken === autoToken && isUnanswered) unanswered.add(evseId);
    return answer(info);
  }
  if (isMasterPass(parts, groupOf(deps, start, info))) {
    if (start.remoteStartId === undefined && stopAllByMaster(state, idToken)) return answer(info);
    throw conflict(evseId, 'a master pass starts no transaction');
  }
  // the EVSE may have changed while the central system was asked
  checkFree(parts.device.connector(evseId));
  grant(state, evseId, start, info);
  return answer(info);
}

/** Presents a token that a reader has read. */
async function show(state: AuthorizationState, evseId: number, idToken: IdToken): Promise<OcppAuthorization> {
  const { parts, deps, granted } = state;
  const { phase, authorised } = parts.device.connector(evseId);
  return await state.turns.alone(evseId, async () => {
    const running = deps.transactions.at(evseId);
    // one whose authorisation has ended goes on with the cable, and takes a token again
    if (authorised && running !== null && running.idToken !== null) return await stopByToken(state, running, idToken);
    if (phase === 'authorised' && sameToken(granted.get(evseId) ?? null, idToken)) {
      parts.device.command({ kind: 'evse.stop', connectorId: evseId });
      return answer({ status: 'Accepted' });
    }
    return await begin(state, evseId, { idToken, ask: true });
  });
}

/** Without authorisation plugging in brings no token, whatever the device presents (C02). */
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
      present: async (evseId, text) => await show(state, evseId, plugToken(state, text)),
    }),
    followPlugs(parts, (evseId) => show(state, evseId, noAuthorization)),
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
    present: async (evseId, text, type) => await show(state, evseId, tokenOf(parts.version, text, type)),
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
