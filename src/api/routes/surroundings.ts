import type { z } from 'zod';
import type { GridPatch, SurroundingsPatch } from '../../core/environment.ts';
import type { Plant } from '../../sunspec/map/device.ts';
import { invalid } from '../errors.ts';
import { route } from '../route.ts';
import type { Route } from '../route.ts';
import { deviceQuery } from '../schemas/common.ts';
import {
  environmentBodySchema, environmentSchema, exampleEnvironment, exampleGrid, gridBodySchema, gridSchema,
} from '../schemas/controls.ts';
import { gridNominal, gridReply } from '../views-grid.ts';

type GridBody = z.output<typeof gridBodySchema>;
type EnvironmentBody = z.output<typeof environmentBodySchema>;

const scope = 'Without `device` the common one of all devices, with it a deviation of one device; '
  + 'a deviation ends by `source: "csv"`, by `duration_s`, or by the next request without `device`.';

/** The members that are present, under the names of the core. */
function present<T extends object>(members: { readonly [K in keyof T]?: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

/** Volts as per unit of the nominal of the devices concerned. */
function voltsToPu(plant: Plant, body: GridBody, deviceIndex: number | undefined): number | undefined {
  const volts = body.voltage_ln_v;
  if (volts === undefined) return undefined;
  const rivals = (['voltage_pu', 'voltage_a_pu', 'voltage_b_pu', 'voltage_c_pu'] as const)
    .filter((name) => body[name] !== undefined);
  if (rivals.length > 0) throw invalid('body', '/voltage_ln_v', `cannot be given together with ${rivals.join(', ')}`);
  const nominal = gridNominal(plant, deviceIndex);
  if (!nominal) {
    throw invalid('body', '/voltage_ln_v', 'the devices differ in nominal voltage; use voltage_pu, or name one device');
  }
  if (volts > 2 * nominal.lnV) throw invalid('body', '/voltage_ln_v', `must be at most ${2 * nominal.lnV} (twice the nominal)`);
  return volts / nominal.lnV;
}

function gridPatch(plant: Plant, body: GridBody, deviceIndex: number | undefined): GridPatch {
  return present<GridPatch>({
    voltagePu: voltsToPu(plant, body, deviceIndex) ?? body.voltage_pu,
    voltageAPu: body.voltage_a_pu,
    voltageBPu: body.voltage_b_pu,
    voltageCPu: body.voltage_c_pu,
    frequencyHz: body.frequency_hz,
    phaseAngleDeg: body.phase_angle_deg,
    rampS: body.ramp_s,
    durationS: body.duration_s,
    source: body.source,
    outage: body.outage,
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
  };
}

/** A named device must exist before anything is changed for it. */
function checkedIndex(plant: Plant, index: number | undefined): number | undefined {
  return index === undefined ? undefined : plant.device(index).index;
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
  summary: 'Sets grid voltage, frequency, outage',
  description: scope,
  query: deviceQuery,
  body: gridBodySchema,
  reply: gridSchema,
  problems: ['conflict'],
  examples: { body: { voltage_pu: 0.88, ramp_s: 2, duration_s: 10 }, reply: { ...exampleGrid, duration_remaining_s: 12 } },
  handle({ plant }, { query, body }) {
    const index = checkedIndex(plant, query.device);
    plant.setGrid(gridPatch(plant, body, index), index);
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
  handle({ plant }, { query, body }) {
    const index = checkedIndex(plant, query.device);
    plant.setSurroundings(surroundingsPatch(body), index);
    return environmentReply(plant, index);
  },
});

export const surroundingsRoutes: readonly Route[] = [getGrid, setGrid, getEnvironment, setEnvironment];
