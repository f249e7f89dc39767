/** Two runs beside each other: heads, assertions, and their signals over each other. */
import { get } from '../../../api/call';
import { Chip, Empty, Panel } from '../../../kit/panel';
import { Segments } from '../../../kit/segments';
import { Loading, NoValue } from '../../../kit/states';
import { Table } from '../../../kit/table';
import { dash, duration, wallDate } from '../../../look/format';
import { useLive } from '../../../store/live';
import { href, param, setParam } from '../../../store/route';
import type { Run } from '../words';
import { assertionsText, parametersText, placeOf, toneOf } from '../words';
import { countsText, pairsOf } from './differences';
import type { Pair } from './differences';
import { SignalChart } from './signal-chart';
import { boundsOf, failuresOf, reportCall } from './signals';
import type { Report } from './signals';

interface ComparisonProps {
  /** ids of the runs */
  readonly first: string;
  readonly second: string;
}

const runCall = (id: string) => get('scenario-runs/{run}', { params: { run: id } });

export function Comparison({ first, second }: ComparisonProps) {
  const [one, other] = [useLive(runCall(first), 'once'), useLive(runCall(second), 'once')];
  const problem = one.problem ?? other.problem;
  if (problem !== null)
    return (
      <Empty>
        {problem.status === 404 ? 'One of the runs is not kept any more.' : problem.message}{' '}
        <a href={href('scenarios/runs')}>All runs</a>
      </Empty>
    );
  if (one.data === undefined || other.data === undefined) return <Loading heights={[160, 240]} />;
  return (
    <div class="stack">
      <div class="row run-title">
        <h2>
          <a href={href('scenarios/runs')}>Runs</a> / {first} and {second}
        </h2>
      </div>
      <Heads first={one.data} second={other.data} />
      <Pairs first={one.data} second={other.data} />
      <Overlaid first={one.data} second={other.data} />
    </div>
  );
}

interface Both {
  readonly first: Run;
  readonly second: Run;
}

const heads: readonly (readonly [title: string, text: (run: Run) => string])[] = [
  ['Scenario', ({ name }) => name],
  ['Where', ({ beside }) => placeOf(beside)],
  ['Assertions', ({ run }) => assertionsText(run)],
  ['Parameters', ({ run }) => parametersText(run.parameters) || 'none'],
  ['Simulated', ({ run }) => duration(run.sim_s)],
  ['Started', ({ run }) => wallDate(run.started_at)],
];

function Heads({ first, second }: Both) {
  return (
    <Panel title="Runs" flush>
      <div class="scroller" role="group" aria-label="Runs" tabIndex={0}>
        <table aria-label="Runs">
          <thead>
            <tr>
              <td />
              {[first, second].map(({ id, run }) => (
                <th key={id} scope="col">
                  <a href={href(`scenarios/runs/${id}`)}>Run {id}</a> <Chip tone={toneOf(run.state)}>{run.state}</Chip>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {heads.map(([title, text]) => {
              const [left, right] = [text(first), text(second)];
              return (
                <tr key={title}>
                  <th scope="row">{title}</th>
                  <td>{left}</td>
                  <td>{left === right ? <span class="muted">{right}</span> : right}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function Pairs({ first, second }: Both) {
  const pairs = pairsOf(first.run.assertions, second.run.assertions);
  const differing = pairs.filter(({ differs }) => differs);
  const shown = param('show') ?? (differing.length > 0 ? 'differences' : 'all');
  return (
    <Panel
      title="Assertions"
      flush
      tools={
        <>
          <span class="muted">{countsText(pairs)}</span>
          <Segments
            label="Shown assertions"
            options={[
              ['differences', 'Differences'],
              ['all', 'All'],
            ]}
            value={shown}
            onChoice={(value) => setParam('show', value)}
          />
        </>
      }
    >
      <Table
        name="Assertions"
        rows={shown === 'differences' ? differing : pairs}
        keyOf={({ key }) => key}
        empty={pairs.length === 0 ? 'Neither run has an assertion.' : 'All assertions have the same verdict in both.'}
        columns={[
          {
            title: 'Assertion',
            cell: ({ name, place }) => <Name name={name} place={place} />,
            value: ({ name }) => name,
          },
          ...(['first', 'second'] as const).map((side) => ({
            title: `Run ${side === 'first' ? first.id : second.id}`,
            cell: (pair: Pair) => <Verdict assertion={pair[side]} />,
            value: (pair: Pair) => pair[side]?.state,
          })),
          {
            title: 'Verdict',
            cell: ({ differs }) =>
              differs ? <strong class="nowrap">≠ differs</strong> : <span class="muted nowrap">= the same</span>,
            value: ({ differs }) => (differs ? 'differs' : 'same'),
          },
        ]}
      />
    </Panel>
  );
}

function Name({ name, place }: Pick<Pair, 'name' | 'place'>) {
  return (
    <>
      {name}{' '}
      <small class="muted why">
        <code>{place}</code>
      </small>
    </>
  );
}

function Verdict({ assertion }: { readonly assertion: Pair['first'] }) {
  if (assertion === null) return <NoValue reason="this run does not have it" />;
  return (
    <>
      <Chip tone={toneOf(assertion.state)}>{assertion.state}</Chip>{' '}
      <small class="muted why">{assertion.message || dash}</small>
    </>
  );
}

const samplesOf = (report: Report | undefined, signal: string) =>
  (report?.series.find((each) => each.signal === signal)?.samples ?? []) as readonly [number, number][];

function Overlaid({ first, second }: Both) {
  const [one, other] = [useLive(reportCall(first.id), 'once').data, useLive(reportCall(second.id), 'once').data];
  const series = [...(one?.series ?? []), ...(other?.series ?? [])];
  const signals = [...new Map(series.map(({ signal, unit }) => [signal, unit]))];
  if (signals.length === 0) return null;
  return (
    <Panel title="Signals">
      <div class="signals">
        {signals.map(([signal, unit]) => (
          <SignalChart
            key={signal}
            signal={signal}
            unit={unit}
            lines={[
              { name: `run ${first.id}`, samples: samplesOf(one, signal) },
              { name: `run ${second.id}`, samples: samplesOf(other, signal) },
            ]}
            bounds={boundsOf(first.run, signal)}
            marks={[...failuresOf(first.run.assertions, signal), ...failuresOf(second.run.assertions, signal)]}
          />
        ))}
      </div>
    </Panel>
  );
}
