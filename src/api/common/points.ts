import type { Bank } from '../../sunspec/map/bank.ts';
import { hasBit } from '../../sunspec/map/codec.ts';
import { pointValue } from '../../sunspec/map/bank.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import type { AnyPointValue } from '../../sunspec/map/types.ts';
import type { Provenance } from '../../core/origin.ts';

export { hasPoint, pointNumber, pointValue } from '../../sunspec/map/bank.ts';

/** A text or enumeration point; null when it is absent or empty. */
export function pointText(bank: Bank, modelId: number, path: string): string | null {
  const value = pointValue(bank, modelId, path);
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Symbols of the bits that are set, in lower snake case. */
export function pointBits(bank: Bank, modelId: number, path: string): string[] {
  const slot = bank.layout.slot(modelId, path);
  const value = slot ? bank.value(slot) : null;
  if (!slot || typeof value !== 'number') return [];
  return Object.entries(slot.def.symbols ?? {})
    .filter(([, bit]) => hasBit(value, 2 ** bit))
    .map(([symbol]) => symbol.toLowerCase());
}

/** Last writer of a point; undefined for start values and measurements. */
export function pointWriter(bank: Bank, modelId: number, path: string): Provenance | undefined {
  const slot = bank.layout.slot(modelId, path);
  return slot && bank.provenance(slot);
}

/** The number behind an enumeration; null when not implemented. */
export function enumNumber(slot: PointSlot, value: AnyPointValue): number | null {
  if (typeof value === 'number') return value;
  return value === null ? null : (slot.def.symbols?.[value] ?? null);
}
