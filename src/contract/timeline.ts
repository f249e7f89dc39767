/** Entries of the timeline as REST and the stream show them. */
import type { Source } from '../core/origin.ts';
import type { SimTime } from '../core/time/clock.ts';
import type { TimelineEntry, TimelineKind, TimelineLevel, TimelineRef } from '../core/timeline/entry.ts';

export interface TimelineEntryJson {
  readonly id: number;
  readonly sim_time: string;
  readonly wall_time: string;
  readonly kind: TimelineKind;
  readonly level: TimelineLevel;
  /** null: none, or several */
  readonly device_index: number | null;
  readonly devices: readonly number[];
  readonly by: { readonly source: Source; readonly source_detail: string | null } | null;
  readonly title: string;
  readonly text: string;
  readonly count: number;
  readonly ref: TimelineRef | null;
  readonly message: string | null;
}

const isoText = (ms: number) => new Date(ms).toISOString();

/** @param dateMs simulated date of an instant, ms since the epoch */
export function timelineEntryJson(entry: TimelineEntry, dateMs: (at: SimTime) => number): TimelineEntryJson {
  const { id, at, wallMs, kind, level, by, title, text, count, ref, message } = entry;
  const devices = [...entry.devices];
  return {
    id,
    sim_time: isoText(dateMs(at)),
    wall_time: isoText(wallMs),
    kind,
    level,
    device_index: devices.length === 1 ? (devices[0] ?? null) : null,
    devices,
    by: by && { source: by.source, source_detail: by.peer ?? null },
    title,
    text,
    count,
    ref,
    message,
  };
}
