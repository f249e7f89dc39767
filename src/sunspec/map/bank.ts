/** The registers of one device: the interface for readers and writers, its options, and points by name. */
import type { Origin, Provenance } from '../../core/origin.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Former } from './commit.ts';
import type { Layout, PointSlot } from './layout.ts';
import type { AnyPointValue } from './types.ts';
import type { OnDemandOptions } from './on-demand-model.ts';
import type { MapView, WritableMapView } from './view.ts';

/** One committed write: its points, its writer and its time. */
export interface Change {
  readonly points: readonly PointSlot[];
  /** points with another value than before, and requests, which act at each write */
  readonly changed: readonly PointSlot[];
  readonly by: Origin;
  readonly at: SimTime;
}

/** The writer of a commit, and the first of the points that it wrote. */
export interface LastWrite {
  readonly slot: PointSlot;
  readonly by: Provenance;
}

/**
 * A change of `adopt`: `tx` assigns by name, `set` by point slot. `restore` puts a former value back as if nothing had
 * been written since: with its former writer, and without the check of its range, which it has passed before. The
 * resulting set 1 is still checked as at an adoption.
 */
export type AdoptChange = (
  tx: WritableMapView,
  set: (slot: PointSlot, value: AnyPointValue) => void,
  restore: (slot: PointSlot, former: Former) => void,
) => void;

/** Registers of an earlier process in this one. */
export interface RestoredRegisters {
  /** start values of this process, from which those of the earlier one may differ; null: they are the same */
  readonly newStart: Buffer | null;
}

/**
 * The registers of one unit, whatever its models: points are addressed by their slots. Reads are slices of the
 * registers; a write takes effect as a whole or not at all.
 */
export interface PointBank {
  readonly layout: Layout;
  /**
   * A view (no copy) of `count` registers from `address`, big-endian bytes. Copy before the next tick.
   * @throws SimError MAP_ILLEGAL_ADDRESS
   */
  read(address: number, count: number): Buffer;
  /** A view (no copy) of all registers from the marker on, with those of hidden models after the end model. */
  image(): Buffer;
  /**
   * Writes whole registers; validated on a candidate copy, then committed with one change event. Points that
   * ignore writes (`ignoresWrites`) keep their values if the span also has other points.
   * @param words big-endian bytes, two per register
   * @throws SimError MAP_ILLEGAL_ADDRESS, MAP_READ_ONLY, MAP_NOT_IMPLEMENTED, MAP_PARTIAL_POINT, MAP_BAD_VALUE,
   *   MAP_NOT_SUPPORTED; as `CommitParticipant.admit`
   */
  write(address: number, words: Buffer, by: Origin): void;
  /** Checks as `write` does, and writes nothing. @throws SimError as `write` */
  check(address: number, words: Buffer, by: Origin): void;
  /**
   * Writes as `write` does, by name: `bank.transact(by, (tx) => { tx.m704.WMaxLimPct = 50; })`.
   * All or nothing; nothing is committed when `change` throws.
   * @throws SimError as `write`
   */
  transact(by: Origin, change: (tx: WritableMapView) => void): void;
  /**
   * Writes as `write` does, by point slot and untyped value (REST `registers`).
   * @throws SimError as `write`
   */
  assign(by: Origin, values: readonly { readonly slot: PointSlot; readonly value: AnyPointValue }[]): void;
  /**
   * Writes set 1 of the curve and control models, and any other RW points with it, in one commit; used by REST and the
   * protocol bridges. The resulting set 1 is checked as at an adoption; stored sets are not touched. In each model so
   * changed the adoption request then reads 1 and its result COMPLETED. Takes no adoption time.
   * @param committed called once when the registers hold the change, before any listener is called; must not throw
   * @throws SimError as `write`; MAP_BAD_VALUE with the reason when a set 1 cannot be in force
   */
  adopt(by: Origin, change: AdoptChange, committed?: () => void): void;
  /** Checks as `adopt` does, including whether this writer may write now, and writes nothing. @throws SimError as `adopt` */
  checkAdopt(by: Origin, change: AdoptChange): void;
  /** Decoded value of any point; null when not implemented. */
  value(slot: PointSlot): AnyPointValue;
  /** `value` of one point that is read in every tick. */
  reader(slot: PointSlot): () => AnyPointValue;
  /** Decoded value of a point at the start of the device; null when not implemented, or not known. */
  startValue(slot: PointSlot): AnyPointValue;
  /** Raw registers of a point, as unsigned 16-bit words. */
  raw(slot: PointSlot): number[];
  /** Last writer of a point, else of its start value; undefined: none. */
  provenance(slot: PointSlot): Provenance | undefined;
  /** The last commit; null: none since the start, or since a reset put the start values back. */
  readonly lastWrite: LastWrite | null;
  /** The present value of a point, for `restore` of a later `adopt`. */
  former(slot: PointSlot): Former;
  /** null: the device has begun with its start values, so that state kept beside other registers does not fit it */
  readonly restored: RestoredRegisters | null;
  /** Calls `listener` after each commit; the returned function unsubscribes it. */
  onChange(listener: (change: Change) => void): () => void;
  /**
   * Calls `listener` after a reset of the device has restored all start values, before `onChange`; the returned
   * function unsubscribes it.
   */
  onReload(listener: (by: Origin, at: SimTime) => void): () => void;
}

/** The registers of one device, which has at least the models that every device serves. */
export interface Bank extends PointBank {
  /** Typed view of the committed registers, for reading. */
  readonly map: MapView;
}

export interface BankOptions {
  /**
   * start value of a point; absent: not known; computed rather than stored, since a copy of the start image would
   * double the memory of a bank
   */
  readonly startValueOf?: (slot: PointSlot) => AnyPointValue;
  /** writers of start values that are not defaults; may be shared between banks */
  readonly startWriters?: ReadonlyMap<PointSlot, Provenance>;
  /** last writer of points whose value is kept outside the bank; undefined: the bank has the writer */
  readonly writerOf?: (slot: PointSlot) => Provenance | undefined;
  /** absent: all registers are kept up to date by the device */
  readonly onDemand?: OnDemandOptions;
  /** receives errors of follow-ups and listeners: the write is committed all the same */
  readonly onError?: (message: string) => void;
}

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
