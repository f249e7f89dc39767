/** Places of the page that show the cause of an entry of the timeline, or of something that needs attention. */
import type { ReplyOf } from '../api/call';
import { deviceHref, href } from '../store/route';

export type Ref = NonNullable<ReplyOf<'timeline'>['entries'][number]['ref']>;

interface Place {
  readonly title: string;
  readonly to: string;
}

/** @param id such as `modbus/17`, or `ocpp/CP-1/17` with the identity of the station */
function messagePlace(id: string): Place {
  const [protocol = '', ...rest] = id.split('/');
  const message = rest.at(-1) ?? '';
  const station = rest.slice(0, -1).join('/');
  const settings = { [`${protocol}-message`]: message, ...(station !== '' && { station }) };
  return { title: `Message ${message}`, to: href(`protocols/${protocol}/messages`, settings) };
}

/** @param device index of the device that the reference belongs to; null: none, or several */
export function placeOf({ type, id }: Ref, device: number | null): Place {
  switch (type) {
    case 'entry':
      return { title: `Entry ${id}`, to: href('events/timeline', { entry: id }) };
    case 'device':
      return { title: 'Device', to: deviceHref(id, 'picture') };
    case 'message':
      return messagePlace(id);
    case 'point': {
      const [model = '', ...point] = id.split('.');
      return { title: `Register ${id}`, to: deviceHref(device, 'registers', { model, point: point.join('.') }) };
    }
    case 'fault':
      return { title: 'Faults', to: href('inputs/faults') };
    case 'finding':
      return { title: 'Report cards', to: href('compare/report-cards') };
    case 'scenario':
      return { title: `Scenario ${id}`, to: href('scenarios') };
    case 'capture':
      return { title: `Capture ${id}`, to: href(`events/captures/${id}`) };
    case 'hold':
      return { title: 'Holds', to: deviceHref(device, 'grid-support/holds') };
    case 'site':
      return { title: 'Site limits', to: href('inputs/site') };
    case 'answers':
      return { title: 'Answered and done', to: href('compare/answered', { device: id }) };
    case 'time':
      return { title: 'Clock', to: href('inputs/clock') };
  }
}

/** The place of a reference, or without one that of the device, or else the timeline. */
export function causeHref(ref: Ref | null, device: number | null): string {
  if (ref !== null) return placeOf(ref, device).to;
  return device === null ? href('events') : deviceHref(device, 'picture');
}
