/** Bundled faults of real devices as cards, one press each. */
import { useState } from 'preact/hooks';
import { get, post } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { Action } from '../../../kit/action';
import { Empty, Panel } from '../../../kit/panel';
import { Segments } from '../../../kit/segments';
import { useLive } from '../../../store/live';
import { param, setParam } from '../../../store/route';
import { useFaultTarget } from './target';

type Profile = ReplyOf<'faults/profiles'>['profiles'][number];
type Protocol = NonNullable<ReplyOf<'faults'>['faults'][number]['protocol']>;

export const protocolTitles: Readonly<Record<Protocol, string>> = {
  device: 'Device',
  modbus: 'Modbus',
  csip: 'CSIP',
  ocpp: 'OCPP',
  dnp3: 'DNP3',
};

/** The protocols of the faults of a set. */
function protocolsOf({ faults }: Profile): readonly Protocol[] {
  return [...new Set(faults.flatMap(({ protocol }) => (protocol === undefined ? [] : [protocol])))];
}

/** Number of cards before "Show all". */
const firstCards = 9;

/** Ready-made faults, filtered by protocol and text. */
export function ReadyMadePanel() {
  const profiles = useLive(get('faults/profiles'), 'once').data?.profiles ?? [];
  const [isWhole, setWhole] = useState(false);
  const text = param('profile-find') ?? '';
  const protocol = param('profile-of');
  const protocols = Object.keys(protocolTitles).filter((each) =>
    profiles.some((profile) => protocolsOf(profile).includes(each as Protocol)),
  ) as readonly Protocol[];
  const matching = profiles.filter(
    (profile) =>
      (protocol === null || protocolsOf(profile).includes(protocol as Protocol)) &&
      `${profile.name} ${profile.title} ${profile.description}`.toLowerCase().includes(text.toLowerCase()),
  );
  const visible = isWhole ? matching : matching.slice(0, firstCards);
  return (
    <Panel
      title={`Ready-made faults (${matching.length})`}
      tools={
        <>
          <Segments
            label="Protocol"
            options={[['all', 'All'], ...protocols.map((each) => [each, protocolTitles[each]] as const)]}
            value={(protocol as Protocol | null) ?? 'all'}
            onChoice={(each) => setParam('profile-of', each === 'all' ? null : each)}
          />
          <input
            type="search"
            placeholder="Search"
            aria-label="Search ready-made faults"
            value={text}
            onInput={(event) => setParam('profile-find', event.currentTarget.value)}
          />
        </>
      }
    >
      {matching.length === 0 && <Empty>Nothing found for "{text}".</Empty>}
      <ul class="fault-cards">
        {visible.map((profile) => (
          <ReadyMade key={profile.name} profile={profile} />
        ))}
      </ul>
      {visible.length < matching.length && (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {matching.length}
        </button>
      )}
    </Panel>
  );
}

function ReadyMade({ profile }: { readonly profile: Profile }) {
  const device = useFaultTarget();
  const { name, title, description, faults } = profile;
  return (
    <li class="fault-card">
      <h3>{title}</h3>
      <p class="muted">{description}</p>
      <div class="fault-foot">
        <small class="muted">
          {protocolsOf(profile)
            .map((protocol) => protocolTitles[protocol])
            .join(', ')}
          {faults.length > 1 && `, ${faults.length} faults`}
          <br />
          <code title="Name for scripts">{name}</code>
        </small>
        <Action call={post('faults', { body: { profile: name, device } })}>Inject</Action>
      </div>
    </li>
  );
}
