import type { SimTime } from './time/clock.ts';

/** Sources of register writes and commands. */
export const sources = [
  'default',
  'profile',
  'rest',
  'dashboard',
  'modbus',
  'csip',
  'ocpp',
  'dnp3',
  'scenario',
  'reversion',
  'fault',
] as const;
export type Source = (typeof sources)[number];

export interface Origin {
  readonly source: Source;
  /** peer address, mRID, control id */
  readonly peer?: string;
}

/** An origin as state that a restart keeps, without members that its maker may have added. */
export const plainOrigin = ({ source, peer }: Origin): Origin => ({ source, ...(peer !== undefined && { peer }) });

/** `rest, 127.0.0.1:50123` */
export function originText({ source, peer }: Origin): string {
  return peer === undefined ? source : `${source}, ${peer}`;
}

/** Sources refused while a device is under local control (715.LocRemCtl). */
export const remoteSources: readonly Source[] = ['modbus', 'csip', 'ocpp', 'dnp3'];

/** Last writer of a point. */
export interface Provenance extends Origin {
  readonly at: SimTime;
  /** wall time in ms since the epoch */
  readonly wallMs: number;
}

/** A provenance as state that a restart keeps, as `plainOrigin`. */
export const plainProvenance = ({ at, wallMs, ...by }: Provenance): Provenance => ({ ...plainOrigin(by), at, wallMs });

/** True if write `a` is later than `b`; at equal simulated time, as while the clock is paused, wall time decides. */
export function isLater(a: Provenance, b: Provenance): boolean {
  return a.at === b.at ? a.wallMs > b.wallMs : a.at > b.at;
}
