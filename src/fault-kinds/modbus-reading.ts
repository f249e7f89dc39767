/** Faults in values read over Modbus; the registers themselves stay correct. */
import { z } from 'zod';
import { faultKind, noParameters } from './row.ts';
import { mapTargets } from './targets.ts';
import { amount, factor, pointName, upTo } from './values.ts';

const modbus = { protocol: 'modbus', layer: 'reading', targets: mapTargets } as const;

const bit = z.union([z.int().min(0).max(30), z.string().min(1).max(64)]);
const shift = z.int().min(-10).max(10);

export const freezeFault = faultKind({
  ...modbus,
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
  ...modbus,
  kind: 'not_implemented',
  summary: 'Points show the "not implemented" value of their type.',
  parameters: noParameters,
});

export const valueFault = faultKind({
  ...modbus,
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
  ...modbus,
  kind: 'scale',
  summary: 'Values are shown with a factor and an offset.',
  parameters: z.strictObject({
    factor: factor.default(1).meta({ description: 'Factor; default 1.' }),
    offset: amount.default(0).meta({ description: 'Added after the factor, in the unit of the point; default 0.' }),
  }),
});

export const noiseFault = faultKind({
  ...modbus,
  kind: 'noise',
  keptMaps: 4,
  summary: 'Values are shown with random noise.',
  parameters: z.strictObject({
    amplitude: upTo(1e15).meta({ description: 'Maximum deviation, in the unit of the point.' }),
  }),
});

export const lagFault = faultKind({
  ...modbus,
  kind: 'lag',
  keptMaps: 50,
  summary: 'Reads show the values of some time ago.',
  parameters: z.strictObject({
    delay_s: z.number().gt(0).max(3600).meta({ description: 'Age of the values, simulated s; above 0.' }),
  }),
});

export const bitsFault = faultKind({
  ...modbus,
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
  ...modbus,
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
  ...modbus,
  kind: 'falsify',
  targets: [],
  summary: 'Reads show plausible but false values, as defined by the registered model 64412.',
  parameters: z.strictObject({ switch: z.enum(falsifySwitches).meta({ description: 'Switch of model 64412.' }) }),
});

export const strictPointsFault = faultKind({
  ...modbus,
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
