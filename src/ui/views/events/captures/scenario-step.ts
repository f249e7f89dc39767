/** A capture as a step of a scenario: its disturbance, and what the devices did as the expectation. */
import type { Call } from '../../../api/call';
import type { Capture } from './verdict-words';

/** Time that a run may take longer than the capture, s. */
const spareS = 10;

/** The call that makes the first disturbance again; null: nothing that can be repeated. */
export function repeatCall({ triggers }: Pick<Capture, 'triggers'>): Call | null {
  const repeat = triggers.find((trigger) => trigger.repeat !== null)?.repeat;
  return repeat ? { method: 'POST', address: `/api/sim${repeat.path}`, body: repeat.body } : null;
}

/** A value in flow style. JSON is YAML, but names need no quotes. */
function flow(value: unknown): string {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' && /^\w+$/.test(value) ? value : JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, member]) => `${name}: ${flow(member)}`)
    .join(', ')} }`;
}

/** The step as YAML, for the list `steps` of a scenario; null: nothing that can be repeated. */
export function scenarioStep(capture: Pick<Capture, 'triggers' | 'title' | 'end_s' | 'summary'>): string | null {
  const call = repeatCall(capture);
  if (call === null) return null;
  const { pathname, searchParams } = new URL(call.address, 'http://localhost');
  const device = searchParams.get('device');
  const within = `within: ${Math.ceil(capture.end_s) + spareS} s`;
  return [
    `- name: ${JSON.stringify(capture.title)}`,
    ...(device === null ? [] : [`  device: ${device}`]),
    `  ${pathname.endsWith('/event') ? 'event' : 'grid'}: ${flow(call.body)}`,
    '  expect:',
    `    - { get: captures, pointer: /captures/0/title, equals: ${JSON.stringify(capture.title)} }`,
    `    - { get: captures, pointer: /captures/0/state, equals: complete, ${within} }`,
    `    - { get: captures, pointer: /captures/0/summary, equals: ${JSON.stringify(capture.summary)}, ${within} }`,
    '',
  ].join('\n');
}
