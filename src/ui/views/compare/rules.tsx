/** The catalogue of rules: what they say, their thresholds, and situations in which they come up. */
import { useState } from 'preact/hooks';
import { get, post } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Action, Refused } from '../../kit/action';
import { Form } from '../../kit/form';
import type { Field, Values } from '../../kit/form';
import { Chip, Empty, Facts, Panel } from '../../kit/panel';
import { Loading } from '../../kit/states';
import { useLive } from '../../store/live';
import { href, param, setParam } from '../../store/route';
import { useDevice } from '../../store/site';
import { words } from '../../look/format';
import { protocolNames, severityTones } from './report-cards/parts';

type Rule = ReplyOf<'findings/rules'>['rules'][number];
type Exercises = ReplyOf<'findings/exercise', 'post'>;
type Protocol = Rule['protocol'];

/** Scripts change rules too, ms. */
const paceMs = 5000;
const protocols = ['modbus', 'csip', 'ocpp', 'dnp3'] as const satisfies readonly Protocol[];

const matches = (rule: Rule, text: string) =>
  `${rule.id} ${rule.title} ${rule.clause} ${rule.situation} ${rule.consequence}`.toLowerCase().includes(text);

export function Rules() {
  const { data, problem } = useLive(get('findings/rules'), paceMs);
  const text = (param('rule-find') ?? '').toLowerCase();
  const protocol = protocols.find((each) => each === param('rules-of'));
  const all = data?.rules ?? [];
  const shown = all.filter((rule) => (protocol === undefined || rule.protocol === protocol) && matches(rule, text));
  return (
    <>
      <Exercise />
      <Panel
        title={data ? `Rules (${shown.length} of ${all.length})` : 'Rules'}
        flush
        tools={
          <>
            <select
              aria-label="Protocol of the rules"
              value={protocol ?? ''}
              onChange={(event) => setParam('rules-of', event.currentTarget.value)}
            >
              <option value="">all protocols</option>
              {protocols.map((each) => (
                <option key={each} value={each}>
                  {protocolNames[each]}
                </option>
              ))}
            </select>
            <input
              type="search"
              aria-label="Find rules"
              placeholder="Title, id, clause"
              value={param('rule-find') ?? ''}
              onInput={(event) => setParam('rule-find', event.currentTarget.value)}
            />
          </>
        }
      >
        <Refused problem={problem} />
        {data === undefined && problem === null && <Loading heights={[300]} />}
        {data && shown.length === 0 && <Empty>No rule matches. Clear the search, or choose another protocol.</Empty>}
        <ul class="rules catalogue">
          {shown.map((rule) => (
            <RuleEntry key={rule.id} rule={rule} />
          ))}
        </ul>
      </Panel>
    </>
  );
}

/** A rule in one line; opened, with what it judges and its settings. */
function RuleEntry({ rule }: { readonly rule: Rule }) {
  const isOpen = param('rule') === rule.id;
  return (
    <li data-test={rule.id}>
      <details open={isOpen} onToggle={({ currentTarget }) => onToggle(rule, currentTarget.open)}>
        <summary>
          <Chip tone={severityTones[rule.severity]}>{rule.severity}</Chip> <strong>{rule.title}</strong>{' '}
          {!rule.enabled && <Chip tone="off">off</Chip>} {rule.core && <Chip tone="muted">core</Chip>}
          <small>
            {protocolNames[rule.protocol]}: {rule.clause}
          </small>
        </summary>
        {isOpen && <RuleBody rule={rule} />}
      </details>
    </li>
  );
}

/** Opening a rule takes the place of the one that was open. */
function onToggle({ id }: Rule, open: boolean) {
  if (open) setParam('rule', id);
  else if (param('rule') === id) setParam('rule', null);
}

