/** Scenarios as cards. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { del } from '../../../api/call';
import { Action, Refused } from '../../../kit/action';
import { Menu } from '../../../kit/menu';
import { Chip } from '../../../kit/panel';
import { duration, wallDate } from '../../../look/format';
import { href } from '../../../store/route';
import type { Bundled, Kept } from '../words';
import { assertionsText, firstSentence, toneOf } from '../words';
import { Differs } from './differs';
import { ParametersDialog } from './parameters';
import { RunButton, useStart } from './starting';
import type { Startable } from './starting';

interface CardProps {
  readonly title: string;
  readonly chip: ComponentChildren;
  readonly facts: readonly string[];
  readonly description: string;
  readonly children: ComponentChildren;
}

function Card({ title, chip, facts, description, children }: CardProps) {
  const sentence = firstSentence(description);
  return (
    <article class="card scenario-card" aria-label={title}>
      <header>
        <h3>{title}</h3>
        {chip}
      </header>
      <small class="muted">{facts.join(' · ')}</small>
      {sentence !== '' && <p title={description}>{sentence}</p>}
      {children}
    </article>
  );
}

/** Said of a scenario that waits for a master, head-end or central system, or judges one. */
export const NeedsPeer = () => (
  <span title="It waits for a master, head-end or central system that you start, or judges one.">
    <Chip tone="warn">Needs a peer</Chip>
  </span>
);

const busyWith = (owner: string | null) => (owner === null ? null : `${owner} has the clock until it ends`);

interface BundledCardProps {
  readonly bundled: Bundled;
  /** name of the scenario that has the clock */
  readonly owner: string | null;
  /** id, if it is also among the kept scenarios */
  readonly keptId: string | null;
}

export function BundledCard({ bundled, owner, keptId }: BundledCardProps) {
  const { name, title, description, standard, takes_s, devices, needs_peer, fits, differs } = bundled;
  const scenario = { title, addition: { bundled: name }, keptId: fits ? keptId : null, takesS: takes_s };
  const facts = [...(standard === null ? [] : [standard]), duration(takes_s), devices];
  return (
    <Card
      title={title}
      chip={
        <span class="row">
          {needs_peer && <NeedsPeer />}
          {fits ? <Chip tone="good">Fits</Chip> : <Chip tone="off">Needs a simulator of its own</Chip>}
        </span>
      }
      facts={facts}
      description={description}
    >
      {!fits && <Differs differs={differs} />}
      <Starts
        scenario={scenario}
        unableHere={fits ? busyWith(owner) : (differs[0] ?? '')}
        place={fits ? 'here' : 'beside'}
        parameters={null}
      >
        <a href={href('scenarios/editor', { bundled: name })}>Copy and edit</a>
      </Starts>
    </Card>
  );
}

interface KeptCardProps {
  readonly kept: Kept;
  readonly owner: string | null;
  /** the scenario of the library that it is */
  readonly bundled: Bundled | undefined;
}

export function KeptCard({ kept, owner, bundled }: KeptCardProps) {
  const { id, name, description, parameters, run, unused_settings: unused, needs_peer, added_at } = kept;
  const facts = [
    ...(bundled === undefined ? ['yours'] : ['from the library', duration(bundled.takes_s)]),
    `added ${wallDate(added_at)}`,
    ...(run === null ? [] : [assertionsText(run)]),
  ];
  return (
    <Card
      title={name}
      chip={
        <span class="row">
          {needs_peer && <NeedsPeer />}
          {run === null ? <Chip tone="muted">not run yet</Chip> : <Chip tone={toneOf(run.state)}>{run.state}</Chip>}
        </span>
      }
      facts={facts}
      description={description}
    >
      {unused.length > 0 && <small class="muted">Not applied here: {unused.join(', ')}</small>}
      <Starts
        scenario={{
          title: name,
          addition: kept.bundled === null ? null : { bundled: kept.bundled },
          keptId: id,
          takesS: bundled?.takes_s ?? null,
        }}
        unableHere={busyWith(owner)}
        place="here"
        parameters={run?.parameters ?? parameters}
      >
        <a href={href('scenarios/editor', kept.bundled === null ? { kept: id } : { bundled: kept.bundled })}>
          {kept.bundled === null ? 'Edit' : 'Copy and edit'}
        </a>
        <Action
          call={del('scenarios/{id}', { params: { id } })}
          unable={run?.state === 'running' ? 'the scenario is running: stop it first' : null}
          confirm={`Delete the scenario "${name}"? Its runs stay.`}
        >
          Delete
        </Action>
      </Starts>
    </Card>
  );
}

interface StartsProps {
  readonly scenario: Startable;
  readonly place: 'here' | 'beside';
  readonly unableHere: string | null;
  readonly parameters: Kept['parameters'] | null;
  /** further entries of the menu */
  readonly children: ComponentChildren;
}

/** The buttons of a card: run, and a menu of other ways. */
function Starts({ scenario, place, unableHere, parameters, children }: StartsProps) {
  const [asks, setAsks] = useState(false);
  const starting = useStart(scenario);
  return (
    <>
      <Refused problem={starting.problem} />
      <footer class="row">
        <RunButton scenario={scenario} place={place} starting={starting} unable={place === 'here' ? unableHere : null}>
          <Menu label={`More for ${scenario.title}`} face="⋯">
            {(close) => (
              <div class="menu-list">
                <button
                  type="button"
                  onClick={() => {
                    close();
                    setAsks(true);
                  }}
                >
                  Run with parameters
                </button>
                {place === 'here' && (
                  <button
                    type="button"
                    onClick={() => {
                      close();
                      void starting.start('beside');
                    }}
                  >
                    Run beside
                  </button>
                )}
                {children}
              </div>
            )}
          </Menu>
        </RunButton>
      </footer>
      {asks && (
        <ParametersDialog
          scenario={scenario}
          parameters={parameters}
          unableHere={unableHere}
          onClose={() => setAsks(false)}
        />
      )}
    </>
  );
}
