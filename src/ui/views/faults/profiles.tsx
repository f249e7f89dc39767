import { useState } from 'preact/hooks';
import { get, post } from '../../api/call';
import { Action } from '../../kit/action';
import { deviceLabel } from '../../kit/device-picker';
import { Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import { useLive } from '../../store/live';
import { useDevice, useOverview } from '../../store/site';

/** Bundled faults of real devices, one click each. */
export function ProfilesPanel() {
  const profiles = useLive(get('faults/profiles'), 'once').data?.profiles ?? [];
  const devices = useOverview()?.devices ?? [];
  const first = useDevice();
  const [where, setWhere] = useState<string | null>(null);
  const [text, setText] = useState('');
  const chosen = where ?? String(first?.device_index ?? 0);
  const device = chosen === 'all' ? chosen : Number(chosen);
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
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <select
            aria-label="Device of profiles"
            value={chosen}
            onChange={(event) => setWhere(event.currentTarget.value)}
          >
            <option value="all">all devices</option>
            {devices.map((entry) => (
              <option key={entry.device_index} value={String(entry.device_index)}>
                {deviceLabel(entry)}
              </option>
            ))}
          </select>
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
