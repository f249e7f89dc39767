/** Charge points, their messages and calls. */
import { memo } from '../../core/memo.ts';
import {
  ocppBootStatuses,
  ocppConnectionStates,
  ocppFindingKinds,
  ocppMessageTypes,
  ocppSubprotocols,
} from '../../contract/ocpp.ts';
import { isOcppUrl, ocppPasswordText, ocppUrlText, ocppVersions } from '../../contract/ocpp-settings.ts';
import { wireDirections } from '../../core/wire/wire-log.ts';
import { afterIdParam, deviceIndex, exampleTime, isoTime, newestParam } from '../common/schemas.ts';
import { z } from '../description/zod.ts';

export const text = (description: string) => z.string().openapi({ description });
export const textOrNull = (description: string) => z.string().nullable().openapi({ description });
export const flag = (description: string) => z.boolean().openapi({ description });
export const count = (description: string) => z.int().min(0).openapi({ description });
export const numberOrNull = (description: string) => z.number().nullable().openapi({ description });
export const time = (description: string) => isoTime.openapi({ description, example: exampleTime });
export const timeOrNull = (description: string) => isoTime.nullable().openapi({ description, example: exampleTime });

const payloadSchema = memo(() =>
  z.record(z.string(), z.unknown()).openapi('OcppPayload', { description: 'Members with the names of the standard.' }),
);

/** Members by names of the standard. */
export const json = (description: string) => payloadSchema().openapi({ description });

export const stationParams = z.strictObject({
  id: z.string().openapi({
    param: { name: 'id' },
    description:
      'Charge point identity, URL-encoded, case-sensitive; where no station has it, the index of its device.',
  }),
});

const securityProfile = memo(() => z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)]));

export const statusSchema = memo(() =>
  z
    .strictObject({
      id: text('Charge point identity.'),
      device_index: deviceIndex,
      enabled: flag('Whether OCPP was switched on with `--ocpp_enable`.'),
      version: z.enum(ocppVersions).openapi({ description: 'Version that it asks for.' }),
      subprotocol: z
        .enum(ocppSubprotocols)
        .nullable()
        .openapi({ description: 'Agreed with the central system; null: not connected.' }),
      url: textOrNull('Endpoint of the central system, without credentials; null: disabled.'),
      connection_state: z.enum(ocppConnectionStates).openapi({ description: 'State of the WebSocket.' }),
      boot_status: z.enum(ocppBootStatuses).openapi({ description: 'Answer to the last BootNotification.' }),
      security_profile: securityProfile().openapi({
        description: '0 none; 1 basic authentication; 2 with TLS; 3 TLS with client certificate.',
      }),
      heartbeat_interval_s: numberOrNull('Seconds between two Heartbeats; null: none are sent.'),
      last_heartbeat_at: timeOrNull('Wall time of the last answer to a Heartbeat; null: none.'),
      connected_since: timeOrNull('Wall time; null: not connected.'),
      reconnect_in_s: numberOrNull('Time until the next attempt, s; null: none is planned.'),
      queue: z
        .strictObject({
          calls: count('Calls that wait for the line.'),
          transaction_messages: count('Messages of transactions that are not answered yet.'),
        })
        .openapi('OcppQueue'),
      last_error: textOrNull('In words; null: none.'),
      clock_offset_s: numberOrNull('Time of the central system less that of this machine, s; null: it has told none.'),
      tls: z
        .strictObject({ version: text('Such as `TLSv1.3`.'), cipher: text('Name of the cipher suite.') })
        .nullable()
        .openapi({ description: 'Null: in clear, or not connected.' }),
    })
    .openapi('ChargePoint'),
);
export type StatusReply = z.output<ReturnType<typeof statusSchema>>;

export const chargePointsSchema = memo(() =>
  z
    .strictObject({
      enabled: flag('Whether OCPP was switched on with `--ocpp_enable`.'),
      charge_points: z.array(statusSchema()).openapi({ description: 'In the order of their devices; disabled: none.' }),
    })
    .openapi('ChargePoints'),
);

export const connectBodySchema = memo(() =>
  z
    .strictObject({
      url: z
        .string()
        .refine(isOcppUrl, { error: `must be ${ocppUrlText}` })
        .optional()
        .openapi({
          description:
            'Endpoint of the central system, at most 1000 characters: a ws or wss URL without credentials, query and fragment. ' +
            'Outbound rules apply. Default unchanged.',
          example: 'ws://127.0.0.1:8180/steve/websocket/CentralSystemService',
        }),
      version: z.enum(ocppVersions).optional().openapi({ description: 'Default unchanged.' }),
      security_profile: securityProfile().optional().openapi({ description: 'Default unchanged.' }),
      password: z
        .string()
        .min(1)
        .max(64)
        .optional()
        .openapi({ description: `Of security profiles 1 and 2: ${ocppPasswordText}. Never shown. Default unchanged.` }),
    })
    .openapi('OcppConnectRequest'),
);
export type ConnectBody = z.output<ReturnType<typeof connectBodySchema>>;

