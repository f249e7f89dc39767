import { memo } from '../../core/memo.ts';
import { csipResponseResults, csipDerDocuments } from '../../contract/csip-reports.ts';
import { afterIdParam, deviceIndex, deviceParam, newestParam } from '../common/schemas.ts';
import { writerSchema } from '../common/writer-schemas.ts';
import { z } from '../description/zod.ts';
import {
  byServer,
  count,
  flag,
  integer,
  integerOrNull,
  number,
  numberOrNull,
  text,
  textOrNull,
  time,
  timeOrNull,
} from './members.ts';
import { clientParam, documentSchema } from './schemas.ts';

const sentSchema = memo(() =>
  z
    .strictObject({
      sent_at: time('Wall time of the PUT.'),
      result: z
        .enum(['accepted', 'refused', 'failed', 'dropped'])
        .openapi({ description: '`refused`: by the server; `failed`: no answer; `dropped`: by a fault.' }),
      http_status: integerOrNull('Status of the answer; null: none came.'),
      href: text('Where it went.'),
      body: documentSchema(),
    })
    .openapi('CsipSentDocument'),
);

const sent = (name: string) =>
  sentSchema()
    .nullable()
    .openapi({ description: `${name} as last sent; null: never.` });

export const derSchema = memo(() =>
  z
    .strictObject({
      capability: sent('DERCapability'),
      settings: sent('DERSettings'),
      status: sent('DERStatus'),
      availability: sent('DERAvailability'),
    })
    .openapi('CsipDer'),
);

export const derBodySchema = memo(() =>
  z
    .strictObject({
      post: z
        .array(z.enum(csipDerDocuments))
        .min(1)
        .max(csipDerDocuments.length)
        .openapi({ description: `Documents to send, 1 to ${csipDerDocuments.length}.` }),
    })
    .openapi('CsipDerRequest'),
);

export const readingsSchema = memo(() =>
  z
    .strictObject({
      mup_href: textOrNull('The MirrorUsagePoint; null: not created.'),
      post_rate_s: numberOrNull('postRate, s; null: none was given.'),
      sets: z
        .array(
          z
            .strictObject({
              mrid: text('mRID of the MirrorMeterReading.'),
              description: textOrNull('In words; null: none.'),
              device_index: deviceIndex,
              uom: integer('UomType: 38 W, 63 var, 29 V, 33 Hz, 72 Wh.'),
              flow_direction: integerOrNull('1: forward, to the customer; 19: reverse; null: none.'),
              phase: integerOrNull('PhaseCode; null: none.'),
              multiplier: integer('Power of ten of the values on the wire.'),
              last_post: timeOrNull('Wall time of the last post; null: none.'),
              values: z
                .array(
                  z
                    .strictObject({
                      start: time(`Begin of its interval, ${byServer}.`),
                      duration_s: number('Length of its interval, s.'),
                      value: number('Scaled by the multiplier.'),
                    })
                    .openapi('CsipReading'),
                )
                .openapi({ description: 'Of the last post, oldest first.' }),
            })
            .openapi('CsipReadingSet'),
        )
        .openapi({ description: 'One for each quantity.' }),
    })
    .openapi('CsipReadings'),
);

/** Octets of `details` (String32), and ranges of UInt8. */
const maxDetails = 32;
const maxOctet = 255;

export const logEventsSchema = memo(() =>
  z
    .strictObject({
      enabled: flag('Whether alarms are sent as LogEvents.'),
      events: z
        .array(
          z
            .strictObject({
              created_at: time(`createdDateTime, ${byServer}.`),
              function_set: integer('11: DER.'),
              code: integer('logEventCode: twice the bit of the alarm, plus one at its end.'),
              event_id: integer('logEventID.'),
              pen: integer('logEventPEN.'),
              profile_id: integer('profileID.'),
              details: textOrNull('In words; null: none.'),
              device_index: deviceIndex,
              result: z.enum(csipResponseResults).openapi({ description: '`queued`: to be sent, or sent again.' }),
            })
            .openapi('CsipLogEvent'),
        )
        .openapi({ description: 'Newest first.' }),
    })
    .openapi('CsipLogEvents'),
);

export const logEventsBodySchema = memo(() =>
  z
    .strictObject({
      enabled: z.boolean().optional().openapi({ description: 'Whether alarms are sent; default unchanged.' }),
      code: z
        .int()
        .min(0)
        .max(maxOctet)
        .optional()
        .openapi({ description: `Sends one LogEvent with this code, 0 to ${maxOctet}; default none.` }),
      function_set: z
        .int()
        .min(0)
        .max(maxOctet)
        .optional()
        .openapi({ description: `Function set of that LogEvent, 0 to ${maxOctet}; default 11, DER.` }),
      details: z
        .string()
        .max(maxDetails)
        .optional()
        .openapi({ description: `Text of that LogEvent, at most ${maxDetails} characters; default none.` }),
    })
    .refine(({ code, function_set: set }) => code !== undefined || set === undefined, {
      path: ['function_set'],
      error: 'needs code',
    })
    .refine(({ code, details }) => code !== undefined || details === undefined, {
      path: ['details'],
      error: 'needs code',
    })
    .openapi('CsipLogEventRequest'),
);

