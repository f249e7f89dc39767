/** Faults of the register map as Modbus masters see it: accepted writes, read values, and structure. */
import { z } from 'zod';
import {
  faultKind,
  noParameters,
  mapTargets,
  amount,
  exceptionCode,
  factor,
  simSeconds,
  modelId,
  registerAddress,
  pointName,
  upTo,
} from './rows.ts';

const acceptanceRow = { protocol: 'modbus', layer: 'acceptance', targets: mapTargets } as const;

export const ignoreWriteFault = faultKind({
  ...acceptanceRow,
  kind: 'ignore_write',
  summary: 'A write is acknowledged, and the points keep their values.',
  parameters: noParameters,
});

export const writeLockFault = faultKind({
  ...acceptanceRow,
  kind: 'write_lock',
  summary: 'Writes are refused until the lock is lifted.',
  parameters: z.strictObject({
    code: exceptionCode.default(2).meta({ description: 'Exception code of the refusal; default 2.' }),
  }),
});

export const lateWriteFault = faultKind({
  ...acceptanceRow,
  kind: 'late_write',
  summary: 'A write is acknowledged at once and takes effect later.',
  parameters: z.strictObject({ delay_s: simSeconds.meta({ description: 'Delay, simulated s.' }) }),
});

export const alterWriteFault = faultKind({
  ...acceptanceRow,
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
      error: 'is allowed only without factor and offset',
    })
    .refine((p) => p.value !== undefined || p.factor !== undefined || p.offset !== undefined, {
      path: ['factor'],
      error: 'one of factor, offset, value is required',
    })
    .meta({ oneOf: [{ required: ['value'] }, { anyOf: [{ required: ['factor'] }, { required: ['offset'] }] }] }),
});

export const partialWriteFault = faultKind({
  ...acceptanceRow,
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
  ...acceptanceRow,
  kind: 'lenient_writes',
  summary: 'A write that ends in a part of a point stores the whole points before it, and is acknowledged.',
  parameters: noParameters,
});

