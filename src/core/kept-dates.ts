/** Instants and writers of a kept state, checked where they are read: replies show them as dates. */
import { SimError } from './errors.ts';
import { sources } from './origin.ts';
import type { Provenance } from './origin.ts';
import type { SimTime } from './time/clock.ts';

/** Dates of a simulator lie between the years 1 and 9999, ms since the epoch. */
const maxDateMs = 253_402_300_800_000;

/** True for an instant between the years 1 and 9999, in whole microseconds. */
export const isInstant = (value: unknown): value is SimTime =>
  Number.isInteger(value) && Math.abs(value as number) < 1000 * maxDateMs;

/** True for a date between the years 1 and 9999, or a distance of that size, in ms. */
export const isDateMs = (value: unknown): value is number =>
  Number.isFinite(value) && Math.abs(value as number) < maxDateMs;

/** A kept instant. @throws SimError INTERNAL for any other value */
export function keptInstant(value: unknown, name: string): SimTime {
  if (isInstant(value)) return value;
  throw new SimError('INTERNAL', `the kept ${name} is no instant`);
}

/** A kept writer; T may have more members. @throws SimError INTERNAL for any other value */
export function keptWriter<T extends Provenance>(value: T, name: string): T {
  const { source, peer, at, wallMs } = (value as T | null | undefined) ?? ({} as Partial<Provenance>);
  const isPeer = peer === undefined || typeof peer === 'string';
  if ((sources as readonly unknown[]).includes(source) && isPeer && isInstant(at) && isDateMs(wallMs)) return value;
  throw new SimError('INTERNAL', `the kept ${name} is no writer`);
}

/** As `keptWriter`; null: there was none. */
export function keptWriterOrNull(value: Provenance | null, name: string): Provenance | null {
  return value === null ? null : keptWriter(value, name);
}
