import { useState } from 'preact/hooks';
import { get } from '../api/call';
import { CallLine } from '../kit/api-switch';
import { submitting } from '../kit/form';
import { say } from '../kit/notice';
import { Empty, Dialog } from '../kit/panel';
import { useIsGateway } from '../store/fleet';
import { useLive } from '../store/live';
import { deviceHref, href } from '../store/route';
import { useDevice, useOverview } from '../store/site';
import { captureHref, capturesCall } from '../views/events/captures/announce';
import { searchActions } from './search-actions';
import type { SearchAction } from './search-actions';
import { act, searchOpen } from './shortcuts';
import { fleetEntry, views } from './views';

interface Place {
  readonly label: string;
  readonly note: string;
  readonly to: string;
}
type Hit = (Place & { readonly verb?: undefined }) | SearchAction;

const maxHits = 20;

const hitsOfViews = (isGateway: boolean): readonly Place[] =>
  views
    .filter((view) => isGateway || view !== fleetEntry)
    .map(({ path, title }) => ({ label: title, note: 'view', to: `#/${path}` }));

/** All that a text can lead to: views, devices, models of the chosen device, settings, scenarios, captures, actions. */
function useHits(): readonly Hit[] {
  const devices = useOverview()?.devices ?? [];
  const device = useDevice()?.device_index;
  const models = useLive(device === undefined ? null : get('registers', { query: { device } }), 'once').data?.models;
  const settings = useLive(get('settings'), 'once').data?.settings;
  const { scenarios = [], bundled = [] } = useLive(get('scenarios'), 'once').data ?? {};
  const captures = useLive(capturesCall, 'once').data?.captures;
  const isGateway = useIsGateway();
  const stations = useLive(get('evse'), 'once').data?.evses;
  return [
    ...hitsOfViews(isGateway),
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
    ...(captures ?? []).map(({ id, title, summary }) => ({
      label: `Capture ${id}: ${title}`,
      note: summary,
      to: captureHref(id),
    })),
    ...searchActions(devices, stations ?? []),
  ];
}

/** Hits with all words of the text; those that have most of them as whole words first: "plug 5" is not "plug 15". */
export function hitsOf<H extends Pick<Place, 'label' | 'note'> & { readonly verb?: string | undefined }>(
  all: readonly H[],
  text: string,
): readonly H[] {
  const terms = text.toLowerCase().split(/\s+/).filter(Boolean);
  return all
    .flatMap((hit) => {
      const name = `${hit.label} ${hit.note}`.toLowerCase();
      const whole = new Set(name.split(/[^\p{L}\p{N}.]+/u));
      const isVerb = hit.verb === undefined || terms.some((term) => hit.verb?.toLowerCase().includes(term));
      return isVerb && terms.every((term) => name.includes(term))
        ? [{ hit, rank: terms.filter((term) => whole.has(term)).length }]
        : [];
    })
    .sort((a, b) => b.rank - a.rank)
    .map(({ hit }) => hit);
}

/** Makes the call of an action, and says that it was made. */
async function make({ label, call }: SearchAction): Promise<void> {
  if (await act(call)) say(`${label}: done`);
}

function HitRow({ hit, close }: { readonly hit: Hit; readonly close: () => void }) {
  if ('to' in hit)
    return (
      <a href={hit.to} onClick={close}>
        {hit.label}
      </a>
    );
  return (
    <>
      <button type="button" class="small" onClick={() => (close(), void make(hit))}>
        {hit.label}
      </button>
      <CallLine call={hit.call} />
    </>
  );
}

/** Finds what the page can show by name, a point such as `704.WMaxLimPct`, and actions. */
export function Search() {
  const [text, setText] = useState('');
  const device = useDevice()?.device_index;
  const close = () => (searchOpen.value = false);
  const hits = hitsOf(useHits(), text).slice(0, maxHits);
  const open = () => {
    const [, model, point] = /^(\d{1,5})\.(\w\S*)$/.exec(text) ?? [];
    const [first] = hits;
    if (model !== undefined && point !== undefined) location.hash = deviceHref(device, 'registers', { model, point });
    else if (first === undefined) return;
    else if ('to' in first) location.hash = first.to;
    else void make(first);
    close();
  };
  return (
    <Dialog title="Search" onClose={close}>
      <form onSubmit={submitting(open)}>
        <input
          type="search"
          autofocus
          aria-label="Device, view, setting, scenario, capture, action, model, or point such as 704.WMaxLimPct"
          placeholder="Device, view, setting, sag, plug 5, 704.WMaxLimPct"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            // the field would take the first Escape to empty itself
            if (event.key !== 'Escape') return;
            event.preventDefault();
            close();
          }}
          style={{ width: '100%' }}
        />
      </form>
      {hits.length === 0 && <Empty>Nothing found for "{text}".</Empty>}
      <ul class="search-hits">
        {hits.map((hit) => (
          <li key={`${hit.label} ${hit.note}`}>
            <HitRow hit={hit} close={close} /> <span class="muted">{hit.note}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
