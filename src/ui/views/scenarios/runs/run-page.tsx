/** One run: how far it is, what failed first, its signals, assertions and steps. */
import { useEffect } from 'preact/hooks';
import { del, get, post } from '../../../api/call';
import type { Call } from '../../../api/call';
import { Action, Refused, useDo } from '../../../kit/action';
import { CallLine } from '../../../kit/api-switch';
import { Chip, Empty, Facts, Panel } from '../../../kit/panel';
import { Loading } from '../../../kit/states';
import { dateAndTime, duration, wallTime } from '../../../look/format';
import { refresh, useLive } from '../../../store/live';
import { go, href } from '../../../store/route';
import { openRunOf } from '../library/starting';
import type { Run } from '../words';
import { assertionsText, parametersText, placeOf, tookS, toneOf } from '../words';
import { RunCaptures } from './captures';
import { Assertions, Steps } from './results';
import { Signals } from './signals';

/** Polling intervals of a run, ms: of one with many steps, and of others. */
const paceMs = { long: 3000, usual: 1000 };
const manySteps = 500;

export function RunPage({ id }: { readonly id: string }) {
  const call = get('scenario-runs/{run}', { params: { run: id } });
  // the list says when the run has ended: the large answer is not read again then
  const { data: list } = useLive(get('scenario-runs'), 2000);
  const summary = list?.runs.find((each) => each.id === id)?.run;
  const isLong = (summary?.steps_in_all ?? 0) > manySteps;
  const isRunning = summary?.state === 'running';
  const { data, problem } = useLive(call, isRunning ? (isLong ? paceMs.long : paceMs.usual) : 'once');
  const state = data?.run.state;
  useEffect(() => {
    // list and top bar are read again as soon as the run ends
    if (state !== undefined && state !== summary?.state) refresh();
  }, [state]);
  if (data === undefined && problem === null) return <Loading heights={[120, 240]} />;
  if (data === undefined)
    return (
      <Empty>
        {problem?.status === 404 ? 'This run is not kept any more.' : problem?.message}{' '}
        <a href={href('scenarios/runs')}>All runs</a>
      </Empty>
    );
  return (
    <div class="stack">
      <Head run={data} />
      <Course run={data} />
      {!isRunning && state !== 'running' && <Signals run={data} />}
      {!data.beside && <RunCaptures run={data} />}
      <Assertions {...data.run} />
      <Steps {...data.run} />
    </div>
  );
}

function Head({ run: { id, name, beside, run } }: { readonly run: Run }) {
  return (
    <div class="row run-title">
      <h2>
        <a href={href('scenarios/runs')}>Runs</a> / {name}
      </h2>
      <span role="status">
        <Chip tone={toneOf(run.state)}>{run.state}</Chip>
      </span>
      <span class="muted">
        run {id}, {placeOf(beside)}
      </span>
    </div>
  );
}

function Course({ run: kept }: { readonly run: Run }) {
  const { run } = kept;
  return (
    <Panel title="Course">
      <div class="stack">
        <Failures run={run} />
        {run.state === 'running' && <Progress run={run} />}
        <RunFacts run={run} />
        <Actions run={kept} />
      </div>
    </Panel>
  );
}

/** Maximum number of failures listed; tables and reports have all. */
const maxFailures = 20;

function Failures({ run: { error, failures } }: { readonly run: Run['run'] }) {
  const [first, ...others] = failures;
  return (
    <>
      {error !== null && <p class="problem">{error}</p>}
      {first !== undefined && (
        <div class="problem" role="group" aria-label="Failed first">
          <small>Failed first</small>
          <p>{first}</p>
        </div>
      )}
      {others.length > 0 && (
        <details>
          <summary>{others.length} more failed</summary>
          <ul class="failures" aria-label="Further failures">
            {others.slice(0, maxFailures).map((failure, n) => (
              <li key={n} class="problem">
                {failure}
              </li>
            ))}
          </ul>
          {others.length > maxFailures && (
            <p class="muted">{others.length - maxFailures} further ones are in the report.</p>
          )}
        </details>
      )}
    </>
  );
}

function Progress({ run }: { readonly run: Run['run'] }) {
  const { sim_s, expected_s, steps_done, steps_in_all, steps } = run;
  // a scenario of fixed duration continues after its last step
  const [value, max] = expected_s > 0 ? [Math.min(sim_s, expected_s), expected_s] : [steps_done, steps_in_all];
  const current = steps.find(({ state }) => state === 'running' || state === 'waiting');
  return (
    <div class="stack" role="group" aria-label="Progress of the run">
      <progress class="run" aria-label="Progress" max={Math.max(max, 1)} value={value} />
      <p>
        {current === undefined
          ? 'All steps are over.'
          : `Step ${Math.min(steps_done + 1, steps_in_all)} of ${steps_in_all}: ${current.name}`}
      </p>
    </div>
  );
}

