/** Faults of an OCPP charge point, seen by its central system. */
import { z } from 'zod';
import { carriedOut, faultKind, noParameters, amount, factor, waitMs } from './rows.ts';

const ocpp = { protocol: 'ocpp', layer: 'transport' } as const;
const messages = ['actions', 'connectors'] as const;

/** Maximum skew of a clock, s: a year. */
const maxSkewS = 31_536_000;

export const dropSocketFault = faultKind({
  ...ocpp,
  kind: 'drop_socket',
  summary: 'The connection breaks without a close frame in place of the next message, received or sent.',
  targets: messages,
  parameters: noParameters,
});

export const noPongFault = faultKind({
  ...ocpp,
  kind: 'no_pong',
  summary: 'Pings of the central system stay unanswered.',
  targets: [],
  parameters: noParameters,
});

export const delayFault = faultKind({
  ...ocpp,
  kind: 'delay',
  summary: 'Messages, calls and answers alike, are sent late.',
  targets: messages,
  parameters: z.strictObject({
    delay_ms: waitMs.meta({ description: 'Delay, wall ms.' }),
    jitter_ms: waitMs.default(0).meta({ description: 'Random addition from 0 to this many wall ms; default 0.' }),
  }),
});

export const noResponseFault = faultKind({
  ...ocpp,
  kind: 'no_response',
  summary: 'A call of the central system is never answered.',
  targets: messages,
  parameters: z.strictObject({
    carried_out: carriedOut.meta({ description: 'True: the call is carried out nevertheless; default false.' }),
  }),
});

export const callErrorFault = faultKind({
  ...ocpp,
  kind: 'call_error',
  summary: 'A call of the central system is answered by CALLERROR and not carried out.',
  targets: messages,
  parameters: z.strictObject({
    code: z
      .string()
      .regex(/^[A-Za-z]{1,50}$/, { error: 'must be an error code such as InternalError' })
      .default('InternalError')
      .meta({ description: 'Error code, also one that the version does not have; default InternalError.' }),
    description: z
      .string()
      .max(255)
      .default('')
      .meta({ description: 'Text of the error (errorDescription); default empty.' }),
  }),
});

export const ignoreCallFault = faultKind({
  ...ocpp,
  kind: 'ignore_call',
  layer: 'acceptance',
  summary: 'A call of the central system is answered as accepted and not carried out.',
  targets: messages,
  parameters: noParameters,
});

export const malformedFault = faultKind({
  ...ocpp,
  kind: 'malformed',
  summary: 'The message that is sent is no valid frame.',
  targets: messages,
  parameters: z.strictObject({
    mode: z
      .enum(['truncated', 'not_array', 'wrong_type', 'missing_payload', 'null_members', 'empty'])
      .default('truncated')
      .meta({
        description:
          'Half of it, an object in place of the array, message type 9, without its last entry, null in place ' +
          'of each member of its payload, or an empty text; default truncated.',
      }),
  }),
});

export const duplicateFault = faultKind({
  ...ocpp,
  kind: 'duplicate',
  summary: 'The message is sent twice with the same id.',
  targets: messages,
  parameters: noParameters,
});

export const wrongMessageIdFault = faultKind({
  ...ocpp,
  kind: 'wrong_message_id',
  summary: 'An answer has another message id than its call.',
  targets: messages,
  parameters: z.strictObject({
    message_id: z
      .string()
      .min(1)
      .max(36)
      .optional()
      .meta({ description: 'The id, 1 to 36 characters; default: one that no call has.' }),
  }),
});

export const missingMemberFault = faultKind({
  ...ocpp,
  kind: 'missing_member',
  summary: 'Members are missing in the payloads that are sent.',
  targets: messages,
  parameters: z.strictObject({
    members: z
      .array(z.string().regex(/^[A-Za-z][A-Za-z0-9]{0,63}$/))
      .min(1)
      .max(20)
      .meta({ description: 'Names such as timestamp, 1 to 20, at any depth.' }),
  }),
});

export const flappingFault = faultKind({
  ...ocpp,
  kind: 'flapping',
  summary: 'Each connection breaks after a while.',
  targets: [],
  parameters: z.strictObject({
    period_s: z.number().min(0.1).max(86_400).default(10).meta({
      description: 'Time from the opening of a connection to its end, wall s, 0.1 to 86400; default 10.',
    }),
  }),
});

export const clockSkewFault = faultKind({
  ...ocpp,
  kind: 'clock_skew',
  summary: 'Times in the messages that are sent are wrong by a constant.',
  targets: [],
  parameters: z.strictObject({
    skew_s: z
      .int()
      .min(-maxSkewS)
      .max(maxSkewS)
      .meta({ description: `Seconds added to each time, -${maxSkewS} to ${maxSkewS}.` }),
  }),
});

export const meterJumpFault = faultKind({
  protocol: 'ocpp',
  layer: 'reading',
  kind: 'meter_jump',
  summary: 'Energy registers of the meter are reported wrong; what the device counts is untouched.',
  targets: messages,
  parameters: z.strictObject({
    offset_wh: amount.default(0).meta({ description: 'Added to each energy register, Wh; default 0.' }),
    factor: factor.default(1).meta({ description: 'Multiplies each energy register before the addition; default 1.' }),
  }),
});

export const ocppFaults = [
  dropSocketFault,
  noPongFault,
  delayFault,
  noResponseFault,
  callErrorFault,
  ignoreCallFault,
  malformedFault,
  duplicateFault,
  wrongMessageIdFault,
  missingMemberFault,
  flappingFault,
  clockSkewFault,
  meterJumpFault,
];
