/** The captures that began during a run of this simulator: what its disturbances did to the devices. */
import { get } from '../../../api/call';
import { Panel } from '../../../kit/panel';
import { duration } from '../../../look/format';
import { useLive } from '../../../store/live';
import { captureHref } from '../../events/captures/announce';
import type { Run } from '../words';

type Captures = NonNullable<ReturnType<typeof useCaptures>>;

const useCaptures = () => useLive(get('captures'), 'change').data?.captures;

/** Captures by scenario and wall time, the first one first: several runs of a scenario have one name. */
function capturesOf({ name, run: { started_at, ended_at } }: Run, captures: Captures): Captures {
  const [from, to] = [Date.parse(started_at), ended_at === null ? Infinity : Date.parse(ended_at)];
  return captures
    .filter(({ scenario, started_wall_at }) => {
      const begun = Date.parse(started_wall_at);
      return scenario === name && begun >= from && begun <= to;
    })
    .sort((a, b) => a.id - b.id);
}

/** @param run not one that runs beside: its captures are in another simulator */
export function RunCaptures({ run }: { readonly run: Run }) {
  const captures = capturesOf(run, useCaptures() ?? []);
  if (captures.length === 0) return null;
  const simStartMs = Date.parse(run.run.sim_started_at);
  return (
    <Panel title="Captures">
      <ul class="stack" aria-label="Captures of the run">
        {captures.map(({ id, title, summary, started_at }) => (
          <li key={id}>
            <a href={captureHref(id)}>{title}</a> at {duration((Date.parse(started_at) - simStartMs) / 1000)}{' '}
            <small class="muted">{summary}</small>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
