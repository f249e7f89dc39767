/** Building blocks of the rows of the fault catalogue. */
import { z } from 'zod';
import type { FaultKind } from '../core/faults/kinds.ts';
import { mapTargetIssues } from './targets.ts';
import type { MapTargetName } from './targets.ts';

interface Row<P> extends FaultKind<P> {
  readonly targets: readonly MapTargetName[];
}

/** A row of the catalogue; the type of its parameters is what their schema gives. */
export function faultKind<P>(row: Row<P>): FaultKind<P> {
  return { ...row, checkTarget: mapTargetIssues };
}

export const noParameters = z.strictObject({});

export const unitId = z.int().min(0).max(255);
export const modelId = z.int().min(1).max(65_534);
export const registerAddress = z.int().min(0).max(65_535);
/** a Modbus exception code: one octet, not 0 */
export const exceptionCode = z.int().min(1).max(255);
/** A number from 0 to its own maximum; combined with another bound a value could get two issues. */
export const upTo = (max: number) => z.number().min(0).max(max);
export const waitMs = upTo(600_000);
export const simSeconds = upTo(1e6);
export const pointName = z.string().min(1).max(80);
export const factor = z.number().min(-1e6).max(1e6);
export const amount = z.number().min(-1e15).max(1e15);

/** Whether a write is carried out although the answer reports a failure. */
export const carriedOut = z
  .boolean()
  .default(false)
  .meta({ description: 'Whether a write is carried out nevertheless; default false.' });
