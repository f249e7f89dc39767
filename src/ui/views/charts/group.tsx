/** Charts of a group of devices behind one connection point, beside its limits. */
import { useMemo } from 'preact/hooks';
import { get } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Refused } from '../../kit/action';
import { Empty } from '../../kit/panel';
import { Loading } from '../../kit/states';
import { useLive } from '../../store/live';
import { param, setParam } from '../../store/route';
import { useOverview } from '../../store/site';
import { chartOf, limitLines, netLines, power, ScopeCharts } from './scope-charts';
import type { ScopeChart } from './scope-charts';

const paceMs = 5000;
/** A chart has fewer pixels; the CSV has all. */
const maxSamples = 10_000;

const metrics = [
  'net_power_kw',
  'generation_kw',
  'consumption_kw',
  'export_limit_kw',
  'import_limit_kw',
  'generation_limit_kw',
  'load_limit_kw',
] as const;
type Values = Record<(typeof metrics)[number], (number | null)[]>;

/** Groups with samples, as lists of indexes. */
export function useGroups(): readonly string[] {
  return useLive(get('site/scopes'), paceMs).data?.recorded_groups.map((devices) => devices.join()) ?? [];
}

type Columns = Extract<ReplyOf<'site/scopes/history'>, { columns: unknown }>['columns'];

interface Past {
  /** seconds since the epoch */
  readonly times: readonly number[];
  readonly values: Values;
}

/** The samples since the clock was last set back. */
function pastOf({ timestamp, ...columns }: Columns): Past {
  const times = timestamp.map((at) => Date.parse(at) / 1000);
  const setBackAt = times.findLastIndex((time, at) => time < (times[at - 1] ?? -Infinity));
  const from = Math.max(0, setBackAt);
  const values = Object.fromEntries(metrics.map((name) => [name, (columns[name] ?? []).slice(from)])) as Values;
  return { times: times.slice(from), values };
}

function chartsOf({ times, values }: Past): readonly ScopeChart[] {
  const consumed = values.consumption_kw.map((kw) => (kw === null ? null : 0 - kw));
  return [
    chartOf({ panel: 'p', title: 'Net power', hasZero: true }, times, netLines(values)),
    chartOf({ panel: 'p', title: 'Generation and consumption of the devices', hasZero: true }, times, [
      [{ ...power, label: 'generation' }, values.generation_kw],
      [{ ...power, label: 'consumption', dash: [2, 3] }, consumed],
      ...limitLines('generation limit', values.generation_limit_kw),
      ...limitLines('load limit', values.load_limit_kw, -1),
    ]),
  ];
}

export const groupChartsOf = (columns: Columns) => chartsOf(pastOf(columns));

/** Chooses the group; the address keeps the choice. */
export function GroupChoice({ groups, chosen }: { readonly groups: readonly string[]; readonly chosen: string }) {
  return (
    <label class="row">
      <span class="muted">Group</span>
      <select value={chosen} onChange={(event) => setParam('group', event.currentTarget.value)}>
        {[...new Set([...groups, chosen])].map((group) => (
          <option key={group} value={group}>
            Devices {group.split(',').join(', ')}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The group of the address, or the first one; undefined: there is none. */
export const groupOfAddress = (groups: readonly string[]) => param('group') ?? groups[0];

/** @param group indexes of the devices, @param seconds simulated time to show; null: all samples of the daemon */
export function GroupCharts({
  group,
  seconds,
  box,
}: {
  readonly group: string;
  readonly seconds: number | null;
  readonly box: { current: HTMLDivElement | null };
}) {
  const indexes = group.split(',').map(Number);
  const { data, problem } = useLive(
    get('site/scopes/history', {
      query: {
        devices: indexes,
        metrics: [...metrics],
        format: 'columns',
        limit: maxSamples,
        ...(seconds !== null && { seconds }),
      },
    }),
    paceMs,
  );
  const devices = (useOverview()?.devices ?? []).filter(({ device_index }) => indexes.includes(device_index));
  const past = useMemo(() => (data && 'columns' in data ? pastOf(data.columns) : undefined), [data]);
  const charts = useMemo(() => (past === undefined ? [] : chartsOf(past)), [past]);
  if (problem !== null) return <Refused problem={problem} />;
  if (past === undefined) return <Loading heights={[240, 240]} />;
  if (past.times.length === 0) return <Empty>A group is recorded from its first limit on.</Empty>;
  return (
    <ScopeCharts
      {...{ charts, devices, box }}
      times={past.times}
      netKw={past.values.net_power_kw}
      name={`devices ${indexes.join(', ')}`}
    />
  );
}
