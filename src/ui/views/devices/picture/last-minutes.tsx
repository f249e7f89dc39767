/** Power of a device over the last quarter of an hour, with its limit, and what happened to it. */
import { useMemo } from 'preact/hooks';
import { Chart } from '../../../kit/chart';
import { ChartRoom } from '../../../kit/chart-room';
import { Refused } from '../../../kit/action';
import { Panel } from '../../../kit/panel';
import { deviceHref } from '../../../store/route';
import { useClock } from '../../../store/site';
import { useMarks } from '../../charts/marks';
import { drawn, powerLinesOfOne } from '../../charts/panels';
import { useSamples } from '../../charts/samples';
import type { PageProps } from '../page';

const windowS = 900;
const heightPx = 180;
const metrics = powerLinesOfOne.map(({ metric }) => metric);

export function LastMinutes({ device }: PageProps) {
  const { device_index: index, name } = device;
  const timezone = useClock()?.timezone ?? 'UTC';
  const { samples, problem } = useSamples([index], windowS, metrics);
  const marks = useMarks([device], samples.get(index)?.times[0]);
  const { series, data } = useMemo(
    () => drawn([{ device: index, name, place: 0 }], samples, powerLinesOfOne),
    [samples, index, name],
  );
  return (
    <Panel title="Last 15 minutes" tools={<a href={deviceHref(index, 'charts')}>Charts</a>}>
      <Refused problem={problem} />
      {problem === null && !samples.has(index) && <ChartRoom series={powerLinesOfOne} height={heightPx} />}
      {(data.columns[0]?.length ?? 0) > 0 && (
        <Chart
          label={`Power of ${name}`}
          {...{ series, data, timezone, marks }}
          hasFlags={marks.length > 0}
          hasZero
          height={heightPx}
        />
      )}
    </Panel>
  );
}
