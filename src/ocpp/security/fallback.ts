/** Credentials that have failed go from the store too: a later process would begin with them and could be locked out. */
import type { InForce } from '../station/stack.ts';

export interface Fallback {
  opened(): void;
  credentials(outcome: 'proven' | 'reverted', inForce: InForce): void;
}

/** @param restore puts the credentials that count again into the store */
export function createFallback(restore: (inForce: InForce) => void): Fallback {
  let hasOpened = false;
  let due: InForce | null = null;
  const settle = (): void => {
    if (due === null || !hasOpened) return;
    restore(due);
    due = null;
  };
  return {
    opened: () => {
      hasOpened = true;
      settle();
    },
    credentials: (outcome, inForce) => {
      // what the store has kept from an earlier process goes only when something else has opened a connection
      due = outcome === 'reverted' ? inForce : null;
      settle();
    },
  };
}
