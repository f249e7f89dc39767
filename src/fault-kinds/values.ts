/** Schemas of values that several faults have. */
import { z } from 'zod';

export const unitId = z.int().min(0).max(255);
export const modelId = z.int().min(1).max(65_534);
export const registerAddress = z.int().min(0).max(65_535);
/** a Modbus exception code: one octet, not 0 */
export const exceptionCode = z.int().min(1).max(255);
/** A number from 0 to a maximum, as one check: two could give two issues. */
export const upTo = (max: number) => z.number().min(0).max(max);
export const waitMs = upTo(600_000);
export const simSeconds = upTo(1e6);
export const pointName = z.string().min(1).max(80);
export const factor = z.number().min(-1e6).max(1e6);
export const amount = z.number().min(-1e15).max(1e15);
