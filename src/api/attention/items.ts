/** Items of the attention list. Each rule derives its items from the present state and keeps nothing. */
import type { Device } from '../../contract/device.ts';
import { timelineLevels } from '../../core/timeline/entry.ts';
import type { TimelineLevel, TimelineRef } from '../../core/timeline/entry.ts';
import type { RouteContext } from '../http/context.ts';
import { groupBy } from '../http/paths.ts';

export const maxItems = 100;

export interface AttentionItem {
  /** stays while the condition stays; another one for a further case of what goes away by being seen */
  readonly id: string;
  readonly level: TimelineLevel;
  /** indexes; empty: none */
  readonly devices: readonly number[];
  readonly title: string;
  readonly text: string;
  /** wall time, ms since the epoch; null: unknown */
  readonly sinceMs: number | null;
  readonly ref: TimelineRef | null;
}

export type AttentionContext = Pick<
  RouteContext,
  | 'plant'
  | 'faults'
  | 'findings'
  | 'timeline'
  | 'holds'
  | 'scenarios'
  | 'watched'
  | 'csipClient'
  | 'dnp3'
  | 'ocpp'
  | 'modbusMessages'
  | 'clock'
>;

export type AttentionRule = (ctx: AttentionContext) => readonly AttentionItem[];

/** `Carport`, or `12 devices`. */
export function subjectText(devices: readonly Device[]): string {
  const [first] = devices;
  return devices.length === 1 && first ? first.name : `${devices.length} devices`;
}

/** A condition of one device that several may share. */
export interface DeviceCondition {
  readonly device: Device;
  /** equal for the devices that one item lists */
  readonly id: string;
  readonly level: TimelineLevel;
  readonly title: string;
  /** end of the sentence about one device, or about several */
  readonly text: string;
  readonly sinceMs: number | null;
}

/** One item for each id, since the earliest begin. */
export function joined(conditions: readonly DeviceCondition[]): readonly AttentionItem[] {
  const byId = groupBy(conditions, ({ id }) => id);
  return [...byId].flatMap(([id, [first, ...others]]) => {
    if (first === undefined) return [];
    const all = [first, ...others];
    const devices = all.map(({ device }) => device);
    const begins = all.flatMap(({ sinceMs }) => sinceMs ?? []);
    return {
      id,
      level: first.level,
      devices: devices.map(({ index }) => index),
      title: first.title,
      text: `${subjectText(devices)}: ${first.text}.`,
      sinceMs: begins.length === 0 ? null : Math.min(...begins),
      ref: { type: 'device' as const, id: String(first.device.index) },
    };
  });
}

/** Worst first, then newest; items without a begin last. */
export function sorted(items: readonly AttentionItem[]): readonly AttentionItem[] {
  const rank = ({ level }: AttentionItem) => timelineLevels.indexOf(level);
  return items.toSorted((a, b) => rank(b) - rank(a) || (b.sinceMs ?? -Infinity) - (a.sinceMs ?? -Infinity) || 0);
}
