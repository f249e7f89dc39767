/** Faults in the chain of models, seen by reads over Modbus. */
import { z } from 'zod';
import { faultKind, noParameters } from './row.ts';
import { modelId, registerAddress } from './values.ts';

const modbus = { protocol: 'modbus', layer: 'reading', targets: [] } as const;

export const baseFault = faultKind({
  ...modbus,
  kind: 'base',
  summary: 'The map begins at another address.',
  parameters: z.strictObject({
    address: registerAddress.meta({ description: 'PDU address of the start mark, for example 0 or 50000.' }),
  }),
});

export const modelLengthFault = faultKind({
  ...modbus,
  kind: 'model_length',
  summary: 'The length register of a model is wrong.',
  parameters: z.strictObject({
    model: modelId.meta({ description: 'Model id.' }),
    length: z.int().min(0).max(65_535).meta({ description: 'Content of its length register.' }),
  }),
});

export const commonLength65Fault = faultKind({
  ...modbus,
  kind: 'common_length_65',
  summary: 'Model 1 has 65 registers and no pad, so everything after it is one register lower.',
  parameters: noParameters,
});

export const shiftFault = faultKind({
  ...modbus,
  kind: 'shift',
  summary: 'Everything from a model on is some registers higher or lower than the chain says.',
  parameters: z
    .strictObject({
      model: modelId.meta({ description: 'First moved model.' }),
      registers: z
        .int()
        .min(-100)
        .max(100)
        .refine((registers) => registers !== 0, { error: 'must not be 0' })
        .meta({
          description: 'Unassigned registers before it; below 0: it overlaps the last registers before it.',
        }),
      fill: z
        .int()
        .min(0)
        .max(65_535)
        .default(0x8000)
        .meta({ description: 'Content of the unassigned registers; default 32768.' }),
    })
    .meta({ not: { properties: { registers: { const: 0 } }, required: ['registers'] } }),
});

export const chainEndFault = faultKind({
  ...modbus,
  kind: 'chain_end',
  summary: 'The chain of models does not end as it should.',
  parameters: z.strictObject({
    variant: z.enum(['zeros', 'exception', 'absent_length']).meta({
      description:
        'The end mark is 0, or its registers are refused, or the map ends before the length of the end mark.',
    }),
  }),
});

export const hideModelFault = faultKind({
  ...modbus,
  kind: 'hide_model',
  summary: 'A model is missing; the following models move up.',
  parameters: z.strictObject({ model: modelId.meta({ description: 'Model id.' }) }),
});

export const modelIdFault = faultKind({
  ...modbus,
  kind: 'model_id',
  summary: 'A model has another id.',
  parameters: z.strictObject({
    model: modelId.meta({ description: 'Model id.' }),
    id: modelId.meta({ description: 'Content of its ID register.' }),
  }),
});

export const modbusStructureFaults = [
  baseFault,
  modelLengthFault,
  commonLength65Fault,
  shiftFault,
  chainEndFault,
  hideModelFault,
  modelIdFault,
] as const;
