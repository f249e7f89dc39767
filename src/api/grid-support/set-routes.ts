import { selectedDevice } from '../common/device-replies.ts';
import { chosenWords } from '../common/list-param.ts';
import { invalidAll } from '../http/errors.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { setFunctionNames, setsReply } from './set-replies.ts';
import { setsQuery, storedSetsSchema } from './set-schemas.ts';

const getSets = route({
  method: 'get',
  path: '/grid-support/sets',
  tag: 'Grid Support',
  operationId: 'get_stored_sets',
  summary: 'Sets of the curve and control models, with whether each could be adopted',
  description:
    'Every set has the members of the set in force, as `grid-support` shows them. Stored sets are written through ' +
    '`registers/{model_id}` or Modbus, and adopted by the request point of their model; a request to `grid-support` ' +
    'changes set 1 alone. The example shows one function.',
  query: setsQuery,
  reply: storedSetsSchema,
  handle(ctx, { query }) {
    const device = selectedDevice(ctx, query.device);
    const { chosen, issues } = chosenWords('function', query.function ?? setFunctionNames, setFunctionNames);
    if (issues.length > 0) throw invalidAll(issues);
    const names = setFunctionNames.filter((name) => chosen.includes(name));
    return {
      device_index: device.index,
      ...Object.fromEntries(names.map((name) => [name, setsReply(ctx.plant, device, name)])),
    };
  },
});

export const storedSetRoutes: readonly Route[] = [getSets];
