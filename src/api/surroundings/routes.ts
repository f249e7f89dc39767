import type { z } from 'zod';
import type { GridPatch, SurroundingsPatch } from '../../contract/environment.ts';
import type { Plant } from '../../contract/plant.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { deviceQuery } from '../common/schemas.ts';
import {
  environmentBodySchema,
  environmentSchema,
  exampleEnvironment,
  exampleGrid,
  exampleGridRamp,
  gridBodySchema,
  gridSchema,
} from '../controls/schemas.ts';
import { checkedIndex, gridReply } from './replies.ts';
import { writerReply } from '../common/writer-replies.ts';
import { gridEventRoutes } from './grid-event-routes.ts';

type GridBody = z.output<ReturnType<typeof gridBodySchema>>;
type EnvironmentBody = z.output<ReturnType<typeof environmentBodySchema>>;

const scope =
  'Without `device` the request changes the common values of all devices, with it those of one device, which then ' +
  'deviates. A deviation ends by `source: "csv"` (which then is the only value), by `duration_s`, or by the next request ' +
  'without `device`. `ramp_s` and `duration_s` time the values of the same request: alone they are refused.';

/** The members that are present, under the names of the core. */
function present<T extends object>(members: { readonly [K in keyof T]?: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

function gridPatch(body: GridBody): GridPatch {
  return present<GridPatch>({
    voltagePu: body.voltage_pu,
    voltageAPu: body.voltage_a_pu,
    voltageBPu: body.voltage_b_pu,
    voltageCPu: body.voltage_c_pu,
    voltageLnV: body.voltage_ln_v,
    frequencyHz: body.frequency_hz,
    phaseAngleDeg: body.phase_angle_deg,
    rampS: body.ramp_s,
    durationS: body.duration_s,
    source: body.source,
    outage: body.outage,
    island: body.island,
  });
}

function surroundingsPatch(body: EnvironmentBody): SurroundingsPatch {
  return present<SurroundingsPatch>({
    irradianceWm2: body.irradiance_w_m2,
    ambientTemperatureC: body.ambient_temperature_c,
    cellTemperatureC: body.cell_temperature_c,
    loadKw: body.load_kw,
    source: body.source,
    rampS: body.ramp_s,
    durationS: body.duration_s,
  });
}

function environmentReply(plant: Plant, deviceIndex: number | undefined) {
  const now = plant.surroundings(deviceIndex);
  return {
    device_index: deviceIndex ?? null,
    irradiance_w_m2: now.irradianceWm2,
    ambient_temperature_c: now.ambientTemperatureC,
    cell_temperature_c: now.cellTemperatureC,
    load_kw: now.loadKw,
    source: now.source,
    ramp_remaining_s: now.rampRemainingS,
    duration_remaining_s: now.durationRemainingS,
    changed_by: writerReply(plant, now.changedBy),
  };
}

const getGrid = route({
  method: 'get',
  path: '/controls/grid',
  tag: 'Controls',
  operationId: 'get_grid',
  summary: 'Grid conditions in force',
  query: deviceQuery,
  reply: gridSchema,
  examples: { reply: exampleGrid },
  handle: ({ plant }, { query }) => gridReply(plant, checkedIndex(plant, query.device)),
});

const setGrid = route({
  method: 'post',
  path: '/controls/grid',
  tag: 'Controls',
  operationId: 'set_grid',
  summary: 'Sets grid voltage, frequency, outage, island',
  description: scope,
  query: deviceQuery,
  body: gridBodySchema,
  reply: gridSchema,
  problems: ['conflict'],
  examples: { body: { voltage_pu: 0.88, ramp_s: 2, duration_s: 10 }, reply: exampleGridRamp },
  handle({ plant }, { query, body, by }) {
    const index = checkedIndex(plant, query.device);
    plant.setGrid(gridPatch(body), index, by);
    return gridReply(plant, index);
  },
});

const getEnvironment = route({
  method: 'get',
  path: '/controls/environment',
  tag: 'Controls',
  operationId: 'get_environment',
  summary: 'Irradiance, temperatures and load in force',
  query: deviceQuery,
  reply: environmentSchema,
  examples: { reply: exampleEnvironment },
  handle: ({ plant }, { query }) => environmentReply(plant, checkedIndex(plant, query.device)),
});

const setEnvironment = route({
  method: 'post',
  path: '/controls/environment',
  tag: 'Controls',
  operationId: 'set_environment',
  summary: 'Sets irradiance, temperatures, load',
  description: scope,
  query: deviceQuery,
  body: environmentBodySchema,
  reply: environmentSchema,
  problems: ['conflict'],
  examples: { body: { irradiance_w_m2: 800 }, reply: exampleEnvironment },
  handle({ plant }, { query, body, by }) {
    const index = checkedIndex(plant, query.device);
    plant.setSurroundings(surroundingsPatch(body), index, by);
    return environmentReply(plant, index);
  },
});

export const surroundingsRoutes: readonly Route[] = [
  getGrid,
  setGrid,
  ...gridEventRoutes,
  getEnvironment,
  setEnvironment,
];
