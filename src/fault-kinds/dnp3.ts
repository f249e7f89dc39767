/** Faults of a DNP3 outstation, seen by its masters. */
import { z } from 'zod';
import { faultKind, noParameters } from './rows.ts';

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
  summary: 'Confirms of masters are overlooked, so that events are reported again.',
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

/** In the order of the catalogue. */
export const dnp3Faults = [
  badCrcFault,
  noResponseFault,
  noConfirmFault,
  restartBitFault,
  bufferOverflowFault,
  timeLostFault,
  wrongSequenceFault,
];
