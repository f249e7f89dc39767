/** Faults in the way a device accepts and stores writes over Modbus. */
import { z } from 'zod';
import { faultKind, noParameters } from './row.ts';
import { mapTargets } from './targets.ts';
import { amount, exceptionCode, factor, simSeconds } from './values.ts';

const modbus = { protocol: 'modbus', layer: 'acceptance', targets: mapTargets } as const;

export const ignoreWriteFault = faultKind({
  ...modbus,
  kind: 'ignore_write',
  summary: 'A write is acknowledged, and the points keep their values.',
  parameters: noParameters,
});

export const writeLockFault = faultKind({
  ...modbus,
  kind: 'write_lock',
  summary: 'Writes are refused until the lock is lifted.',
  parameters: z.strictObject({
    code: exceptionCode.default(2).meta({ description: 'Exception code of the refusal; default 2.' }),
  }),
});

export const lateWriteFault = faultKind({
  ...modbus,
  kind: 'late_write',
  summary: 'A write is acknowledged at once and takes effect later.',
  parameters: z.strictObject({ delay_s: simSeconds.meta({ description: 'Delay, simulated s.' }) }),
});

export const alterWriteFault = faultKind({
  ...modbus,
  kind: 'alter_write',
  summary: 'A value other than the written one is stored.',
  parameters: z
    .strictObject({
      factor: factor.optional().meta({ description: 'Factor on the value written; default 1.' }),
      offset: amount.optional().meta({ description: 'Added after the factor, in the unit of the point; default 0.' }),
      value: amount.optional().meta({
        description: 'Stored whatever was written, in the unit of the point; for an enumeration the number of a value.',
      }),
    })
    .refine((p) => p.value === undefined || (p.factor === undefined && p.offset === undefined), {
      path: ['value'],
      error: 'goes without factor and offset',
    })
    .refine((p) => p.value !== undefined || p.factor !== undefined || p.offset !== undefined, {
      path: ['factor'],
      error: 'one of factor, offset, value is required',
    })
    .meta({ oneOf: [{ required: ['value'] }, { anyOf: [{ required: ['factor'] }, { required: ['offset'] }] }] }),
});

export const partialWriteFault = faultKind({
  ...modbus,
  kind: 'partial_write',
  summary: 'Only the first points of a write are stored; all are acknowledged.',
  parameters: z.strictObject({
    landing_points: z
      .int()
      .min(0)
      .max(123)
      .default(1)
      .meta({ description: 'Number of points stored, in order of address; default 1.' }),
  }),
});

export const lenientWritesFault = faultKind({
  ...modbus,
  kind: 'lenient_writes',
  summary: 'A write that ends in a part of a point stores the whole points before it, and is acknowledged.',
  parameters: noParameters,
});

export const exceptionCodeFault = faultKind({
  ...modbus,
  kind: 'exception_code',
  summary: 'A refused request is answered with another exception code than usual.',
  parameters: z.strictObject({
    rule: z
      .enum(['read_only', 'not_implemented', 'bad_value', 'illegal_address', 'partial_point'])
      .meta({ description: 'Reason of the refusal.' }),
    code: exceptionCode.meta({ description: 'Exception code of the answer.' }),
  }),
});

export const modbusAcceptanceFaults = [
  ignoreWriteFault,
  writeLockFault,
  lateWriteFault,
  alterWriteFault,
  partialWriteFault,
  lenientWritesFault,
  exceptionCodeFault,
] as const;
