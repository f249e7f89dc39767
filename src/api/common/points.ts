/** Points of the map in replies, and the set-point of active power (model 704) as the kinds of devices use it. */
import { pointNumber, pointValue } from '../../sunspec/map/bank.ts';
import type { Bank } from '../../sunspec/map/bank.ts';
import { hasBit } from '../../sunspec/map/codec.ts';
import type { PointSlot } from '../../sunspec/map/layout.ts';
import type { AnyPointValue } from '../../sunspec/map/types.ts';
import { isLater } from '../../core/origin.ts';
import type { Provenance, Origin } from '../../core/origin.ts';
import { invalid } from '../http/errors.ts';
import { kilo } from './members.ts';

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

/** The set-point in force at the AC terminals, kW; null while it is off. */
export function setPointKw(bank: Bank): number | null {
  if (pointValue(bank, 704, 'WSetEna') !== 'ENABLED') return null;
  if (pointValue(bank, 704, 'WSetMod') === 'WATTS') return kilo(pointNumber(bank, 704, 'WSet') ?? 0);
  return kilo(((pointNumber(bank, 704, 'WSetPct') ?? 0) / 100) * (pointNumber(bank, 702, 'WMax') ?? 0));
}

/**
 * Last writer of the set-point in force: of its value, mode or enable, whichever was written last. Null while the
 * set-point is off or has only start values.
 */
export function setPointWriter(bank: Bank): Provenance | null {
  if (pointValue(bank, 704, 'WSetEna') !== 'ENABLED') return null;
  const value = pointValue(bank, 704, 'WSetMod') === 'WATTS' ? 'WSet' : 'WSetPct';
  return latestOf(['WSetEna', 'WSetMod', value].map((point) => pointWriter(bank, 704, point)));
}

/** The latest of several writers; null: none. */
export function latestOf(writers: readonly (Provenance | null | undefined)[]): Provenance | null {
  return writers.reduce<Provenance | null>(
    (last, writer) => (writer && (last === null || isLater(writer, last)) ? writer : last),
    null,
  );
}

/** Range of 704.WSet, W. Without 702.WChaRteMax the minimum is 0. */
export function setPointRangeW(bank: Bank): { readonly minW: number; readonly maxW: number } {
  return { minW: -(pointNumber(bank, 702, 'WChaRteMax') ?? 0), maxW: pointNumber(bank, 702, 'WMax') ?? 0 };
}

/**
 * Refuses a power outside the range of 704.WSet with an error that names the member of the request.
 * @param pointer of the member
 * @throws HttpProblem `validation`
 */
export function checkSetPoint(bank: Bank, powerKw: number, pointer: string): void {
  const { minW, maxW } = setPointRangeW(bank);
  if (powerKw * 1000 >= minW && powerKw * 1000 <= maxW) return;
  throw invalid(
    'body',
    pointer,
    `given ${powerKw} kW; the settings of the device allow ${minW / 1000} to ${maxW / 1000} kW (702.WChaRteMax, 702.WMax)`,
  );
}

/**
 * Puts a set-point in watts in force until it is switched off, in one commit. Clears the reversion time: a time left
 * by another writer would silently end the set-point.
 * @throws SimError as `Bank.transact`
 */
export function writeSetPoint(bank: Bank, by: Origin, powerW: number): void {
  bank.transact(by, ({ m704 }) => {
    m704.WSetMod = 'WATTS';
    m704.WSet = powerW;
    m704.WSetRvrtTms = 0;
    m704.WSetEna = 'ENABLED';
  });
}

/** Switches the set-point off; its value stays. */
export function endSetPoint(bank: Bank, by: Origin): void {
  bank.transact(by, ({ m704 }) => {
    m704.WSetEna = 'DISABLED';
  });
}

/** True if REST or the dashboard was the last writer of the set-point's enable. */
export function isSetPointOurs(bank: Bank): boolean {
  const source = pointWriter(bank, 704, 'WSetEna')?.source;
  return source === 'rest' || source === 'dashboard';
}
