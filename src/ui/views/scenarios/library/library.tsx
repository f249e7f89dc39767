/** The library: scenarios that come with derbench and the user's own ones, as cards. */
import { get } from '../../../api/call';
import { Empty } from '../../../kit/panel';
import { Segments } from '../../../kit/segments';
import { Unread } from '../../../kit/states';
import { useLive } from '../../../store/live';
import { href, param, setParam } from '../../../store/route';
import type { Bundled, Kept, Listing } from '../words';
import { BundledCard, KeptCard } from './cards';

/** Polling interval of the list, ms: scripts add and start scenarios too. */
const paceMs = 2000;

const filters = [
  ['all', 'All'],
  ['fits', 'Fits'],
  ['beside', 'Needs a simulator of its own'],
  ['yours', 'Your scenarios'],
] as const;
type Filter = (typeof filters)[number][0];

function filterOf(text: string | null): Filter {
  return filters.find(([name]) => name === text)?.[0] ?? 'all';
}

/** True when each word of a text stands in one of the parts. */
export function matches(text: string, parts: readonly (string | null)[]): boolean {
  const whole = parts.join(' ').toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => whole.includes(word));
}

const isInFilter = ({ fits }: Bundled, filter: Filter) =>
  filter === 'all' || (filter !== 'yours' && (filter === 'fits') === fits);

const fitsFirst = (all: readonly Bundled[]) => [...all].sort((a, b) => Number(b.fits) - Number(a.fits));

export function Library() {
  const { data, problem } = useLive(get('scenarios'), paceMs);
  if (data === undefined) return <Unread problem={problem} heights={[40, 240]} />;
  return <Cards listing={data} />;
}

function Cards({ listing: { scenarios, bundled, clock_owner: owner } }: { readonly listing: Listing }) {
  const text = param('find') ?? '';
  const filter = filterOf(param('show'));
  const yours = scenarios.filter(
    ({ id, name, description }) =>
      (filter === 'all' || filter === 'yours') &&
      (param('scenario') === null || param('scenario') === id) &&
      matches(text, [name, description]),
  );
  const shown = fitsFirst(
    bundled.filter(
      (each) =>
        isInFilter(each, filter) &&
        param('scenario') === null &&
        matches(text, [each.title, each.name, each.description, each.standard, each.devices]),
    ),
  );
  return (
    <div class="stack">
      <Tools text={text} filter={filter} />
      {yours.length + shown.length === 0 && <Nothing filter={filter} text={text} />}
      <Section title="Your scenarios" count={yours.length}>
        {yours.map((kept) => (
          <KeptCard key={kept.id} kept={kept} owner={owner} bundled={bundled.find(isSource(kept))} />
        ))}
      </Section>
      <Section title="Library" count={shown.length}>
        {shown.map((each) => (
          <BundledCard
            key={each.name}
            bundled={each}
            owner={owner}
            keptId={scenarios.find((kept) => isSource(kept)(each))?.id ?? null}
          />
        ))}
      </Section>
    </div>
  );
}

const isSource =
  (kept: Kept) =>
  ({ name }: Bundled): boolean =>
    kept.bundled === name;

function Tools({ text, filter }: { readonly text: string; readonly filter: Filter }) {
  return (
    <div class="row" role="search" aria-label="Scenarios">
      <input
        type="search"
        aria-label="Find a scenario"
        placeholder="Find by name, standard or device"
        value={text}
        onInput={(event) => setParam('find', event.currentTarget.value)}
      />
      <Segments
        label="Shown scenarios"
        options={filters}
        value={filter}
        onChoice={(name) => setParam('show', name === 'all' ? null : name)}
      />
      {param('scenario') !== null && (
        <button type="button" class="small" onClick={() => setParam('scenario', null)}>
          Show all
        </button>
      )}
      <a class="button new-scenario" href={href('scenarios/editor')}>
        New scenario
      </a>
    </div>
  );
}

function Nothing({ filter, text }: { readonly filter: Filter; readonly text: string }) {
  if (param('scenario') !== null) return <Empty>The scenario of this address is not kept any more.</Empty>;
  if (text !== '') return <Empty>Nothing found for “{text}”.</Empty>;
  return (
    <Empty>
      {filter === 'yours'
        ? 'You have no scenarios yet. “Copy and edit” of the library makes one, and so does the editor.'
        : filter === 'fits'
          ? 'No scenario of the library is for the devices of this simulator. Each of them runs beside.'
          : 'No scenario is here.'}
    </Empty>
  );
}

interface SectionProps {
  readonly title: string;
  readonly count: number;
  readonly children: preact.ComponentChildren;
}

function Section({ title, count, children }: SectionProps) {
  if (count === 0) return null;
  return (
    <section class="stack" aria-label={title}>
      <h2>
        {title} <span class="muted">{count}</span>
      </h2>
      <div class="scenario-cards">{children}</div>
    </section>
  );
}