function RunFacts({ run }: { readonly run: Run['run'] }) {
  const { pace, sim_s, expected_s, steps_done, steps_in_all, sim_started_at, started_at } = run;
  const parameters = parametersText(run.parameters);
  const took = tookS(run);
  return (
    <Facts
      rows={[
        ['Steps', `${steps_done} of ${steps_in_all}`],
        ['Assertions', assertionsText(run)],
        [
          'Simulated',
          `${duration(sim_s)}${expected_s > 0 ? ` of at least ${duration(expected_s)}` : ''} from ${dateAndTime(sim_started_at)}`,
        ],
        parameters === '' ? null : ['Parameters', parameters],
        [
          'Started',
          `${wallTime(started_at)}, ${pace === 'fast' ? 'as fast as possible' : 'at the rate of the clock'}` +
            (took === null ? '' : `, took ${duration(took)}`),
        ],
      ]}
    />
  );
}

function Actions({ run: kept }: { readonly run: Run }) {
  const { id, run } = kept;
  if (run.state === 'running')
    return (
      <Action call={post('scenario-runs/{run}/stop', { params: { run: id } })} primary>
        Stop
      </Action>
    );
  return (
    <div class="row run-actions">
      <Reports run={kept} />
      <Previous run={kept} />
      <Again run={kept} />
      <Action
        call={del('scenario-runs/{run}', { params: { run: id } })}
        confirm={`Delete run ${id} and its report?`}
        onDone={() => go('scenarios/runs')}
      >
        Delete
      </Action>
    </div>
  );
}

/** Links to the documents of a run. */
function Reports({ run: { id, name } }: { readonly run: Run }) {
  const at = (format: 'html' | 'json' | 'junit') =>
    get('scenario-runs/{run}/report', { params: { run: id }, query: { format } }).address;
  const file = name.replace(/[^\w-]+/g, '-');
  return (
    <span class="row" role="group" aria-label="Reports">
      <a class="button" href={at('html')} target="_blank" rel="noopener">
        Report<span class="visually-hidden"> (new tab)</span>
      </a>
      <a class="button" href={at('junit')} download={`${file}.xml`}>
        JUnit XML
      </a>
      <a class="button" href={at('json')} download={`${file}.json`}>
        JSON
      </a>
    </span>
  );
}

/** A link to the comparison with the run of the same scenario before this one. */
function Previous({ run: { id, name } }: { readonly run: Run }) {
  const { data } = useLive(get('scenario-runs'), 2000);
  const runs = data?.runs ?? [];
  const at = runs.findIndex((each) => each.id === id);
  const before =
    at < 0 ? undefined : runs.slice(at + 1).find((each) => each.name === name && each.run.ended_at !== null);
  if (before === undefined) return null;
  return (
    <a class="button" href={href(`scenarios/runs/${before.id}/${id}`)}>
      Compare with run {before.id}
    </a>
  );
}

/** Runs the scenario again as this time, or says why it cannot. */
function Again({ run: { id, scenario_id, bundled, text_kept, run } }: { readonly run: Run }) {
  const kept = useLive(get('scenarios'), 2000).data?.scenarios;
  if (scenario_id === null) {
    if (bundled === null && !text_kept)
      return <span class="muted">Its text is not kept any more: it cannot run again.</span>;
    return (
      <>
        <AgainButton
          call={post('scenario-runs', { body: { run: id } })}
          show={(answer) => go(`scenarios/runs/${answer.id}`)}
        />
        {text_kept && (
          <a class="button" href={href('scenarios/editor', { run: id })}>
            Edit
          </a>
        )}
      </>
    );
  }
  if (kept === undefined) return null;
  if (!kept.some((each) => each.id === scenario_id))
    return <span class="muted">Its scenario is not kept any more: it cannot run again.</span>;
  const how = { pace: run.pace, parameters: run.parameters };
  return (
    <AgainButton
      call={post('scenarios/{id}/start', { params: { id: scenario_id }, body: how })}
      show={(answer) => void openRunOf(answer.id)}
    />
  );
}

interface AgainButtonProps {
  readonly call: Call<{ readonly id: string }>;
  readonly show: (answer: { readonly id: string }) => void;
}

function AgainButton({ call, show }: AgainButtonProps) {
  const { busy, problem, run } = useDo();
  const begin = async () => {
    const answer = await run(call);
    if (answer !== undefined) show(answer as { readonly id: string });
  };
  return (
    <>
      <button type="button" disabled={busy} onClick={() => void begin()}>
        Run again
      </button>
      <Refused problem={problem} />
      <CallLine call={call} />
    </>
  );
}