function RuleBody({ rule }: { readonly rule: Rule }) {
  const { id, severity, default_severity: preset, failure } = rule;
  return (
    <div class="stack">
      {failure !== null && <p class="problem">The rule failed and is off: {failure}</p>}
      <Facts
        rows={[
          ['Rule', <code key="id">{id}</code>],
          ['Clause', rule.clause],
          ['Comes up', rule.situation],
          ['Proof', rule.proof],
          ['In the field', rule.consequence],
          ['No case', rule.trap],
          rule.versions.length === 0 ? null : ['Versions', rule.versions.join(', ')],
          rule.needs.length === 0 ? null : ['Needs', rule.needs.map(words).join(', ')],
          preset === severity ? null : ['Severity of the catalogue', preset],
        ]}
      />
      {rule.provoked_by.length > 0 && (
        <p class="row">
          Inject:
          {rule.provoked_by.map((fault) => (
            <a key={fault} href={href('inputs/faults', { fault })}>
              {words(fault.replace('.', ' '))}
            </a>
          ))}
        </p>
      )}
      <div class="row">
        <Action call={post('findings/rules/{id}', { params: { id }, body: { enabled: !rule.enabled } })}>
          {rule.enabled ? 'Switch off' : 'Switch on'}
        </Action>
        <ExerciseButton body={{ rules: [id] }}>Exercise</ExerciseButton>
      </div>
      <RuleForm key={id} rule={rule} />
    </div>
  );
}

const severities = ['violation', 'risk', 'remark'] as const;

/** Severities that are as mild as that of the catalogue, or milder. */
const milder = ({ default_severity: preset }: Rule) => severities.slice(severities.indexOf(preset));

/** Path of a threshold in the body, by which the daemon names what it refuses. */
const paramPrefix = 'params/';

function RuleForm({ rule }: { readonly rule: Rule }) {
  const fields: readonly Field[] = [
    { kind: 'choice', name: 'severity', label: 'Severity', options: milder(rule), value: rule.severity },
    ...rule.params.map(
      ({ name, value, min, max, unit, title, default: preset }): Field => ({
        kind: 'number',
        name: `${paramPrefix}${name}`,
        label: words(name.replace(/_(s|pct|ms)$/, '')),
        ...(unit !== null && { unit }),
        min,
        max,
        value,
        hint: `${title} Of the catalogue: ${preset}.`,
      }),
    ),
  ];
  return (
    <Form
      fields={fields}
      submit="Change"
      needsChange
      call={({ severity, ...params }) =>
        post('findings/rules/{id}', {
          params: { id: rule.id },
          body: {
            ...(severity !== undefined && { severity: severity as Rule['severity'] }),
            ...(rule.params.length > 0 && { params: paramsOf(params) }),
          },
        })
      }
    />
  );
}

const paramsOf = (values: Values): Record<string, number> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name.slice(paramPrefix.length), Number(value)]));

interface ExerciseButtonProps {
  readonly body: { readonly protocol?: Protocol; readonly rules?: string[] };
  readonly children: string;
}

/** Starts a scenario that brings about what it can, and says what is left to the peer. */
function ExerciseButton({ body, children }: ExerciseButtonProps) {
  const device = useDevice()?.device_index;
  const [answer, setAnswer] = useState<Exercises | null>(null);
  const call = post('findings/exercise', { body: { ...body, ...(device !== undefined && { device }) } });
  return (
    <>
      <Action call={call} onDone={(received) => setAnswer(received as Exercises)}>
        {children}
      </Action>
      {answer && <Started answer={answer} />}
    </>
  );
}

function Started({ answer: { scenario_id: id, exercises, others } }: { readonly answer: Exercises }) {
  return (
    <div class="stack started" role="status">
      <p>
        {exercises.length > 0
          ? `Runs: ${exercises.map(({ name }) => name).join('; ')}. `
          : 'Nothing here can be brought about by the simulator. '}
        {exercises.length > 0 && <a href={href('scenarios', { scenario: id })}>Scenario {id}</a>}
      </p>
      {others.length > 0 && (
        <details>
          <summary>{others.length === 1 ? 'One rule is' : `${others.length} rules are`} left to the peer</summary>
          <ul>
            {others.map(({ rule, situation }) => (
              <li key={rule}>
                <code>{rule}</code> {situation}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

/** One button for each protocol. */
function Exercise() {
  return (
    <Panel title="Exercise the rules">
      <div class="stack">
        <p class="muted">
          A scenario on the chosen device brings about situations in which rules come up: refused writes, local control,
          a restart, lost events, a vehicle that charges. The peer has to be connected.
        </p>
        <div class="row exercises">
          {protocols.map((protocol) => (
            <ExerciseButton key={protocol} body={{ protocol }}>{`Exercise ${protocolNames[protocol]}`}</ExerciseButton>
          ))}
        </div>
      </div>
    </Panel>
  );
}
