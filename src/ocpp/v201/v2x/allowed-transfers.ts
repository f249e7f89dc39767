/** Energy transfers that the answer to Authorize allows the transaction which gets the token (2.1 Q01). */
import type { EnergyTransferModeEnum } from '../messages.ts';
import type { Replies } from '../parts.ts';
import type { NeedsDeps, NeedsParts, VehicleNeeds } from './needs.ts';

export interface AllowedTransfers {
  /** To be called with each answer to Authorize. */
  authorized(evseId: number, reply: Replies['Authorize']): void;
  stop(): void;
}

/** @param needs read when a transaction gets its token: its listeners come after those here, and tell what is left */
export function createAllowedTransfers(
  { device }: Pick<NeedsParts, 'device'>,
  { transactions }: Pick<NeedsDeps, 'transactions'>,
  needs: () => VehicleNeeds,
): AllowedTransfers {
  /** by EVSE, for the transaction that begins with the token */
  const waiting = new Map<number, readonly EnergyTransferModeEnum[]>();
  const ends = [
    transactions.onAnswered(({ evseId, transactionId }) => {
      const allowed = waiting.get(evseId);
      const transaction = transactions.byId(transactionId);
      if (allowed === undefined || transaction === null || transaction.idToken === null) return;
      waiting.delete(evseId);
      needs().restrict(transaction, allowed);
    }),
    device.onTransition(({ event, connectorId }) => {
      if (event === 'withdraw') waiting.delete(connectorId);
      if (event === 'restart') waiting.clear();
    }),
  ];
  return {
    authorized(evseId, { idTokenInfo, allowedEnergyTransfer }) {
      const running = transactions.at(evseId);
      // a token that is presented to stop it says nothing about it
      if (running !== null && running.idToken !== null) return;
      waiting.delete(evseId);
      if (idTokenInfo.status !== 'Accepted' || allowedEnergyTransfer === undefined) return;
      if (running === null) {
        waiting.set(evseId, allowedEnergyTransfer);
        return;
      }
      // one that began with the cable has told its needs without knowing
      needs().restrict(running, allowedEnergyTransfer);
      needs().tell(running);
    },
    stop() {
      for (const end of ends) end();
    },
  };
}
