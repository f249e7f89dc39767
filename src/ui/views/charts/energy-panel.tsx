import { useMemo } from 'preact/hooks';
import { Chart } from '../../kit/chart';
import { ChartRoom } from '../../kit/chart-room';
import { Panel } from '../../kit/panel';
import { barsOf, energyOf } from './energy';

interface EnergyProps {
  readonly name: string;
  /** seconds since the epoch, ascending */
  readonly times: readonly number[];
  readonly kw: readonly (number | null)[];
  /** for energy in both directions */
  readonly out: string;
  readonly into: string;
  readonly timezone: string;
  readonly isLoading?: boolean;
}

const heightPx = 150;

/** Energy of the window as bars; the first and the last bar are of a part of their time. */
export function EnergyPanel({ name, times, kw, out, into, timezone, isLoading = false }: EnergyProps) {
  const bars = useMemo(() => energyOf(times, kw, timezone), [times, kw, timezone]);
  const { series, data } = useMemo(() => barsOf(bars, [out, into]), [bars, out, into]);
  const [first] = bars.starts;
  if (first === undefined && isLoading)
    return (
      <Panel title="Energy">
        <ChartRoom series={series} height={heightPx} />
      </Panel>
    );
  if (first === undefined) return null;
  const per = bars.isByDay ? 'Energy per day' : 'Energy per hour';
  return (
    <Panel title={per}>
      <Chart
        label={`${per}, ${name}`}
        {...{ series, data, timezone }}
        height={heightPx}
        hasZero
        zoom={[first, bars.end]}
        onZoom={() => undefined}
      />
    </Panel>
  );
}
