import { lazily } from '../../core/lazy.ts';
import { selectedDevice } from '../common/device-replies.ts';
import { chosenWords } from '../common/list-param.ts';
import { HttpProblem } from '../http/errors.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { quantityNames } from './names.ts';
import { consistencyQuery, consistencySchema, exampleConsistency } from './schemas.ts';

/** Few processes are ever asked for it. */
const replies = lazily(() => import('./replies.ts'));

const getConsistency = route({
  method: 'get',
  path: '/consistency',
  tag: 'Core',
  operationId: 'get_consistency',
  summary: 'Each quantity of a device as every protocol presents it, and why they differ',
  description:
    'Each presentation is taken from the road of its protocol: registers as a master reads them through the chain of models ' +
    'with the faults in force, replies of REST, the last message of the stream, points of DNP3 as the next answer has them, ' +
    'the meter values that a charge point would send now, and what a server of IEEE 2030.5 was told last. They are compared ' +
    'with the register of the device; where there is none, with REST. Nothing of it counts as a request, a sample or an ' +
    'occasion of a fault.',
  query: consistencyQuery,
  reply: consistencySchema,
  problems: ['shortage'],
  examples: { reply: exampleConsistency },
  async handle(ctx, { query }) {
    const { chosen, issues } = chosenWords('quantity', query.quantity ?? [], quantityNames);
    if (issues.length > 0) throw new HttpProblem('validation', 'Not all of the quantities are known.', { issues });
    const { consistencyReply } = await replies();
    return consistencyReply(ctx, selectedDevice(ctx, query.device), query.quantity === undefined ? null : chosen);
  },
});

export const consistencyRoutes: readonly Route[] = [getConsistency];
