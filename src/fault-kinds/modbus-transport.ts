/** Faults of Modbus on the wire: connections, requests and answers. */
import { z } from 'zod';
import { carriedOut, faultKind, noParameters, wireTargets, exceptionCode, unitId, upTo, waitMs } from './rows.ts';

const modbus = { protocol: 'modbus', layer: 'transport' } as const;

const octetsFrom = (min: number) => z.int().min(min).max(260);
/** Octets as numbers, in the order in which they are sent. */
const octetList = z.array(z.int().min(0).max(255)).min(1).max(260);
const registerQuantity = z.int().min(1).max(125);

export const exceptionFault = faultKind({
  protocol: 'modbus',
  kind: 'exception',
  layer: 'acceptance',
  summary: 'The request is answered with an exception.',
  targets: wireTargets,
  parameters: z
    .strictObject({
      code: exceptionCode.meta({
        description:
          'Exception code, 1 to 255; 1 illegal function, 2 illegal address, 3 illegal value, 4 device failure, 6 busy.',
      }),
      carried_out: carriedOut,
      quantity_min: registerQuantity
        .optional()
        .meta({ description: 'Only requests for at least this many registers; default any.' }),
      quantity_max: registerQuantity
        .optional()
        .meta({ description: 'Only requests for at most this many registers; default any.' }),
    })
    .refine((p) => p.quantity_min === undefined || p.quantity_max === undefined || p.quantity_min <= p.quantity_max, {
      path: ['quantity_max'],
      error: 'must not be below quantity_min',
    }),
});

export const delayFault = faultKind({
  ...modbus,
  kind: 'delay',
  summary: 'The answer is late; later answers on the same connection wait for it.',
  targets: wireTargets,
  parameters: z.strictObject({
    delay_ms: waitMs.meta({ description: 'Delay, wall ms.' }),
    jitter_ms: waitMs.default(0).meta({ description: 'Random addition from 0 to this many wall ms; default 0.' }),
  }),
});

export const dropFault = faultKind({
  ...modbus,
  kind: 'drop',
  summary: 'There is no answer.',
  targets: wireTargets,
  parameters: z.strictObject({ carried_out: carriedOut }),
});

export const truncateFault = faultKind({
  ...modbus,
  kind: 'truncate',
  summary: 'The answer stops after its first octets.',
  targets: wireTargets,
  parameters: z.strictObject({
    octets: octetsFrom(0)
      .default(8)
      .meta({ description: 'Octets of the answer that are sent, header included; default 8.' }),
  }),
});

export const garbageFault = faultKind({
  ...modbus,
  kind: 'garbage',
  summary: 'Random octets replace the answer.',
  targets: wireTargets,
  parameters: z.strictObject({
    octets: octetsFrom(1).default(16).meta({ description: 'Number of octets; default 16.' }),
  }),
});

export const wrongUnitFault = faultKind({
  ...modbus,
  kind: 'wrong_unit',
  summary: 'The answer carries another unit id.',
  targets: wireTargets,
  parameters: z.strictObject({
    unit_id: unitId.optional().meta({ description: 'Unit id of the answer; default: the one of the request plus 1.' }),
  }),
});

export const wrongTransactionFault = faultKind({
  ...modbus,
  kind: 'wrong_transaction',
  summary: 'The answer carries another transaction id; on a serial line, which has none, nothing changes.',
  targets: wireTargets,
  parameters: z.strictObject({
    mode: z
      .enum(['zero', 'other'])
      .default('other')
      .meta({ description: 'Always 0, or the one of the request plus 1; default other.' }),
  }),
});

export const wrongFunctionFault = faultKind({
  ...modbus,
  kind: 'wrong_function',
  summary: 'The answer carries another function code than the request.',
  targets: wireTargets,
  parameters: noParameters,
});

export const wrongByteCountFault = faultKind({
  ...modbus,
  kind: 'wrong_byte_count',
  summary: 'The answer to a read announces another number of octets than follow.',
  targets: wireTargets,
  parameters: noParameters,
});

export const duplicateFault = faultKind({
  ...modbus,
  kind: 'duplicate',
  summary: 'The answer is sent twice.',
  targets: wireTargets,
  parameters: noParameters,
});

export const strayOctetsFault = faultKind({
  ...modbus,
  kind: 'stray_octets',
  summary: 'Further octets are sent with the answer or in its place.',
  targets: wireTargets,
  parameters: z.strictObject({
    place: z
      .enum(['before', 'behind', 'instead'])
      .default('before')
      .meta({ description: 'In front of the answer, behind it, or without it; default before.' }),
    octets: octetList.optional().meta({ description: 'The octets, 0 to 255 each; default one 0.' }),
  }),
});

