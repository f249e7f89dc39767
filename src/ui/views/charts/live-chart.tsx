import { useMemo } from 'preact/hooks';
import { Chart } from '../../kit/chart';
import { Panel } from '../../kit/panel';
import { href } from '../../store/route';
import { useClock } from '../../store/site';
import { drawn, powerLines } from './panels';
import { useSamples } from './samples';

const windowS = 900;
const powerMetrics = powerLines.map(({ metric }) => metric);

/** Powers of one device over the last quarter of an hour, for the overview. */
export function LiveChart({ device, name }: { readonly device: number; readonly name: string }) {
  const timezone = useClock()?.timezone ?? 'UTC';
  const { samples } = useSamples([device], windowS, powerMetrics);
  const { series, data } = useMemo(
    () => drawn([{ device, name, place: 0 }], samples, powerLines),
    [samples, device, name],
  );
  return (
    <Panel title="Last 15 minutes" tools={<a href={href('charts')}>Charts</a>}>
      {series.length > 0 && (
        <Chart label={`Powers of ${name}`} series={series} data={data} timezone={timezone} height={180} />
      )}
    </Panel>
  );
}
