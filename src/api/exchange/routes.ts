/** Co-simulation: a grid outside of the simulator gives voltages and takes power, step by step. */
import type { ExchangeNow } from '../../contract/exchange.ts';
import { addSeconds, microsPerSecond, secondsBetween } from '../../core/time/clock.ts';
import type { PlantHealth } from '../../contract/plant.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { checkClockHasNoOwner, checkIsNoMember } from '../common/clock-owner.ts';
import type { RouteContext } from '../http/context.ts';
import { invalid } from '../http/errors.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { columnsOf } from './body.ts';
import { columnsFrom, defaultOutputs } from './columns.ts';
import { deskOf } from './desk.ts';
import { attachSchema, columnsSchema, descriptionSchema, endSchema, stepSchema, valuesSchema } from './schemas.ts';
import {
  anyExchange,
  checkNoneAttached,
  inTurn,
  maxBodyBytes,
  maxStepS,
  minStepS,
  presentExchange,
} from './session.ts';
import { exchangeTrialRoute } from './trial.ts';

function described(ctx: RouteContext) {
  const { plant } = ctx;
  const { now: attached } = plant.exchange;
  const both = { sim_time: new Date(plant.dateMs(plant.now)).toISOString(), max_step_s: maxStepS };
  if (attached === null) {
    const none = { session: null, owner: null, pace: null, since: null, time_s: null, steps: null, nominal_hz: null };
    return { attached: false, ...none, idle_timeout_s: null, on_silence: null, ...both, devices: [] };
  }
  const { session: id, owner, pace, since, steps, devices } = attached;
  const { idleTimeoutS, onSilence } = deskOf(ctx).form;
  return {
    attached: true,
    session: id,
    owner,
    pace,
    since: new Date(plant.dateMs(since)).toISOString(),
    time_s: elapsedS(since, plant.latest.sim),
    steps,
    nominal_hz: plant.devices[0]?.trace.nominalHz ?? null,
    idle_timeout_s: idleTimeoutS,
    on_silence: onSilence,
    ...both,
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

/** Seconds since an attachment, which may lie within the tick under way. */
const elapsedS = (since: SimTime, tickEnd: SimTime) => Math.max(0, secondsBetween(since, tickEnd));

/** to 1 ms */
const ageS = ({ paused, tickAgeS }: PlantHealth) => (paused ? 0 : Math.round(tickAgeS * 1000) / 1000);

function columnsReply(ctx: RouteContext, { session: id, since, devices }: ExchangeNow) {
  const { plant } = ctx;
  const { events, lost } = plant.exchange.events;
  const { tick, sim } = plant.exchange.shown ?? plant.latest;
  return {
    session: id,
    time_s: elapsedS(since, sim),
    age_s: ageS(plant.health),
    sim_time: new Date(plant.dateMs(sim)).toISOString(),
    tick,
    ...columnsFrom(plant.exchange.states(), deskOf(ctx).form),
    events: events.map(({ place, at, event }) => ({
      device: devices[place]?.index ?? -1,
      time_s: secondsBetween(since, at),
      event,
    })),
    events_lost: lost,
  };
}

const maxRoundingMicros = 0.25;

/** @throws HttpProblem `validation` for a part of a microsecond, which the clock does not have */
function checkMicroseconds(name: string, seconds: number): void {
  const micros = seconds * microsPerSecond;
  // a sum of steps of 0.1 s over ten hours differs from its decimal text by less
  if (Math.abs(micros - Math.round(micros)) > maxRoundingMicros)
    throw invalid('body', name, 'must be a multiple of 0.000001 s');
}

interface StepLength {
  readonly to_s?: number | undefined;
  readonly dt_s?: number | undefined;
}

/** @throws HttpProblem `validation` for an end that is not ahead, or too far */
function endOf({ to_s: to, dt_s: dt }: StepLength, since: SimTime, begin: SimTime): SimTime {
  if (dt !== undefined) return addSeconds(begin, dt);
  const end = addSeconds(since, to ?? 0);
  const aheadS = secondsBetween(begin, end);
  if (aheadS >= minStepS && aheadS <= maxStepS) return end;
  const detail = `must lie after the present ${secondsBetween(since, begin)} s, by ${minStepS} to ${maxStepS} s; given ${to}`;
  throw invalid('body', '/to_s', detail);
}

const description =
  'Values act from the present instant on; the answer shows the powers at the end of the step, to 1 mW, positive into the ' +
  'grid. A step is one tick, however long. Steps run one after the other.';

export const exchangeRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/exchange',
    tag: 'Exchange',
    operationId: 'get_exchange',
    summary: 'Devices that are attached to a grid outside',
    reply: descriptionSchema,
    handle: described,
  }),
  route({
    method: 'post',
    path: '/exchange',
    tag: 'Exchange',
    operationId: 'attach_exchange',
    summary: 'Attaches devices to a grid outside',
    description:
      'From now on the grid of these devices is that of the exchange, which begins with their present one; others cannot change ' +
      'it. While the clock is paused only `exchange/step` passes time. The request waits for the end of a tick under way.',
    body: attachSchema,
    maxBodyBytes,
    reply: descriptionSchema,
    status: 201,
    problems: ['conflict', 'fleet-member', 'unknown-device'],
    handle(ctx, { body, by }) {
      const { plant } = ctx;
      const form = {
        outputs: body.outputs ?? defaultOutputs,
        hasPhases: body.phases ?? false,
        idleTimeoutS: body.idle_timeout_s ?? 0,
        onSilence: body.on_silence ?? 'detach',
      };
      return plant.exchange.betweenTicks(() => {
        checkIsNoMember(ctx);
        checkNoneAttached(plant);
        checkClockHasNoOwner(ctx);
        // a device may have joined or left while the request waited
        const indexes = body.devices ?? plant.devices.map(({ index }) => index);
        deskOf(ctx).attach(indexes, body.owner ?? 'exchange', form, by);
        return described(ctx);
      });
    },
  }),
  route({
    method: 'post',
    path: '/exchange/step',
    tag: 'Exchange',
    operationId: 'step_exchange',
    routine: true,
    maxBodyBytes,
    summary: 'Puts values of the grid in, and runs one step',
    description,
    body: stepSchema,
    reply: columnsSchema,
    problems: ['conflict', 'too-many-requests'],
    handle(ctx, { body }) {
      const { plant } = ctx;
      const exchange = presentExchange(plant, body.session);
      const columns = columnsOf(body, exchange);
      checkMicroseconds(body.dt_s === undefined ? '/to_s' : '/dt_s', body.dt_s ?? body.to_s ?? 0);
      return inTurn(ctx, body, async () => {
        const begin = performance.now();
        await plant.exchange.step((present) => {
          checkClockHasNoOwner(ctx);
          return endOf(body, exchange.since, present);
        }, columns);
        const { counts } = deskOf(ctx);
        counts.steps += 1;
        counts.stepSeconds += (performance.now() - begin) / 1000;
        return columnsReply(ctx, exchange);
      });
    },
  }),
  exchangeTrialRoute,
  route({
    method: 'post',
    path: '/exchange/values',
    tag: 'Exchange',
    operationId: 'set_exchange_values',
    routine: true,
    maxBodyBytes,
    summary: 'Puts values of the grid in without a step',
    description: 'For a running clock. The answer shows the powers of the last tick.',
    body: valuesSchema,
    reply: columnsSchema,
    problems: ['conflict', 'too-many-requests'],
    handle(ctx, { body }) {
      const { plant } = ctx;
      const exchange = presentExchange(plant, body.session);
      const columns = columnsOf(body, exchange);
      if (body.ramp_s !== undefined && Object.keys(columns).length === 0)
        throw invalid('body', '/ramp_s', 'times the values of the same request: give one');
      return inTurn(ctx, body, () => {
        plant.exchange.put(columns, body.ramp_s);
        plant.exchange.collect();
        return columnsReply(ctx, exchange);
      });
    },
  }),
  route({
    method: 'get',
    path: '/exchange/values',
    tag: 'Exchange',
    operationId: 'get_exchange_values',
    summary: 'Powers of the last tick',
    description: 'The answer of the last step again, for a client that has lost it.',
    reply: columnsSchema,
    problems: ['conflict'],
    handle: (ctx) => deskOf(ctx).read(() => columnsReply(ctx, anyExchange(ctx.plant))),
  }),
  route({
    method: 'post',
    path: '/exchange/end',
    tag: 'Exchange',
    operationId: 'end_exchange',
    summary: 'Returns the devices to the grid of the simulator',
    body: endSchema,
    reply: descriptionSchema,
    problems: ['conflict', 'too-many-requests'],
    handle(ctx, { body }) {
      presentExchange(ctx.plant, body.session);
      return inTurn(ctx, body, () => {
        deskOf(ctx).end();
        return described(ctx);
      });
    },
  }),
];
