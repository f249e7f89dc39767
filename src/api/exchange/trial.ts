/** Powers under other voltages, without time passing. */
import type { ExchangeTrial } from '../../contract/exchange.ts';
import { memo } from '../../core/lazy.ts';
import { isoTime } from '../common/schemas.ts';
import { z } from '../description/zod.ts';
import { route } from '../http/route.ts';
import { columnsOf, valuesShape } from './body.ts';
import { flowColumnNames, flowColumns } from './columns.ts';
import { deskOf } from './desk.ts';
import { inTurn, maxBodyBytes, maxStepS, minStepS, presentExchange, session } from './session.ts';

const trialSchema = memo(() =>
  z
    .strictObject({
      session,
      dt_s: z
        .number()
        .min(minStepS)
        .max(maxStepS)
        .nullable()
        .openapi({ description: 'Time after which the powers count, s; null: at the end of all responses.' }),
      phases: z.boolean().optional().openapi({ description: 'Adds power and current of each phase; default: false.' }),
      ...valuesShape(),
    })
    .openapi('ExchangeTrialRequest'),
);

const column = z.array(z.number().nullable()).openapi({ description: 'As in the answer of a step.' });

const replySchema = memo(() =>
  z
    .strictObject({
      session: z.string().openapi({ description: 'As in the request.' }),
      dt_s: z.number().nullable().openapi({ description: 'As in the request.' }),
      sim_time: isoTime,
      ...Object.fromEntries(flowColumnNames.map((name) => [name, column.optional()])),
      exact: z.array(z.int().min(0).max(1).nullable()).openapi({
        description:
          '1: a step of this length under these values ends with this power, as long as sun and wind stay. 0: unless something ' +
          'else happens first, which only a step shows.',
      }),
    })
    .openapi('ExchangeTrialReply'),
);

const exactly = (trial: ExchangeTrial | null) => trial && (trial.exact ? 1 : 0);

export const exchangeTrialRoute = route({
  method: 'post',
  path: '/exchange/trial',
  tag: 'Exchange',
  operationId: 'try_exchange',
  routine: true,
  maxBodyBytes,
  summary: 'Powers under other values of the grid, without time passing',
  description:
    'For a solver that iterates within a step: nothing changes, whatever is asked. Values that are absent are the present ones. ' +
    'The request waits for the end of a tick under way.',
  body: trialSchema,
  reply: replySchema,
  problems: ['conflict', 'too-many-requests'],
  handle(ctx, { body }) {
    const { plant } = ctx;
    const exchange = presentExchange(plant, body.session);
    const columns = columnsOf(body, exchange);
    return inTurn(ctx, body, async () => {
      const trials = await plant.exchange.betweenTicks(() => plant.exchange.trial(columns, body.dt_s));
      deskOf(ctx).counts.trials += 1;
      return {
        session: exchange.session,
        dt_s: body.dt_s,
        sim_time: new Date(plant.dateMs(plant.latest.sim)).toISOString(),
        ...flowColumns(trials, body.phases ?? false),
        exact: trials.map(exactly),
      };
    });
  },
});
