/** What the functions of authorisation work on. */
import type { OcppAuthorization } from '../../../contract/ocpp.ts';
import type { Turns } from '../../auth/reader.ts';
import type { Signal } from '../../station/signal.ts';
import type { IdToken, IdTokenInfo } from '../messages.ts';
import type { StationParts, Transactions } from '../parts.ts';
import type { Reservations } from '../reservations/reservations.ts';
import { decide } from './decision.ts';
import type { AnsweredToken, Verdict } from './decision.ts';
import type { Tokens } from './tokens.ts';

export interface AuthorizationDeps {
  readonly tokens: Pick<Tokens, 'find' | 'groupOf' | 'learn' | 'used'>;
  readonly transactions: Pick<Transactions, 'at' | 'authorized' | 'running' | 'stop'>;
  readonly reservations: Pick<Reservations, 'blocks' | 'groupCounts' | 'claim'>;
  /** plugging in presents the token `AUTO` */
  readonly autoAuthorize: boolean;
  /** as `DecisionDeps` */
  readonly mayCharge?: (answer: AnsweredToken) => boolean;
}

export interface Work {
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

export function ask({ parts, deps, answered }: Work, idToken: IdToken, evseId: number): Promise<Verdict> {
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
