/** The charts of a run, from the samples in its report. */
import { get } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { Panel } from '../../../kit/panel';
import { Unread } from '../../../kit/states';
import { useLive } from '../../../store/live';
import type { Run } from '../words';
import { SignalChart } from './signal-chart';
import type { Bound, Mark } from './signal-chart';

export type Report = ReplyOf<'scenario-runs/{run}/report'>;

export const reportCall = (id: string) => get('scenario-runs/{run}/report', { params: { run: id } });

/** Where assertions about a signal failed. */
export function failuresOf(assertions: Run['run']['assertions'], signal: string): readonly Mark[] {
  return assertions.flatMap(({ state, signal: compared, decided_s, name, message }) =>
    state === 'failed' && compared === signal && decided_s !== null
      ? [{ s: decided_s, text: `${name}: ${message}` }]
      : [],
  );
}

/** The bounds of the assertions about a signal, while they held it. */
export function boundsOf({ assertions, sim_s }: Run['run'], signal: string): readonly Bound[] {
  return assertions.flatMap(({ signal: compared, bounds, state, began_s, decided_s }) =>
    compared === signal && bounds !== null
      ? [{ ...bounds, from: began_s, to: decided_s ?? sim_s, isFailed: state === 'failed' }]
      : [],
  );
}

/** Signals with a failure first. */
function urgentFirst(series: Report['series'], assertions: Run['run']['assertions']): Report['series'] {
  const isFailed = ({ signal }: Report['series'][number]) => failuresOf(assertions, signal).length > 0;
  return [...series.filter(isFailed), ...series.filter((each) => !isFailed(each))];
}

export function Signals({ run: { id, run } }: { readonly run: Run }) {
  const { data, problem } = useLive(reportCall(id), 'once');
  if (data?.series.length === 0) return null;
  return (
    <Panel title="Signals">
      {data === undefined && <Unread problem={problem} heights={[170]} />}
      <div class="signals">
        {data !== undefined &&
          urgentFirst(data.series, run.assertions).map(({ signal, unit, samples }) => (
            <SignalChart
              key={signal}
              signal={signal}
              unit={unit}
              lines={[{ name: `run ${id}`, samples }]}
              marks={failuresOf(run.assertions, signal)}
              bounds={boundsOf(run, signal)}
            />
          ))}
      </div>
    </Panel>
  );
}
