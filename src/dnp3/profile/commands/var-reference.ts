/** References of reactive set-points: AO5, and the bases of percent of reactive power. */
import type { DevicePort, PointWrite } from '../../device-port.ts';

/**
 * Values of 704.VarSetMod with codes in the profile, from code 1: percent of WMax, VarMax, available reactive power.
 */
export const varReferences = ['W_MAX_PCT', 'VAR_MAX_PCT', 'VAR_AVAIL_PCT'] as const;
export type VarReference = (typeof varReferences)[number];

/** The reference in force; null: it is none of the profile. */
export function varReference(port: DevicePort): VarReference | null {
  const present = port.value('704.VarSetMod');
  return varReferences.find((each) => each === present) ?? null;
}

/** The reference of a set-point that brings none along: the one in force, or VarMax. */
export function presentVarReference(port: DevicePort): VarReference {
  return varReference(port) ?? 'VAR_MAX_PCT';
}

/** The writes after which a set-point is percent of a reference of the profile. */
export function varReferenceWrites(port: DevicePort): readonly PointWrite[] {
  return varReference(port) === null ? [{ point: '704.VarSetMod', value: presentVarReference(port) }] : [];
}