export const echoFault = faultKind({
  ...modbus,
  kind: 'echo',
  summary: 'The request is sent back before the answer, like the echo of a serial line.',
  targets: wireTargets,
  parameters: noParameters,
});

export const greetingFault = faultKind({
  ...modbus,
  kind: 'greeting',
  summary: 'A connection begins with octets that no request has caused.',
  targets: [],
  parameters: z.strictObject({
    octets: octetList.meta({ description: 'The octets, 0 to 255 each, for example those of a MAC address.' }),
  }),
});

export const badCrcFault = faultKind({
  ...modbus,
  kind: 'bad_crc',
  summary: 'The checksum of the answer is wrong; nothing changes where the framing has none.',
  targets: wireTargets,
  parameters: noParameters,
});

export const splitFault = faultKind({
  ...modbus,
  kind: 'split',
  summary: 'The answer is sent in pieces with pauses.',
  targets: wireTargets,
  parameters: z.strictObject({
    octets: octetsFrom(1).meta({ description: 'Octets of each piece.' }),
    gap_ms: upTo(60_000).default(0).meta({ description: 'Pause between two pieces, wall ms; default 0.' }),
  }),
});

export const disconnectFault = faultKind({
  ...modbus,
  kind: 'disconnect',
  summary: 'The connection ends instead of an answer.',
  targets: wireTargets,
  parameters: z.strictObject({ carried_out: carriedOut }),
});

export const connectionLimitFault = faultKind({
  ...modbus,
  kind: 'connection_limit',
  summary: 'The number of connections is limited.',
  targets: [],
  parameters: z.strictObject({
    connections: z.int().min(0).max(4096).meta({ description: 'Maximum number of open connections.' }),
    policy: z.enum(['refuse', 'replace_oldest']).default('refuse').meta({
      description: 'A further connection is not accepted, or the oldest one is closed instead; default refuse.',
    }),
  }),
});

export const reconnectPauseFault = faultKind({
  ...modbus,
  kind: 'reconnect_pause',
  summary: 'After the end of a connection no new one is accepted for a time.',
  targets: [],
  parameters: z.strictObject({
    pause_ms: waitMs.meta({ description: 'Time from the end of the last connection, wall ms.' }),
  }),
});

export const requestIntervalFault = faultKind({
  ...modbus,
  kind: 'request_interval',
  summary: 'A request that follows the last one too soon is not served.',
  targets: wireTargets,
  parameters: z.strictObject({
    min_ms: waitMs.meta({ description: 'Minimum time from one served request to the next, wall ms.' }),
    result: z.enum(['silent', 'busy', 'disconnect']).default('silent').meta({
      description: 'No answer, exception 6, or the end of the connection; default silent.',
    }),
  }),
});

export const deafAfterConnectFault = faultKind({
  ...modbus,
  kind: 'deaf_after_connect',
  summary: 'Data in the first moments of a connection are lost.',
  targets: [],
  parameters: z.strictObject({
    deaf_ms: waitMs.meta({ description: 'Time from the start of the connection, wall ms.' }),
  }),
});

export const outageFault = faultKind({
  ...modbus,
  kind: 'outage',
  summary: 'The device cannot be reached.',
  targets: [],
  parameters: z.strictObject({
    mode: z.enum(['silent', 'refuse', 'close']).default('silent').meta({
      description:
        'No answers; in addition no new connection is accepted; or every connection is closed at once; default silent.',
    }),
  }),
});

export const ignoreUnitFault = faultKind({
  ...modbus,
  kind: 'ignore_unit',
  summary: 'Requests to these unit ids are not answered.',
  targets: [],
  parameters: z.strictObject({ unit_ids: z.array(unitId).min(1).max(256).meta({ description: 'Unit ids.' }) }),
});

export const aliasUnitFault = faultKind({
  ...modbus,
  kind: 'alias_unit',
  summary: 'The device also answers to other unit ids.',
  targets: [],
  parameters: z.strictObject({
    unit_ids: z.array(unitId).min(1).max(256).meta({ description: 'Additional unit ids.' }),
  }),
});

export const modbusTransportFaults = [
  exceptionFault,
  delayFault,
  dropFault,
  truncateFault,
  garbageFault,
  wrongUnitFault,
  wrongTransactionFault,
  wrongFunctionFault,
  wrongByteCountFault,
  duplicateFault,
  strayOctetsFault,
  echoFault,
  badCrcFault,
  splitFault,
  disconnectFault,
  requestIntervalFault,
  connectionLimitFault,
  reconnectPauseFault,
  deafAfterConnectFault,
  greetingFault,
  outageFault,
  ignoreUnitFault,
  aliasUnitFault,
] as const;
