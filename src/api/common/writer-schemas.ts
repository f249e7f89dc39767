import { overrideNames } from '../../contract/overrides.ts';
import { z } from '../description/zod.ts';
import { exampleTime, isoTime, sourceSchema } from './schemas.ts';

export const sourceDetailSchema = z
  .string()
  .nullable()
  .openapi({ description: 'Which one: peer as `address:port`, mRID, control id; null where the source says it all.' });

/** Instants are kept as times since the start, and shown as dates of the present clock. */
export const asSetNow = 'On the simulated clock as it is set now: how long ago stays true when the clock is set.';

const members = {
  source: sourceSchema,
  source_detail: sourceDetailSchema,
  changed_at: isoTime.openapi({ description: `Simulated time of the write. ${asSetNow}` }),
};

/** Last writer of something that is no register. */
export const writerSchema = z.strictObject(members).openapi('Writer', { description: 'Who wrote last, and when.' });

export const overrideSchema = z
  .strictObject({
    name: z.enum(overrideNames).openapi({
      description: 'What was set; `battery_mode` with its power and duration, `evse_cable` by plugging in or out.',
    }),
    connector_id: z
      .int()
      .min(0)
      .nullable()
      .openapi({ description: 'Of a charging station, 0 the whole of it; null where it is not about a connector.' }),
    ...members,
  })
  .openapi('Override');

export type WriterReply = z.output<typeof writerSchema>;
export type OverrideReply = z.output<typeof overrideSchema>;

export const exampleWriter = { source: 'rest' as const, source_detail: '127.0.0.1:50123', changed_at: exampleTime };
