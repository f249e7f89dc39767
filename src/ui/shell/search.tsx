import { useState } from 'preact/hooks';
import { get } from '../api/call';
import { Empty, Dialog } from '../kit/panel';
import { useLive } from '../store/live';
import { deviceHref, href } from '../store/route';
import { useDevice, useOverview } from '../store/site';
import { searchOpen } from './shortcuts';
import { views } from './views';

interface Hit {
  readonly label: string;
  readonly note: string;
  readonly to: string;
}

const maxHits = 20;

const viewHits: readonly Hit[] = views.map(({ path, title }) => ({ label: title, note: 'view', to: `#/${path}` }));

/** All that a text can lead to: views, devices, models of the chosen device, settings, scenarios. */
function useHits(): readonly Hit[] {
  const devices = useOverview()?.devices ?? [];
  const device = useDevice()?.device_index;
  const models = useLive(device === undefined ? null : get('registers', { query: { device } }), 'once').data?.models;
  const settings = useLive(get('settings'), 'once').data?.settings;
  const { scenarios = [], bundled = [] } = useLive(get('scenarios'), 'once').data ?? {};
  return [
    ...viewHits,
    ...devices.map(({ device_index, name, device_type }) => ({
      label: `${device_index} ${name}`,
      note: device_type,
      to: deviceHref(device_index, 'picture'),
    })),
    ...(models ?? []).map(({ id, name, label }) => ({
      label: `${id} ${name}`,
      note: label,
      to: deviceHref(device, 'registers', { model: id }),
    })),
    ...(settings ?? []).map(({ key }) => ({
      label: key,
      note: 'setting',
      to: href('settings', { 'settings-find': key }),
    })),
    ...scenarios.map(({ id, name }) => ({
      label: name,
      note: 'scenario',
      to: href('scenarios/library', { scenario: id }),
    })),
    ...bundled.map(({ name, title }) => ({
      label: title,
      note: `scenario of the library, ${name}`,
      to: href('scenarios/library', { find: name }),
    })),
  ];
}

/** Finds what the page can show by name, and a point such as `704.WMaxLimPct`. */
export function Search() {
  const [text, setText] = useState('');
  const device = useDevice()?.device_index;
  const close = () => (searchOpen.value = false);
  const hits = useHits()
    .filter(({ label, note }) => `${label} ${note}`.toLowerCase().includes(text.toLowerCase()))
    .slice(0, maxHits);
  const open = () => {
    const [, model, point] = /^(\d{1,5})\.(\w\S*)$/.exec(text) ?? [];
    const isPoint = model !== undefined && point !== undefined;
    const to = isPoint ? deviceHref(device, 'registers', { model, point }) : hits[0]?.to;
    if (to === undefined) return;
    location.hash = to;
    close();
  };
  return (
    <Dialog title="Search" onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          open();
        }}
      >
        <input
          type="search"
          autofocus
          aria-label="Device, view, setting, scenario, model, or point such as 704.WMaxLimPct"
          placeholder="Device, view, setting, scenario, 704.WMaxLimPct"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          style={{ width: '100%' }}
        />
      </form>
      {hits.length === 0 && <Empty>Nothing found for "{text}".</Empty>}
      <ul class="search-hits">
        {hits.map(({ label, note, to }) => (
          <li key={to}>
            <a href={to} onClick={close}>
              {label}
            </a>{' '}
            <span class="muted">{note}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
