/** Charging sessions that begin and end by themselves. */
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import type { RouteContext } from '../http/context.ts';
import { exampleTime } from '../common/schemas.ts';
import { exampleStationId } from './examples.ts';
import { generatorBodySchema, generatorDefaults, generatorsSchema } from './generator-schemas.ts';
import type { GeneratorReply } from './generator-schemas.ts';
import { allStations, stationById } from './replies.ts';
import type { Station } from './replies.ts';

function generatorReply({ id, detail: { generator }, iso }: Station): GeneratorReply {
  return {
    charge_point_id: id,
    running: generator !== null,
    seed: generator?.seed ?? null,
    rate_per_hour: generator?.ratePerHour ?? null,
    id_token: generator?.idToken ?? null,
    started_at: generator === null ? null : iso(generator.startedAtS),
    arrivals: generator?.arrivals ?? 0,
    turned_away: generator?.turnedAway ?? 0,
    departures: generator?.departures ?? 0,
    present: generator?.present ?? 0,
    next_arrival_at: generator === null ? null : iso(generator.nextArrivalS),
  };
}

/** @throws SimError UNKNOWN_RESOURCE */
function chosen(ctx: RouteContext, id: string | undefined): readonly Station[] {
  return id === undefined ? allStations(ctx) : [stationById(ctx, id)];
}

const exampleGenerator: GeneratorReply = {
  charge_point_id: exampleStationId,
  running: true,
  seed: 7,
  rate_per_hour: 2,
  id_token: 'GENERATOR',
  started_at: exampleTime,
  arrivals: 0,
  turned_away: 0,
  departures: 0,
  present: 0,
  next_arrival_at: '2026-06-21T12:21:42.000Z',
};

const read = route({
  method: 'get',
  path: '/evse/session-generator',
  tag: 'EVSE / OCPP',
  operationId: 'get_session_generator',
  summary: 'Generators of charging sessions, one entry for each station',
  reply: generatorsSchema,
  examples: { reply: { generators: [exampleGenerator] } },
  handle: (ctx) => ({ generators: allStations(ctx).map(generatorReply) }),
});

const change = route({
  method: 'post',
  path: '/evse/session-generator',
  tag: 'EVSE / OCPP',
  operationId: 'set_session_generator',
  summary: 'Lets vehicles come and go by themselves, or ends it',
  description:
    'Arrivals at each connector are random in simulated time; state of charge, capacity and stay of each ' +
    'vehicle are drawn too, the same for the same seed. A vehicle plugs in, presents a token and leaves ' +
    'after its stay. With a central system the token goes there.',
  body: generatorBodySchema,
  reply: generatorsSchema,
  problems: ['unknown-resource'],
  examples: { body: { seed: 7, rate_per_hour: 2 }, reply: { generators: [exampleGenerator] } },
  handle(ctx, { body, by }) {
    const { charge_point_id: id, seed, rate_per_hour: rate, id_token: token, stop, vehicles } = body;
    for (const { device } of chosen(ctx, id)) {
      const generator = {
        seed: seed ?? generatorDefaults.seed,
        stream: device.index,
        ratePerHour: rate ?? generatorDefaults.ratePerHour,
        idToken: token ?? generatorDefaults.idToken,
      };
      device.command({ kind: 'evse.generator', generator: stop === true ? null : generator, vehicles }, by);
    }
    return { generators: chosen(ctx, id).map(generatorReply) };
  },
});

export const evseGeneratorRoutes: readonly Route[] = [read, change];
