import { memo } from '../../core/memo.ts';
import { gridEventNames } from '../../contract/environment.ts';
import { z } from '../description/zod.ts';

const eventName = z.enum(gridEventNames);

export const runningEventSchema = memo(() =>
  z
    .strictObject({
      name: z.string(),
      elapsed_s: z.number().openapi({ description: 'Simulated seconds since it began.' }),
      remaining_s: z.number(),
    })
    .openapi('RunningGridEvent'),
);

const parameterSchema = memo(() =>
  z
    .strictObject({
      name: z.string(),
      unit: z.string().nullable(),
      default: z.union([z.number(), z.string()]),
      minimum: z.number().nullable().openapi({ description: 'Included; null for a word.' }),
      maximum: z.number().nullable().openapi({ description: 'Included; null for a word.' }),
      allowed: z.array(z.string()).nullable().openapi({ description: 'The words; null for a number.' }),
    })
    .openapi('GridEventParameter'),
);

export const gridEventsSchema = memo(() =>
  z
    .strictObject({
      events: z.array(
        z
          .strictObject({
            name: eventName,
            description: z.string(),
            parameters: z.array(parameterSchema()),
          })
          .openapi('GridEvent'),
      ),
    })
    .openapi('GridEvents'),
);

export const gridEventBodySchema = memo(() =>
  z
    .strictObject({
      event: eventName
        .nullable()
        .openapi({ description: 'Name of an event of `grid-events`; null stops the one under way.' }),
      parameters: z
        .record(z.string(), z.union([z.number(), z.string()], { error: 'must be a number or text' }))
        .optional()
        .openapi({ description: 'By name, as `grid-events` lists them; absent ones have their default.' }),
    })
    .refine((body) => body.event !== null || body.parameters === undefined, {
      path: ['parameters'],
      error: 'go with the start of an event, not with its end',
    })
    .openapi('GridEventRequest'),
);

/** One of the events, so that the example stays readable. */
export const exampleGridEvents = {
  events: [
    {
      name: 'phase_jump',
      description: 'Jump of the phase angle. It stays until the angle is set or jumps again.',
      parameters: [{ name: 'deg', unit: 'deg', default: 20, minimum: -180, maximum: 180, allowed: null }],
    },
  ],
};
