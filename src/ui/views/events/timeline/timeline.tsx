/** Everything that changed something, as one list; an entry opens with its cause beside it. */
import { useState } from 'preact/hooks';
import { Refused } from '../../../kit/action';
import { deviceLabel } from '../../../kit/choices';
import { KindIcon } from '../../../kit/kind-icons';
import { Panel } from '../../../kit/panel';
import { Loading } from '../../../kit/states';
import { Table } from '../../../kit/table';
import type { Column } from '../../../kit/table';
import { dash, dateAndTime, timeOrDate, wallDate, wallTime, words } from '../../../look/format';
import { href, param, setParam } from '../../../store/route';
import { useOverview } from '../../../store/site';
import type { DeviceEntry } from '../../../store/site';
import type { TimelineEntry } from '../../../store/timeline';
import { Choice } from '../choice';
import { useTimeline } from '../../../store/timeline-entries';
import { Commands } from '../commands/commands';
import { Cause } from './cause';
import { filterNames, filterOfAddress, levels, meets, writerName, writerOf, writerText } from './entries';

const maxKept = 5000;

const levelMarks = { info: 'off', warn: 'warn', bad: 'bad' } as const;
const levelTitles = { info: 'information', warn: 'warning', bad: 'bad' } as const;

/** State of an entry: a shape, its colour, and the word for readers. */
function LevelMark({ level }: Pick<TimelineEntry, 'level'>) {
  return (
    <span class={`level ${levelMarks[level]}`} title={levelTitles[level]}>
      <i class={`mark ${levelMarks[level]}`} />
      <span class="visually-hidden">{levelTitles[level]}</span>
    </span>
  );
}

/** The device of an entry, or the number of them. */
function Devices({ entry, devices }: { readonly entry: TimelineEntry; readonly devices: readonly DeviceEntry[] }) {
  const [first, second] = entry.devices;
  if (first === undefined) return <span class="muted">{dash}</span>;
  if (second !== undefined) return <>{entry.devices.length} devices</>;
  const device = devices.find(({ device_index }) => device_index === first);
  if (device === undefined) return <>device {first}</>;
  return (
    <>
      <KindIcon of={device.asset_type} /> {device.name}
    </>
  );
}

/** Ids of the entries that are picked for a scenario. */
interface Picks {
  readonly ids: ReadonlySet<number>;
  readonly toggle: (id: number) => void;
  readonly clear: () => void;
}

function pickColumn({ ids, toggle }: Picks): Column<TimelineEntry> {
  return {
    title: 'Pick',
    width: '52px',
    cell: ({ id, text }) => (
      <input
        type="checkbox"
        aria-label={`Pick for a scenario: ${text}`}
        checked={ids.has(id)}
        // the row opens on a click
        onClick={(event) => event.stopPropagation()}
        onChange={() => toggle(id)}
      />
    ),
  };
}

