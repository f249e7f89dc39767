import type { Plant } from '../../contract/plant.ts';
import { camelCased } from '../common/members.ts';
import { deviceQuery } from '../common/schemas.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import {
  environment,
  environmentBodySchema,
  grid,
  gridBodySchema,
  gridEventBodySchema,
  gridEvents,
} from './members.ts';

const scope =
  'Without `device` the request changes the common values of all devices, with it those of one device, which then ' +
  'deviates. A deviation ends by `source: "csv"` (which then is the only value), by `duration_s`, or by the next request ' +
  'without `device`. `ramp_s` and `duration_s` time the values of the same request: alone they are refused.';

/** The index of a request, once its device is known to exist. @throws SimError UNKNOWN_DEVICE */
function checkedIndex(plant: Plant, index: number | undefined): number | undefined {
  return index === undefined ? undefined : plant.device(index).index;
}

const gridReply = (plant: Plant, deviceIndex: number | undefined) =>
  grid.reply(plant.grid(deviceIndex), { plant, deviceIndex });

const environmentReply = (plant: Plant, deviceIndex: number | undefined) =>
  environment.reply(plant.surroundings(deviceIndex), { plant, deviceIndex });

const getGrid = route({
  method: 'get',
  path: '/controls/grid',
  tag: 'Controls',
  operationId: 'get_grid',
  summary: 'Grid conditions in force',
  query: deviceQuery,
  reply: grid.schema,
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
  reply: grid.schema,
  problems: ['conflict'],
  handle({ plant }, { query, body, by }) {
    const index = checkedIndex(plant, query.device);
    plant.setGrid(camelCased(body), index, by);
    return gridReply(plant, index);
  },
});

const listGridEvents = route({
  method: 'get',
  path: '/grid-events',
  tag: 'Controls',
  operationId: 'list_grid_events',
  summary: 'Library of named grid events and their parameters',
  description: 'Frequencies are those of this site: ranges and defaults follow its nominal frequency.',
  reply: gridEvents.schema,
  handle: ({ plant }) => gridEvents.reply(plant),
});

const setGridEvent = route({
  method: 'post',
  path: '/controls/grid/event',
  tag: 'Controls',
  operationId: 'set_grid_event',
  summary: 'Starts a named grid event, or stops the one under way',
  description:
    'The event overrides its quantities until it ends; then the values beneath apply again. ' +
    'Another event replaces it; `controls/grid` without `duration_s` takes the quantities of the request out of it. ' +
    'Scope as `controls/grid`: without `device` the common grid, and every deviation of a device ends.',
  query: deviceQuery,
  body: gridEventBodySchema,
  reply: grid.schema,
  handle({ plant }, { query, body, by }) {
    const index = checkedIndex(plant, query.device);
    if (body.event === null) plant.stopGridEvent(index, by);
    else plant.startGridEvent(body.event, body.parameters ?? {}, index, by);
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
  reply: environment.schema,
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
  reply: environment.schema,
  problems: ['conflict'],
  handle({ plant }, { query, body, by }) {
    const index = checkedIndex(plant, query.device);
    const { irradiance_w_m2: irradianceWm2, ...patch } = body;
    plant.setSurroundings({ ...camelCased(patch), ...(irradianceWm2 !== undefined && { irradianceWm2 }) }, index, by);
    return environmentReply(plant, index);
  },
});

export const surroundingsRoutes: readonly Route[] = [
  getGrid,
  setGrid,
  listGridEvents,
  setGridEvent,
  getEnvironment,
  setEnvironment,
];
