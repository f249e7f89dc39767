/** Objects of controls in requests: g12v1 and g41. IEEE 1815 annex A.6, A.18 */
import type { Buffer } from 'node:buffer';

/** Octets of the object, the status octet being the last. */
export const crobOctets = 11;
export const analogOutputOctets: Readonly<Record<number, number>> = { 1: 5, 2: 3, 3: 5, 4: 9 };

/** Operation types of a control code, bits 0 to 3. */
const operation = { nul: 0, pulseOn: 1, pulseOff: 2, latchOn: 3, latchOff: 4 } as const;
/** Trip-close codes, bits 6 and 7. */
const tripClose = { nul: 0, close: 1, trip: 2 } as const;

/**
 * The state that a control code asks for; null: it asks for nothing that this outstation knows. Every output behaves as
 * latched, so a pulse is a latch.
 */
export function stateOfCode(code: number): 0 | 1 | null {
  const type = code & 0x0f;
  const side = code >> 6;
  // the clear and queue bits belong to sequences of pulses, which a latched output does not have
  if ((code & 0x30) !== 0) return null;
  if (side === tripClose.close) return type === operation.pulseOn || type === operation.latchOn ? 1 : null;
  if (side === tripClose.trip)
    return type === operation.pulseOn || type === operation.pulseOff || type === operation.latchOff ? 0 : null;
  if (side !== tripClose.nul) return null;
  if (type === operation.pulseOn || type === operation.latchOn) return 1;
  return type === operation.pulseOff || type === operation.latchOff ? 0 : null;
}

/** The value of an analog output block, wire units; NaN and infinities as they came. */
export function analogValue(variation: number, octets: Buffer): number {
  switch (variation) {
    case 1:
      return octets.readInt32LE(0);
    case 2:
      return octets.readInt16LE(0);
    case 3:
      return octets.readFloatLE(0);
    default:
      return octets.readDoubleLE(0);
  }
}
