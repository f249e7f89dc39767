/** Requests as members of a step: short forms where there is one. */
import type { TimelineCall } from '../../core/timeline/entry.ts';
import { reservation } from '../file/read.ts';
import type { RequestCheck } from '../file/whole.ts';
import type { ScenarioRequest } from '../model.ts';

/** Short forms whose value is the body of the request. */
const bodyForms: Readonly<Record<string, string>> = {
  '/controls/grid': 'grid',
  '/controls/grid/event': 'event',
  '/controls/environment': 'environment',
  '/site': 'site',
  '/controls/holds': 'hold',
  '/controls/gradient': 'gradient',
  '/grid-support': 'grid_support',
  '/controls/battery': 'battery',
  '/wind/override': 'wind',
  '/hybrid-dc/dispatch': 'dispatch',
};

function shortForm({ path, body }: TimelineCall): readonly [name: string, value: unknown] | null {
  const name = bodyForms[path];
  if (name !== undefined) return [name, body];
  const model = /^\/registers\/(\d+)$/.exec(path)?.[1];
  const { points, ...others } = (body ?? {}) as { readonly points?: unknown };
  if (model === undefined || points === undefined || Object.keys(others).length > 0) return null;
  return ['registers', { [model]: points }];
}

/** The members of a step that make the request. */
export function membersOf(call: TimelineCall): Readonly<Record<string, unknown>> {
  const { device, ...query } = call.query;
  const form = call.method === 'POST' && Object.keys(query).length === 0 ? shortForm(call) : null;
  if (form !== null) return { ...(device !== undefined && { device: Number(device) }), [form[0]]: form[1] };
  const search = new URLSearchParams(Object.entries(call.query)).toString();
  const request = `${call.method} ${call.path}${search === '' ? '' : `?${search}`}`;
  return { call: { request, ...(call.body !== undefined && { body: call.body }) } };
}

/** Why a scenario cannot make the request; null: it can. */
export function obstacleOf(call: TimelineCall, check: RequestCheck): string | null {
  if (JSON.stringify(call).includes('${')) return 'a text in it would be taken for a parameter';
  const { method, path, query, body } = call;
  const request = { method, path, query, ...(body !== undefined && { body }) } as ScenarioRequest;
  const reservedWords = reservation(request);
  if (reservedWords !== null) return reservedWords;
  const refusal = check(request);
  return refusal && [refusal.detail, ...(refusal.errors ?? []).map(({ detail }) => detail)].join('; ');
}
