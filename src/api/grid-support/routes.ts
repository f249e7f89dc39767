import type { Plant } from '../../contract/plant.ts';
import type { Device } from '../../contract/device.ts';
import { gridFunctionNames, gridFunctions } from './functions.ts';
import type { GridFunctionName } from './functions.ts';
import type { GridFunction } from './members.ts';
import { functionReply, functionRequest, functionRequests, writeFunctions } from './registers.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { deviceQuery } from '../common/schemas.ts';
import { functionBodySchemas, functionSchemas, gridSupportBodySchema, gridSupportSchema } from './schemas.ts';
import { selectedDevice } from '../common/device-replies.ts';

const wholeRequest =
  'Members that are not given stay as they are; a request is carried out whole or not at all. Control functions ' +
  'act on it from the next tick on. A number must be whole where the register counts whole units (seconds without fractions, ' +
  'sets, percent per second), or the answer is `validation`. A device that does not have the function answers `disabled`.';
const curves =
  'Curves and droop settings are checked as at an adoption and change the set in force; stored sets are not touched.';

function reply(plant: Plant, { bank }: Device, name: GridFunctionName) {
  return functionReply(bank, gridFunctions[name], (at) => plant.dateMs(at));
}

function replyAll(plant: Plant, device: Device) {
  const functions = Object.fromEntries(gridFunctionNames.map((name) => [name, reply(plant, device, name)]));
  return { device_index: device.index, ...(functions as Record<GridFunctionName, ReturnType<typeof reply>>) };
}

function routesOf(name: GridFunctionName): readonly Route[] {
  const { title, sets }: GridFunction = gridFunctions[name];
  const shared = {
    path: `/grid-support/${name.replaceAll('_', '-')}`,
    tag: 'Grid Support',
    query: deviceQuery,
    reply: functionSchemas[name],
  } as const;
  return [
    route({
      ...shared,
      method: 'get',
      operationId: `get_${name}`,
      summary: `Settings of ${title}`,
      handle: (ctx, { query }) => reply(ctx.plant, selectedDevice(ctx, query.device), name),
    }),
    route({
      ...shared,
      method: 'post',
      operationId: `set_${name}`,
      summary: `Sets ${title}`,
      description: sets ? `${wholeRequest} ${curves}` : wholeRequest,
      body: functionBodySchemas[name],
      problems: ['disabled'],
      handle(ctx, { query, body, by }) {
        const device = selectedDevice(ctx, query.device);
        writeFunctions(device.bank, by, [functionRequest(name, '', body)]);
        return reply(ctx.plant, device, name);
      },
    }),
  ];
}

export const gridSupportRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/grid-support',
    tag: 'Grid Support',
    operationId: 'get_grid_support',
    summary: 'Settings of all grid-support functions',
    query: deviceQuery,
    reply: gridSupportSchema,
    handle: (ctx, { query }) => replyAll(ctx.plant, selectedDevice(ctx, query.device)),
  }),
  route({
    method: 'post',
    path: '/grid-support',
    tag: 'Grid Support',
    operationId: 'set_grid_support',
    summary: 'Sets any of the grid-support functions together',
    description: `${wholeRequest} ${curves}`,
    query: deviceQuery,
    body: gridSupportBodySchema,
    reply: gridSupportSchema,
    problems: ['disabled'],
    handle(ctx, { query, body, by }) {
      const device = selectedDevice(ctx, query.device);
      writeFunctions(device.bank, by, functionRequests(body, ''));
      return replyAll(ctx.plant, device);
    },
  }),
  ...gridFunctionNames.flatMap(routesOf),
];
