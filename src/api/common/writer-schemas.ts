import { memo } from '../../core/lazy.ts';
import { overrideNames } from '../../contract/device.ts';
import { z } from '../description/zod.ts';
import { isoTime, sourceSchema } from './schemas.ts';

export const sourceDetailSchema = z
  .string()
  .nullable()
  .openapi({ description: 'Peer as `address:port`, mRID or control id; null if the source has none.' });

/** Instants are kept as times since the start, and shown as dates of the current clock. */
export const asSetNow =
  'Shown by the current simulated clock: setting the clock shifts it, so that the elapsed time stays right.';

const members = {
  source: sourceSchema,
  source_detail: sourceDetailSchema,
  changed_at: isoTime.openapi({ description: `Simulated time of the write. ${asSetNow}` }),
};

/** Last writer of something that has no register. */
export const writerSchema = z
  .strictObject(members)
  .openapi('Writer', { description: 'The last writer, and when it wrote.' });

export const overrideSchema = memo(() =>
  z
    .strictObject({
      name: z.enum(overrideNames).openapi({
        description: 'What was set; `battery_mode` with its power and duration, `evse_cable` by plugging in or out.',
      }),
      connector_id: z.int().min(0).nullable().openapi({
        description:
          'Connector of a charging station, 0 for the whole station; null if it does not concern a connector.',
      }),
      ...members,
    })
    .openapi('Override'),
);

export const lastWriteSchema = z
  .strictObject({
    name: z.string().openapi({
      description:
        'The first point of the write, as `704.WMaxLimPct`, or the name of what a command set, as in `overrides` of `controls`.',
      example: '704.WMaxLimPctEna',
    }),
    ...members,
  })
  .openapi('LastWrite', { description: 'The newest write of registers and commands.' });

export type LastWriteReply = z.output<typeof lastWriteSchema>;
export type WriterReply = z.output<typeof writerSchema>;
export type OverrideReply = z.output<ReturnType<typeof overrideSchema>>;
