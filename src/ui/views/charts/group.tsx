/** Charts of a group of devices behind one connection point, beside its limits. */
import { useMemo } from 'preact/hooks';
import { get, Problem, send } from '../../api/call';
import { Refused } from '../../kit/action';
import { download } from '../../kit/download';
import { say } from '../../kit/notice';
import { Empty } from '../../kit/panel';
import { useLive } from '../../store/live';
import { href, param, setParam } from '../../store/route';
import { useOverview } from '../../store/site';
import { groupCharts, groupMetrics, noPast, pastOf } from './group-charts';
import { ScopeCharts } from './scope-charts';

const paceMs = 5000;
/** A chart has fewer pixels; the CSV has all. */
const maxSamples = 10_000;

/** As `useGroups`; undefined before the first answer. */
export function useGroupsKnown(): readonly string[] | undefined {
  return useLive(get('site/scopes'), paceMs).data?.recorded_groups.map((devices) => devices.join());
}

/** Groups with samples, as lists of indexes. */
export function useGroups(): readonly string[] {
  return useGroupsKnown() ?? [];
}

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

/** How a group comes to be, where there is none. */
export function NoGroup() {
  return (
    <Empty>
      No group has had a limit yet. Devices become a group with their first common limit:{' '}
      <a href={href('inputs/site')}>set one</a>.
    </Empty>
  );
}

/** Downloads the samples of a group. */
export function GroupCsv({ group, seconds }: { readonly group: string; readonly seconds: number | null }) {
  const call = get('site/scopes/history', {
    query: {
      devices: group.split(',').map(Number),
      format: 'csv',
      limit: 100_000,
      ...(seconds !== null && { seconds }),
    },
  });
  const csv = async () => {
    try {
      const answer = await send(call);
      const text = await answer.text();
      if (!answer.ok) throw new Problem(answer.status, 'unreadable', 'The history of the group cannot be read.');
      download(new Blob([text], { type: 'text/csv' }), `derbench-group-${group.replaceAll(',', '-')}.csv`);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      say(error.message);
    }
  };
  return (
    <button type="button" onClick={() => void csv()}>
      CSV
    </button>
  );
}

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
        metrics: [...groupMetrics],
        format: 'columns',
        limit: maxSamples,
        ...(seconds !== null && { seconds }),
      },
    }),
    paceMs,
  );
  const devices = (useOverview()?.devices ?? []).filter(({ device_index }) => indexes.includes(device_index));
  const isLoading = data === undefined;
  const past = useMemo(() => (data && 'columns' in data ? pastOf(data.columns) : noPast), [data]);
  const charts = useMemo(() => groupCharts(past), [past]);
  if (problem !== null) return <Refused problem={problem} />;
  if (past.times.length === 0 && !isLoading) return <Empty>A group is recorded from its first limit on.</Empty>;
  return (
    <ScopeCharts
      {...{ charts, devices, isLoading, box }}
      times={past.times}
      netKw={past.values.net_power_kw}
      name={`devices ${indexes.join(', ')}`}
    />
  );
}
