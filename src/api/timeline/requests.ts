/** Requests that were carried out or refused, in the words of the timeline. */
import type { Problem } from '../../core/http/problem.ts';
import type { Origin } from '../../core/origin.ts';
import type { Happening, TimelineCall, TimelineKind } from '../../core/timeline/entry.ts';
import { gridEventInWords, membersInWords } from './words.ts';

/** An operation, as the timeline shows it. */
export interface ToldRoute {
  readonly method: string;
  /** with names of parameters in braces */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly secretMembers?: readonly string[];
}

/** The input of an operation. */
export interface ToldInput {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly by: Origin;
}

/** Operations that another source of the timeline tells: faults, devices and scenarios as they begin and end. */
const toldElsewhere: ReadonlySet<string> = new Set([
  'set_faults',
  'set_modbus_fault',
  'set_csip_fault',
  'set_ocpp_fault',
  'set_dnp3_fault',
  'add_device',
  'change_device',
  'remove_device',
  'delete_device',
  'start_scenario',
]);

const kinds: Readonly<Record<string, TimelineKind>> = {
  set_grid: 'grid',
  set_grid_event: 'grid',
  attach_exchange: 'grid',
  end_exchange: 'grid',
  set_environment: 'weather',
  set_shading: 'weather',
  override_wind: 'weather',
  set_time: 'clock',
  change_settings: 'setting',
  load_config: 'setting',
  enable_modbus: 'setting',
  disable_modbus: 'setting',
  enable_csip: 'setting',
  disable_csip: 'setting',
  enable_ocpp: 'setting',
  disable_ocpp: 'setting',
  enable_dnp3: 'setting',
  disable_dnp3: 'setting',
  set_csip_config: 'setting',
  set_ocpp_configuration: 'setting',
  stop_scenario: 'scenario',
};

/** Operations whose summary is too long for a title. */
const titles: Readonly<Record<string, string>> = {
  set_grid: 'Sets the grid',
  set_grid_event: 'Ends the grid event',
  set_environment: 'Sets the weather and the load',
  set_time: 'Sets the clock',
  set_local_control: 'Sets local control',
  set_battery_control: 'Sets the battery',
  set_site: 'Sets limits of the site',
  submit_command: 'Orders start, stop or reset',
  override_wind: 'Sets the wind',
  pin_capture: 'Pins a capture',
  change_settings: 'Changes settings',
};

const maxTextLength = 300;

const cut = (text: string) => (text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text);

/** Members of path and query, but for the device, which the entry has itself. */
function placeInWords({ params, query }: Pick<ToldInput, 'params' | 'query'>): string {
  const others = Object.entries({ ...(params as object), ...(query as object) }).filter(
    ([name]) => name !== 'device' && name !== 'index',
  );
  return membersInWords(Object.fromEntries(others), []);
}

/** The device that the parameter `device` names, or else `index` of a path. */
export function deviceOf(query: unknown, params: unknown): number | undefined {
  const { device } = (query ?? {}) as { readonly device?: unknown };
  const { index } = (params ?? {}) as { readonly index?: unknown };
  return deviceIndexOf(device ?? index);
}

/** The index in a text of a request, which may not have been checked. */
export const deviceIndexOf = (text: unknown): number | undefined =>
  typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : undefined;

/** Characters of a request that the timeline keeps. */
const maxCallLength = 4000;

/** True if an object has one of the members, at any depth. */
function hasMember(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, member]) => names.includes(name) || hasMember(member, names));
}

/** The request that makes the change again; undefined: it is too large to be kept, or has a secret. */
function callsOf({ method, path, secretMembers = [] }: ToldRoute, { params, query, body }: ToldInput) {
  const values = (params ?? {}) as Readonly<Record<string, unknown>>;
  const call: TimelineCall = {
    method: method.toUpperCase(),
    path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name]))),
    query: (query ?? {}) as TimelineCall['query'],
    ...(body !== undefined && { body }),
  };
  if (hasMember(body, secretMembers) || JSON.stringify(call).length > maxCallLength) return undefined;
  return [call];
}

/** A request that was carried out; null: another source tells it. @param deviceIndex that it is about */
export function requestHappening(route: ToldRoute, input: ToldInput, deviceIndex?: number): Happening | null {
  const { operationId, summary, secretMembers = [] } = route;
  if (toldElsewhere.has(operationId)) return null;
  const kind = kinds[operationId] ?? 'command';
  const { by } = input;
  const event = operationId === 'set_grid_event' ? gridEventInWords(input.body) : null;
  if (event !== null) {
    return {
      kind,
      level: 'warn',
      title: cut(event),
      text: cut(`${event}.`),
      deviceIndex,
      by,
      calls: callsOf(route, input),
    };
  }
  const members = [placeInWords(input), membersInWords(input.body, secretMembers)].filter((words) => words !== '');
  const title = titles[operationId] ?? summary;
  const hasWords = members.length > 0 && operationId !== 'set_grid_event';
  const words = hasWords ? `: ${members.join(', ')}` : '';
  return {
    kind,
    title,
    text: cut(`${title}${words}.`),
    deviceIndex,
    by,
    calls: callsOf(route, input),
  };
}

/** A request that was refused. @param path without the query */
export function refusalHappening(
  {
    method,
    path,
    deviceIndex,
  }: { readonly method: string; readonly path: string; readonly deviceIndex?: number | undefined },
  { status, detail }: Pick<Problem, 'status' | 'detail'>,
  by: Origin,
): Happening {
  return {
    kind: 'refusal',
    level: 'warn',
    title: `Refused: ${cut(`${method} ${path}`)}`,
    text: `${cut(detail.replace(/\.$/, ''))} (${status}).`,
    deviceIndex,
    by,
  };
}
