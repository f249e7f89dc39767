/** One scenario: its runs, the results of its steps and assertions. */
import { useEffect, useState } from 'preact/hooks';
import { del, get, post } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Action } from '../../kit/action';
import { Form } from '../../kit/form';
import type { Field, Value, Values } from '../../kit/form';
import { Chip, Facts, Panel } from '../../kit/panel';
import type { Tone } from '../../kit/panel';
import { dateAndTime, wallTime, show } from '../../look/format';
import { refresh, useLive } from '../../store/live';
import { setParam } from '../../store/route';
import { useClock } from '../../store/site';
import { Table } from '../../kit/table';

export type Listing = ReplyOf<'scenarios'>;
/** A scenario of the list, without steps and assertions. */
export type Summary = Listing['scenarios'][number];
export type Scenario = ReplyOf<'scenarios/{id}'>;
type Run = NonNullable<Scenario['run']>;

export const listCall = get('scenarios');
/** Polling interval of the list, ms: scripts start scenarios too. */
export const listPaceMs = 1000;

const tones: Readonly<Record<string, Tone>> = {
  passed: 'good',
  done: 'good',
  failed: 'bad',
  error: 'bad',
  stopped: 'warn',
  dropped: 'warn',
  skipped: 'warn',
};

/** Colour of a state of a run, a step or an assertion. */
export const toneOf = (state: string): Tone => tones[state] ?? 'muted';

/** Simulated seconds in readable form: `12.5 s`, `3 h 20 min 0 s`. */
function span(s: number | null): string {
  if (s === null || s < 120) return show(s, 'seconds');
  const whole = Math.round(s);
  const hours = Math.floor(whole / 3600);
  return `${hours > 0 ? `${hours} h ` : ''}${Math.floor(whole / 60) % 60} min ${whole % 60} s`;
}

/** `3 passed, 1 failed, 1 open`; `none` without assertions */
export function assertionsText({
  assertions_passed,
  assertions_failed,
  assertions_in_all,
}: NonNullable<Summary['run']>): string {
  const open = assertions_in_all - assertions_passed - assertions_failed;
  const parts = [
    ...(assertions_passed > 0 ? [`${assertions_passed} passed`] : []),
    ...(assertions_failed > 0 ? [`${assertions_failed} failed`] : []),
    ...(open > 0 ? [`${open} open`] : []),
  ];
  return parts.join(', ') || 'none';
}

type Step = Run['steps'][number];
type Assertion = Run['assertions'][number];

/** A row of either table. */
interface Row {
  /** index in the answer: a place may occur several times */
  readonly n: number;
  readonly state: string;
  readonly atS: number | null;
  readonly name: string;
  readonly why: string;
  readonly place: string;
}

/** Maximum number of rows that are all drawn; of longer tables only visible rows are. */
const maxDrawn = 100;

const urgency = ['failed', 'pending', 'running'];
const rank = (state: string) => (urgency.includes(state) ? urgency.indexOf(state) : urgency.length);

/** Failures first, then rows in progress. */
const failuresFirst = (rows: readonly Row[]) => [...rows].sort((a, b) => rank(a.state) - rank(b.state) || a.n - b.n);

const assertionRow = ({ state, name, message, place, began_s, decided_s }: Assertion, n: number): Row => ({
  n,
  state,
  name,
  place,
  atS: decided_s ?? began_s,
  why: message,
});

/** Requests of a step that its name does not contain, and every one with an unexpected answer. */
function actionsText({ name, message, actions }: Step): string {
  const listed = actions.filter((action) => actions.length > 1 || !action.expected || action.name !== name);
  const words = listed.map(({ name: action, status, detail }) => [action, status, detail].filter(Boolean).join(' '));
  return [...(message === null ? [] : [message]), ...words].join('; ');
}

const stepRow = (step: Step, n: number): Row => ({
  n,
  state: step.state,
  name: step.name,
  place: step.place,
  atS: step.at_s,
  why: actionsText(step),
});

interface ResultsProps {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly empty: string;
}

