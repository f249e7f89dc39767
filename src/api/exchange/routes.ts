/** Co-simulation: a grid outside of the simulator gives voltages and takes power, step by step. */
import type { ExchangeNow } from '../../contract/exchange.ts';
import type { Plant, TickEvent } from '../../contract/plant.ts';
import { assetTypes } from '../../contract/device.ts';
import { SimError } from '../../core/errors.ts';
import { memo } from '../../core/lazy.ts';
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { isoTime } from '../common/schemas.ts';
import { z } from '../description/zod.ts';
import type { RouteContext } from '../http/context.ts';
import { HttpProblem, invalid } from '../http/errors.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { columnsOf, maxAttached, valuesShape } from './body.ts';
import { columnsFrom, defaultOutputs, outputNames, phaseOutputs } from './columns.ts';
import type { AnswerForm } from './columns.ts';

export const maxStepS = 86_400;
export const minStepS = 0.001;
const maxWaiting = 8;

/** Form of answers and steps under way of the exchange of a plant. */
interface Desk {
  readonly session: string;
  readonly form: AnswerForm;
  waiting: number;
}
const desks = new WeakMap<Plant, Desk>();

export const session = z.string().max(64).openapi({ description: 'From the answer of `POST exchange`.' });

const attachSchema = memo(() =>
  z
    .strictObject({
      devices: z
        .array(z.int().min(0))
        .min(1)
        .max(maxAttached)
        .refine((list) => new Set(list).size === list.length, { error: 'must not name a device twice' })
        .optional()
        .openapi({ description: 'Indexes in the order of all columns; default: all devices.' }),
      outputs: z
        .array(z.enum(outputNames))
        .min(1)
        .max(outputNames.length)
        .optional()
        .openapi({
          description: `Columns of the answers; default: ${defaultOutputs.join(', ')}.`,
        }),
      phases: z.boolean().optional().openapi({ description: 'Adds power and current of each phase; default: false.' }),
      owner: z.string().min(1).max(64).optional().openapi({
        description: 'Name of the client in refusals of others; default: `exchange`.',
      }),
    })
    .openapi('ExchangeRequest'),
);

const valuesSchema = memo(() => z.strictObject({ session, ...valuesShape() }).openapi('ExchangeValuesRequest'));

const endSchema = memo(() => z.strictObject({ session }).openapi('ExchangeEndRequest'));

const stepSchema = memo(() =>
  z
    .strictObject({
      session,
      to_s: z.number().optional().openapi({ description: 'End of the step, simulated seconds since the attachment.' }),
      dt_s: z.number().min(minStepS).max(maxStepS).optional().openapi({ description: 'Length of the step, s.' }),
      ...valuesShape(),
    })
    .refine(({ to_s: to, dt_s: dt }) => (to === undefined) !== (dt === undefined), {
      path: ['to_s'],
      error: 'exactly one of to_s and dt_s is required',
    })
    .openapi('ExchangeStepRequest'),
);

const column = z.array(z.number().nullable());
const columnShape = () =>
  Object.fromEntries([...outputNames, ...Object.keys(phaseOutputs)].map((name) => [name, column.optional()]));

const deviceSchema = memo(() =>
  z
    .strictObject({
      index: z.int(),
      name: z.string(),
      kind: z.enum(assetTypes),
      wiring: z.enum(['single', 'split', 'three']),
      v_nom_ln_v: z.number().openapi({ description: 'Base of per unit, line to neutral, V.' }),
      s_rated_va: z.number(),
      p_max_w: z.number(),
      p_min_w: z.number().openapi({ description: 'Negative: the device can absorb.' }),
    })
    .openapi('ExchangeDevice'),
);

