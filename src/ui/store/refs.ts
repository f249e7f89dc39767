/** Addresses of the places that show the cause of an entry or item. */
import type { ReplyOf } from '../api/call';
import { deviceHref, href } from './route';

type Ref = ReplyOf<'timeline'>['entries'][number]['ref'];

/** The messages of a protocol, as in `ocpp/CP-1/17`. */
function messageHref(id: string): string {
  const [protocol = ''] = id.split('/');
  return href(`protocols/${protocol}/messages`);
}

function pointHref(id: string, device: number | null): string {
  const [model, point] = id.split('.');
  return deviceHref(device, 'registers', { model: model ?? null, point: point ?? null });
}

/** The place of a reference. @param device of the entry; null: none, or several */
export function refHref(ref: Ref, device: number | null): string {
  switch (ref?.type) {
    case undefined:
      return device === null ? href('events') : deviceHref(device, 'picture');
    case 'device':
      return deviceHref(ref.id, 'picture');
    case 'message':
      return messageHref(ref.id);
    case 'point':
      return pointHref(ref.id, device);
    case 'fault':
      return href('inputs/faults');
    case 'finding':
      return href('compare/report-cards');
    case 'scenario':
      return href('scenarios', { scenario: ref.id });
    case 'capture':
      return href(`events/captures/${ref.id}`);
    case 'hold':
      return device === null ? href('events') : deviceHref(device, 'grid-support');
    case 'site':
      return href('inputs/site');
    case 'answers':
      return href('compare', { device: ref.id });
    case 'time':
      return href('inputs/clock');
  }
}