function Results({ title, rows, empty }: ResultsProps) {
  const isLong = rows.length > maxDrawn;
  return (
    <Panel title={title} flush>
      <Table
        name={title}
        rows={failuresFirst(rows)}
        keyOf={({ n }) => n}
        empty={empty}
        height={isLong ? 420 : undefined}
        columns={[
          {
            title: 'State',
            cell: ({ state }) => <Chip tone={toneOf(state)}>{state}</Chip>,
            value: ({ state }) => state,
            width: '6.5em',
          },
          {
            title: 'At',
            cell: ({ atS }) => span(atS),
            value: ({ atS }) => atS,
            numeric: true,
            width: '7em',
          },
          {
            title: 'Description',
            cell: ({ name, why }) => (
              <>
                {name} {why !== '' && <span class={isLong ? 'muted' : 'muted why'}>{why}</span>}
              </>
            ),
            value: ({ name, why }) => (why === '' ? name : `${name}: ${why}`),
          },
          { title: 'Place', cell: ({ place }) => <code>{place}</code>, value: ({ place }) => place },
        ]}
      />
    </Panel>
  );
}

const Assertions = ({ assertions }: Run) => (
  <Results
    title="Assertions"
    rows={assertions.map(assertionRow)}
    empty="No assertion has begun: a step has assertions as `expect`, a scenario as `always`."
  />
);

const Steps = ({ steps }: Run) => <Results title="Steps" rows={steps.map(stepRow)} empty="No step has begun." />;

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
    // list and top bar are read again as soon as the run ends
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
  // of this page: a new form after each, which does not say `done` once the run has ended
  const [starts, setStarts] = useState(0);
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
          <p class="muted">Settings of the scenario that a running simulator does not apply: {unused.join(', ')}.</p>
        )}
        {run && <Failures run={run} />}
        {run && <Progress run={run} />}
        {isRunning && (
          <Action call={post('scenarios/{id}/stop', { params: { id } })} primary>
            Stop
          </Action>
        )}
        {/* hidden, not absent: parameters that are typed stay while a script runs the scenario */}
        <div hidden={isRunning}>
          <Start key={`${id} ${starts}`} scenario={scenario} owner={owner} onDone={() => setStarts(starts + 1)} />
        </div>
        <div class="row">
          {run && !isRunning && <Reports id={id} name={name} />}
          <Action
            call={del('scenarios/{id}', { params: { id } })}
            unable={isRunning ? 'the scenario is running: stop it first' : null}
            confirm={`Delete the scenario "${name}" and its results?`}
            onDone={() => setParam('scenario', null)}
          >
            Delete
          </Action>
        </div>
      </div>
    </Panel>
  );
}

/** Maximum number of failures listed; tables and reports have all. */
const maxFailures = 20;

function Failures({ run: { error, failures } }: { readonly run: Run }) {
  return (
    <>
      {error !== null && <p class="problem">{error}</p>}
      {failures.length > 0 && (
        <ul class="failures" aria-label="Failures">
          {failures.slice(0, maxFailures).map((failure, n) => (
            <li key={n} class="problem">
              {failure}
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
  const parameters = Object.entries(run.parameters)
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
          ...(parameters === '' ? [] : [['Parameters', parameters] as const]),
          [
            'Started',
            `${wallTime(started_at)}, ${pace === 'fast' ? 'as fast as possible' : 'at the rate of the clock'}`,
          ],
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
  const parameters = Object.entries(values).map(([name, value]) => [name.slice('parameters/'.length), value] as const);
  return post('scenarios/{id}/start', {
    params: { id },
    body: {
      pace: pace === 'fast' ? 'fast' : 'real',
      ...(parameters.length > 0 && { parameters: Object.fromEntries(parameters) }),
    },
  });
}

interface StartProps {
  readonly scenario: Scenario;
  readonly owner: string | null;
  readonly onDone: () => void;
}

function Start({ scenario: { id, run, parameters }, owner, onDone }: StartProps) {
  const isPaused = useClock()?.mode === 'paused';
  const fields: readonly Field[] = [
    {
      kind: 'choice',
      name: 'pace',
      label: 'Pace',
      options: [
        ['fast', 'as fast as possible'],
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
      onDone={onDone}
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
