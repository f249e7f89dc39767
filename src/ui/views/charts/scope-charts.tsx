/** Charts of the whole site or of a group of devices, with common marks, zoom and energy. */
import { Chart } from '../../kit/chart';
import { ChartRoom } from '../../kit/chart-room';
import type { ChartData, Series } from '../../kit/chart';
import { Empty, Panel } from '../../kit/panel';
import { useClock } from '../../store/site';
import type { DeviceEntry } from '../../store/site';
import { EnergyPanel } from './energy-panel';
import { MarkList, useMarks } from './marks';
import { withGaps } from './panels';
import { setZoom, shownPanels, zoomOfAddress } from './tools';
import { ScopeValues } from './values';

export const power = { unit: 'kW', decimals: 2, colour: '--p' } as const;

type Column = readonly (number | null)[];

/** A line with its values. */
export type Drawn = readonly [series: Series, values: Column];

export interface ScopeChart {
  /** name in the address */
  readonly panel: string;
  readonly title: string;
  readonly hasZero: boolean;
  readonly series: readonly Series[];
  readonly data: ChartData;
}

/** @param times seconds since the epoch */
export function chartOf(
  { panel, title, hasZero }: Pick<ScopeChart, 'panel' | 'title' | 'hasZero'>,
  times: readonly number[],
  lines: readonly Drawn[],
): ScopeChart {
  return {
    panel,
    title,
    hasZero,
    series: lines.map(([series]) => series),
    data: { columns: withGaps([times, ...lines.map(([, values]) => values)].map((column) => [...column])) },
  };
}

/** The dashed line of a limit; none while there was no limit. @param sign -1: of power in the negative direction */
export function limitLines(label: string, values: Column, sign: 1 | -1 = 1): readonly Drawn[] {
  if (values.every((kw) => kw === null)) return [];
  return [[{ ...power, label, colour: '--warn', dash: [6, 4] }, values.map((kw) => (kw === null ? null : sign * kw))]];
}

/** Net power between the limits of export and import. */
export function netLines({
  net_power_kw: net,
  export_limit_kw: exportKw,
  import_limit_kw: importKw,
}: Readonly<Record<'net_power_kw' | 'export_limit_kw' | 'import_limit_kw', Column>>): readonly Drawn[] {
  return [
    [{ ...power, label: 'to the grid' }, net],
    ...limitLines('export limit', exportKw),
    ...limitLines('import limit', importKw, -1),
  ];
}

interface ScopeChartsProps {
  readonly charts: readonly ScopeChart[];
  readonly times: readonly number[];
  readonly netKw: Column;
  readonly name: string;
  /** devices whose marks are shown */
  readonly devices: readonly DeviceEntry[];
  /** true: the samples are not read yet */
  readonly isLoading: boolean;
  readonly box: { current: HTMLDivElement | null };
}

const heightPx = 190;

export function ScopeCharts({ charts, times, netKw, name, devices, isLoading, box }: ScopeChartsProps) {
  const timezone = useClock()?.timezone ?? 'UTC';
  const panels = shownPanels();
  const zoom = zoomOfAddress();
  const marks = useMarks(devices, panels.includes('marks') ? times[0] : undefined);
  if (times.length === 0 && !isLoading) return <Empty>The first sample comes with the next tick.</Empty>;
  return (
    <div class="stack" ref={box}>
      {charts
        .filter(({ panel, series }) => panels.includes(panel) && series.length > 0)
        .map(({ title, series, data, hasZero }, at) => (
          <Panel key={title} title={title}>
            {isLoading ? (
              <ChartRoom series={series} height={heightPx} />
            ) : (
              <Chart
                label={title}
                {...{ series, data, hasZero, timezone, marks, zoom }}
                height={heightPx}
                hasFlags={at === 0 && marks.length > 0}
                onZoom={setZoom}
              />
            )}
          </Panel>
        ))}
      {panels.includes('energy') && (
        <EnergyPanel {...{ name, times, timezone, isLoading }} kw={netKw} out="to the grid" into="from the grid" />
      )}
      {panels.includes('values') && !isLoading && <ScopeValues {...{ name, charts }} />}
      <MarkList marks={marks} />
    </div>
  );
}
