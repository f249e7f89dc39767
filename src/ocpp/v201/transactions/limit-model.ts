/** Limits of a transaction (2.1 E16). */
import type { TransactionLimit } from '../messages.ts';

/** Members of `transactionLimit` that a station keeps to. */
export const limitNames = [
  'maxCost',
  'maxEnergy',
  'maxTime',
  'maxSoC',
] as const satisfies readonly (keyof TransactionLimit)[];
