/** Quantities in replies of REST and in messages of the stream, taken out of the text that clients get. */
import type { Device } from '../../contract/device.ts';
import { SimError } from '../../core/errors.ts';
import { controlsRoutes } from '../controls/routes.ts';
import { evseRoutes } from '../evse/routes.ts';
import { gridSupportRoutes } from '../grid-support/routes.ts';
import type { RouteContext } from '../http/context.ts';
import { JsonText } from '../http/route.ts';
import { lifecycleRoutes } from '../lifecycle/routes.ts';
import { nameplateRoutes } from '../nameplate/routes.ts';
import { latestOf } from '../common/device-replies.ts';
import type { Presented, QuantityRow, RestPlace, RestRead, Value } from './model.ts';
import type { Moment } from './moment.ts';
import { decimalsOf, tidy } from './numbers.ts';

const routes = [...lifecycleRoutes, ...controlsRoutes, ...gridSupportRoutes, ...nameplateRoutes, ...evseRoutes];

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** The reply of an operation about one device, as it is sent. */
function replyOf(ctx: RouteContext, read: RestRead, device: Device): unknown {
  const route = routes.find(({ operationId }) => operationId === read);
  // a station is named by its identity in the path
  const isStation = route?.params !== undefined;
  const params = isStation ? { id: ctx.chargePointId(device) } : {};
  const query = isStation ? {} : { device: String(device.index) };
  const answer = route?.answer(ctx, { params, query, body: undefined, by: { source: 'rest' } });
  if (answer === undefined || answer instanceof Promise)
    throw new SimError('INTERNAL', `${read} has no reply that is made at once`);
  const text = answer.body instanceof JsonText ? answer.body.bytes.toString() : JSON.stringify(answer.body);
  const reply: unknown = JSON.parse(text);
  // a list of the one device that was asked for
  return isObject(reply) && Array.isArray(reply['devices']) ? (reply['devices'][0] as unknown) : reply;
}

/** undefined: the reply has no such member */
function memberOf(reply: unknown, path: string): unknown {
  let found = reply;
  for (const name of path.split('.')) {
    if (!isObject(found)) return undefined;
    found = found[name];
  }
  return found;
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
    shown: [
      {
        name: member,
        raw: given,
        unit,
        multiplier: null,
        flags: null,
        listed: null,
        decimals: typeof given === 'number' ? decimalsOf(given) : null,
      },
    ],
  };
}

export class RestReader {
  readonly #ctx: RouteContext;
  readonly #device: Device;
  readonly #moment: Moment;
  readonly #replies = new Map<RestRead, unknown>();

  constructor(ctx: RouteContext, device: Device, moment: Moment) {
    this.#ctx = ctx;
    this.#device = device;
    this.#moment = moment;
  }

  read({ rest, measured }: QuantityRow): Presented | null {
    if (rest === undefined) return null;
    if (!this.#replies.has(rest.read)) this.#replies.set(rest.read, replyOf(this.#ctx, rest.read, this.#device));
    const { tickMs, nowMs } = this.#moment;
    return presented('rest', this.#replies.get(rest.read), rest, measured ? tickMs : nowMs);
  }
}

export class StreamReader {
  readonly #message: unknown;
  readonly #moment: Moment;

  constructor(ctx: RouteContext, device: Device, moment: Moment) {
    this.#message = JSON.parse(latestOf(ctx, device).json.toString());
    this.#moment = moment;
  }

  /** As in the last message about the device. */
  read({ stream }: QuantityRow): Presented | null {
    return stream === undefined ? null : presented('stream', this.#message, stream, this.#moment.tickMs);
  }
}
