/** Faults in the chain of models as a read over Modbus shows it. */
import { z } from 'zod';
import { faultKind, modelId, noParameters, registerAddress } from './row.ts';

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
  summary: 'A model announces another length than it has.',
  parameters: z.strictObject({
    model: modelId.meta({ description: 'Model id.' }),
    length: z.int().min(0).max(65_535).meta({ description: 'Content of its length register.' }),
  }),
});

export const commonLength65Fault = faultKind({
  ...modbus,
  kind: 'common_length_65',
  summary: 'Model 1 has 65 registers and no pad, and all that follows lies one register lower.',
  parameters: noParameters,
});

export const shiftFault = faultKind({
  ...modbus,
  kind: 'shift',
  summary: 'All from a model on lies some registers higher or lower than the chain says.',
  parameters: z.strictObject({
    model: modelId.meta({ description: 'First model that is moved.' }),
    registers: z
      .int()
      .min(-100)
      .max(100)
      .refine((registers) => registers !== 0, { error: 'must not be 0' })
      .meta({
        description:
          'Registers that belong to nobody before it; below 0: it begins over the last registers of what stands before it.',
      }),
    fill: z
      .int()
      .min(0)
      .max(65_535)
      .default(0x8000)
      .meta({ description: 'Content of the registers that belong to nobody; default 32768.' }),
  }),
});

export const chainEndFault = faultKind({
  ...modbus,
  kind: 'chain_end',
  summary: 'The chain of models does not end as it should.',
  parameters: z.strictObject({
    variant: z.enum(['zeros', 'exception', 'absent_length']).meta({
      description:
        'The end mark is 0, or its registers are refused, or the map stops before the length of the end mark.',
    }),
  }),
});

export const hideModelFault = faultKind({
  ...modbus,
  kind: 'hide_model',
  summary: 'A model is missing; those behind it move up.',
  parameters: z.strictObject({ model: modelId.meta({ description: 'Model id.' }) }),
});

export const modelIdFault = faultKind({
  ...modbus,
  kind: 'model_id',
  summary: 'A model stands under another number.',
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