const isCloseCode = (code: number) => (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || code >= 3000;

export const disconnectBodySchema = memo(() =>
  z
    .strictObject({
      code: z
        .int()
        .min(1000)
        .max(4999)
        .refine(isCloseCode, { error: 'must be a close code that an endpoint may send (RFC 6455 7.4)' })
        .optional()
        .openapi({ description: 'Close code of the WebSocket, 1000 to 4999; default 1000.' }),
    })
    .openapi('OcppDisconnectRequest'),
);

export const bootBodySchema = memo(() =>
  z
    .strictObject({
      reason: z
        .string()
        .min(1)
        .max(50)
        .optional()
        .openapi({ description: 'Reason of the boot in 2.x, at most 50 characters; refused for 1.6, which has none.' }),
    })
    .openapi('OcppBootRequest'),
);

const messageId = text('Id of the message on the wire.');
const action = text('Name of the message.');
const errorMembers = memo(() =>
  z
    .strictObject({
      code: text('Error code of OCPP-J.'),
      description: text('In the words of the central system.'),
      details: json('As the central system has sent them.'),
    })
    .openapi('OcppCallError'),
);

export const callResultSchema = memo(() =>
  z
    .strictObject({
      message_id: messageId,
      action,
      duration_ms: z.number().min(0).openapi({ description: 'From the sending to the answer, ms.' }),
      result: json('Payload of the CALLRESULT; absent: a CALLERROR came.').optional(),
      error: errorMembers().optional().openapi({ description: 'The CALLERROR; absent: a CALLRESULT came.' }),
    })
    .openapi('OcppCallResult'),
);

export const maxCallText = 32_768;
const maxAction = 100;

export const callBodySchema = memo(() =>
  z
    .strictObject({
      action: z
        .string()
        .min(1)
        .max(maxAction)
        .openapi({ description: `Name of the message, at most ${maxAction} characters.`, example: 'DataTransfer' }),
      payload: json('Members of the message with the names of the standard.'),
      validate: z.boolean().optional().openapi({
        description: 'False: also sends a payload that breaks its schema, for negative tests. Default true.',
      }),
      timeout_s: z
        .number()
        .min(1)
        .max(300)
        .optional()
        .openapi({ description: 'How long to wait for the answer, 1 to 300 s; default 30.' }),
    })
    .openapi('OcppCallRequest'),
);

const maxMessages = 1000;
export const defaultMessages = 100;

export const messagesQuery = z.strictObject({
  limit: newestParam(maxMessages, defaultMessages).optional(),
  after_id: afterIdParam.optional().openapi({ description: 'Only messages with a higher id.' }),
  action: z
    .string()
    .min(1)
    .max(maxAction)
    .optional()
    .openapi({
      param: { name: 'action' },
      description: `Only calls of this name and their answers, at most ${maxAction} characters; default all.`,
      example: 'StartTransaction',
    }),
  direction: z
    .enum(wireDirections)
    .optional()
    .openapi({ param: { name: 'direction' }, description: '`in`: received; `out`: sent. Default both.' }),
});

const messageSchema = memo(() =>
  z
    .strictObject({
      id: z.int().min(1).openapi({ description: 'Rises with each message of the simulator.' }),
      timestamp: time('Wall time.'),
      direction: z
        .enum(wireDirections)
        .openapi({ description: '`in`: received by the charge point; `out`: sent by it.' }),
      type: z.enum(ocppMessageTypes).openapi({ description: '`invalid`: no frame of OCPP-J.' }),
      message_id: textOrNull('Id on the wire; null: it has none.'),
      action: textOrNull('Name of the call, also in its answer; null: unknown.'),
      payload: z.union([payloadSchema(), z.string()]).openapi({
        description:
          'Payload; of an error `{code, description, details}`; of what is no frame its text. Secrets are hidden.',
      }),
      duration_ms: numberOrNull('Of an answer: time since its call, ms; null: no answer, or the call is unknown.'),
      truncated: flag('Whether the end of a long message was cut off.'),
    })
    .openapi('OcppMessage'),
);

/** Names of the members of a message. */
export const messageMembers = (): readonly string[] => Object.keys(messageSchema().shape);

export const messagesSchema = memo(() =>
  z
    .strictObject({ messages: z.array(messageSchema()).openapi({ description: 'Oldest first.' }) })
    .openapi('OcppMessages'),
);
export type MessagesReply = z.output<ReturnType<typeof messagesSchema>>;

export const findingsSchema = memo(() =>
  z
    .strictObject({
      findings: z
        .array(
          z
            .strictObject({
              id: z.int().min(1).openapi({ description: 'Rises by one with each finding.' }),
              timestamp: time('Wall time.'),
              kind: z.enum(ocppFindingKinds).openapi({ description: 'Against the schema, or against a rule.' }),
              action: textOrNull('Name of the message; null: unknown.'),
              message_id: textOrNull('Id on the wire; null: unknown.'),
              clause: text('Of the specification, such as `OCPP-J 1.6 4.1.4`.'),
              text: text('In a sentence.'),
            })
            .openapi('OcppFinding'),
        )
        .openapi({ description: 'Newest first.' }),
    })
    .openapi('OcppFindings'),
);
export type FindingsReply = z.output<ReturnType<typeof findingsSchema>>;
