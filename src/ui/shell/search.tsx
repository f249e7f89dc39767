import { useState } from 'preact/hooks';
import { get } from '../api/call';
import { Dialog } from '../kit/panel';
import { useLive } from '../store/live';
import { href } from '../store/route';
import { useDevice, useOverview } from '../store/site';
import { searchOpen } from './shortcuts';
import { views } from './views';

interface Hit {
  readonly label: string;
  readonly note: string;
  readonly to: string;
}

const maxHits = 20;

/** Finds views, devices by name, kind or index, and models of the chosen device. */
export function Search() {
  const [text, setText] = useState('');
  const devices = useOverview()?.devices ?? [];
  const device = useDevice();
  const models =
    useLive(device === undefined ? null : get('registers', { query: { device: device.device_index } }), 'once').data
      ?.models ?? [];
  const all: readonly Hit[] = [
    ...views.map(({ path, title }) => ({ label: title, note: 'view', to: href(path) })),
    ...devices.map(({ device_index, name, device_type }) => ({
      label: `${device_index} ${name}`,
      note: device_type,
      to: href('devices', { device: device_index }),
    })),
    ...models.map(({ id, name, label }) => ({
      label: `${id} ${name}`,
      note: label,
      to: href('registers', { model: id }),
    })),
  ];
  const hits = all
    .filter(({ label, note }) => `${label} ${note}`.toLowerCase().includes(text.toLowerCase()))
    .slice(0, maxHits);
  const open = (hit: Hit | undefined) => {
    if (!hit) return;
    location.hash = hit.to;
    searchOpen.value = false;
  };
  return (
    <Dialog title="Search" onClose={() => (searchOpen.value = false)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          // text such as 704.WMaxLimPct names a point
          const point = /^(\d{1,5})\.(\w\S*)$/.exec(text);
          if (point)
            open({ label: '', note: '', to: href('registers', { model: point[1] ?? '', point: point[2] ?? '' }) });
          else open(hits[0]);
        }}
      >
        <input
          type="search"
          autofocus
          aria-label="Device, view, model, or point such as 704.WMaxLimPct"
          placeholder="Device, view, model, or 704.WMaxLimPct"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          style={{ width: '100%' }}
        />
      </form>
      <ul>
        {hits.map((hit) => (
          <li key={hit.to}>
            <a href={hit.to} onClick={() => (searchOpen.value = false)}>
              {hit.label}
            </a>{' '}
            <span class="muted">{hit.note}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