const descriptionSchema = memo(() =>
  z
    .strictObject({
      attached: z.boolean(),
      session: z.string().nullable(),
      owner: z.string().nullable(),
      pace: z.enum(['stepped', 'running']).nullable().openapi({
        description:
          '`stepped`: only steps of the exchange pass time. `running`: the clock runs, `exchange/values` puts values in.',
      }),
      since: z.string().nullable().openapi({ description: 'Simulated time of the attachment.' }),
      sim_time: isoTime,
      time_s: z.number().nullable().openapi({ description: 'Simulated seconds since the attachment.' }),
      steps: z.int().nullable(),
      nominal_hz: z.number().nullable(),
      devices: z.array(deviceSchema()).openapi({ description: 'In the order of all columns.' }),
    })
    .openapi('ExchangeReply'),
);

const columnsSchema = memo(() =>
  z
    .strictObject({
      session: z.string(),
      time_s: z
        .number()
        .openapi({ description: 'Simulated seconds since the attachment at the end of the last tick.' }),
      sim_time: isoTime,
      tick: z.int(),
      ...columnShape(),
      events: z
        .array(z.strictObject({ device: z.int(), time_s: z.number(), event: z.string() }))
        .openapi({ description: 'Changes of service within the step, at most 1,000, and `removed`.' }),
      events_lost: z.int().openapi({ description: 'Further events of the step.' }),
    })
    .openapi('ExchangeColumns'),
);

/** @throws SimError COMMAND_CONFLICT without an exchange, or for another session */
export function presentExchange({ exchange }: Plant, named: string): ExchangeNow {
  const { now } = exchange;
  if (now === null) throw new SimError('COMMAND_CONFLICT', 'no devices are attached: POST exchange attaches them');
  if (now.session !== named)
    throw new SimError('COMMAND_CONFLICT', `the session is another one: ${JSON.stringify(now.owner)} has the exchange`);
  return now;
}

function described({ plant }: RouteContext) {
  const { now } = plant.exchange;
  const sim_time = new Date(plant.dateMs(plant.now)).toISOString();
  if (now === null) {
    const none = { session: null, owner: null, pace: null, since: null, time_s: null, steps: null, nominal_hz: null };
    return { attached: false, ...none, sim_time, devices: [] };
  }
  const { session: id, owner, pace, since, steps, devices } = now;
  return {
    attached: true,
    session: id,
    owner,
    pace,
    since: new Date(plant.dateMs(since)).toISOString(),
    sim_time,
    time_s: secondsBetween(since, plant.latest.sim),
    steps,
    nominal_hz: plant.devices[0]?.trace.nominalHz ?? null,
    devices: devices.map(({ index, name, kind, wiring, nominalLnV, ratedVa, maxW, minW }) => ({
      index,
      name,
      kind,
      wiring,
      v_nom_ln_v: nominalLnV,
      s_rated_va: ratedVa,
      p_max_w: maxW,
      p_min_w: minW,
    })),
  };
}

function columnsReply(plant: Plant, { session: id, since, devices }: ExchangeNow, { tick, sim }: TickEvent) {
  const form = desks.get(plant)?.form ?? { outputs: defaultOutputs, hasPhases: false };
  const { events, lost } = plant.exchange.events;
  return {
    session: id,
    time_s: secondsBetween(since, sim),
    sim_time: new Date(plant.dateMs(sim)).toISOString(),
    tick,
    ...columnsFrom(plant.exchange.states(), form),
    events: events.map(({ place, at, event }) => ({
      device: devices[place]?.index ?? -1,
      time_s: secondsBetween(since, at),
      event,
    })),
    events_lost: lost,
  };
}

/** @throws HttpProblem `validation` for an end that is not ahead, or too far */
function endOf(
  { to_s: to, dt_s: dt }: { to_s?: number | undefined; dt_s?: number | undefined },
  since: SimTime,
  now: SimTime,
): SimTime {
  if (dt !== undefined) return addSeconds(now, dt);
  const end = addSeconds(since, to ?? 0);
  const aheadS = secondsBetween(now, end);
  if (!(aheadS > 0 && aheadS <= maxStepS))
    throw invalid(
      'body',
      '/to_s',
      `must lie after the present ${secondsBetween(since, now)} s, by at most ${maxStepS} s`,
    );
  return end;
}