function usePicks(): Picks {
  const [ids, setIds] = useState<ReadonlySet<number>>(new Set());
  const toggle = (id: number) =>
    setIds((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  return { ids, toggle, clear: () => setIds(new Set()) };
}

/** Opens the editor with the picked entries that are still kept. */
function Picked({ picks, entries }: { readonly picks: Picks; readonly entries: readonly TimelineEntry[] }) {
  const picked = entries.filter(({ id }) => picks.ids.has(id)).map(({ id }) => id);
  if (picked.length === 0) return null;
  return (
    <p class="row picked" role="status">
      {picked.length === 1 ? '1 entry' : `${picked.length} entries`} picked
      <a class="button" href={href('scenarios/editor', { entries: picked.join(',') })}>
        Make a scenario
      </a>
      <button type="button" class="quiet" onClick={picks.clear}>
        None
      </button>
    </p>
  );
}

const wallColumn: Column<TimelineEntry> = {
  title: 'Wall time',
  width: '110px',
  cell: ({ wall_time }) => wallTime(wall_time),
  value: ({ wall_time }) => wall_time,
};

/** Time and sentence, for a screen without room for more. */
function narrowColumns(
  devices: readonly DeviceEntry[],
  latest: string,
  withWall: boolean,
): readonly Column<TimelineEntry>[] {
  return [
    {
      title: 'Time',
      width: '88px',
      cell: ({ sim_time }) => timeOrDate(sim_time, latest),
      value: ({ sim_time }) => sim_time,
    },
    ...(withWall ? [wallColumn] : []),
    {
      title: 'What',
      cell: (entry) => (
        <>
          <LevelMark level={entry.level} /> {entry.count > 1 && <strong>{entry.count} × </strong>}
          {entry.devices.length > 0 && (
            <strong>
              <Devices entry={entry} devices={devices} />:{' '}
            </strong>
          )}
          {entry.text}
        </>
      ),
      value: ({ text }) => text,
    },
  ];
}

/** Width up to which the page has one column, px. */
const narrowPx = 640;

function columnsOf(
  devices: readonly DeviceEntry[],
  latest: string,
  withWall: boolean,
  picks: Picks,
): readonly Column<TimelineEntry>[] {
  return [
    pickColumn(picks),
    {
      title: 'Time',
      width: '92px',
      cell: ({ sim_time, wall_time }) => <span title={wallDate(wall_time)}>{timeOrDate(sim_time, latest)}</span>,
      value: ({ sim_time }) => dateAndTime(sim_time),
    },
    ...(withWall ? [wallColumn] : []),
    {
      title: 'Kind',
      width: '116px',
      cell: ({ level, kind }) => (
        <>
          <LevelMark level={level} /> {kind}
        </>
      ),
      value: ({ kind }) => kind,
    },
    {
      title: 'Device',
      width: '168px',
      cell: (entry) => <Devices entry={entry} devices={devices} />,
      value: (entry) => entry.devices.join(' '),
    },
    {
      title: 'What',
      cell: ({ text, count }) => (
        <span title={text}>
          {count > 1 && <strong>{count} × </strong>}
          {text}
        </span>
      ),
      value: ({ text }) => text,
    },
    {
      title: 'By',
      width: '190px',
      cell: (entry) => <span title={writerText(entry)}>{writerText(entry)}</span>,
      value: writerText,
    },
  ];
}

const distinct = (values: readonly string[], chosen: string | null): readonly string[] =>
  [...new Set([...values, ...(chosen === null ? [] : [chosen])])].sort();

interface FiltersProps {
  readonly entries: readonly TimelineEntry[];
  readonly devices: readonly DeviceEntry[];
}

/** Choices of what there is; the address keeps them. */
function Filters({ entries, devices }: FiltersProps) {
  const kinds = distinct(
    entries.map(({ kind }) => kind),
    param('kind'),
  );
  const writers = distinct(entries.map(writerOf), param('writer'));
  return (
    <>
      <Choice name="kind" label="Kind" all="all kinds" options={kinds.map((kind) => [kind, words(kind)])} />
      <Choice
        name="on"
        label="Device of the entries"
        all="all devices"
        options={devices.map((device) => [String(device.device_index), deviceLabel(device)])}
      />
      <Choice name="writer" label="Writer" all="by all" options={writers.map((each) => [each, writerName(each)])} />
      <Choice
        name="level"
        label="Level"
        all="all levels"
        options={levels.slice(1).map((level) => [level, level === 'bad' ? 'only bad' : 'warnings and bad'])}
      />
      <input
        type="search"
        name="find"
        aria-label="Find in the timeline"
        placeholder="Find"
        value={param('find') ?? ''}
        onInput={(event) => setParam('find', event.currentTarget.value)}
      />
    </>
  );
}

function NoEntry({ isFiltered }: { readonly isFiltered: boolean }) {
  if (!isFiltered) return <>Nothing has changed since the start. Commands, writes, trips and faults will stand here.</>;
  return (
    <>
      No entry matches.{' '}
      <button type="button" class="small" onClick={() => filterNames.forEach((name) => setParam(name, null))}>
        Show all
      </button>
    </>
  );
}

export function TimelineView() {
  const [isPaused, setPaused] = useState(false);
  const [follow, setFollow] = useState(true);
  const { entries, problem } = useTimeline({ limit: maxKept, paused: isPaused });
  const devices = useOverview()?.devices ?? [];
  const filter = filterOfAddress();
  const withWall = param('wall') !== null;
  const picks = usePicks();
  if (entries === undefined) return problem === null ? <Loading heights={[420]} /> : <Refused problem={problem} />;
  const nameOf = (index: number) => devices.find(({ device_index }) => device_index === index)?.name ?? '';
  const matching = entries.filter((entry) => meets(entry, filter, nameOf));
  const open = entries.find(({ id }) => String(id) === param('entry'));
  const latest = entries.at(-1)?.sim_time ?? '';
  const isFiltered = filterNames.some((name) => filter[name] !== null);
  return (
    <div class={open ? 'timeline beside' : 'timeline'}>
      <Panel
        title={isFiltered ? `${matching.length} of ${entries.length} entries` : `All entries (${entries.length})`}
        flush
        tools={
          <>
            <Filters entries={entries} devices={devices} />
            <button type="button" aria-pressed={withWall} onClick={() => setParam('wall', withWall ? null : 1)}>
              Wall time
            </button>
            <button type="button" aria-pressed={follow} onClick={() => setFollow(!follow)}>
              Follow
            </button>
            <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
              Pause list
            </button>
          </>
        }
      >
        <Refused problem={problem} />
        <Picked picks={picks} entries={entries} />
        <Table
          name="Timeline"
          columns={
            innerWidth <= narrowPx
              ? narrowColumns(devices, latest, withWall)
              : columnsOf(devices, latest, withWall, picks)
          }
          rows={matching}
          keyOf={({ id }) => id}
          height={Math.max(320, innerHeight - 280)}
          follow={follow && !isPaused && open === undefined}
          selected={open?.id ?? null}
          onSelect={({ id }) => setParam('entry', id === open?.id ? null : id)}
          empty={<NoEntry isFiltered={isFiltered} />}
        />
      </Panel>
      {open && <Cause key={open.id} entry={open} devices={devices} />}
      {filter.kind === 'command' && <Commands />}
    </div>
  );
}