export const exceptionCodeFault = faultKind({
  ...acceptanceRow,
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

const structureRow = { protocol: 'modbus', layer: 'reading', targets: [] } as const;

/** Faults in the chain of models, seen by reads over Modbus. */
export const baseFault = faultKind({
  ...structureRow,
  kind: 'base',
  summary: 'The map begins at another address.',
  parameters: z.strictObject({
    address: registerAddress.meta({ description: 'PDU address of the start mark, for example 0 or 50000.' }),
  }),
});

export const modelLengthFault = faultKind({
  ...structureRow,
  kind: 'model_length',
  summary: 'The length register of a model is wrong.',
  parameters: z.strictObject({
    model: modelId.meta({ description: 'Model id.' }),
    length: z.int().min(0).max(65_535).meta({ description: 'Content of its length register.' }),
  }),
});

export const commonLength65Fault = faultKind({
  ...structureRow,
  kind: 'common_length_65',
  summary: 'Model 1 has 65 registers and no pad, so everything after it is one register lower.',
  parameters: noParameters,
});

export const shiftFault = faultKind({
  ...structureRow,
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
  ...structureRow,
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
  ...structureRow,
  kind: 'hide_model',
  summary: 'A model is missing; the following models move up.',
  parameters: z.strictObject({ model: modelId.meta({ description: 'Model id.' }) }),
});

export const modelIdFault = faultKind({
  ...structureRow,
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

const readingRow = { protocol: 'modbus', layer: 'reading', targets: mapTargets } as const;

const bit = z.union([z.int().min(0).max(30), z.string().min(1).max(64)]);
const shift = z.int().min(-10).max(10);

/** Faults in values read over Modbus; the registers themselves stay correct. */
export const freezeFault = faultKind({
  ...readingRow,
  kind: 'freeze',
  keptMaps: 1,
  summary: 'Reads show the values of the moment at which the fault began.',
  parameters: z.strictObject({
    except: z
      .array(pointName)
      .max(1000)
      .optional()
      .meta({ description: 'Points and models that still change; default none.' }),
  }),
});

export const notImplementedFault = faultKind({
  ...readingRow,
  kind: 'not_implemented',
  summary: 'Points show the "not implemented" value of their type.',
  parameters: noParameters,
});

export const valueFault = faultKind({
  ...readingRow,
  kind: 'value',
  summary: 'Points show a fixed value.',
  parameters: z
    .strictObject({
      value: z
        .union([amount, z.string().max(64)])
        .optional()
        .meta({ description: 'In the unit of the point, or the name of an enumeration value.' }),
      raw: z
        .array(z.int().min(0).max(65_535))
        .min(1)
        .max(64)
        .optional()
        .meta({ description: 'Registers of the point.' }),
      extreme: z
        .enum(['min', 'max', 'zero'])
        .optional()
        .meta({ description: 'Minimum or maximum of the type, or zero.' }),
    })
    .refine((p) => [p.value, p.raw, p.extreme].filter((given) => given !== undefined).length === 1, {
      error: 'exactly one of value, raw, extreme is required',
    })
    .meta({ oneOf: [{ required: ['value'] }, { required: ['raw'] }, { required: ['extreme'] }] }),
});

export const scaleFault = faultKind({
  ...readingRow,
  kind: 'scale',
  summary: 'Values are shown with a factor and an offset.',
  parameters: z.strictObject({
    factor: factor.default(1).meta({ description: 'Factor; default 1.' }),
    offset: amount.default(0).meta({ description: 'Added after the factor, in the unit of the point; default 0.' }),
  }),
});

export const noiseFault = faultKind({
  ...readingRow,
  kind: 'noise',
  keptMaps: 4,
  summary: 'Values are shown with random noise.',
  parameters: z.strictObject({
    amplitude: upTo(1e15).meta({ description: 'Maximum deviation, in the unit of the point.' }),
  }),
});

export const lagFault = faultKind({
  ...readingRow,
  kind: 'lag',
  keptMaps: 50,
  summary: 'Reads show the values of some time ago.',
  parameters: z.strictObject({
    delay_s: z.number().gt(0).max(3600).meta({ description: 'Age of the values, simulated s; above 0.' }),
  }),
});

export const bitsFault = faultKind({
  ...readingRow,
  kind: 'bits',
  summary: 'Bits are shown set or clear regardless of their value.',
  parameters: z
    .strictObject({
      set: z
        .array(bit)
        .max(64)
        .optional()
        .meta({ description: 'Bits shown as 1, by name or counted from the lowest.' }),
      clear: z.array(bit).max(64).optional().meta({ description: 'Bits shown as 0, by name or number.' }),
    })
    .refine((p) => p.set !== undefined || p.clear !== undefined, { error: 'set or clear is required' })
    .meta({ anyOf: [{ required: ['set'] }, { required: ['clear'] }] }),
});

export const dynamicScaleFault = faultKind({
  ...readingRow,
  kind: 'dynamic_scale',
  targets: [],
  summary: 'A scale factor changes with the power of the device; the points that use it change with it.',
  parameters: z.strictObject({
    scale_factor: pointName.meta({ description: 'Scale-factor point, for example 701.W_SF.' }),
    steps: z
      .array(
        z.strictObject({
          above_pct: z
            .number()
            .min(0)
            .max(200)
            .default(0)
            .meta({ description: 'From this active power on, in or out, % of 702.WMaxRtg; default 0.' }),
          shift: shift.meta({ description: 'Added to the scale factor; less if the values would not fit.' }),
        }),
      )
      .min(1)
      .max(20)
      .refine((steps) => steps.every(({ above_pct: own }, i) => i === 0 || own > (steps[i - 1]?.above_pct ?? 0)), {
        error: 'above_pct must rise from step to step',
      })
      .meta({
        description:
          'With rising above_pct. The last step whose power is reached counts; below all of them nothing changes.',
      }),
  }),
});

/** Names of the switches of model 64412. */
export const falsifySwitches = [
  'FalsifyDeviceIdentity',
  'MeasPAlwaysNameplate',
  'MeasQAlwaysMinimum',
  'MeasQAlwaysMaximum',
  'MeasQAlwaysZero',
  'MeasZeroP',
  'MeasInvertQ',
  'MeasLowV',
  'MeasHighV',
  'MeasLowL1V',
  'MeasHighL1V',
  'MeasLowF',
  'MeasHighF',
  'MeasLowAmps',
  'MeasHighAmps',
  'MeasHighS',
  'MeasLowS',
  'MeasHighQ',
  'MeasLowQ',
  'MeasLowPF',
  'MeasLowReversedPF',
  'NameplateHighP',
  'NameplateLowP',
  'NameplateHighS',
  'NameplateLowS',
  'NameplateHighQ',
  'NameplateLowQ',
  'NameplateHighNomV',
  'NameplateLowNomV',
  'NameplateLowAmps',
  'NameplateLowVarmaxinj',
  'NameplateLowVarmaxabs',
  'NameplateLowPF',
  'SettingsHighNomV',
  'SettingsLowAmps',
  'SettingsHighP',
  'SettingsLowP',
  'SettingsHighVAMax',
  'SettingsHighVarmaxinj',
  'SettingsHighVarmaxabs',
  'DAManipulation',
  'ChangeCommonModelID',
  'ChangeCommonModelLength',
] as const;

export const falsifyFault = faultKind({
  ...readingRow,
  kind: 'falsify',
  targets: [],
  summary: 'Reads show plausible but false values, as defined by the registered model 64412.',
  parameters: z.strictObject({ switch: z.enum(falsifySwitches).meta({ description: 'Switch of model 64412.' }) }),
});

export const strictPointsFault = faultKind({
  ...readingRow,
  kind: 'strict_points',
  summary: 'A read of a part of a point is refused.',
  parameters: noParameters,
});

export const modbusReadingFaults = [
  freezeFault,
  notImplementedFault,
  valueFault,
  scaleFault,
  noiseFault,
  lagFault,
  bitsFault,
  dynamicScaleFault,
  falsifyFault,
  strictPointsFault,
] as const;
