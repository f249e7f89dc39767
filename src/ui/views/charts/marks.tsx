/** Entries of the timeline as lettered marks on charts, and the list of them. */
import { useMemo } from 'preact/hooks';
import type { ChartMark } from '../../kit/chart';
import { pointedMark, pointing } from '../../kit/chart-marks';
import { Panel } from '../../kit/panel';
import { causeHref } from '../../kit/places';
import { timeOrDate } from '../../look/format';
import type { TimelineEntry } from '../../store/timeline';
import { useTimeline } from '../../store/timeline-entries';

/** Kinds of entries that explain a step of a line: commands, trips and returns, alarms, faults, steps of scenarios. */
const kinds = ['command', 'peer', 'grid', 'service', 'alarm', 'fault', 'scenario'] as const;

const maxEntries = 500;

/** Marks on one chart: as many as there are letters. */
const maxMarks = 26;

interface Shown {
  readonly device_index: number;
  readonly name: string;
}

/** An entry without devices is of the whole site. */
const concerns = ({ devices }: TimelineEntry, shown: readonly Shown[]) =>
  devices.length === 0 || devices.some((index) => shown.some(({ device_index }) => device_index === index));

/** Among several devices the name of the one that the entry is about. */
function titleOf({ title, device_index: index }: TimelineEntry, shown: readonly Shown[]): string {
  const name = shown.length > 1 && shown.find(({ device_index }) => device_index === index)?.name;
  return name ? `${name}: ${title}` : title;
}

/**
 * The newest entries as marks, oldest first.
 * @param shown devices of the charts
 * @param sinceS start of the charts, seconds since the epoch
 */
export function marksOf(
  entries: readonly TimelineEntry[],
  shown: readonly Shown[],
  sinceS: number,
): readonly ChartMark[] {
  const latest = entries.at(-1)?.sim_time ?? '';
  return entries
    .filter((entry) => concerns(entry, shown) && Date.parse(entry.sim_time) >= sinceS * 1000)
    .toSorted((a, b) => a.sim_time.localeCompare(b.sim_time) || a.id - b.id)
    .slice(-maxMarks)
    .map((entry, place) => ({
      id: entry.id,
      atS: Date.parse(entry.sim_time) / 1000,
      letter: String.fromCodePoint(65 + place),
      title: `${timeOrDate(entry.sim_time, latest)} ${titleOf(entry, shown)}`,
      to: causeHref(entry.ref, entry.device_index),
    }));
}

/** Marks for charts of devices, kept up to date. @param sinceS start of the charts; undefined: they have no samples */
export function useMarks(shown: readonly Shown[], sinceS: number | undefined): readonly ChartMark[] {
  const { entries } = useTimeline({ limit: maxEntries, kinds });
  // a window that moves loses its first mark at the next whole minute: until then nothing is drawn again for it
  const fromS = sinceS === undefined ? undefined : Math.floor(sinceS / 60) * 60;
  const names = shown.map(({ device_index, name }) => `${device_index} ${name}`).join();
  return useMemo(() => (fromS === undefined ? [] : marksOf(entries ?? [], shown, fromS)), [entries, names, fromS]);
}

/** The marks with their letters, newest first. */
export function MarkList({ marks }: { readonly marks: readonly ChartMark[] }) {
  if (marks.length === 0) return null;
  return (
    <Panel title="Marks">
      <ul class="chart-marks">
        {marks.toReversed().map(({ id, letter, title, to }) => (
          <li key={id} class={pointedMark.value === id ? 'pointed' : undefined} {...pointing(id)}>
            <b>{letter}</b> <a href={to}>{title}</a>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
