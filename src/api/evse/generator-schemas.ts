/** Vehicles that come and go by themselves: request and reply. */
import { memo } from '../../core/memo.ts';
import { z } from '../description/zod.ts';
import { isoTime } from '../common/schemas.ts';

const defaults = { seed: 1, ratePerHour: 1, idToken: 'GENERATOR' } as const;
export { defaults as generatorDefaults };

export const generatorBodySchema = memo(() =>
  z
    .strictObject({
      charge_point_id: z.string().optional().openapi({ description: 'Only this station; default all.' }),
      seed: z
        .int()
        .optional()
        .openapi({ description: `The same seed gives the same vehicles; default ${defaults.seed}.` }),
      rate_per_hour: z
        .number()
        .min(0.001)
        .max(60)
        .optional()
        .openapi({
          description: `Arrivals at each connector in a simulated hour; default ${defaults.ratePerHour}.`,
        }),
      id_token: z
        .string()
        .min(1)
        .max(255)
        .optional()
        .openapi({
          description: `Presented where plugging in presents no token by itself; default ${defaults.idToken}.`,
        }),
      stop: z.boolean().optional().openapi({ description: 'true: ends it.' }),
      vehicles: z.enum(['leave', 'stay']).optional().openapi({
        description: 'What those of a generator that ends or is replaced do; default `leave`.',
      }),
    })
    .superRefine(({ stop, seed, rate_per_hour: rate, id_token: token }, ctx) => {
      if (stop !== true) return;
      for (const [name, value] of Object.entries({ seed, rate_per_hour: rate, id_token: token }))
        if (value !== undefined) ctx.addIssue({ code: 'custom', path: [name], message: 'does not go with stop' });
    })
    .openapi('SessionGeneratorRequest'),
);

const generatorSchema = memo(() =>
  z
    .strictObject({
      charge_point_id: z.string(),
      running: z.boolean().openapi({ description: 'Vehicles come and go by themselves.' }),
      seed: z.int().nullable().openapi({ description: 'The same seed gives the same vehicles.' }),
      rate_per_hour: z.number().nullable().openapi({ description: 'Of each connector.' }),
      id_token: z.string().nullable().openapi({ description: 'Presented where plugging in presents none by itself.' }),
      started_at: isoTime.nullable().openapi({ description: 'Simulated time.' }),
      arrivals: z.int().openapi({ description: 'Vehicles that were plugged in.' }),
      turned_away: z.int().openapi({
        description: 'Vehicles that drove on: the connector was occupied, reserved, faulted or out of operation.',
      }),
      departures: z.int().openapi({ description: 'Vehicles that have left after their stay.' }),
      present: z.int().openapi({ description: 'Plugged in now.' }),
      next_arrival_at: isoTime
        .nullable()
        .openapi({ description: 'Simulated time, of the next vehicle at any connector.' }),
    })
    .openapi('SessionGenerator'),
);
export type GeneratorReply = z.output<ReturnType<typeof generatorSchema>>;

export const generatorsSchema = memo(() =>
  z.strictObject({ generators: z.array(generatorSchema()) }).openapi('SessionGenerators'),
);
