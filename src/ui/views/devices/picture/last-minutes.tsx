/** Power of a device over the last quarter of an hour, with the tightest limit while the page has seen it. */
import { useEffect, useMemo } from 'preact/hooks';
import { signal } from '@preact/signals';
import { Chart } from '../../../kit/chart';
import { Panel } from '../../../kit/panel';
import { href } from '../../../store/route';
import { useClock } from '../../../store/site';
import { drawn, powerLines } from '../../charts/panels';
import { useSamples } from '../../charts/samples';
import { chosenConnector, useStation } from '../connector';
import type { PageProps } from '../page';
import { useWhy } from '../waterfall/chain';
import type { Why } from '../waterfall/chain';

const windowS = 900;
const lines = powerLines.filter(({ metric }) => metric === 'power_kw');
const metrics = ['power_kw'];

/** Time in seconds since the epoch, and the limit, kW, positive into the grid. null: nothing limits. */
type Seen = readonly [atS: number, kw: number | null];

/** Limits by device, since the daemon keeps no history of them. */
const seenLimits = signal<ReadonlyMap<number, readonly Seen[]>>(new Map());

/** The tightest limit in force, kW, positive into the grid. */
export function tightestLimit({ chain, direction }: Pick<Why, 'chain' | 'direction'>): number | null {
  const limits = chain.flatMap(({ kw }) => kw ?? []);
  if (limits.length === 0) return null;
  return Math.min(...limits) * (direction === 'absorbs' ? -1 : 1);
}

/** Adds the limit of an answer; a clock that was set back begins anew. */
export function withLimit(seen: readonly Seen[], why: Why): readonly Seen[] {
  const atS = Date.parse(why.sim_time) / 1000;
  const last = seen.at(-1)?.[0] ?? -Infinity;
  if (atS === last) return seen;
  const kept = atS < last ? [] : seen.filter(([each]) => each >= atS - windowS);
  return [...kept, [atS, tightestLimit(why)]];
}

/** The limit at each time: the last one seen before it, or with the first sample after it. */
export function limitsAt(times: readonly number[], seen: readonly Seen[]): (number | null)[] {
  return times.map((time) => seen.findLast(([atS]) => atS <= time + 0.5)?.[1] ?? null);
}

/** The limit that holds the terminals: of a station with one connector, that of the connector. */
function useLimits(device: PageProps['device']): readonly Seen[] {
  const station = useStation(device);
  const connector = station?.connectors.length === 1 ? chosenConnector(station)?.connector_id : undefined;
  const why = useWhy(device.device_index, connector);
  const { device_index: index } = device;
  useEffect(() => {
    if (why === undefined) return;
    const before = seenLimits.peek();
    seenLimits.value = new Map(before).set(index, withLimit(before.get(index) ?? [], why));
  }, [why, index]);
  return seenLimits.value.get(index) ?? [];
}

export function LastMinutes({ device }: PageProps) {
  const { device_index: index, name } = device;
  const timezone = useClock()?.timezone ?? 'UTC';
  const { samples } = useSamples([index], windowS, metrics);
  const limits = useLimits(device);
  const { series, columns } = useMemo(() => {
    const { series: powers, data } = drawn([{ device: index, name, place: 0 }], samples, lines);
    const [times = []] = data.columns;
    return {
      series: [...powers, { label: 'limit', unit: 'kW', decimals: 2, colour: '--warn', dash: [6, 4] }],
      columns: [...data.columns, limitsAt(times as number[], limits)],
    };
  }, [samples, index, name, limits]);
  const data = useMemo(() => ({ columns }), [columns]);
  return (
    <Panel title="Last 15 minutes" tools={<a href={href('charts', { device: index })}>Charts</a>}>
      {(columns[0]?.length ?? 0) > 0 && (
        <Chart label={`Power of ${name}`} series={series} data={data} timezone={timezone} height={180} />
      )}
    </Panel>
  );
}
