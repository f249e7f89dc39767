import { Chip, Empty, Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import { ViewHead } from '../../kit/tabs';
import { dash, wallTime } from '../../look/format';
import { useLive } from '../../store/live';
import { param, setParam } from '../../store/route';
import { AddOwn, Bundled } from './add';
import { Chosen, assertionsText, listCall, listPaceMs, toneOf } from './run';
import type { Summary } from './run';

const stateOf = ({ run }: Summary) => run?.state ?? 'not run yet';

/** Scenarios: stored ones, adding and starting them, and their results. */
export default function Scenarios() {
  const { data, problem } = useLive(listCall, listPaceMs);
  const scenarioParam = param('scenario');
  const scenarios = data?.scenarios ?? [];
  const defaultScenario = scenarios.find(({ run }) => run?.state === 'running') ?? scenarios.at(-1);
  const chosen = scenarioParam === null ? defaultScenario : scenarios.find(({ id }) => id === scenarioParam);
  return (
    <>
      <ViewHead title="Scenarios" />
      {data === undefined ? (
        <Empty>{problem?.message ?? 'Reading…'}</Empty>
      ) : (
        <div class="scenarios">
          <Kept kept={scenarios} max={data.max_scenarios} chosen={chosen?.id ?? null} />
          {/* typing chooses the scenario: the default would move on to one that is added or started meanwhile */}
          <div class="chosen" onInput={() => chosen && setParam('scenario', chosen.id)}>
            {chosen ? (
              <Chosen key={chosen.id} summary={chosen} owner={data.clock_owner} />
            ) : (
              <Empty>
                {scenarioParam === null
                  ? 'A scenario is a list of steps with assertions. Add one, then start it here.'
                  : 'The scenario of this address is not kept any more: choose another one.'}
              </Empty>
            )}
          </div>
          <div class="stack">
            <Bundled bundled={data.bundled} />
            <AddOwn />
          </div>
        </div>
      )}
    </>
  );
}

interface KeptProps {
  readonly kept: readonly Summary[];
  readonly max: number;
  readonly chosen: string | null;
}

function Kept({ kept, max, chosen }: KeptProps) {
  return (
    <Panel
      title="Kept scenarios"
      flush
      tools={
        <span class="muted">
          {kept.length} of {max}
        </span>
      }
    >
      <Table
        name="Kept scenarios"
        rows={kept}
        keyOf={({ id }) => id}
        selected={chosen}
        onSelect={({ id }) => setParam('scenario', id)}
        empty="No scenario is kept: add one below, or with POST scenarios. Without a state folder all end with the simulator."
        columns={[
          {
            title: 'State',
            cell: (each) => <Chip tone={toneOf(stateOf(each))}>{stateOf(each)}</Chip>,
            value: stateOf,
          },
          { title: 'Scenario', value: ({ name }) => name },
          {
            title: 'Assertions',
            cell: ({ run }) => (run ? assertionsText(run) : dash),
            value: ({ run }) => (run ? assertionsText(run) : null),
          },
          {
            title: 'Started',
            cell: ({ run }) => wallTime(run?.started_at),
            value: ({ run }) => run?.started_at,
          },
        ]}
      />
    </Panel>
  );
}
