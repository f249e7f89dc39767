/** Building blocks of the rows of the fault catalogue. */
import { z } from 'zod';
import type { FaultKind } from '../core/faults/kinds.ts';
import { targetIssues } from './targets.ts';
import type { TargetName } from './targets.ts';

interface Row<P> extends FaultKind<P> {
  readonly targets: readonly TargetName[];
}

/** A row of the catalogue; its schema determines the type of the parameters. */
export function faultKind<P>(row: Row<P>): FaultKind<P> {
  return { ...row, checkTarget: (target) => targetIssues(row.protocol, target) };
}

export const noParameters = z.strictObject({});

/** True if the write is executed although the answer reports a failure. */
export const carriedOut = z
  .boolean()
  .default(false)
  .meta({ description: 'Whether a write is carried out nevertheless; default false.' });
