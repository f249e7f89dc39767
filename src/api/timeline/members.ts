/** Members of the timeline and of the list of what needs attention that both have. */
import { refTypes, timelineLevels } from '../../core/timeline/entry.ts';
import { timelineKinds } from '../../core/timeline/entry.ts';
import type { TimelineEntryJson } from '../../contract/timeline.ts';
import { memo } from '../../core/lazy.ts';
import { deviceIndex, isoTime, sourceSchema } from '../common/schemas.ts';
import { sourceDetailSchema } from '../common/writers.ts';
import { z } from '../description/zod.ts';
import { shardText } from '../fleet/members.ts';

export const refSchema = memo(() =>
  z
    .strictObject({
      type: z.enum(refTypes).openapi({ description: 'What the id names.' }),
      id: z.string().openapi({
        description:
          'Index of a device, id of an entry, fault, finding or capture, name of a scenario or point; of a message channel and id, ' +
          'as in `ocpp/CP-1/17`.',
      }),
    })
    .openapi('TimelineRef', { description: 'The place that shows the cause.' }),
);

export const levelSchema = memo(() =>
  z.enum(timelineLevels).openapi('TimelineLevel', {
    description: '`bad`: something has failed; `warn`: something to look at; `info`: anything else.',
  }),
);

export const devicesMember = z
  .array(deviceIndex)
  .openapi({ description: 'All devices concerned, in the order in which they came; empty: none.' });

export const deviceMember = deviceIndex.nullable().openapi({ description: 'The device; null: none, or several.' });

export const entrySchema = memo(
  () =>
    z
      .strictObject({
        id: z
          .int()
          .min(1)
          .openapi({ description: 'Ascending; never used twice, with `--state_dir` over restarts too.' }),
        sim_time: isoTime.openapi({ description: 'Simulated time, of the first of equal changes.' }),
        wall_time: isoTime.openapi({ description: 'Wall time, of the first of equal changes.' }),
        kind: z.enum(timelineKinds).openapi({
          description:
            '`command`: a request to REST, by the dashboard or a scenario too; `peer`: a write or call of a peer that changed ' +
            'something; `service`: trips, returns and other changes of the service state; `limit`: another limit holds the ' +
            'power; `refusal`: a request, write or call was refused; `connection`: a peer came, was lost or went silent.',
        }),
        level: levelSchema(),
        device_index: deviceMember,
        devices: devicesMember,
        by: z
          .strictObject({ source: sourceSchema, source_detail: sourceDetailSchema })
          .nullable()
          .openapi({ description: 'Who did it; null: the simulator itself.' }),
        title: z.string().openapi({ description: 'A few words, the same for equal changes.' }),
        text: z
          .string()
          .openapi({ description: 'What happened, in a sentence. May quote data from peers: show it as text.' }),
        count: z
          .int()
          .min(1)
          .openapi({ description: 'Number of equal changes from one source within 5 s of wall time.' }),
        ref: refSchema().nullable().openapi({ description: 'Null: there is no such place.' }),
        message: z
          .string()
          .nullable()
          .openapi({
            description:
              'Channel and id of the message that made it, the first of equal changes, as in `modbus/17` or `ocpp/CP-1/17`. ' +
              'Null: no message made it, or the messages of the protocol were not recorded.',
          }),
        shard: z.string().optional().openapi({ description: shardText }),
      })
      .openapi('TimelineEntry') as unknown as z.ZodType<TimelineEntryJson>,
);
