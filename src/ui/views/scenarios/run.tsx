import { useEffect } from 'preact/hooks';
import { del, get, post } from '../../api/call';
import { Action } from '../../kit/action';
import { Form } from '../../kit/form';
import type { Field, Value, Values } from '../../kit/form';
import { Chip, Facts, Panel } from '../../kit/panel';
import { dateAndTime, wallTime } from '../../look/format';
import { refresh, useLive } from '../../store/live';
import { setParam } from '../../store/route';
import { useClock } from '../../store/site';
import { Assertions, Steps } from './results';
import { assertionsText, span, toneOf } from './types';
import type { Run, Scenario, Summary } from './types';

/** Polling intervals, ms: for a run, for one with many steps, and without one. */
const paceMs = { running: 500, long: 3000, idle: 5000 };
const manySteps = 500;

interface ChosenProps {
  /** from the list of scenarios */
  readonly summary: Summary;
  /** name of the scenario that has the clock */
  readonly owner: string | null;
}

/** The chosen scenario and its run, also in progress. */
export function Chosen({ summary, owner }: ChosenProps) {
  const running = (summary.run?.steps_in_all ?? 0) > manySteps ? 'long' : 'running';
  const pace = summary.run?.state === 'running' ? running : 'idle';
  const { data, problem } = useLive(get('scenarios/{id}', { params: { id: summary.id } }), paceMs[pace]);
  const state = data?.run?.state;
  useEffect(() => {
    // list and top bar update as soon as it ends
    if (state !== undefined && state !== summary.run?.state) refresh();
  }, [state]);
  if (data === undefined) return <p class="empty">{problem?.message ?? 'Reading…'}</p>;
  const { run } = data;
  return (
    <div class="stack">
      <Verdict scenario={data} owner={owner} />
      {run && <Assertions {...run} />}
      {run && <Steps {...run} />}
    </div>
  );
}

function Verdict({ scenario, owner }: { readonly scenario: Scenario; readonly owner: string | null }) {
  const { id, name, description, run, unused_settings: unused } = scenario;
  const isRunning = run?.state === 'running';
  const state = run?.state ?? 'not run yet';
  return (
    <Panel
      title={name}
      tools={
        <span role="status" class="verdict">
          <Chip tone={toneOf(state)}>{state}</Chip>
        </span>
      }
    >
      <div class="stack">
        {description !== '' && <p>{description}</p>}
        {unused.length > 0 && (
          <p class="muted">Settings in it that a running simulator does not take over: {unused.join(', ')}.</p>
        )}
        {run && <Failures run={run} />}
        {run && <Progress run={run} />}
        {isRunning ? (
          <Action call={post('scenarios/{id}/stop', { params: { id } })} primary>
            Stop
          </Action>
        ) : (
          <Start key={id} scenario={scenario} owner={owner} />
        )}
        <div class="row">
          {run && !isRunning && <Reports id={id} name={name} />}
          <Action
            call={del('scenarios/{id}', { params: { id } })}
            unable={isRunning ? 'it runs: stop it first' : null}
            confirm={`Forget the scenario "${name}" and its results?`}
            onDone={() => setParam('scenario', null)}
          >
            Delete
          </Action>
        </div>
      </div>
    </Panel>
  );
}

/** Maximum of failures shown; tables and reports have all. */
const maxFailures = 20;

function Failures({ run: { error, failures } }: { readonly run: Run }) {
  return (
    <>
      {error !== null && <p class="problem">{error}</p>}
      {failures.length > 0 && (
        <ul class="failures" aria-label="Failures">
          {failures.slice(0, maxFailures).map((words, n) => (
            <li key={n} class="problem">
              {words}
            </li>
          ))}
        </ul>
      )}
      {failures.length > maxFailures && (
        <p class="muted">{failures.length - maxFailures} more failures: see the report.</p>
      )}
    </>
  );
}

function Progress({ run }: { readonly run: Run }) {
  const { state, pace, sim_s, expected_s, steps_done, steps_in_all, sim_started_at, started_at } = run;
  const given = Object.entries(run.parameters)
    .map(([name, parameter]) => `${name} = ${String(parameter)}`)
    .join(', ');
  // a scenario of fixed duration continues after its last step
  const [value, max] = expected_s > 0 ? [Math.min(sim_s, expected_s), expected_s] : [steps_done, steps_in_all];
  return (
    <>
      {state === 'running' && <progress class="run" aria-label="Progress" max={Math.max(max, 1)} value={value} />}
      <Facts
        rows={[
          ['Steps', `${steps_done} of ${steps_in_all}`],
          ['Assertions', assertionsText(run)],
          [
            'Simulated',
            `${span(sim_s)}${expected_s > 0 ? ` of at least ${span(expected_s)}` : ''} from ${dateAndTime(sim_started_at)}`,
          ],
          ...(given === '' ? [] : [['Parameters', given] as const]),
          ['Started', `${wallTime(started_at)}, ${pace === 'fast' ? 'as fast as it can' : 'at the rate of the clock'}`],
        ]}
      />
    </>
  );
}

function fieldOf([parameter, value]: readonly [string, Value]): Field {
  const base = { name: `parameters/${parameter}`, label: parameter };
  if (typeof value === 'number') return { ...base, kind: 'number', value };
  if (typeof value === 'boolean') return { ...base, kind: 'check', value };
  return { ...base, kind: 'text', value: value ?? '' };
}

function startCall(id: string, { pace, ...values }: Values) {
  const given = Object.entries(values).map(([name, value]) => [name.slice('parameters/'.length), value] as const);
  return post('scenarios/{id}/start', {
    params: { id },
    body: {
      pace: pace === 'fast' ? 'fast' : 'real',
      ...(given.length > 0 && { parameters: Object.fromEntries(given) }),
    },
  });
}

function Start({
  scenario: { id, run, parameters },
  owner,
}: {
  readonly scenario: Scenario;
  readonly owner: string | null;
}) {
  const isPaused = useClock()?.mode === 'paused';
  const fields: readonly Field[] = [
    {
      kind: 'choice',
      name: 'pace',
      label: 'Pace',
      options: [
        ['fast', 'as fast as it can'],
        ['real', 'at the rate of the clock'],
      ],
      value: isPaused ? 'fast' : 'real',
    },
    ...Object.entries(run?.parameters ?? parameters).map(fieldOf),
  ];
  return (
    <Form
      fields={fields}
      call={(values) => startCall(id, values)}
      submit={run ? 'Start again' : 'Start'}
      unable={owner === null ? null : `${owner} has the clock until it ends`}
    />
  );
}

/** Links to the documents of the last run. */
function Reports({ id, name }: { readonly id: string; readonly name: string }) {
  const at = (format: 'html' | 'json' | 'junit') =>
    get('scenarios/{id}/report', { params: { id }, query: { format } }).address;
  const file = name.replace(/[^\w-]+/g, '-');
  return (
    <span class="row" role="group" aria-label="Reports">
      Report:
      <a href={at('html')} target="_blank" rel="noopener">
        page (new tab)
      </a>
      <a href={at('json')} download={`${file}.json`}>
        JSON
      </a>
      <a href={at('junit')} download={`${file}.xml`}>
        JUnit XML
      </a>
    </span>
  );
}
