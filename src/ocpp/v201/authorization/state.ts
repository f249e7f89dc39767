/** State of the authorisation of a 2.x station. */
import type { OcppAuthorization } from '../../../contract/ocpp.ts';
import { offlineStatus } from '../../authorization/reader.ts';
import type { Turns } from '../../authorization/reader.ts';
import type { Signal } from '../../station/stack.ts';
import type { IdToken, IdTokenInfo } from '../messages.ts';
import type { Replies, StationParts, Transactions } from '../parts.ts';
import type { Reservations } from '../reservation.ts';
import { infoAtEvse, isUnasked } from './token.ts';
import type { TokenStatus } from './token.ts';
import type { Tokens } from './tokens.ts';

// Decision about a token: list and cache decide where they may, the central system otherwise. OCPP 2.0.1 C01, C02,
// C05, C06 and C10 to C15.

interface Verdict {
  /** its status is what the token counts as at the EVSE */
  readonly info: IdTokenInfo;
  /** the central system could not be asked, or has not answered */
  readonly isUnanswered: boolean;
}

/** An answer to Authorize: 2.1 may bring energy transfer modes, and a tariff. */
export interface AnsweredToken {
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
  if (!variables.boolean('AuthCtrlr', 'Enabled') || isUnasked(idToken)) return verdict(said('Accepted'));
  const knowledge = tokens.find(idToken);
  const isAccepted = knowledge?.info.status === 'Accepted';
  if (variables.boolean('AuthCtrlr', 'DisableRemoteAuthorization')) return verdict(knowledge?.info ?? said('Unknown'));
  if (knowledge === null) return null;
  if (isAccepted) return variables.boolean('AuthCtrlr', 'LocalPreAuthorize') ? verdict(knowledge.info) : null;
  return knowledge.mayAsk ? null : verdict(knowledge.info);
}

function offlineVerdict({ variables }: StationParts, { tokens }: DecisionDeps, idToken: IdToken): Verdict {
  if (!variables.boolean('AuthCtrlr', 'Enabled') || isUnasked(idToken)) return verdict(said('Accepted'));
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
  if (!parts.registration.accepted) return offlineVerdict(parts, deps, idToken);
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

export interface AuthorizationState {
  readonly parts: StationParts;
  readonly deps: AuthorizationDeps;
  readonly turns: Turns;
  readonly answered: Signal<AnsweredToken>;
  /** token accepted last at an EVSE */
  readonly granted: Map<number, IdToken>;
  /** EVSEs whose `AUTO` the central system has not answered */
  readonly unanswered: Set<number>;
}

export function answer(info: IdTokenInfo): OcppAuthorization {
  return { status: info.status, info: { ...info } };
}

export function ask({ parts, deps, answered }: AuthorizationState, idToken: IdToken, evseId: number): Promise<Verdict> {
  const told = (reply: AnsweredToken) => {
    answered.emit(reply);
  };
  const { tokens, mayCharge = () => true } = deps;
  return decide(parts, { tokens, answered: told, mayCharge }, idToken, evseId);
}

/** Tokens of the master pass group stop transactions and start none (C16). */
export function isMasterPass({ variables }: StationParts, group: IdToken | null): boolean {
  const id = variables.text('AuthCtrlr', 'MasterPassGroupId').toLowerCase();
  return id !== '' && group?.idToken.toLowerCase() === id;
}