/** One step at a time, a few waiting. @throws HttpProblem `too-many-requests` */
async function inLine<T>(plant: Plant, work: () => Promise<T>): Promise<T> {
  const desk = desks.get(plant);
  if (desk === undefined) return work();
  if (desk.waiting > maxWaiting) throw new HttpProblem('too-many-requests', `${maxWaiting} steps are waiting.`);
  desk.waiting += 1;
  try {
    return await work();
  } finally {
    desk.waiting -= 1;
  }
}

const description =
  'Values act from the present instant on; the answer shows the powers at the end of the step, unrounded, positive into the ' +
  'grid. A step is one tick, however long. Steps run one after the other.';

export const exchangeRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/exchange',
    tag: 'Controls',
    operationId: 'get_exchange',
    summary: 'Devices that are attached to a grid outside',
    reply: descriptionSchema,
    handle: described,
  }),
  route({
    method: 'post',
    path: '/exchange',
    tag: 'Controls',
    operationId: 'attach_exchange',
    summary: 'Attaches devices to a grid outside',
    description:
      'From now on the grid of these devices is that of the exchange, which begins with their present one; others cannot change ' +
      'it. While the clock is paused only `exchange/step` passes time.',
    body: attachSchema,
    isImport: true,
    reply: descriptionSchema,
    status: 201,
    problems: ['conflict', 'unknown-device'],
    handle(ctx, { body, by }) {
      const { plant, clockOwner } = ctx;
      if (clockOwner.name !== null)
        throw new SimError(
          'COMMAND_CONFLICT',
          `the scenario ${JSON.stringify(clockOwner.name)} has the clock until it ends`,
        );
      const indexes = body.devices ?? plant.devices.map(({ index }) => index);
      const now = plant.exchange.attach(indexes, body.owner ?? 'exchange', by);
      const form = { outputs: body.outputs ?? defaultOutputs, hasPhases: body.phases ?? false };
      desks.set(plant, { session: now.session, form, waiting: 0 });
      return described(ctx);
    },
  }),
  route({
    method: 'post',
    path: '/exchange/step',
    tag: 'Controls',
    operationId: 'step_exchange',
    routine: true,
    isImport: true,
    summary: 'Puts values of the grid in, and runs one step',
    description,
    body: stepSchema,
    reply: columnsSchema,
    problems: ['conflict', 'too-many-requests'],
    handle({ plant }, { body }) {
      const now = presentExchange(plant, body.session);
      const columns = columnsOf(body, now);
      return inLine(plant, async () => {
        const event = await plant.exchange.step((begin) => endOf(body, now.since, begin), columns);
        return columnsReply(plant, now, event);
      });
    },
  }),
  route({
    method: 'post',
    path: '/exchange/values',
    tag: 'Controls',
    operationId: 'set_exchange_values',
    routine: true,
    isImport: true,
    summary: 'Puts values of the grid in without a step',
    description: 'For a running clock. The answer shows the powers of the last tick.',
    body: valuesSchema,
    reply: columnsSchema,
    problems: ['conflict'],
    handle({ plant }, { body }) {
      const now = presentExchange(plant, body.session);
      plant.exchange.put(columnsOf(body, now));
      plant.exchange.collect();
      return columnsReply(plant, now, plant.latest);
    },
  }),
  route({
    method: 'get',
    path: '/exchange/values',
    tag: 'Controls',
    operationId: 'get_exchange_values',
    summary: 'Powers of the last tick',
    description: 'The answer of the last step again, for a client that has lost it.',
    reply: columnsSchema,
    problems: ['conflict'],
    handle({ plant }) {
      const now = presentExchange(plant, plant.exchange.now?.session ?? '');
      return columnsReply(plant, now, plant.latest);
    },
  }),
  route({
    method: 'post',
    path: '/exchange/end',
    tag: 'Controls',
    operationId: 'end_exchange',
    summary: 'Returns the devices to the grid of the simulator',
    body: endSchema,
    reply: descriptionSchema,
    problems: ['conflict'],
    handle(ctx, { body }) {
      presentExchange(ctx.plant, body.session);
      ctx.plant.exchange.end();
      desks.delete(ctx.plant);
      return described(ctx);
    },
  }),
];
