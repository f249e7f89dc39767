import { get, post } from '../../api/call';
import { Action } from '../../kit/action';
import { Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import { useLive } from '../../store/live';
import { param, setParam } from '../../store/route';
import { useFaultTarget } from './target';

/** Bundled faults of real devices, one click each. */
export function ProfilesPanel() {
  const profiles = useLive(get('faults/profiles'), 'once').data?.profiles ?? [];
  const device = useFaultTarget();
  const text = param('profile-find') ?? '';
  const shown = profiles.filter(({ name, title, description }) =>
    `${name} ${title} ${description}`.toLowerCase().includes(text.toLowerCase()),
  );
  return (
    <Panel
      title="Profiles"
      flush
      tools={
        <>
          <input
            type="search"
            placeholder="Filter"
            aria-label="Filter of profiles"
            value={text}
            onInput={(event) => setParam('profile-find', event.currentTarget.value)}
          />
        </>
      }
    >
      <div class="scroller" style={{ maxHeight: '420px' }} tabIndex={0} role="region" aria-label="List of profiles">
        <Table
          name="Profiles"
          rows={shown}
          keyOf={({ name }) => name}
          empty="No profile has this text."
          columns={[
            {
              title: 'Profile',
              cell: ({ name, title, description }) => (
                <>
                  <strong>{title}</strong> <code>{name}</code>
                  <div class="muted">{description}</div>
                </>
              ),
              value: ({ name }) => name,
            },
            {
              title: 'Inject',
              cell: ({ name }) => <Action call={post('faults', { body: { profile: name, device } })}>Inject</Action>,
            },
          ]}
        />
      </div>
    </Panel>
  );
}
