/** A token at a transaction that has one already: it stops it, or it is refused. OCPP 2.0.1 C09, C16 and E07. */
import type { OcppAuthorization } from '../../../contract/ocpp.ts';
import { conflict } from '../../auth/reader.ts';
import type { IdToken, IdTokenInfo } from '../messages.ts';
import type { Transaction } from '../parts.ts';
import { answer, ask, isMasterPass } from './work.ts';
import type { Work } from './work.ts';
import { sameToken } from './token.ts';

/**
 * Stops all that tokens have authorised: the station has no means by which a person could choose (C16.FR.02).
 * @returns false: there was none. @throws the first refusal of the device
 */
export function stopAllByMaster({ parts, deps }: Work, idToken: IdToken): boolean {
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

/** @returns whether the token has stopped the transaction: it is of its group, or of the master pass group */
function stopByGroup(work: Work, { evseId, groupIdToken }: Transaction, idToken: IdToken, info: IdTokenInfo): boolean {
  const group = info.groupIdToken ?? null;
  if (info.status !== 'Accepted') return false;
  if (isMasterPass(work.parts, group)) stopAllByMaster(work, idToken);
  else if (sameToken(group, groupIdToken))
    work.deps.transactions.stop(evseId, { reason: 'Local', trigger: 'StopAuthorized', idToken });
  else return false;
  return true;
}

/**
 * Presents a token where a transaction runs that a token has authorised.
 * @throws SimError COMMAND_CONFLICT for another token, or when the device refuses
 */
export async function stopByToken(work: Work, running: Transaction, idToken: IdToken): Promise<OcppAuthorization> {
  const { parts, deps } = work;
  const { evseId, transactionId, groupIdToken } = running;
  const known = deps.tokens.find(idToken)?.info ?? null;
  if (sameToken(idToken, running.idToken)) {
    deps.transactions.stop(evseId, { reason: 'Local', trigger: 'StopAuthorized', idToken });
    return answer(known ?? { status: 'Accepted' });
  }
  if (known !== null && stopByGroup(work, running, idToken, known)) return answer(known);
  const refusal = conflict(evseId, 'another token has started the transaction');
  const isGroupless = groupIdToken === null && parts.variables.text('AuthCtrlr', 'MasterPassGroupId') === '';
  if (isGroupless || (known?.status === 'Accepted' && known.groupIdToken !== undefined)) throw refusal;
  // nothing is known of its group: the central system tells it
  const { info } = await ask(work, idToken, evseId);
  if (info.status !== 'Accepted') return answer(info);
  if (deps.transactions.at(evseId)?.transactionId !== transactionId) throw refusal;
  if (!stopByGroup(work, running, idToken, info)) throw refusal;
  return answer(info);
}
