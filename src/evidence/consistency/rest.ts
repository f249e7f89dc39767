/** Quantities in replies of REST and in messages of the stream, taken out of the text that clients get. */
import type { Device } from '../../contract/device.ts';
import type { Sources } from '../sources.ts';
import { decimalsOf, shownAs, tidy } from './model.ts';
import type { Moment, Presented, QuantityRow, RestPlace, RestRead, Value } from './model.ts';

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** undefined: the reply has no such member */
function memberOf(reply: unknown, path: string): unknown {
  let value = reply;
  for (const name of path.split('.')) {
    if (!isObject(value)) return undefined;
    value = value[name];
  }
  return value;
}

function presented(
  presenter: 'rest' | 'stream',
  reply: unknown,
  { member, factor = 1, unit = null }: Omit<RestPlace, 'read' | 'unit'> & { readonly unit?: string | null },
  atMs: number,
): Presented | null {
  const raw = memberOf(reply, member);
  if (raw === undefined || raw === null || isObject(raw)) return null;
  const given = raw as Exclude<Value, null>;
  return {
    presenter,
    place: member,
    atMs,
    value: typeof given === 'number' ? tidy(given * factor) : given,
    missing: null,
    resolution: null,
    shown: [shownAs(member, given, { unit, decimals: typeof given === 'number' ? decimalsOf(given) : null })],
  };
}

export class RestReader {
  readonly #sources: Sources;
  readonly #device: Device;
  readonly #moment: Moment;
  readonly #replies = new Map<RestRead, unknown>();

  constructor(sources: Sources, device: Device, moment: Moment) {
    this.#sources = sources;
    this.#device = device;
    this.#moment = moment;
  }

  read({ rest, measured }: QuantityRow): Presented | null {
    if (rest === undefined) return null;
    if (!this.#replies.has(rest.read)) this.#replies.set(rest.read, this.#sources.reply(rest.read, this.#device));
    const { tickMs, nowMs } = this.#moment;
    return presented('rest', this.#replies.get(rest.read), rest, measured ? tickMs : nowMs);
  }
}

export class StreamReader {
  readonly #message: unknown;
  readonly #moment: Moment;

  constructor(message: unknown, moment: Moment) {
    this.#message = message;
    this.#moment = moment;
  }

  /** As in the last message about the device. */
  read({ stream }: QuantityRow): Presented | null {
    return stream === undefined ? null : presented('stream', this.#message, stream, this.#moment.tickMs);
  }
}