export const subscriptionsSchema = memo(() =>
  z
    .strictObject({
      notification_uri: textOrNull('Where notifications are received; null: nothing listens.'),
      subscriptions: z
        .array(
          z
            .strictObject({
              resource: text('subscribedResource.'),
              href: textOrNull('The Subscription on the server; null: not accepted.'),
              state: z
                .enum(['pending', 'active', 'refused', 'cancelled'])
                .openapi({ description: '`cancelled`: by the server.' }),
              renewed_at: timeOrNull('Wall time of the last acceptance; null: none.'),
              notifications: count('Notifications received.'),
              last_error: textOrNull('In words; null: none.'),
            })
            .openapi('CsipSubscription'),
        )
        .openapi({ description: 'By resource.' }),
    })
    .openapi('CsipSubscriptions'),
);

const maxHref = 1000;

export const subscribeBodySchema = memo(() =>
  z
    .strictObject({
      resource: z
        .string()
        .regex(/^[!-~]+$/, { error: 'must be an address without spaces' })
        .max(maxHref)
        .openapi({
          description: `Address of a resource that was read, at most ${maxHref} characters.`,
          example: '/edev/0/fsa',
        }),
      enabled: z.boolean().openapi({ description: 'Whether it is subscribed to.' }),
    })
    .openapi('CsipSubscriptionRequest'),
);

const maxNotifications = 500;
export const defaultNotifications = 50;

export const notificationsQuery = z.strictObject({
  device: clientParam,
  limit: newestParam(maxNotifications, defaultNotifications).optional(),
});

export const notificationsSchema = memo(() =>
  z
    .strictObject({
      notifications: z
        .array(
          z
            .strictObject({
              received_at: time('Wall time.'),
              resource: textOrNull('subscribedResource; null: none was given.'),
              status: integerOrNull(
                '0: change, 1: cancelled, 2: moved, 3: changed definition, 4: deleted; null: none.',
              ),
              content: textOrNull('Name of the document inside; null: none.'),
              http_status: integer('What it was answered with.'),
              peer: text('`address:port` of the sender.'),
            })
            .openapi('CsipNotification'),
        )
        .openapi({ description: 'Newest first.' }),
    })
    .openapi('CsipNotifications'),
);

const maxMessages = 500;
export const defaultMessages = 100;
const maxPath = 500;

export const messagesQuery = z.strictObject({
  limit: newestParam(maxMessages, defaultMessages).optional(),
  after_id: afterIdParam.optional().openapi({ description: 'Only messages with a higher id.' }),
  method: z
    .enum(['GET', 'PUT', 'POST', 'DELETE'])
    .optional()
    .openapi({ param: { name: 'method' }, description: 'Only requests of this method; default all.' }),
  path: z
    .string()
    .min(1)
    .max(maxPath)
    .optional()
    .openapi({
      param: { name: 'path' },
      description: `Only requests whose path begins so, at most ${maxPath} characters; default all.`,
      example: '/edev',
    }),
  device: deviceParam.optional().openapi({ description: 'Only messages about the device of this index; default all.' }),
});

const headers = (of: string) =>
  z.record(z.string(), z.string()).openapi({ description: `Headers of the ${of} by their names in lower case.` });

const messageSchema = memo(() =>
  z
    .strictObject({
      id: z.int().min(1).openapi({ description: 'Rises by one with each message since the start, kept or not.' }),
      timestamp: time('Wall time of the request.'),
      direction: z
        .enum(['out', 'in'])
        .openapi({ description: '`out`: a request of the client; `in`: a notification of the server.' }),
      peer: text('`address:port` of the server.'),
      device_index: z
        .int()
        .min(0)
        .nullable()
        .openapi({ description: 'The device that it is about; null: none, or several.' }),
      method: text('Method of the request.'),
      url: text('Address of the request.'),
      status: integerOrNull('Status of the answer; null: none came.'),
      duration_ms: numberOrNull('Until the end of the answer, ms; null: none came.'),
      request_headers: headers('request'),
      request_body: textOrNull('Null: none.'),
      response_headers: headers('answer'),
      response_body: textOrNull('Null: none.'),
      truncated: flag('Whether a body was cut off at 256 KiB.'),
      error: textOrNull('Why no answer came; null: one did.'),
    })
    .openapi('CsipMessage'),
);

/** Names of the members of a message. */
export const messageMembers = (): readonly string[] => Object.keys(messageSchema().shape);

const recorderMembers = {
  enabled: flag('Whether messages are recorded.'),
  capacity: count('Messages that can be kept; 0: disabled.'),
  kept: count('Messages kept now, in 8 MiB of octets at most.'),
  dropped: count('Messages that had to go for others since the start.'),
  last_id: count('Id of the last message; 0: there was none.'),
  changed_by: writerSchema.nullable().openapi({ description: 'Last writer of the recorder; null: as started.' }),
};

export const messagesSchema = memo(() =>
  z
    .strictObject({ ...recorderMembers, messages: z.array(messageSchema()).openapi({ description: 'Oldest first.' }) })
    .openapi('CsipMessages'),
);

export const recorderSchema = z.strictObject(recorderMembers).openapi('CsipRecorder');

export const recorderBodySchema = memo(() =>
  z
    .strictObject({
      enabled: z.boolean().openapi({ description: 'Whether messages are recorded from now on.' }),
      clear: z
        .boolean()
        .optional()
        .openapi({ description: 'True: forgets the messages that are kept. Default false.' }),
    })
    .openapi('CsipRecorderRequest'),
);
