/** Points of an outstation: kinds, values, quality flags and configuration. IEEE 1815 clause 11 */
import type { Buffer } from 'node:buffer';

export const pointKinds = [
  'binaryInput',
  'doubleBit',
  'binaryOutput',
  'counter',
  'frozenCounter',
  'analogInput',
  'analogOutput',
  'octetString',
] as const;
export type PointKind = (typeof pointKinds)[number];

/** Bits of the flags octet, without the state bits of binary and double-bit points. */
export const quality = {
  online: 0x01,
  restart: 0x02,
  commLost: 0x04,
  remoteForced: 0x08,
  localForced: 0x10,
  /** of analogs: the value exceeds the variation or the range of the point */
  overRange: 0x20,
  /** of analogs */
  referenceError: 0x40,
  /** of counters */
  discontinuity: 0x40,
} as const;

/** 0 or 1 of binaries, 0 to 3 of double-bit points, wire units of counters and analogs; octets of octet strings. */
export type PointValue = number | Buffer;

/**
 * An instant in the unit of the surrounding program; the stack only passes stamps to `AssociationClock.instantOf`.
 */
export type Stamp = number;

export interface PointState {
  readonly value: PointValue;
  readonly flags: number;
}

/** 0: no events. */
export type PointClass = 0 | 1 | 2 | 3;

/** Configuration of a point. */
export interface PointSpec {
  readonly kind: PointKind;
  readonly index: number;
  readonly class: PointClass;
  /** true if a read of class 0 includes it; output status may be left out */
  readonly inClass0: boolean;
  /** true if ASSIGN_CLASS can give the point a class with events */
  readonly mayHaveEvents: boolean;
  /** analogs and counters, wire units: an event follows a change above it */
  readonly deadband: number;
  /** the event buffer keeps every change of the point, or the latest alone */
  readonly keeps: 'all' | 'latest';
  /** variations for a read with variation 0 */
  readonly staticVariation: number;
  readonly eventVariation: number;
}

/** Variations for a read with variation 0, by kind: IEEE 1815 leaves the choice to the device. */
export const defaultVariations: Readonly<Record<PointKind, { readonly static: number; readonly event: number }>> = {
  binaryInput: { static: 2, event: 2 },
  doubleBit: { static: 2, event: 2 },
  binaryOutput: { static: 2, event: 2 },
  counter: { static: 1, event: 5 },
  frozenCounter: { static: 1, event: 5 },
  analogInput: { static: 1, event: 1 },
  analogOutput: { static: 1, event: 1 },
  octetString: { static: 0, event: 0 },
};

/** Groups of the static values and of the events, by kind. */
export const groupsOf: Readonly<Record<PointKind, { readonly static: number; readonly event: number }>> = {
  binaryInput: { static: 1, event: 2 },
  doubleBit: { static: 3, event: 4 },
  binaryOutput: { static: 10, event: 11 },
  counter: { static: 20, event: 22 },
  frozenCounter: { static: 21, event: 23 },
  analogInput: { static: 30, event: 32 },
  analogOutput: { static: 40, event: 42 },
  octetString: { static: 110, event: 111 },
};
