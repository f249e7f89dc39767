/** Steps and assertions of a run as tables: failures first, then what is under way. */
import { Chip, Panel } from '../../../kit/panel';
import { Table } from '../../../kit/table';
import { duration } from '../../../look/format';
import type { Run } from '../words';
import { toneOf } from '../words';

type Step = Run['run']['steps'][number];
type Assertion = Run['run']['assertions'][number];

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

const failuresFirst = (rows: readonly Row[]) => [...rows].sort((a, b) => rank(a.state) - rank(b.state) || a.n - b.n);

const assertionRow = ({ state, name, message, place, began_s, decided_s }: Assertion, n: number): Row => ({
  n,
  state,
  name,
  place,
  atS: decided_s ?? began_s,
  // the column has the name already
  why: message.startsWith(`${name}: `) ? message.slice(name.length + 2) : message,
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
          { title: 'At', cell: ({ atS }) => duration(atS), value: ({ atS }) => atS, numeric: true, width: '6em' },
          {
            title: 'Description',
            cell: ({ name, why }) => (
              <>
                {name} {why !== '' && <small class={isLong ? 'muted' : 'muted why'}>{why}</small>}
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

export const Assertions = ({ assertions }: Run['run']) => (
  <Results
    title="Assertions"
    rows={assertions.map(assertionRow)}
    empty="No assertion has begun: a step has assertions as `expect`, a scenario as `always`."
  />
);

export const Steps = ({ steps }: Run['run']) => (
  <Results title="Steps" rows={steps.map(stepRow)} empty="No step has begun." />
);
