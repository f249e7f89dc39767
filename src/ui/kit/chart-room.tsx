/** The room of a chart that is still loading, so that nothing below it moves when it comes. */
import { fixed } from '../look/format';

/** Height of a chart without its legend, px. */
export const chartPx = 200;

/** A series of a chart, as its legend shows it. */
interface Entry {
  readonly label: string;
  readonly unit: string;
  readonly decimals: number;
}

interface ChartRoomProps {
  /** series of the chart: its legend may take several rows */
  readonly series: readonly Entry[];
  readonly height?: number;
}

/** A value as wide as most. */
const usualValue = 100;

/** A grey block and an invisible legend, of the size of a chart. */
export function ChartRoom({ series, height = chartPx }: ChartRoomProps) {
  return (
    <div class="chart room" aria-busy="true">
      <div class="block" style={{ height: `${height}px` }} />
      <div class="uplot" aria-hidden="true">
        <table class="u-legend u-inline u-live">
          <LegendEntry label="Time" value="2026-06-21 12:00:00" />
          {series.map(({ label, unit, decimals }) => (
            <LegendEntry key={label} label={label} value={`${fixed(usualValue, decimals)} ${unit}`} />
          ))}
        </table>
      </div>
    </div>
  );
}

/** As uPlot makes it. */
function LegendEntry({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <tr class="u-series">
      <th>
        <div class="u-marker" />
        <div>{label}</div>
      </th>
      <td>{value}</td>
    </tr>
  );
}
