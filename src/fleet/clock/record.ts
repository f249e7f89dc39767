/** The clock of a fleet: one record in the bucket that stays. In free run it is a grid of slots, one tick in each. */
import { isDateMs, isInstant } from '../../core/kept-dates.ts';
import type { Provenance } from '../../core/origin.ts';
import { clockModes } from '../../core/time/clock.ts';
import type { ClockPatch, ClockSettings, SimTime } from '../../core/time/clock.ts';
import { tickSeconds } from '../../core/time/sim-clock.ts';
import { checkedMembers, isOrigin, jsonOf } from './messages.ts';

export const clockKey = 'clock';

export interface ClockRecord extends ClockSettings {
  /** of the fleet, from the start of its first shard */
  readonly fleet: string;
  /** rises with each change */
  readonly seq: number;
  /** number of leaders so far */
  readonly term: number;
  readonly tickS: number;
  /** tick that ends at `sim0Us`; while the clock runs its slot ends at `wall0Ms` of the fleet's time */
  readonly tick0: number;
  readonly wall0Ms: number;
  readonly sim0Us: SimTime;
  /** shift of the dates against the instants */
  readonly shiftMs: number;
  /** instant at which the fleet started */
  readonly startUs: SimTime;
  /** time of the fleet at which the record was written, ms */
  readonly madeMs: number;
  /** last writer of mode, rate, time of day or zone; null: as started */
  readonly changedBy: Provenance | null;
  /** last client that ran ticks by hand; null: none */
  readonly steppedBy: Provenance | null;
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown) => typeof value === 'string' && value.length > 0 && value.length <= 64;
const isWriter = (value: unknown) => {
  const { at, wallMs } = (value ?? {}) as Partial<Provenance>;
  return isOrigin(value) && isInstant(at) && isDateMs(wallMs);
};
const isPositive = (value: unknown) => Number.isFinite(value) && (value as number) > 0;

const checks: Readonly<Record<keyof ClockRecord, (value: unknown) => boolean>> = {
  fleet: isText,
  seq: isCount,
  term: isCount,
  mode: (value) => (clockModes as readonly unknown[]).includes(value),
  rate: isPositive,
  timezone: isText,
  tickS: isPositive,
  tick0: isCount,
  wall0Ms: isDateMs,
  sim0Us: isInstant,
  shiftMs: isDateMs,
  startUs: isInstant,
  madeMs: isDateMs,
  changedBy: (value) => value === null || isWriter(value),
  steppedBy: (value) => value === null || isWriter(value),
};

/** @throws FleetError `refused` */
export const checkedRecord = (value: unknown): ClockRecord =>
  checkedMembers<ClockRecord>(value, checks, 'the clock of the fleet');
/** @throws FleetError `refused` */
export const decodedRecord = (bytes: Uint8Array): ClockRecord => checkedRecord(jsonOf(bytes, 'the clock of the fleet'));
export const encodedRecord = (record: ClockRecord): Uint8Array => Buffer.from(JSON.stringify(record));

export const isPaused = ({ mode }: ClockSettings) => mode === 'paused';
const rateOf = ({ mode, rate }: ClockSettings) => (mode === 'wall_clock' ? 1 : rate);

/** Simulated microseconds of a tick. */
export const tickUsOf = (record: ClockRecord): number => tickSeconds(rateOf(record), record.tickS) * 1e6;

/** The instant at which a tick ends. */
export const simOf = (record: ClockRecord, tick: number): SimTime =>
  Math.round(record.sim0Us + (tick - record.tick0) * tickUsOf(record)) as SimTime;

/** The time of the fleet at which the slot of a tick ends, ms. */
export const slotEndMs = (record: ClockRecord, tick: number): number =>
  record.wall0Ms + (tick - record.tick0) * record.tickS * 1000;

/** The last tick whose slot has ended. @param nowMs time of the fleet */
export const tickAt = (record: ClockRecord, nowMs: number): number =>
  record.tick0 + Math.floor((nowMs - record.wall0Ms) / (record.tickS * 1000) + 1e-9);

/** The last tick that ends at an instant or before it. */
export const tickOf = (record: ClockRecord, t: SimTime): number =>
  record.tick0 + Math.floor((t - record.sim0Us) / tickUsOf(record) + 1e-9);

/** The instant and the number of the last tick of a fleet whose shards are in time. @param nowMs time of the fleet */
export function reachedAt(record: ClockRecord, nowMs: number): { readonly tick: number; readonly simUs: SimTime } {
  const tick = isPaused(record) ? record.tick0 : Math.max(record.tick0, tickAt(record, nowMs));
  return { tick, simUs: simOf(record, tick) };
}

/** The change that brings a clock to the settings of the record; null: it has them. */
export function patchTo(record: ClockRecord, clock: ClockSettings & { readonly shiftMs: number }): ClockPatch | null {
  const { mode, rate, timezone, shiftMs } = record;
  const isShifted = mode !== 'wall_clock' && Math.abs(shiftMs - clock.shiftMs) > 0.01;
  const isSame = mode === clock.mode && timezone === clock.timezone && !isShifted && rateOf(record) === rateOf(clock);
  if (isSame) return null;
  return { mode, timezone, ...(mode !== 'wall_clock' && { rate, shiftMs }) };
}
