/** Charts of the site as a whole, and of the devices of each kind together. */
import { useMemo } from 'preact/hooks';
import { get } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Chart } from '../../kit/chart';
import type { Series } from '../../kit/chart';
import { kindOf, kinds } from '../../kit/kind-icons';
import { Empty, Panel } from '../../kit/panel';
import { Loading } from '../../kit/states';
import { useLive } from '../../store/live';
import { useClock, useOverview } from '../../store/site';
import { EnergyPanel } from './energy-panel';
import { MarkList, useMarks } from './marks';
import { dashes, withGaps } from './panels';
import { setZoom, shownPanels, zoomOfAddress } from './tools';

type Past = ReplyOf<'site/history'>;

/** Times between two readings, ms: the daemon takes a sample in 5 s. */
const paceMs = 5000;
const maxSeconds = 86_400;

const power = { unit: 'kW', decimals: 2, colour: '--p' } as const;
const netSeries: readonly Series[] = [
  { ...power, label: 'to the grid' },
  { ...power, label: 'possible', colour: '--off', dash: [2, 3] },
];
const voltageSeries: readonly Series[] = [{ label: 'first device', unit: '%', decimals: 1, colour: '--v' }];

/** Place of a kind in the order of the feeders; a kind that the page does not know is the last. */
function placeOf(kind: string): number {
  const place = Object.keys(kinds).indexOf(kind);
  return place < 0 ? dashes.length - 1 : place;
}

function chartsOf(past: Past | undefined, panels: readonly string[]) {
  if (past === undefined) return [];
  const times = past.timestamp.map((at) => Date.parse(at) / 1000);
  const dataOf = (...columns: readonly (readonly (number | null)[])[]) => ({
    columns: withGaps([times, ...columns].map((column) => [...column])),
  });
  const inOrder = [...past.kinds].sort((a, b) => placeOf(a.asset_type) - placeOf(b.asset_type));
  const ofKinds = inOrder.map(({ asset_type: kind }): Series => {
    // whatever other kinds there are
    const dash = dashes[placeOf(kind)] ?? [];
    return { ...power, label: kindOf(kind).title, ...(dash.length > 0 && { dash }) };
  });
  const all = [
    {
      panel: 'p',
      title: 'Net power',
      series: netSeries,
      data: dataOf(past.net_power_kw, past.possible_kw),
      hasZero: true,
    },
    {
      panel: 'p',
      title: 'Power by kind',
      series: ofKinds,
      data: dataOf(...inOrder.map(({ net_power_kw: kw }) => kw)),
      hasZero: true,
    },
    { panel: 'v', title: 'Voltage', series: voltageSeries, data: dataOf(past.voltage_pct), hasZero: false },
  ];
  return all.filter(({ panel, series }) => panels.includes(panel) && series.length > 0);
}

/** @param seconds simulated time to show; null: all samples of the daemon */
export function SiteCharts({
  seconds,
  box,
}: {
  readonly seconds: number | null;
  readonly box: { current: HTMLDivElement | null };
}) {
  const past = useLive(get('site/history', { query: { seconds: seconds ?? maxSeconds } }), paceMs).data;
  const timezone = useClock()?.timezone ?? 'UTC';
  const panels = shownPanels();
  const zoom = zoomOfAddress();
  const charts = useMemo(() => chartsOf(past, panels), [past, panels.join()]);
  const times = useMemo(() => past?.timestamp.map((at) => Date.parse(at) / 1000) ?? [], [past]);
  const marks = useMarks(useOverview()?.devices ?? [], panels.includes('marks') ? times[0] : undefined);
  if (past === undefined) return <Loading heights={[240, 240]} />;
  if (times.length === 0) return <Empty>The first sample comes with the next tick.</Empty>;
  return (
    <div class="stack" ref={box}>
      {charts.map(({ title, series, data, hasZero }, at) => (
        <Panel key={title} title={title}>
          <Chart
            label={title}
            {...{ series, data, hasZero, timezone, marks, zoom }}
            height={190}
            hasFlags={at === 0 && marks.length > 0}
            onZoom={setZoom}
          />
        </Panel>
      ))}
      {panels.includes('energy') && (
        <EnergyPanel
          name="site"
          {...{ times, timezone }}
          kw={past.net_power_kw}
          out="to the grid"
          into="from the grid"
        />
      )}
      <MarkList marks={marks} />
    </div>
  );
}
