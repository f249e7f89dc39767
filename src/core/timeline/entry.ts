/** Entries of the timeline: everything that changed something, in sentences. */
import type { Origin } from '../origin.ts';
import type { SimTime } from '../time/clock.ts';

export const timelineKinds = [
  'command',
  'peer',
  'grid',
  'weather',
  'service',
  'limit',
  'alarm',
  'refusal',
  'connection',
  'finding',
  'fault',
  'scenario',
  'clock',
  'setting',
  'device',
  'capture',
] as const;
export type TimelineKind = (typeof timelineKinds)[number];

/** From the mildest to the worst. */
export const timelineLevels = ['info', 'warn', 'bad'] as const;
export type TimelineLevel = (typeof timelineLevels)[number];

/** True if `level` is `min` or worse. */
export const isLevelFrom = (min: TimelineLevel, level: TimelineLevel) =>
  timelineLevels.indexOf(level) >= timelineLevels.indexOf(min);

export const refTypes = [
  'entry',
  'device',
  'message',
  'point',
  'fault',
  'finding',
  'scenario',
  'capture',
  'hold',
  'site',
  'answers',
  'time',
] as const;

/** The place where the cause is shown. */
export interface TimelineRef {
  readonly type: (typeof refTypes)[number];
  /** `modbus/17` for a message, `704.WMaxLimPct` for a point, else the id or index as text; `entry`: of the timeline */
  readonly id: string;
}

/** A request that makes a change again. */
export interface TimelineCall {
  readonly method: string;
  /** without the query */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A change as its source knows it. */
export interface Happening {
  readonly kind: TimelineKind;
  /** default `info` */
  readonly level?: TimelineLevel;
  /** the device; absent: no single one */
  readonly deviceIndex?: number | undefined;
  /** absent: the simulator itself */
  readonly by?: Origin | undefined;
  /** a few words, the same for equal changes */
  readonly title: string;
  /** a sentence without the device, so that equal changes of several devices have equal sentences */
  readonly text: string;
  /** default: the present instant */
  readonly at?: SimTime;
  readonly ref?: TimelineRef | null;
  /** the message that made it, as `modbus/17`; null or absent: none that is kept */
  readonly message?: string | null;
  /** requests that make it again; absent: none do, or they are not kept */
  readonly calls?: readonly TimelineCall[] | undefined;
}

export interface TimelineEntry {
  /** rises with each entry and is never used again */
  readonly id: number;
  readonly kind: TimelineKind;
  readonly level: TimelineLevel;
  /** instant of the first of the equal changes */
  readonly at: SimTime;
  /** wall time of the first of them, ms since the epoch */
  readonly wallMs: number;
  /** indexes of the devices, in the order in which they came; empty: none */
  readonly devices: ReadonlySet<number>;
  /** null: the simulator itself */
  readonly by: Origin | null;
  readonly title: string;
  readonly text: string;
  /** number of equal changes */
  readonly count: number;
  readonly ref: TimelineRef | null;
  /** the message that made the first of the equal changes; null: none that was kept */
  readonly message: string | null;
  /** requests that make the first of the equal changes again; null: none do, or they are not kept */
  readonly calls: readonly TimelineCall[] | null;
}
