/** Messages of OCPP, IEEE 2030.5 and DNP3 as arrows between lifelines. */
import type { ReplyOf } from '../../../api/call';
import type { Arrow } from '../../../kit/sequence';
import { words } from '../../../look/format';

export type OcppMessage = ReplyOf<'ocpp/{id}/messages'>['messages'][number];
export type CsipMessage = ReplyOf<'csip/messages'>['messages'][number];
export type Dnp3Message = ReplyOf<'dnp3/messages'>['messages'][number];

export interface Drawing {
  /** names from the left */
  readonly lifelines: readonly string[];
  readonly arrows: readonly Arrow[];
}

/** Rules that messages broke, in words, by id of the message. */
export type Broken = ReadonlyMap<number, string>;

/** Members of a payload that say most about a call, with the word before their value. */
const telling: readonly (readonly [member: string, word: string])[] = [
  ['connectorId', 'connector '],
  ['evseId', 'EVSE '],
  ['status', ''],
  ['connectorStatus', ''],
  ['eventType', ''],
  ['requestedMessage', ''],
  ['key', ''],
  ['idTag', ''],
  ['reason', ''],
];

/** The telling members of a payload, `connector 1, Charging`; empty: nothing that fits into a line. */
export function ocppSummary(payload: OcppMessage['payload']): string {
  if (typeof payload !== 'object') return '';
  const members = payload as Readonly<Record<string, unknown>>;
  const parts = telling.flatMap(([member, word]) => {
    const value = members[member];
    return typeof value === 'string' || typeof value === 'number' ? [`${word}${value}`] : [];
  });
  return parts.join(', ');
}

function ocppText({ type, action, payload }: OcppMessage): string {
  const name = action ?? 'Message';
  const verb = type === 'call' ? '' : type === 'error' ? ' refused' : ' answered';
  return [`${name}${verb}`, ocppSummary(payload)].filter((part) => part !== '').join(', ');
}

/** The charge point at the left, its central system at the right. */
export function ocppDrawing(
  messages: readonly OcppMessage[],
  station: string,
  central: string,
  broken: Broken,
): Drawing {
  return {
    lifelines: [station, central],
    arrows: messages.map((message) => {
      const { id, timestamp, direction, type, duration_ms: tookMs } = message;
      const [from, to] = direction === 'out' ? [0, 1] : [1, 0];
      const failed = type === 'error';
      return { id, at: timestamp, from, to, text: ocppText(message), tookMs, failed, broken: broken.get(id) };
    }),
  };
}

/** Lanes of a server of IEEE 2030.5 by what is asked. */
const csipLanes = ['Polls', 'Events', 'Responses'] as const;
const eventDocuments =
  /<(?:\w+:)?(DERControl|DERControlList|DERProgram|DERProgramList|Notification|DefaultDERControl)[\s>/]/;
const responseDocuments = /<(?:\w+:)?\w*Response[\s>/]/;

const rootOf = (body: string | null): string => /<(?:\w+:)?([A-Za-z]\w*)/.exec(body ?? '')?.[1] ?? '';

function csipLane({ request_body: request, response_body: response }: CsipMessage): number {
  if (responseDocuments.test(request ?? '')) return 3;
  return eventDocuments.test(`${request ?? ''}${response ?? ''}`) ? 2 : 1;
}

const pathOf = (url: string): string => (URL.canParse(url) ? new URL(url).pathname : url);

function csipText(message: CsipMessage): string {
  const { method, url, status, error } = message;
  const document = rootOf(message.request_body) || rootOf(message.response_body);
  const outcome = status === null ? (error ?? 'no answer') : String(status);
  return `${method} ${pathOf(url)}: ${outcome}${document === '' ? '' : ` ${document}`}`;
}

/** The client at the left; a lane each for polls, events and responses. */
export function csipDrawing(messages: readonly CsipMessage[], broken: Broken): Drawing {
  return {
    lifelines: ['Client', ...csipLanes],
    arrows: messages.map((message) => {
      const { id, timestamp, direction, status, duration_ms: tookMs } = message;
      const lane = csipLane(message);
      const [from, to] = direction === 'out' ? [0, lane] : [lane, 0];
      const failed = status === null || status >= 400;
      return { id, at: timestamp, from, to, text: csipText(message), tookMs, failed, broken: broken.get(id) };
    }),
  };
}

/** Lifelines of masters; messages of further ones share the last. */
const maxMasters = 3;

/** Indications that tell of a refused request. */
const refusals = new Set(['no_func_code_support', 'object_unknown', 'parameter_error']);

function dnp3Text({ function: code, objects, iin }: Dnp3Message): string {
  const [first, second] = objects;
  const shown = [first, second].filter((each) => each !== undefined);
  const more = objects.length > 2 ? ` and ${objects.length - 2} more` : '';
  const troubles = (iin ?? []).filter((each) => refusals.has(each)).map(words);
  return [words(code), [...shown, ...troubles].join(', ') + more].filter((part) => part !== '').join(' ');
}

/** The outstation at the left, its masters at the right. */
export function dnp3Drawing(messages: readonly Dnp3Message[], broken: Broken): Drawing {
  const masters = [...new Set(messages.map(({ peer }) => peer))];
  const requests = new Map<string, string>();
  const tookOf = ({ direction, peer, sequence, timestamp }: Dnp3Message): number | null => {
    const key = `${peer} ${sequence}`;
    if (direction === 'in') requests.set(key, timestamp);
    const asked = direction === 'out' ? requests.get(key) : undefined;
    if (asked === undefined) return null;
    requests.delete(key);
    return Date.parse(timestamp) - Date.parse(asked);
  };
  return {
    lifelines: ['Outstation', ...masters.slice(0, maxMasters)],
    arrows: messages.map((message) => {
      const { id, timestamp, direction, peer, iin } = message;
      const lane = Math.min(masters.indexOf(peer) + 1, maxMasters);
      const [from, to] = direction === 'out' ? [0, lane] : [lane, 0];
      const failed = (iin ?? []).some((each) => refusals.has(each));
      const tookMs = tookOf(message);
      return { id, at: timestamp, from, to, text: dnp3Text(message), tookMs, failed, broken: broken.get(id) };
    }),
  };
}
