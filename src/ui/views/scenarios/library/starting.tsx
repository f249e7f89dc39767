/** Starts of scenarios: on this simulator, or on one of their own beside it. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { get, perform, post } from '../../../api/call';
import type { BodyOf, Call, Problem } from '../../../api/call';
import { useDo } from '../../../kit/action';
import { CallLine } from '../../../kit/api-switch';
import { Dialog } from '../../../kit/panel';
import { duration } from '../../../look/format';
import { go } from '../../../store/route';
import { useClock } from '../../../store/site';

export type Place = 'here' | 'beside';

/** A scenario that can be started. */
export interface Startable {
  readonly title: string;
  /** as a request adds it; null: it is kept */
  readonly addition: { readonly bundled: string } | { readonly yaml: string } | null;
  /** null: not kept */
  readonly keptId: string | null;
  /** simulated seconds that a run takes; null: unknown */
  readonly takesS: number | null;
}

type Start = BodyOf<'scenarios/{id}/start'>;

/** Shows the newest run of a kept scenario. */
export async function openRunOf(id: string): Promise<void> {
  const { runs } = await perform(get('scenario-runs'));
  const run = runs.find((each) => each.scenario_id === id);
  if (run !== undefined) go(`scenarios/runs/${run.id}`);
}

/** A scenario in the form in which a request can run it beside. */
async function additionOf({ addition, keptId }: Startable): Promise<NonNullable<Startable['addition']>> {
  if (addition !== null) return addition;
  return { yaml: await perform(get('scenarios/text', { query: { id: keptId ?? '' } })) };
}

interface Starting {
  readonly busy: boolean;
  readonly problem: Problem | null;
  /** Starts a scenario and shows the run. */
  readonly start: (place: Place, how?: Start) => Promise<void>;
}

export function useStart(scenario: Startable): Starting {
  const { busy, problem, run } = useDo();
  const here = async (how: Start) => {
    const added = scenario.keptId === null ? await run(post('scenarios', { body: scenario.addition ?? {} })) : null;
    const id = scenario.keptId ?? (added as { readonly id: string } | undefined)?.id;
    if (id === undefined) return;
    if ((await run(post('scenarios/{id}/start', { params: { id }, body: how }))) !== undefined) await openRunOf(id);
  };
  const beside = async (how: Start) => {
    const begun = await run(post('scenario-runs', { body: { ...(await additionOf(scenario)), ...how } }));
    if (begun !== undefined) go(`scenarios/runs/${(begun as { readonly id: string }).id}`);
  };
  return { busy, problem, start: (place, how = {}) => (place === 'here' ? here(how) : beside(how)) };
}

/** The first call of a start, for the API switch. */
function callOf({ addition, keptId }: Startable, place: Place): Call {
  if (place === 'beside' && addition !== null) return post('scenario-runs', { body: addition });
  if (keptId === null) return post('scenarios', { body: addition ?? {} });
  return post('scenarios/{id}/start', { params: { id: keptId }, body: {} });
}

interface RunButtonProps {
  readonly scenario: Startable;
  readonly place: Place;
  readonly starting: Starting;
  /** reason why it cannot start now */
  readonly unable?: string | null;
  /** false: another button beside it is the usual one */
  readonly primary?: boolean;
  readonly children?: ComponentChildren;
}

/** Starts a scenario with one press; asks only where it takes a running clock. */
export function RunButton({ scenario, place, starting, unable = null, primary = true, children }: RunButtonProps) {
  const [asks, setAsks] = useState(false);
  const mode = useClock()?.mode;
  const takesClock = place === 'here' && mode !== undefined && mode !== 'paused';
  const { busy, start } = starting;
  const press = () => {
    if (takesClock) setAsks(true);
    else void start(place);
  };
  return (
    <>
      <button
        type="button"
        class={primary ? 'primary' : undefined}
        disabled={busy || unable !== null}
        title={unable ?? undefined}
        aria-label={`${place === 'here' ? 'Run' : 'Run beside'}: ${scenario.title}`}
        onClick={press}
      >
        {place === 'here' ? 'Run' : 'Run beside'}
      </button>
      {children}
      <CallLine call={callOf(scenario, place)} />
      {asks && (
        <TakesClock
          scenario={scenario}
          onClose={() => setAsks(false)}
          onChoice={(chosen) => {
            setAsks(false);
            void start(chosen);
          }}
        />
      )}
    </>
  );
}

interface TakesClockProps {
  readonly scenario: Startable;
  readonly onClose: () => void;
  readonly onChoice: (place: Place) => void;
}

function TakesClock({ scenario: { title, takesS }, onClose, onChoice }: TakesClockProps) {
  const time = takesS === null ? '' : `, about ${duration(takesS)} of simulated time`;
  return (
    <Dialog title={`Run ${title}`} onClose={onClose}>
      <p>
        The clock of this simulator is running. Here the scenario has the clock until it ends{time}, and changes the
        grid and the devices. Beside, it has a simulator of its own, and this one goes on.
      </p>
      <div class="row">
        <button type="button" class="primary" onClick={() => onChoice('here')}>
          Run here
        </button>
        <button type="button" onClick={() => onChoice('beside')}>
          Run beside
        </button>
      </div>
    </Dialog>
  );
}
