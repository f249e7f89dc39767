/** The state of a folder in numbers, as `derbench state show` prints it. */
import type { SnapshotInfo } from '../contract/state.ts';
import { bytesOf } from './contents.ts';
import type { Contents } from './contents.ts';
import type { FolderState } from './folder-work.ts';
import { areaOf } from './slots.ts';

interface AreaSize {
  readonly area: string;
  readonly slots: number;
  readonly entries: number;
  readonly octets: number;
}

/** By area, in the order of the letters. */
export function areasOf(contents: Contents): readonly AreaSize[] {
  const areas = new Map<string, AreaSize>();
  for (const [name, texts] of contents) {
    const area = areaOf(name);
    const { slots, entries, octets } = areas.get(area) ?? { slots: 0, entries: 0, octets: 0 };
    areas.set(area, { area, slots: slots + 1, entries: entries + texts.length, octets: octets + bytesOf(texts) });
  }
  return [...areas.values()].sort((a, b) => (a.area < b.area ? -1 : 1));
}

export interface StateSummary {
  readonly folder: string;
  /** null: the whole simulator */
  readonly device: number | null;
  readonly state: FolderState;
  /** process that has the folder; null: none */
  readonly holder: string | null;
  readonly snapshots: readonly SnapshotInfo[];
}

const isoOf = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

export function summaryAsJson({ folder, device, state, holder, snapshots }: StateSummary): string {
  const { contents, format, octets, records, lastSaveMs, damage } = state;
  const document = {
    folder,
    format,
    octets,
    records,
    last_save: isoOf(lastSaveMs),
    damage,
    in_use_by: holder,
    device,
    areas: areasOf(contents),
    snapshots: snapshots.map(({ name, takenAtMs, octets: size, version, damage: why }) => ({
      name,
      taken_at: isoOf(takenAtMs),
      octets: size,
      version,
      damage: why,
    })),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Columns as wide as their widest cell; the first one to the left, the others to the right. */
function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '),
  );
}

/** A damaged end is that of a write that did not end; beside a running simulator it is one that is under way. */
function damageWords({ damage, records }: FolderState, holder: string | null): readonly string[] {
  if (damage === null || (damage === 'torn' && holder !== null)) return [];
  return damage === 'torn'
    ? ['the last record was not written whole: it is left out']
    : [`the journal is damaged: the state of its first ${records} records can be read`];
}

export function summaryAsText(summary: StateSummary): string {
  const { folder, device, state, holder, snapshots } = summary;
  const { contents, format, octets, records, lastSaveMs } = state;
  const areas = areasOf(contents);
  const cells = areas.map((each) => [each.area, each.slots, each.entries, each.octets].map(String));
  const table = areas.length === 0 ? ['no state'] : columns([['area', 'slots', 'entries', 'octets'], ...cells]);
  const snapshotRows = snapshots.map((each) => [each.name, String(each.octets), isoOf(each.takenAtMs) ?? 'damaged']);
  return [
    `${folder}: form ${format}, ${octets} octets, ${records} records, last write ${isoOf(lastSaveMs) ?? 'never'}`,
    holder === null ? 'in use by no simulator' : `in use by ${holder}`,
    ...damageWords(state, holder),
    '',
    ...(device === null ? [] : [`device ${device}:`]),
    ...table,
    ...(snapshots.length === 0 ? [] : ['', ...columns([['snapshot', 'octets', 'taken'], ...snapshotRows])]),
    '',
  ].join('\n');
}
