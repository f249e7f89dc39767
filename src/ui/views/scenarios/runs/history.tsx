/** The last runs of scenarios; two of them can be compared. */
import { useState } from 'preact/hooks';
import { get } from '../../../api/call';
import { Chip, Panel } from '../../../kit/panel';
import { Unread } from '../../../kit/states';
import { Table } from '../../../kit/table';
import type { Column } from '../../../kit/table';
import { dash, duration, wallDate } from '../../../look/format';
import { useLive } from '../../../store/live';
import { go, href } from '../../../store/route';
import type { RunSummary } from '../words';
import { assertionsText, parametersText, placeOf, tookS, toneOf } from '../words';

/** Polling intervals of the list, ms. */
const paceMs = { running: 1000, idle: 5000 };

export function History() {
  const [isRunning, setRunning] = useState(false);
  const { data, problem } = useLive(get('scenario-runs'), isRunning ? paceMs.running : paceMs.idle);
  const [marked, setMarked] = useState<readonly string[]>([]);
  if (data === undefined) return <Unread problem={problem} heights={[240]} />;
  const anyRuns = data.runs.some(({ run }) => run.state === 'running');
  if (anyRuns !== isRunning) setRunning(anyRuns);
  const chosen = marked.filter((id) => data.runs.some((each) => each.id === id));
  const mark = (id: string) =>
    // the third one takes the place of the first
    setMarked(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id].slice(-2));
  return (
    <Panel
      title="Runs"
      flush
      tools={
        <>
          <span class="muted">
            {data.runs.length === 0 ? '' : `the last ${data.runs.length} of at most ${data.max_runs}`}
          </span>
          <button
            type="button"
            disabled={chosen.length < 2}
            title={chosen.length < 2 ? 'mark two runs first' : undefined}
            onClick={() => go(`scenarios/runs/${inOrder(chosen).join('/')}`)}
          >
            Compare
          </button>
        </>
      }
    >
      <Table
        name="Runs"
        rows={data.runs}
        keyOf={({ id }) => id}
        empty={
          <>
            No scenario has run yet. <a href={href('scenarios/library')}>Run one of the library</a>
          </>
        }
        columns={columns(chosen, mark)}
      />
    </Panel>
  );
}

/** The older run first. */
const inOrder = (ids: readonly string[]) => [...ids].sort((a, b) => Number(a) - Number(b));

function columns(marked: readonly string[], mark: (id: string) => void): readonly Column<RunSummary>[] {
  return [
    {
      title: 'Compare',
      width: '4.5em',
      cell: ({ id, name }) => (
        <input
          type="checkbox"
          aria-label={`Compare run ${id}: ${name}`}
          checked={marked.includes(id)}
          onChange={() => mark(id)}
        />
      ),
    },
    {
      title: 'State',
      width: '6.5em',
      cell: ({ run: { state } }) => <Chip tone={toneOf(state)}>{state}</Chip>,
      value: ({ run }) => run.state,
    },
    {
      title: 'Scenario',
      cell: ({ id, name, run }) => (
        <>
          <a href={href(`scenarios/runs/${id}`)}>{name}</a>
          <Note run={run} />
        </>
      ),
      value: ({ name }) => name,
    },
    { title: 'Where', value: ({ beside }) => placeOf(beside) },
    {
      title: 'Assertions',
      cell: ({ run }) => <span class="nowrap">{assertionsText(run)}</span>,
      value: ({ run }) => assertionsText(run),
    },
    { title: 'Simulated', numeric: true, cell: ({ run }) => duration(run.sim_s), value: ({ run }) => run.sim_s },
    {
      title: 'Took',
      numeric: true,
      cell: ({ run }) => duration(tookS(run)),
      value: ({ run }) => tookS(run),
    },
    {
      title: 'Started',
      cell: ({ run }) => <span class="nowrap">{wallDate(run.started_at)}</span>,
      value: ({ run }) => run.started_at,
    },
  ];
}

/** The parameters, and the first failure. */
function Note({ run: { error, failures, parameters } }: { readonly run: RunSummary['run'] }) {
  const first = error ?? failures[0];
  const values = parametersText(parameters);
  return (
    <>
      {values !== '' && <small class="muted why">{values}</small>}
      {first !== undefined && <small class="why clamped">{first}</small>}
      {first === undefined && values === '' && <span class="visually-hidden">{dash}</span>}
    </>
  );
}
