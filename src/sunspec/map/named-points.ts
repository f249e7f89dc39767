/** Points of a bank by model and path, for code that works on the registers of any device. */
import type { Bank } from './bank.ts';
import type { AnyPointValue } from './types.ts';

/** Decoded value of a point by name; null when the device does not serve or implement it. */
export function pointValue(bank: Bank, modelId: number, path: string): AnyPointValue {
  const slot = bank.layout.slot(modelId, path);
  return slot ? bank.value(slot) : null;
}

/** A numeric point; null when the device does not have it. */
export function pointNumber(bank: Bank, modelId: number, path: string): number | null {
  const value = pointValue(bank, modelId, path);
  return typeof value === 'number' ? value : null;
}

/** True if the device implements a point. */
export function hasPoint(bank: Bank, modelId: number, path: string): boolean {
  return bank.layout.slot(modelId, path)?.implemented === true;
}
