import { Chip, Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import { span, toneOf } from './types';
import type { Run } from './types';

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

/** Maximum of rows that are always drawn; beyond it only visible ones are. */
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

/** Requests of a step that its name does not contain, and every refused one. */
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
            title: 'What',
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

export const Assertions = ({ assertions }: Run) => (
  <Results
    title="Assertions"
    rows={assertions.map(assertionRow)}
    empty="No assertion has begun: steps have them as expect, scenarios as always."
  />
);

export const Steps = ({ steps }: Run) => <Results title="Steps" rows={steps.map(stepRow)} empty="No step has begun." />;
