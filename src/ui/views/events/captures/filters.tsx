/** Which captures the list shows: by device, kind of disturbance, verdict and text, kept in the address. */
import { get } from '../../../api/call';
import type { Call, ReplyOf } from '../../../api/call';
import { deviceLabel } from '../../../kit/choices';
import { param, setParam } from '../../../store/route';
import { useOverview } from '../../../store/site';
import { Choice } from '../choice';
import type { CaptureHead } from './capture';
import { verdictTexts } from './verdict-words';
import type { VerdictWord } from './verdict-words';

type TriggerKind = CaptureHead['triggers'][number]['kind'];

const kindTexts: Readonly<Record<TriggerKind, string>> = {
  grid_event: 'grid event',
  grid_change: 'change of the grid',
  threshold: 'profile passed a threshold',
  trip: 'trip',
  alarm: 'error alarm',
  request: 'capture now',
};

export const filterNames = ['on', 'kind', 'verdict', 'find'] as const;
export type CaptureFilter = Readonly<Record<(typeof filterNames)[number], string | null>>;

export function filterOfAddress(): CaptureFilter {
  return { on: param('on'), kind: param('kind'), verdict: param('verdict'), find: param('find') };
}

/** Captures that meet the filter but for its text. */
export function filteredCall({ on, kind, verdict }: CaptureFilter): Call<ReplyOf<'captures'>> {
  return get('captures', {
    query: {
      ...(on !== null && { device: Number(on) }),
      ...(kind !== null && { kind: kind as TriggerKind }),
      ...(verdict !== null && { verdict: verdict as VerdictWord }),
    },
  });
}

/** True if the title, the sentence or a disturbance has the text. */
export function hasText({ title, summary, triggers }: CaptureHead, text: string | null): boolean {
  const all = [title, summary, ...triggers.map((trigger) => trigger.title)].join(' ').toLowerCase();
  return all.includes((text ?? '').toLowerCase());
}

export function CaptureFilters() {
  const devices = useOverview()?.devices ?? [];
  return (
    <>
      <Choice
        name="on"
        label="Device of the captures"
        all="all devices"
        options={devices.map((device) => [String(device.device_index), deviceLabel(device)])}
      />
      <Choice name="kind" label="Kind of disturbance" all="all kinds" options={Object.entries(kindTexts)} />
      <Choice name="verdict" label="Verdict" all="all verdicts" options={verdictTexts} />
      <input
        type="search"
        name="find"
        aria-label="Find captures"
        placeholder="Find"
        value={param('find') ?? ''}
        onInput={(event) => setParam('find', event.currentTarget.value)}
      />
    </>
  );
}

export function NoHit() {
  return (
    <>
      No capture matches.{' '}
      <button type="button" class="small" onClick={() => filterNames.forEach((name) => setParam(name, null))}>
        Show all
      </button>
    </>
  );
}
