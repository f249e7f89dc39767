/** Credentials that have failed go from the store too: a later process would begin with them and could be locked out. */
import type { InForce } from '../../station/stack.ts';
import type { KeyEffects } from '../keys/effects.ts';
import type { Certificates } from './certificates.ts';

export interface Fallback {
  opened(): void;
  credentials(outcome: 'proven' | 'reverted', inForce: InForce): void;
}

export function createFallback(
  effects: Pick<KeyEffects, 'restorePassword'>,
  certificates: Pick<Certificates, 'restoreOwn'>,
): Fallback {
  let hasOpened = false;
  let due: InForce | null = null;
  const restore = (): void => {
    if (due === null || !hasOpened) return;
    effects.restorePassword(due.password);
    certificates.restoreOwn(due.own);
    due = null;
  };
  return {
    opened: () => {
      hasOpened = true;
      restore();
    },
    credentials: (outcome, inForce) => {
      // what the store has kept from an earlier process goes only when something else has opened a connection
      due = outcome === 'reverted' ? inForce : null;
      restore();
    },
  };
}
