/** Faults of a DNP3 outstation, as its masters see them. */
import { z } from 'zod';
import { faultKind, noParameters, waitMs } from './rows.ts';

const dnp3 = { protocol: 'dnp3', layer: 'transport' } as const;
const byFunction = ['functions'] as const;

export const badCrcFault = faultKind({
  ...dnp3,
  kind: 'bad_crc',
  summary: 'Frames of a response have a wrong checksum.',
  targets: byFunction,
  parameters: noParameters,
});

export const noResponseFault = faultKind({
  ...dnp3,
  kind: 'no_response',
  summary: 'A request is carried out and not answered; function 130: unsolicited responses are not sent.',
  targets: byFunction,
  parameters: noParameters,
});

export const noConfirmFault = faultKind({
  ...dnp3,
  kind: 'no_confirm',
  summary: 'Confirms of masters are ignored, so that events are reported again.',
  targets: [],
  parameters: noParameters,
});

export const restartBitFault = faultKind({
  ...dnp3,
  kind: 'restart_bit',
  summary: 'Every response has IIN1.7 DEVICE_RESTART, whatever masters write.',
  targets: [],
  parameters: noParameters,
});

export const bufferOverflowFault = faultKind({
  ...dnp3,
  kind: 'buffer_overflow',
  summary: 'Every response has IIN2.3 EVENT_BUFFER_OVERFLOW.',
  targets: [],
  parameters: noParameters,
});

export const timeLostFault = faultKind({
  ...dnp3,
  kind: 'time_lost',
  summary: 'Every response has IIN1.4 NEED_TIME, and event times are not synchronised.',
  targets: [],
  parameters: noParameters,
});

export const wrongSequenceFault = faultKind({
  ...dnp3,
  kind: 'wrong_sequence',
  summary: 'Responses have another sequence number than their requests.',
  targets: byFunction,
  parameters: z.strictObject({
    shift: z
      .int()
      .min(1)
      .max(15)
      .default(1)
      .meta({ description: 'Added to the sequence number, modulo 16; default 1.' }),
  }),
});

export const iinBitsFault = faultKind({
  ...dnp3,
  kind: 'iin_bits',
  summary: 'Every response has these bits of IIN set, whatever masters do.',
  targets: [],
  parameters: z.strictObject({
    bits: z
      .array(z.string().regex(/^IIN[12]\.[0-7]$/, 'must be a bit such as IIN1.6'))
      .min(1)
      .max(16)
      .meta({ description: 'Bits as the standard names them.', examples: [['IIN1.6', 'IIN2.5']] }),
  }),
});

export const unknownObjectFault = faultKind({
  ...dnp3,
  kind: 'unknown_object',
  summary: 'Responses to READ end with an object that no master knows, as those of class 0 of some devices do.',
  targets: [],
  parameters: z.strictObject({
    group: z.int().min(0).max(255).default(150).meta({ description: 'Group of the object; default 150.' }),
    variation: z.int().min(0).max(255).default(1).meta({ description: 'Variation of the object; default 1.' }),
  }),
});

export const confirmAskedFault = faultKind({
  ...dnp3,
  kind: 'confirm_asked',
  summary: 'Responses that need no confirm ask for one: CON is set.',
  targets: byFunction,
  parameters: noParameters,
});

export const delayFault = faultKind({
  ...dnp3,
  kind: 'delay',
  summary: 'Responses are late; at most 64 wait for a master, and further ones are lost.',
  targets: byFunction,
  parameters: z.strictObject({ delay_ms: waitMs.meta({ description: 'Delay, wall ms.' }) }),
});

/** In the order of the catalogue. */
export const dnp3Faults = [
  badCrcFault,
  noResponseFault,
  noConfirmFault,
  restartBitFault,
  bufferOverflowFault,
  timeLostFault,
  wrongSequenceFault,
  iinBitsFault,
  unknownObjectFault,
  confirmAskedFault,
  delayFault,
];
