/** What the rows of the fault catalogue are written with. */
import { z } from 'zod';
import type { FaultKind } from '../core/faults/kinds.ts';

/** A row of the catalogue; the type of its parameters is what their schema gives. */
export function faultKind<P>(row: FaultKind<P>): FaultKind<P> {
  return row;
}

export const noParameters = z.strictObject({});

/** Any Modbus request can be named by its function and by what it touches. */
export const wireTargets = ['functions', 'registers', 'points'] as const;
/** What a write or a read touches. */
export const mapTargets = ['registers', 'points'] as const;

export const unitId = z.int().min(0).max(255);
export const modelId = z.int().min(1).max(65_534);
export const registerAddress = z.int().min(0).max(65_535);
/** a Modbus exception code: the answer has one octet for it, and 0 is none */
export const exceptionCode = z.int().min(1).max(255);
/** For a bound of its own in place of the usual one: with both, a value beyond them would be told of each. */
export const upTo = (most: number) => z.number().min(0).max(most);
export const waitMs = upTo(600_000);
export const simSeconds = upTo(1e6);
export const pointName = z.string().min(1).max(80);
export const factor = z.number().min(-1e6).max(1e6);
export const amount = z.number().min(-1e15).max(1e15);

/** Whether the fault is carried out before it is hidden: a master then believes in a failure that was none. */
export const carriedOut = z
  .boolean()
  .default(false)
  .meta({ description: 'Whether a write is carried out all the same; default false.' });
